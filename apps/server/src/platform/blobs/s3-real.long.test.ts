import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { describeRealS3 } from '../../../test/s3/real.js'
import { hasSwift, startSwift } from '../../../test/s3/swift.js'
import { stalled, testBlobStore } from './conformance.js'
import { openS3BlobStore } from './s3.js'
import type { S3Address } from './s3-address.js'
import { createS3Client, type S3Body } from './s3-client.js'
import { listUploads } from './s3-list.js'
import { textOf } from './s3-responses.js'

const mebibyte = 1024 * 1024
const newKey = () => `blob_${randomUUID()}`
const bytes = (count: number) =>
  Array.from({ length: count }, (_, at) => Buffer.alloc(mebibyte, at))

function bodyOf(text: string): S3Body {
  const chunk = Buffer.from(text)
  const sha256 = createHash('sha256').update(chunk).digest('hex')
  return { chunks: [chunk], size: chunk.length, sha256 }
}

describeRealS3('an object store that nobody wrote for these tests', (store) => {
  testBlobStore('S3', () => openS3BlobStore(store().address()))

  describe('an upload in parts', () => {
    const uploadsAt = async (address: S3Address) => {
      const found: string[] = []
      const client = createS3Client(address)
      for await (const { key } of listUploads(client, address)) found.push(key)
      return found
    }

    it('that its process left behind is swept away by another, once nothing comes any more', async () => {
      const address = store().address()
      const [crashed, other] = [await openS3BlobStore(address), await openS3BlobStore(address)]
      const key = newKey()
      const controller = new AbortController()
      // The sweep fails a part that is still on its way, before the process is ended.
      const attempt = crashed.put(key, stalled(...bytes(9)), { signal: controller.signal })
      const failed = expect(attempt).rejects.toThrow()
      await vi.waitUntil(async () => (await uploadsAt(address)).length === 1)
      expect(await uploadsAt(address)).toEqual([key])
      expect(await crashed.sweepTemporary(0)).toBe(0)
      expect(await other.sweepTemporary(3_600_000)).toBe(0)
      // The clock of a service may be ahead of this one.
      expect(await other.sweepTemporary(-60_000)).toBe(1)
      expect(await uploadsAt(address)).toEqual([])
      controller.abort()
      await failed
      expect(await other.head(key)).toBeUndefined()
    })

    it('that is completed twice, because the first response was lost, is there once', async () => {
      const address = store().address()
      const client = createS3Client(address)
      const key = newKey()
      const { body: begun } = await client.send({ method: 'POST', key, query: { uploads: '' } })
      const uploadId = textOf(begun, 'UploadId') ?? ''
      const query = { partNumber: '1', uploadId }
      const { headers } = await client.send({ method: 'PUT', key, query, body: bodyOf('content') })
      const list = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${headers.etag}</ETag></Part></CompleteMultipartUpload>`
      const complete = () =>
        client.send({ method: 'POST', key, query: { uploadId }, body: bodyOf(list) })
      await complete()
      // The two responses that a put takes for success.
      const again = await complete().then(
        () => 'done again',
        (error) => error.code,
      )
      expect(['done again', 'NoSuchUpload']).toContain(again)
      const blobs = await openS3BlobStore(address)
      expect((await buffer(await blobs.get(key))).toString()).toBe('content')
      await blobs.remove(key)
      expect(await blobs.head(key)).toBeUndefined()
    })
  })

  it('refuses bytes that were damaged on the way', async () => {
    const client = createS3Client(store().address())
    const damaged = { ...bodyOf('damaged'), sha256: bodyOf('what was sent').sha256 }
    const key = newKey()
    const attempt = client.send({ method: 'PUT', key, body: damaged })
    await expect(attempt).rejects.toMatchObject({ status: 400 })
    await expect(client.send({ method: 'HEAD', key })).rejects.toMatchObject({ status: 404 })
  })

  it('resumes a download only where the content is still the one it began', async () => {
    const client = createS3Client(store().address())
    const key = newKey()
    await client.send({ method: 'PUT', key, body: bodyOf('first') })
    const { headers } = await client.send({ method: 'HEAD', key })
    const condition = { range: 'bytes=1-2', 'if-match': String(headers.etag) }
    const part = await client.open({ method: 'GET', key, headers: condition })
    expect((await buffer(part)).toString()).toBe('ir')
    await client.send({ method: 'PUT', key, body: bodyOf('other') })
    const late = client.send({ method: 'GET', key, headers: condition })
    await expect(late).rejects.toMatchObject({ status: 412 })
  })

  describe('that cannot be used is refused at the start with what to do', () => {
    it.each([
      [
        'a missing bucket',
        { bucket: `no-${randomUUID()}` },
        /^There is no bucket no-.*: create it/,
      ],
      [
        'a wrong secret',
        { secretAccessKey: 'wrong' },
        /refuses the credentials \(SignatureDoesNotMatch\): check AWS_ACCESS_KEY_ID/,
      ],
      [
        'an unknown key',
        { accessKeyId: 'NOBODY' },
        /refuses the credentials \((InvalidAccessKeyId|SignatureDoesNotMatch)\)/,
      ],
    ])('with %s', async (_, changes, message) => {
      await expect(openS3BlobStore(store().address(changes))).rejects.toThrow(message)
    })
  })
})

describe.skipIf(!hasSwift())('a store that takes fewer parts of an object than S3 does', () => {
  it('refuses a larger content with its own words, and keeps nothing of it', async () => {
    const swift = await startSwift({ maxParts: 2 })
    try {
      const blobs = await openS3BlobStore(swift.address, { partSize: 5 * mebibyte })
      const fits = newKey()
      await blobs.put(fits, Readable.from(bytes(10)))
      expect(await blobs.head(fits)).toMatchObject({ size: 10 * mebibyte })
      const key = newKey()
      await expect(blobs.put(key, Readable.from(bytes(11)))).rejects.toThrow(/400 InvalidArgument/)
      expect(await blobs.head(key)).toBeUndefined()
      expect(await blobs.sweepTemporary(-60_000)).toBe(0)
    } finally {
      await swift.close()
    }
  })
})
