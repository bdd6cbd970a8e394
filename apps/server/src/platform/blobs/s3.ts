import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { bound } from '../bound.js'
import { createGate } from '../workers/gate.js'
import {
  type BlobFacts,
  BlobNotFoundError,
  BlobRangeError,
  type BlobStore,
  type ByteRange,
  checkBlobKey,
  isBlobKey,
  type PutOptions,
  type ReadAddressOptions,
  removeEach,
  requireSize,
  type StoredBlob,
} from './blob-store.js'
import { idleTimeoutOf, type S3Address } from './s3-address.js'
import { createS3Client, type S3Client, type S3ClientOptions } from './s3-client.js'
import { lastWriteOf, listObjects, listUploads } from './s3-list.js'
import { abortUpload, putS3Object, type S3PutDeps } from './s3-put.js'
import { readResuming } from './s3-read.js'
import { explain, S3ConnectionError, S3Error, S3SetupError } from './s3-responses.js'

/** Uploads in parts that run at a time; each has two parts in memory. */
const uploadsInParts = 16
/** Names the object that names the installation. No blob can have this key, so no list shows it. */
const ownerKey = 'botstead.owner'

export interface S3Options extends S3ClientOptions {
  /** Name of the installation: another one below the same prefix is refused. */
  owner?: string
  /** Bytes of a part of a large object, from 5 MiB; default 8 MiB. */
  partSize?: number
}

/**
 * Opens the blobs below the prefix of a bucket, which must exist.
 * @throws Error whose one line is what to do when the bucket cannot be used
 */
export async function openS3BlobStore(
  address: S3Address,
  options: S3Options = {},
): Promise<BlobStore> {
  const place = openPlace(address, options)
  await check(place, 3)
  if (options.owner !== undefined) await requireOwner(place.client, address, options.owner)
  return {
    ...bound(place, { put, get, read, head, remove, list, sweepTemporary }),
    removeAll: (keys) => removeEach(keys, (key) => remove(place, key)),
    direct: bound(place.client, { readAddress, writeAddress }),
    check: () => check(place, 1),
  }
}

/** The prefix of a bucket, and the uploads of this process to it. */
type Place = ReturnType<typeof openPlace>

function openPlace(address: S3Address, options: S3Options) {
  const { idleTimeout = idleTimeoutOf(address), partSize, owner } = options
  const client = createS3Client(address, options)
  /** Uploads in parts of this process, by id: the sweep leaves them alone. */
  const underWay = new Set<string>()
  const puts: S3PutDeps = {
    client,
    gate: createGate(uploadsInParts, Number.POSITIVE_INFINITY, () => new Error('No line is full.')),
    onBegin: ({ uploadId }) => void underWay.add(uploadId),
    onEnd: ({ uploadId }) => void underWay.delete(uploadId),
    ...(partSize !== undefined && { partSize }),
  }
  return { address, client, idleTimeout, owner, underWay, puts }
}

async function check({ client, address, owner }: Place, attempts: number): Promise<void> {
  try {
    await listObjects(client, address, { limit: 1, attempts }).next()
    // Credentials may allow to list contents, and not to read them.
    if (owner !== undefined) await findOwner(client, attempts)
  } catch (error) {
    throw explain(error, address)
  }
}

async function put(
  { puts }: Place,
  key: string,
  content: Readable,
  options: PutOptions = {},
): Promise<StoredBlob> {
  checkBlobKey(key)
  // The stream may fail before anything reads it; the reading reports that.
  content.on('error', ignore)
  try {
    return await putS3Object(puts, key, content, options)
  } finally {
    content.off('error', ignore)
  }
}

async function get(
  { client, idleTimeout }: Place,
  key: string,
  range?: ByteRange,
): Promise<Readable> {
  checkBlobKey(key)
  if (range) requireOrdered(range)
  const first = await openObject(client, key, rangeHeader(range))
  const etag = first.headers.etag
  const { start, end } = extentOf(first.headers)
  if (Number.isNaN(end)) {
    first.destroy()
    throw new S3ConnectionError('The object store does not say how long a content is.')
  }
  if (range && (start !== range.start || end !== range.end)) {
    first.destroy()
    throw outside(range)
  }
  return readResuming({
    first,
    start,
    end,
    idleTimeout,
    // `if-match`: the rest of another content must not follow what was read before.
    reopen: (from, signal) =>
      openObject(
        client,
        key,
        { ...rangeHeader({ start: from, end }), ...(etag && { 'if-match': etag }) },
        signal,
      ),
  })
}

async function read(place: Place, key: string, size: number): Promise<Buffer> {
  // An empty object has no range that could be requested.
  const range = size === 0 ? undefined : { start: 0, end: size - 1 }
  const bytes = await buffer(await get(place, key, range))
  requireSize(bytes, size)
  return bytes
}

