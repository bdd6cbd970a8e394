import type { Readable } from 'node:stream'
import type { ByteRange } from '../../../platform/blobs/blob-store.js'

/** The relevant parts of a request for content. */
export interface ContentRequest {
  /** Whether only the headers are requested. */
  isHead: boolean
  range?: string
  'if-match'?: string
  'if-none-match'?: string
  'if-range'?: string
}

/** The properties of a content that the response headers describe. */
interface DescribedContent {
  key: string
  contentType: string
  size: number
  sha256: string
  isPublic: boolean
}

/** A response to a request for a content; without `open` and `readAt` it has no body. */
export interface ContentResponse {
  status: number
  headers: Record<string, string | number>
  open?(): Promise<Readable | Buffer>
  /** The address of the body, where the server does not send it itself. */
  readAt?(): Promise<string>
}

interface ResponsePlan {
  status: 200 | 206 | 304 | 412 | 416
  headers: Record<string, string | number>
  /** The bytes to send; all of them without a range. Absent without a body. */
  body?: { range?: ByteRange }
}

/**
 * Determines the response to a request for content: all of it, a part, or that the caller has it
 * already. There is no `Last-Modified`: a content may change twice in a second, and its tag, derived from
 * its hash, is more precise.
 */
export function describeResponse(content: DescribedContent, request: ContentRequest): ResponsePlan {
  const etag = `"${content.sha256.slice(0, 32)}"`
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    // The content under an address can be replaced, so caches must revalidate.
    'cache-control': content.isPublic ? 'public, no-cache' : 'private, no-cache',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  }
  const { range: wanted, 'if-match': ifMatch, 'if-range': ifRange } = request
  if (ifMatch !== undefined && !namesTag(ifMatch, [etag])) return { status: 412, headers }
  if (namesTag(request['if-none-match'], [etag, `W/${etag}`])) return { status: 304, headers }

  const described = {
    ...headers,
    'content-type': content.contentType,
    'content-disposition': contentDisposition(content.key, content.contentType),
    // Over the whole content, also in a response with a part (RFC 9530).
    'repr-digest': `sha-256=:${Buffer.from(content.sha256, 'hex').toString('base64')}:`,
  }
  const counts = ifRange === undefined || ifRange.trim() === etag
  const range = counts ? parseRange(wanted, content.size) : undefined
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${content.size}` } }
  }
  if (range === undefined) {
    return { status: 200, headers: { ...described, 'content-length': content.size }, body: {} }
  }
  return {
    status: 206,
    headers: {
      ...described,
      'content-length': range.end - range.start + 1,
      'content-range': `bytes ${range.start}-${range.end}/${content.size}`,
    },
    body: { range },
  }
}

/** Whether a header such as `If-None-Match` contains one of some tags, or `*`. */
function namesTag(header: string | undefined, tags: readonly string[]): boolean {
  if (header === undefined) return false
  return header.split(',').some((each) => each.trim() === '*' || tags.includes(each.trim()))
}

/** The part that a `Range` header requests; `unsatisfiable` outside of the content; undefined if ignored. */
type RequestedRange = ByteRange | 'unsatisfiable' | undefined

/**
 * Parses a `Range` header. Several ranges, other units and malformed values are ignored, as the
 * protocol allows; the response is then the whole content.
 * @param size of the content in bytes
 */
export function parseRange(header: string | undefined, size: number): RequestedRange {
  const [, first = '', last = ''] = /^\s*bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return suffix(Number(last), size)
  const start = Number(first)
  const end = last === '' ? size - 1 : Number(last)
  if (last !== '' && end < start) return undefined
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

function suffix(length: number, size: number): RequestedRange {
  if (length === 0 || size === 0) return 'unsatisfiable'
  return { start: Math.max(0, size - length), end: size - 1 }
}

/** Media types that a browser displays without executing anything. */
const inert =
  /^(?:audio|video)\/|^image\/(?:png|jpeg|gif|webp|avif|bmp)$|^text\/(?:plain|markdown|csv)$|^application\/(?:pdf|json)$/

/**
 * The header `Content-Disposition` of a content. Active or unknown types are saved, never displayed: a
 * page with scripts must not run on the origin of this server.
 * @param key of the file; its last segment becomes the file name
 */
export function contentDisposition(key: string, contentType: string): string {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  const kind = inert.test(type) ? 'inline' : 'attachment'
  const name = fileNameOf(key)
  const plain = name.replace(/[^ !#-[\]-~]/gu, '_').replaceAll('%', '_')
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`
}

/** The last segment of a key without characters that are unsafe in file systems and terminals. */
export function fileNameOf(key: string): string {
  const segment = key.split(/[/\\]/).at(-1) ?? ''
  const name = segment.replaceAll(/[\p{Cc}\p{Cs}]/gu, '').trim()
  // A name of dots alone is a folder.
  return /^\.*$/.test(name) ? 'file' : name
}

/** RFC 8187: `encodeURIComponent` leaves a few characters that the header does not allow. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
