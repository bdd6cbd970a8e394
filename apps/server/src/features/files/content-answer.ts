import type { Readable } from 'node:stream'
import { contentDisposition } from './disposition.js'
import type { ServedContent } from './downloads.js'
import { parseRange } from './range.js'

/** Headers of a request for content. */
export interface ContentRequest {
  range?: string
  'if-none-match'?: string
  'if-range'?: string
}

export interface ContentAnswer {
  status: 200 | 206 | 304 | 416
  headers: Record<string, string | number>
  open?(): Promise<Readable>
  /** Where the body is read instead. */
  readAt?(): Promise<string>
}

/** The answer to a request for content: all of it, a part, or that the caller has it already. */
export function toContentAnswer(content: ServedContent, request: ContentRequest): ContentAnswer {
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
  if (namesTag(request['if-none-match'], etag)) return { status: 304, headers }

  const body = {
    ...headers,
    'content-type': content.contentType,
    'content-disposition': contentDisposition(content.key, content.contentType),
  }
  const ifRange = request['if-range']
  const counts = ifRange === undefined || ifRange.trim() === etag
  const range = counts ? parseRange(request.range, content.size) : undefined
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${content.size}` } }
  }
  if (range === undefined) {
    return {
      status: 200,
      headers: { ...body, 'content-length': content.size },
      open: () => content.open(),
    }
  }
  return {
    status: 206,
    headers: {
      ...body,
      'content-length': range.end - range.start + 1,
      'content-range': `bytes ${range.start}-${range.end}/${content.size}`,
    },
    open: () => content.open(range),
  }
}

/** Whether an `If-None-Match` header names the tag; weak tags compare as strong ones here. */
function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((each) => {
    const tag = each.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
