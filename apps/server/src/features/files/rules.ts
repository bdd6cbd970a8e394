import { extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Body, contract } from '@botstead/contract'
import mime from 'mime-types'
import { limitSettings } from '../../config/settings.js'
import { mergePatch } from '../../domain/patches.js'
import { fieldError } from '../../domain/refusals.js'
import { decodeJson, encodeJson, type JsonColumn } from '../../platform/db/columns.js'

type Upsert = Body<typeof contract.files.upsert>

/** Limits of files that the operator can change. */
export interface FileLimits {
  /** Bytes of one content. */
  fileBytes: number
  /** Bytes of one content that is indexed. */
  indexedFileBytes: number
}

const minute = 60_000
const maxLifetime = 90 * 24 * 60 * minute
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/**
 * A media type; parameters may contain anything printable, since they are only returned. A slash after a comma is
 * refused: browsers take `text/plain;,text/html` for a list, and its last type for that of the content.
 */
const mediaType = new RegExp(`^${token}/${token}(?: *;(?![ -~]*,[^,]*/)[ -~]*)?$`)

/** The media type of a content: as given, else derived from the extension of the key. */
export function contentTypeOf(input: Pick<Upsert, 'key' | 'contentType'>): string {
  const given = input.contentType?.trim()
  if (given) {
    if (mediaType.test(given)) return given
    throw fieldError('body.contentType', 'must be a media type such as text/markdown.')
  }
  const extension = extname(input.key)
  return (extension !== '' && mime.lookup(extension)) || 'application/octet-stream'
}

/**
 * The expiry of a file, rounded down to the minute.
 * @param now milliseconds since the Unix epoch
 */
export function expiryOf(expiresAt: string | undefined, now: number): string | null {
  if (expiresAt === undefined) return null
  const time = Math.floor(Date.parse(expiresAt) / minute) * minute
  if (Number.isNaN(time)) throw fieldError('body.expiresAt', 'must be a time that exists.')
  if (time <= now) {
    throw fieldError('body.expiresAt', 'must be in the future; seconds do not count.')
  }
  if (time > now + maxLifetime) {
    throw fieldError('body.expiresAt', 'must be at most 90 days from now.')
  }
  return new Date(time).toISOString()
}

/** Refuses contents that are larger than the server stores or indexes. */
export function requireSize(input: Pick<Upsert, 'size' | 'index'>, limits: FileLimits): void {
  if (input.size > limits.fileBytes) {
    throw fieldError(
      'body.size',
      `must be at most ${limits.fileBytes}: larger files are not accepted. The operator of the server can raise ${limitSettings.fileBytes.name}.`,
      'LimitExceeded',
      { maximum: limits.fileBytes },
    )
  }
  if (input.index && input.size > limits.indexedFileBytes) {
    throw fieldError(
      'body.size',
      `must be at most ${limits.indexedFileBytes} with index: larger files cannot be indexed.`,
      'LimitExceeded',
      { maximum: limits.indexedFileBytes },
    )
  }
}

/**
 * Maximum bytes of a key, and of the name and value of a tag together. Both are indexed, and an index
 * entry of PostgreSQL has at most 2,704 bytes including other columns.
 */
const maxIndexedBytes = 2048

/**
 * Refuses a key that is short enough in characters, but that not every database can index.
 * @param path of the key, such as `body.key`
 */
export function requireIndexableKey(key: string, path: 'body.key' | 'params.destinationKey'): void {
  if (Buffer.byteLength(key) <= maxIndexedBytes) return
  throw fieldError(path, `must have at most ${maxIndexedBytes} bytes of UTF-8.`)
}

/** Refuses tags that are short enough in characters, but that not every database can index. */
export function requireIndexableTags(tags: Upsert['tags']): void {
  for (const [name, value] of Object.entries(tags ?? {})) {
    if (Buffer.byteLength(name) + Buffer.byteLength(value) > maxIndexedBytes) {
      throw fieldError(
        `body.tags.${name}`,
        `must have at most ${maxIndexedBytes} bytes of UTF-8 in name and value together.`,
      )
    }
  }
}

