import { inflateSync } from 'node:zlib'

/** How many rows and columns a cell of a table covers. */
export interface Span {
  rows: number
  columns: number
}

/** Bytes of a file, and of its packed objects, that are searched. */
const maxFileLength = 48 * 1024 * 1024
const maxUnpackedLength = 96 * 1024 * 1024
/** Rows or columns that a cell covers at most. */
const maxSpan = 200
/** Nested elements in a cell that are followed. */
const maxDepth = 12

/** Text of an object by its number. */
type Objects = ReadonlyMap<number, string>

/**
 * Reads which cells of tagged tables cover several rows or columns, by the ids of the contents in them. The
 * parser does not tell it, so the objects of the structure are searched in the file. They are found in every
 * file that is not encrypted; in others, and in damaged ones, all cells count as single.
 */
export function readCellSpans(bytes: Uint8Array): ReadonlyMap<string, Span> {
  const spans = new Map<string, Span>()
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.length > maxFileLength || !mayHaveSpans(file)) return spans
  const objects = readObjects(file)
  for (const text of objects.values()) {
    if (!/\/S\s*\/T[DH]\b/.test(text)) continue
    const span = spanOf(text, objects)
    if (span.rows * span.columns === 1) continue
    for (const id of contentsOf(text, objects)) spans.set(id, span)
  }
  return spans
}

function mayHaveSpans(file: Buffer): boolean {
  return ['/ColSpan', '/RowSpan', '/ObjStm'].some((name) => file.includes(name, 0, 'latin1'))
}

/** The objects of a file that may belong to its structure; of two with one number, the later one counts. */
function readObjects(file: Buffer): Objects {
  const text = file.toString('latin1')
  const objects = new Map<number, string>()
  let left = maxUnpackedLength
  for (const match of text.matchAll(/(?<!\d)(\d{1,8}) \d{1,5} obj\b/g)) {
    const start = match.index + match[0].length
    const end = text.indexOf('endobj', start)
    const stream = text.indexOf('stream', start)
    const hasStream = stream !== -1 && (end === -1 || stream < end)
    const own = text.slice(start, hasStream ? stream : end === -1 ? start : end)
    if (!hasStream) objects.set(Number(match[1]), own)
    else if (/\/ObjStm\b/.test(own) && left > 0) {
      const lineEnd = text.startsWith('\r\n', stream + 6) ? 2 : 1
      const packed = unpack(file.subarray(stream + 6 + lineEnd), left)
      left -= packed.length
      for (const [number, object] of packedObjects(own, packed)) objects.set(number, object)
    }
  }
  return objects
}

function unpack(bytes: Buffer, most: number): string {
  try {
    return inflateSync(bytes, { maxOutputLength: most }).toString('latin1')
  } catch {
    return ''
  }
}

/** The objects in a stream of objects, which begins with the number and the place of each. */
function packedObjects(dictionary: string, text: string): [number, string][] {
  const first = Number(/\/First\s+(\d+)/.exec(dictionary)?.[1])
  if (!(first <= text.length)) return []
  const numbers = text.slice(0, first).trim().split(/\s+/).map(Number)
  return numbers.flatMap((number, at): [number, string][] => {
    if (at % 2 !== 0) return []
    const [from = 0, to = text.length] = [numbers[at + 1], numbers[at + 3]]
    return [[number, text.slice(first + from, at + 3 < numbers.length ? first + to : undefined)]]
  })
}

function spanOf(text: string, objects: Objects): Span {
  const attributes = /\/A\s*(\[[^\]]*\]|\d+\s+\d+\s+R)/.exec(text)?.[1] ?? ''
  const referred = referencesIn(attributes).map((number) => objects.get(number) ?? '')
  const all = [text, ...referred].join(' ')
  const countOf = (name: string) => {
    const value = Number(new RegExp(`/${name}\\s+(\\d{1,4})`).exec(all)?.[1] ?? 1)
    return Math.max(1, Math.min(value, maxSpan))
  }
  return { rows: countOf('RowSpan'), columns: countOf('ColSpan') }
}

function referencesIn(text: string): number[] {
  return [...text.matchAll(/(\d+)\s+\d+\s+R\b/g)].map(([, number]) => Number(number))
}

/** Ids of the contents of an element, as the parser makes them: of their page and their number on it. */
function contentsOf(text: string, objects: Objects, page = '', depth = 0): string[] {
  if (depth > maxDepth) return []
  const [, number, generation] = /\/Pg\s+(\d+)\s+(\d+)\s+R\b/.exec(text) ?? []
  const own = number === undefined ? page : `p${number}R${generation === '0' ? '' : generation}`
  const mark = /\/MCID\s+(\d+)/.exec(text)?.[1]
  if (mark !== undefined && !/\/K\b/.test(text)) return [`${own}_mc${mark}`]
  const kids = /\/K\s*(\[[^\]]*\]|<<[^>]*>>|\d+\s+\d+\s+R\b|\d+)/.exec(text)?.[1] ?? ''
  const parts = kids.match(/<<[^>]*>>|\d+\s+\d+\s+R\b|\d+/g) ?? []
  return parts.flatMap((part) => {
    if (part.startsWith('<<')) return contentsOf(part, objects, own, depth + 1)
    if (!part.endsWith('R')) return [`${own}_mc${part}`]
    return contentsOf(objects.get(Number.parseInt(part, 10)) ?? '', objects, own, depth + 1)
  })
}