async function head({ client }: Place, key: string): Promise<BlobFacts | undefined> {
  checkBlobKey(key)
  try {
    const { headers } = await client.send({ method: 'HEAD', key })
    const storedAt = Date.parse(headers['last-modified'] ?? '')
    return { size: Number(headers['content-length']), storedAt }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function remove({ client }: Place, key: string): Promise<void> {
  checkBlobKey(key)
  try {
    await client.send({ method: 'DELETE', key })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

async function* list({ client, address }: Place) {
  for await (const { key, ...facts } of listObjects(client, address)) {
    if (isBlobKey(key)) yield { key, ...facts }
  }
}

async function sweepTemporary(
  { client, address, underWay }: Place,
  idleMs: number,
): Promise<number> {
  // The store records the time of writes; the margin of the callers covers clocks that differ.
  const before = Date.now() - idleMs
  let removed = 0
  for await (const upload of listUploads(client, address)) {
    if (underWay.has(upload.uploadId) || upload.begunAt > before) continue
    if ((await lastWriteOf(client, upload)) > before) continue
    await abortUpload(client, upload)
    removed += 1
  }
  return removed
}

async function readAddress(
  client: S3Client,
  key: string,
  { seconds, contentType, disposition, cacheControl }: ReadAddressOptions,
): Promise<string> {
  checkBlobKey(key)
  const query = {
    'response-content-type': contentType,
    'response-content-disposition': disposition,
    'response-cache-control': cacheControl,
  }
  return await client.presign({ method: 'GET', key, lifetime: seconds, query })
}

async function writeAddress(
  client: S3Client,
  key: string,
  { size, seconds }: { size: number; seconds: number },
): Promise<string> {
  checkBlobKey(key)
  // The length is signed, so that the store refuses content of any other.
  const headers = { 'content-length': String(size) }
  return await client.presign({ method: 'PUT', key, lifetime: seconds, headers })
}

async function openObject(
  client: S3Client,
  key: string,
  headers: Record<string, string>,
  signal?: AbortSignal,
) {
  try {
    return await client.open({ method: 'GET', key, headers, signal })
  } catch (error) {
    if (isMissing(error)) throw new BlobNotFoundError(`There is no blob ${key}.`, { cause: error })
    if (!(error instanceof S3Error && error.status === 416)) throw error
    throw new BlobRangeError('The bytes are not inside the blob.', { cause: error })
  }
}

function rangeHeader(range: ByteRange | undefined): Record<string, string> {
  return range ? { range: `bytes=${range.start}-${range.end}` } : {}
}

/** First and last byte of the content of a response. */
function extentOf(headers: Record<string, string | string[] | undefined>): ByteRange {
  const [, start, end] = /^bytes (\d+)-(\d+)\//.exec(String(headers['content-range'])) ?? []
  if (start !== undefined) return { start: Number(start), end: Number(end) }
  return { start: 0, end: Number(headers['content-length']) - 1 }
}

function requireOrdered(range: ByteRange): void {
  if (range.start < 0 || range.end < range.start) throw outside(range)
}

function outside({ start, end }: ByteRange): BlobRangeError {
  return new BlobRangeError(`Bytes ${start} to ${end} are not inside the blob.`)
}

function isMissing(error: unknown): boolean {
  return error instanceof S3Error && error.status === 404 && error.code !== 'NoSuchBucket'
}

function ignore(): void {}

/**
 * Makes a prefix that of one installation. Two below the same prefix would sweep away each other's
 * contents, because each removes the blobs that its database does not know.
 */
async function requireOwner(client: S3Client, address: S3Address, owner: string): Promise<void> {
  try {
    const found = await findOwner(client)
    if (found === owner) return
    if (found === undefined) return await claim(client, owner)
  } catch (error) {
    throw explain(error, address)
  }
  const place = `${address.bucket}/${address.prefix}`
  throw new S3SetupError(
    `Another installation keeps its contents in ${place}: give this one another prefix in BOTSTEAD_BLOBS_URL. If it is the same one with another BOTSTEAD_SECRET, delete ${place}${ownerKey} first.`,
  )
}

/**
 * The key, without the prefix, of an object below the prefix; undefined if there is none. The name of the installation
 * and the empty object by which consoles show a folder do not count.
 * @throws S3SetupError
 */
export async function findS3Object(address: S3Address): Promise<string | undefined> {
  try {
    for await (const { key } of listObjects(createS3Client(address), address, { limit: 10 })) {
      if (key !== '' && key !== ownerKey) return key
    }
    return undefined
  } catch (error) {
    throw explain(error, address)
  }
}

/** The installation whose contents are below the prefix; undefined if there is none yet. */
export async function findOwner(client: S3Client, attempts?: number): Promise<string | undefined> {
  const limited = attempts === undefined ? {} : { attempts }
  try {
    return (await client.send({ method: 'GET', key: ownerKey, ...limited })).body.trim()
  } catch (error) {
    if (error instanceof S3Error && error.status === 404) return undefined
    throw error
  }
}

async function claim(client: S3Client, owner: string): Promise<void> {
  const bytes = Buffer.from(owner)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await client.send({
    method: 'PUT',
    key: ownerKey,
    body: { chunks: [bytes], size: bytes.length, sha256 },
  })
}