/** The stored metadata: those of the caller, and the indexing options. */
export function metadataOf(input: Pick<Upsert, 'metadata' | 'indexing'>): Record<string, unknown> {
  return { ...(input.indexing && { indexing: input.indexing }), ...input.metadata }
}

interface StoredIndexing {
  configuration: Record<string, unknown>
}

/**
 * Changes options with which a content is indexed. The metadata of its file repeat them, unless the author has
 * a member of that name there.
 * @throws ApiError `LimitExceeded` if they grow beyond what a file may have
 */
export function patchIndexing(
  file: { metadata: JsonColumn },
  content: { indexing: JsonColumn | null },
  patch: NonNullable<Upsert['indexing']>,
): { indexing: JsonColumn; metadata: JsonColumn } {
  const stored =
    content.indexing === null ? undefined : decodeJson<StoredIndexing>(content.indexing)
  const options = new Map(Object.entries(stored?.configuration ?? {}))
  for (const [name, given] of Object.entries(patch.configuration)) {
    const isSection = typeof given === 'object' && !Array.isArray(given)
    options.set(name, isSection ? { ...Object(options.get(name)), ...given } : given)
  }
  // Not by assignment, which takes one name for the prototype.
  const indexing = { ...stored, configuration: Object.fromEntries(options) }
  const metadata = decodeJson<Record<string, unknown>>(file.metadata)
  const isOwn = 'indexing' in metadata && !isDeepStrictEqual(metadata.indexing, stored)
  const patched = {
    indexing: encodeJson(indexing),
    metadata: isOwn ? file.metadata : encodeJson({ ...metadata, indexing }),
  }
  // Options that the server does not know are stored too, and calls with different ones would add up.
  requireBytes('indexing', patched.indexing, content.indexing ?? '')
  requireBytes('indexing', patched.metadata, file.metadata)
  return patched
}

/** Maximum entries and bytes after an update: those that one upsert may contain. */
const descriptionLimits = { tags: 200, metadata: 1000, metadataBytes: 1024 * 1024 }

/**
 * Refuses an update that would result in more tags than one upsert may contain.
 * @param thing the object with the tags, for the refusal
 */
export function requireTagCount(tags: Record<string, string>, thing: 'file' | 'knowledge base') {
  requireAtMost('tags', Object.keys(tags).length, descriptionLimits.tags, thing)
}

/** The metadata of a file after an update, as they are stored. */
export function patchMetadata(stored: JsonColumn, patch: Record<string, unknown>): JsonColumn {
  const before = decodeJson<Record<string, unknown>>(stored)
  const merged = mergePatch(before, patch)
  // An upsert adds the indexing options to the metadata of the caller, which must not count as too many.
  const max = Math.max(descriptionLimits.metadata, Object.keys(before).length)
  requireAtMost('metadata', Object.keys(merged).length, max, 'file')
  const text = encodeJson(merged)
  requireBytes('metadata', text, '')
  return text
}

/** Refuses more metadata than a file may have, unless they do not become more. */
function requireBytes(field: 'metadata' | 'indexing', next: string, before: string): void {
  const max = Math.max(descriptionLimits.metadataBytes, Buffer.byteLength(before))
  if (Buffer.byteLength(next) <= max) return
  throw fieldError(
    `body.${field}`,
    `must leave the file with at most ${max} bytes of JSON in its metadata.`,
    'LimitExceeded',
    { maximum: max },
  )
}

function requireAtMost(
  field: 'tags' | 'metadata',
  count: number,
  max: number,
  thing: string,
): void {
  if (count <= max) return
  throw fieldError(
    `body.${field}`,
    `must leave the ${thing} with at most ${max} entries; it would have ${count}.`,
    'LimitExceeded',
    { maximum: max },
  )
}
