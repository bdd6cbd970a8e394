import { extname } from 'node:path'
import { ApiError, type Body, type contract } from '@botstead/contract'
import mime from 'mime-types'
import { limitSettings } from '../../config/limit-settings.js'

type Upsert = Body<typeof contract.files.upsert>

/** Bounds of files that an operator may move. */
export interface FileLimits {
  /** Bytes of one content. */
  fileBytes: number
  /** Bytes of one content that is indexed. */
  indexedFileBytes: number
}

const minute = 60_000
const longestLife = 90 * 24 * 60 * minute
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/** A media type; parameters may hold anything printable, since they are only handed back. */
const mediaType = new RegExp(`^${token}/${token}(?: *;[ -~]*)?$`)

/** The media type of a content: as given, else by the extension of the key. */
export function contentTypeOf(input: Pick<Upsert, 'key' | 'contentType'>): string {
  const given = input.contentType?.trim()
  if (given) {
    if (mediaType.test(given)) return given
    throw invalid('contentType', 'must be a media type such as text/markdown')
  }
  const extension = extname(input.key)
  return (extension !== '' && mime.lookup(extension)) || 'application/octet-stream'
}

/**
 * When a file expires, to the minute: seconds are dropped.
 * @param now milliseconds since the Unix epoch
 */
export function expiryOf(expiresAt: string | undefined, now: number): string | null {
  if (expiresAt === undefined) return null
  const time = Math.floor(Date.parse(expiresAt) / minute) * minute
  if (Number.isNaN(time)) throw invalid('expiresAt', 'must be a time that exists')
  if (time <= now) throw invalid('expiresAt', 'must be in the future; seconds do not count')
  if (time > now + longestLife) throw invalid('expiresAt', 'must be at most 90 days from now')
  return new Date(time).toISOString()
}

/** Refuses contents that are larger than the server takes or indexes. */
export function requireSize(input: Pick<Upsert, 'size' | 'index'>, limits: FileLimits): void {
  if (input.size > limits.fileBytes) {
    throw new ApiError(
      'LimitExceeded',
      `body.size must be at most ${limits.fileBytes}: larger files are not accepted. The operator of the server can raise ${limitSettings.fileBytes.name}.`,
      { metadata: { in: 'body', field: 'size', maximum: limits.fileBytes } },
    )
  }
  if (input.index && input.size > limits.indexedFileBytes) {
    throw new ApiError(
      'LimitExceeded',
      `body.size must be at most ${limits.indexedFileBytes} with index: larger files cannot be indexed.`,
      { metadata: { in: 'body', field: 'size', maximum: limits.indexedFileBytes } },
    )
  }
}

/**
 * Most bytes of a key, and of a name and value of a tag together. Both stand in an index, and what
 * PostgreSQL can put into one has at most 2,704 bytes with all that stands beside it.
 */
const maxIndexedBytes = 2048

/**
 * Refuses a key within its number of characters that not every database can index.
 * @param place where it was given, such as `body.key`
 */
export function requireIndexableKey(key: string, place: string): void {
  if (Buffer.byteLength(key) <= maxIndexedBytes) return
  const [part, field] = place.split('.')
  throw new ApiError(
    'InvalidPayload',
    `${place} must have at most ${maxIndexedBytes} bytes of UTF-8.`,
    { metadata: { in: part, field } },
  )
}

/** Refuses tags within their number of characters that not every database can index. */
export function requireIndexableTags(tags: Upsert['tags']): void {
  for (const [name, value] of Object.entries(tags ?? {})) {
    if (Buffer.byteLength(name) + Buffer.byteLength(value) > maxIndexedBytes) {
      throw invalid(
        `tags.${name}`,
        `must have at most ${maxIndexedBytes} bytes of UTF-8 in name and value together`,
      )
    }
  }
}

/** What is kept as metadata: the caller's, and how the file was asked to be indexed. */
export function metadataOf(input: Pick<Upsert, 'metadata' | 'indexing'>): Record<string, unknown> {
  return { ...(input.indexing && { indexing: input.indexing }), ...input.metadata }
}

function invalid(field: string, rule: string): ApiError {
  return new ApiError('InvalidPayload', `body.${field} ${rule}.`, {
    metadata: { in: 'body', field },
  })
}
