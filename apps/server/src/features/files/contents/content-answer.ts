import type { Readable } from 'node:stream'
import type { ByteRange } from '../../../platform/blobs/blob-store.js'
import { contentDisposition } from './disposition.js'
import { parseRange } from './range.js'

/** What a request for content says. */
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
 * its hash, tells more.
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
