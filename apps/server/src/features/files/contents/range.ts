import type { ByteRange } from '../../../platform/blobs/blob-store.js'

/** What a `Range` header asks for: a part, nothing that is there, or (ignored) everything. */
export type RequestedRange = ByteRange | 'unsatisfiable' | undefined

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
