import { createHash, type Hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Gate } from '../workers/gate.js'
import type { PutOptions, StoredBlob } from './blob-store.js'
import { readContent } from './read-content.js'
import type { S3Body, S3Client } from './s3-client.js'
import { escapeXml, S3Error, textOf } from './s3-responses.js'

/** Bytes of one part. While a part is sent, the next is gathered: two are in memory at most. */
const usualPartSize = 8 * 1024 * 1024
/** The most parts that an object may have. */
const maxParts = 10_000

/** An upload in parts that has begun. */
export interface UploadInParts {
  key: string
  uploadId: string
}

export interface S3PutDeps {
  client: S3Client
  /** Bounds how many uploads in parts run at a time, and with them the memory for parts. */
  gate: Gate
  /** Called when an upload in parts begins and ends, so that no sweep takes it for a leftover. */
  onBegin(upload: UploadInParts): void
  onEnd(upload: UploadInParts): void
  /** Bytes of a part; larger where the object would have too many parts. */
  partSize?: number
}

/**
 * Stores a stream as one object: at once when it fits into a part, otherwise in parts, which become
 * an object when the last is there. Nothing can be read before.
 */
export async function putS3Object(
  deps: S3PutDeps,
  key: string,
  content: Readable,
  options: PutOptions,
): Promise<StoredBlob> {
  const { client } = deps
  const { maxBytes = Number.POSITIVE_INFINITY, signal } = options
  const partSize = partSizeFor(maxBytes, deps.partSize ?? usualPartSize)
  const giveUp = new AbortController()
  const ending = signal ? AbortSignal.any([signal, giveUp.signal]) : giveUp.signal
  const gathered: { part: Part; parts?: PartsUpload } = { part: new Part() }

  try {
    const stored = await readContent(content, options, async (chunk) => {
      for (const piece of cut(chunk, partSize - gathered.part.size, partSize)) {
        gathered.part.add(piece)
        if (gathered.part.size < partSize) continue
        gathered.parts ??= await beginUpload(deps, key, ending)
        await gathered.parts.send(gathered.part.toBody())
        gathered.part = new Part()
      }
    })
    const { part, parts } = gathered
    if (parts === undefined) {
      const body = { ...part.toBody(), sha256: stored.sha256 }
      await client.send({ method: 'PUT', key, body, signal })
    } else {
      if (part.size > 0) await parts.send(part.toBody())
      await parts.complete(stored.size)
    }
    return stored
  } catch (error) {
    giveUp.abort(error)
    await gathered.parts?.discard()
    throw error
  } finally {
    gathered.parts?.end()
  }
}

/** All parts but the last have the same size, because some stores demand it. */
function partSizeFor(maxBytes: number, usual: number): number {
  return Number.isFinite(maxBytes) ? Math.max(usual, Math.ceil(maxBytes / maxParts)) : usual
}

/** A chunk, cut where parts end. */
function* cut(chunk: Uint8Array, remaining: number, partSize: number): Generator<Uint8Array> {
  let from = 0
  let to = Math.min(remaining, chunk.length)
  while (from < chunk.length) {
    yield chunk.subarray(from, to)
    from = to
    to = Math.min(from + partSize, chunk.length)
  }
}

/** The bytes that one request sends. */
class Part {
  size = 0
  readonly #chunks: Uint8Array[] = []
  readonly #hash: Hash = createHash('sha256')

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#hash.update(chunk)
    this.size += chunk.length
  }

  toBody(): S3Body {
    return { chunks: this.#chunks, size: this.size, sha256: this.#hash.digest('hex') }
  }
}

type PartsUpload = Awaited<ReturnType<typeof beginUpload>>

async function beginUpload(deps: S3PutDeps, key: string, signal: AbortSignal) {
  const { client, gate, onBegin, onEnd } = deps
  const leave = await gate.enter(signal)
  const upload = await openUpload(client, key, signal).catch((error) => {
    leave()
    throw error
  })
  onBegin(upload)
  const tags: string[] = []
  let sending = Promise.resolve()

  async function sendPart(number: number, body: S3Body): Promise<void> {
    const query = { partNumber: String(number), uploadId: upload.uploadId }
    const { headers } = await client.send({ method: 'PUT', key, query, body, signal })
    if (headers.etag === undefined) throw new S3Error(200, '')
    tags[number - 1] = headers.etag
  }

  return {
    /** Gives the place back; nothing may follow. */
    end(): void {
      onEnd(upload)
      leave()
    },

    /** Waits for the part before, then lets this one go while the next is gathered. */
    async send(body: S3Body): Promise<void> {
      await sending
      const number = tags.length + 1
      if (number > maxParts) throw new RangeError(`An object has at most ${maxParts} parts.`)
      sending = sendPart(number, body)
      // It is awaited with the next part; until then a failure must not count as unhandled.
      sending.catch(() => undefined)
    },

    async complete(size: number): Promise<void> {
      await sending
      const list = tags.map(
        (tag, index) =>
          `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
      )
      const xml = Buffer.from(
        `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`,
      )
      const sha256 = createHash('sha256').update(xml).digest('hex')
      const body = { chunks: [xml], size: xml.length, sha256 }
      try {
        await client.send({
          method: 'POST',
          key,
          query: { uploadId: upload.uploadId },
          body,
          signal,
        })
      } catch (error) {
        // A repeated request finds no upload when the first one was done and only its response was lost.
        if (!(error instanceof S3Error && error.code === 'NoSuchUpload')) throw error
        const { headers } = await client.send({ method: 'HEAD', key, signal })
        if (Number(headers['content-length']) !== size) throw error
      }
    },

    /** Best effort: what stays is found by the sweep. */
    async discard(): Promise<void> {
      await sending.catch(() => undefined)
      await abortUpload(client, upload).catch(() => undefined)
    },
  }
}

async function openUpload(
  client: S3Client,
  key: string,
  signal: AbortSignal,
): Promise<UploadInParts> {
  const begun = await client.send({ method: 'POST', key, query: { uploads: '' }, signal })
  const uploadId = textOf(begun.body, 'UploadId')
  if (uploadId === undefined) throw new S3Error(begun.status, begun.body)
  return { key, uploadId }
}

/** Aborts an upload in parts, which frees the space of its parts. One that is gone counts as aborted. */
export async function abortUpload(client: S3Client, upload: UploadInParts): Promise<void> {
  const { key, uploadId } = upload
  try {
    await client.send({ method: 'DELETE', key, query: { uploadId }, attempts: 3 })
  } catch (error) {
    if (!(error instanceof S3Error && error.status === 404)) throw error
  }
}
