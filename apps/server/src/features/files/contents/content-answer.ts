import type { Readable } from 'node:stream'
import type { ByteRange } from '../../../platform/blobs/blob-store.js'

/** What of a request for content matters. */
export interface ContentRequest {
  /** Whether the headers alone are asked for. */
  isHead: boolean
  range?: string
  'if-match'?: string
  'if-none-match'?: string
  'if-range'?: string
}

/** What the headers of an answer say about a content. */
interface DescribedContent {
  key: string
  contentType: string
  size: number
  sha256: string
  isPublic: boolean
}

export interface ContentAnswer {
  status: number
  headers: Record<string, string | number>
  open?(): Promise<Readable>
  /** Where the body is read instead. */
  readAt?(): Promise<string>
}

interface AnswerPlan {
  status: 200 | 206 | 304 | 412 | 416
  headers: Record<string, string | number>
  /** The bytes that follow, all of them without a range. Absent when none do. */
  body?: { range?: ByteRange }
}

/**
 * How a request for content is answered: with all of it, with a part, or that the caller has it
 * already. There is no `Last-Modified`: a content may change twice in a second, and its tag, made of
 * its hash, is more precise.
 */
export function describeAnswer(content: DescribedContent, request: ContentRequest): AnswerPlan {
  const etag = `"${content.sha256.slice(0, 32)}"`
  const headers = {
    etag,
    'accept-ranges': 'bytes',
    // The content under an address can be replaced, so copies are asked about before use.
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
    // Over the whole content, also in the answer with a part (RFC 9530).
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

/** Whether a header such as `If-None-Match` names one of some tags, or any. */
function namesTag(header: string | undefined, tags: readonly string[]): boolean {
  if (header === undefined) return false
  return header.split(',').some((each) => each.trim() === '*' || tags.includes(each.trim()))
}

/** What a `Range` header asks for: a part, nothing that is there, or (ignored) everything. */
type RequestedRange = ByteRange | 'unsatisfiable' | undefined

/**
 * Reads a `Range` header. Several ranges, other units and what makes no sense are ignored, as the
 * protocol allows; the answer is then the whole content.
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

/** Media types that a browser shows without running anything in them. */
const inert =
  /^(?:audio|video)\/|^image\/(?:png|jpeg|gif|webp|avif|bmp)$|^text\/(?:plain|markdown|csv)$|^application\/(?:pdf|json)$/

/**
 * The header `Content-Disposition` of a content. What is active or unknown is saved, never shown: a
 * page with scripts must not run under the address of this server.
 * @param key of the file; its last segment becomes the name to save it under
 */
export function contentDisposition(key: string, contentType: string): string {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  const kind = inert.test(type) ? 'inline' : 'attachment'
  const name = fileNameOf(key)
  const plain = name.replace(/[^ !#-[\]-~]/gu, '_').replaceAll('%', '_')
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`
}

/** The last segment of a key without what file systems and terminals stumble over. */
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
