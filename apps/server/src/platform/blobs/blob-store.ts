import type { Readable } from 'node:stream'

/** The outcome of a removal of several blobs. */
export interface RemovedBlobs {
  removed: string[]
  failure?: unknown
}

/**
 * Stores file contents: bytes under keys that the server creates, `[A-Za-z0-9_-]`, 8 to 128
 * characters. No text of a caller ever becomes part of a key. A blob exists completely or not at all.
 */
export interface BlobStore {
  /**
   * Stores a stream, replacing what the key held. Resolves once the blob survives a power loss.
   * The stream is read only as fast as it is stored; when the store gives up, it is left open and
   * unread, so that the caller can still respond on its connection. An abort destroys it.
   * @throws BlobTooLargeError as soon as the content exceeds `maxBytes`
   * @throws BlobStoreFullError when there is no space left
   */
  put(key: string, content: Readable, options?: PutOptions): Promise<StoredBlob>

  /**
   * The content, or a part of it. The caller must read the stream to its end or destroy it.
   * @throws BlobNotFoundError when there is no such blob
   * @throws BlobRangeError when the range is not inside the blob
   */
  get(key: string, range?: ByteRange): Promise<Readable>

  /**
   * The whole content, for a small one, which is all in memory. From a disk this takes a third of the time of
   * a stream.
   * @param size in bytes, as the caller knows it
   * @throws BlobNotFoundError when there is no such blob
   * @throws BlobRangeError when the blob has fewer bytes; a store may refuse one with more bytes as well
   */
  read(key: string, size: number): Promise<Buffer>

  /** Facts about a blob, undefined when there is none. */
  head(key: string): Promise<BlobFacts | undefined>

  /** Removes a blob; one that is not there is removed already. Open reads go on to their end. */
  remove(key: string): Promise<void>

  /**
   * Removes several blobs, some at a time. One that cannot be removed does not stop the others.
   * @returns the keys of those that are gone, and why the first of the others is not
   */
  removeAll(keys: readonly string[]): Promise<RemovedBlobs>

  /** Every blob in no particular order; those put or removed meanwhile may be missing or present. */
  list(): AsyncIterable<BlobFacts & { key: string }>

  /**
   * Removes what interrupted puts of any process left behind.
   * @param idleMs only what was not written to for so long: other processes may be putting now.
   *   Puts of this process are never touched, so 0 is right where it is the only one.
   * @returns the number of leftovers that were removed
   */
  sweepTemporary(idleMs: number): Promise<number>

  /** Addresses of the contents themselves; absent where they are reached through this server alone. */
  readonly direct?: DirectAccess

  /**
   * Path of the file that a blob is, for processes of this machine to read; absent where blobs are not
   * files here, and undefined where blobs of this size are not. There may be nothing at it, now or later:
   * blobs are removed while others know of them.
   */
  localPath?(key: string, size: number): string | undefined

  /** Rejects with the reason when contents cannot be reached now. Fast enough for a probe. */
  check(): Promise<void>
}

/** Addresses that are valid for a while, without credentials, for anyone who has them. */
export interface DirectAccess {
  /** Address from which GET reads a blob; the response has the given headers. */
  readAddress(key: string, options: ReadAddressOptions): Promise<string>
  /** Address to which PUT stores a blob of exactly this many bytes. */
  writeAddress(key: string, options: { size: number; seconds: number }): Promise<string>
}

export interface ReadAddressOptions {
  /** Lifetime in seconds, from 1 to 604,800. */
  seconds: number
  contentType: string
  /** Value of `Content-Disposition`. */
  disposition: string
  /** Value of `Cache-Control`. */
  cacheControl: string
}

export interface PutOptions {
  /** More bytes than this are refused. */
  maxBytes?: number
  signal?: AbortSignal
}

/** Size and hash of a stored content, computed while it was written. */
export interface StoredBlob {
  /** Bytes. */
  size: number
  /** SHA-256 of the content in hex. */
  sha256: string
}

/** First and last byte, counted from 0, both included; as in a `Range` header. */
export interface ByteRange {
  start: number
  end: number
}

/** Metadata of a blob. */
export interface BlobFacts {
  /** Bytes. */
  size: number
  /** Milliseconds since the Unix epoch. */
  storedAt: number
}

/** Whether a text could be a key. */
export function isBlobKey(key: string): boolean {
  return /^[A-Za-z0-9_-]{8,128}$/.test(key)
}

/** Stops a key that no server made before it gets near a path or an address. */
export function checkBlobKey(key: string): void {
  if (!isBlobKey(key)) throw new TypeError('A blob key has 8 to 128 of A-Z a-z 0-9 _ -.')
}

/** @throws BlobRangeError when a blob does not have the number of bytes that its reader expects */
export function requireSize(bytes: Buffer, size: number): void {
  if (bytes.length === size) return
  throw new BlobRangeError(`The blob has ${bytes.length} bytes instead of ${size}.`)
}

/** The store has no blob under the key. */
export class BlobNotFoundError extends Error {
  override name = 'BlobNotFoundError'
}

/** The requested range is not inside the blob, or the blob does not have the size that the caller gave. */
export class BlobRangeError extends Error {
  override name = 'BlobRangeError'
}

/** A stream has more bytes than the caller allowed. */
export class BlobTooLargeError extends Error {
  override name = 'BlobTooLargeError'
  /** Size limit, in bytes. */
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`The content is larger than ${maxBytes} bytes.`)
    this.maxBytes = maxBytes
  }
}

/** The store does not respond now; the call may be repeated. */
export class BlobStoreAwayError extends Error {
  override name = 'BlobStoreAwayError'
}

/** The store has no space left. */
export class BlobStoreFullError extends Error {
  override name = 'BlobStoreFullError'
}

/**
 * Stores a stream that is not needed afterwards. Unlike `put` alone it destroys the stream when the store
 * gives up, and with it whatever the stream reads from.
 * @throws as {@link BlobStore.put}
 */
export async function putAndClose(
  blobs: Pick<BlobStore, 'put'>,
  key: string,
  content: Readable,
  options?: PutOptions,
): Promise<StoredBlob> {
  try {
    return await blobs.put(key, content, options)
  } finally {
    content.destroy()
  }
}

/** Blobs that are removed at a time. */
const removedAtOnce = 20

/** Removes several blobs one by one, for {@link BlobStore.removeAll}. */
export async function removeEach(
  keys: readonly string[],
  remove: (key: string) => Promise<void>,
): Promise<RemovedBlobs> {
  const result: RemovedBlobs = { removed: [] }
  for (let at = 0; at < keys.length; at += removedAtOnce) {
    const some = keys.slice(at, at + removedAtOnce)
    const ends = await Promise.allSettled(some.map(remove))
    for (const [index, end] of ends.entries()) {
      const key = some[index]
      if (end.status === 'rejected') result.failure ??= end.reason
      else if (key !== undefined) result.removed.push(key)
    }
  }
  return result
}
