import { inflateSync } from 'node:zlib'
import { append } from '../document/append.js'
import type { Span, TaggedPicture } from './tagged-tables.js'

/** Bytes of a file, and of its packed objects, that are searched. */
const maxFileLength = 48 * 1024 * 1024
const maxUnpackedLength = 96 * 1024 * 1024
/** Bytes of one stream of objects, and of one object. */
const maxPackedLength = 8 * 1024 * 1024
const maxObjectLength = 256 * 1024
/** Attributes of an element, and characters of each, that are read. */
const maxAttributes = 4
const maxAttributeLength = 2000
/** Rows or columns that a cell covers at most. */
const maxSpan = 200
/** Nested elements in a cell that are followed, and elements in cells of all tables. */
const maxDepth = 12
const maxElements = 500_000

/** Text of an object by its number. */
type Objects = ReadonlyMap<number, string>

/** The properties of the structure of a document that the parser does not expose. */
export interface RawStructure {
  /** Cells over several rows or columns, by the ids of the contents in them. */
  spans: ReadonlyMap<string, Span>
  /** Pictures that mark no content, as LibreOffice writes them, by the id of their page. */
  pictures: ReadonlyMap<string, TaggedPicture[]>
}

/**
 * Reads which cells of tagged tables cover several rows or columns, and pictures that mark no content. The parser
 * does not expose either, so the objects of the structure are searched in the file. In damaged files nothing may be
 * found: all cells count as single.
 */
export function readRawStructure(bytes: Uint8Array): RawStructure {
  const spans = new Map<string, Span>()
  const pictures = new Map<string, TaggedPicture[]>()
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.length > maxFileLength || !maySayMore(file)) return { spans, pictures }
  const objects = readObjects(file)
  const contentsOf = createContentReader(objects)
  const isEncrypted = file.includes('/Encrypt', 0, 'latin1')
  for (const text of objects.values()) {
    const role = /\/S\s*\/(T[DH]|Figure)\b/.exec(text)?.[1]
    if (role === 'Figure' && !isEncrypted && !/\/K\b/.test(text)) {
      const page = pageOf(text)
      const own = pictures.get(page) ?? []
      own.push(toPicture(text, objects))
      pictures.set(page, own)
    } else if (role === 'TD' || role === 'TH') {
      const span = spanOf(text, objects)
      if (span.rows * span.columns === 1) continue
      for (const id of contentsOf(text)) spans.set(id, span)
    }
  }
  return { spans, pictures }
}

function maySayMore(file: Buffer): boolean {
  return ['/ColSpan', '/RowSpan', '/Figure', '/ObjStm'].some((name) =>
    file.includes(name, 0, 'latin1'),
  )
}

function toPicture(text: string, objects: Objects): TaggedPicture {
  const box = /\/BBox\s*\[([\d.\s-]+)\]/.exec(withAttributes(text, objects))?.[1]
  const bbox = box?.trim().split(/\s+/).map(Number)
  const alt = /\/Alt\s*(<[\da-f\s]*>|\((?:[^\\()]|\\[\s\S])*\))/i.exec(text)?.[1]
  const said = alt === undefined ? '' : decodeString(alt).replace(/\s+/g, ' ').trim()
  return {
    ...(said !== '' && { alt: said }),
    ...(bbox?.length === 4 && bbox.every(Number.isFinite) && { bbox }),
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '', f: '' }

/** The text of a string in hexadecimal digits or in parentheses. */
function decodeString(source: string): string {
  const inner = source.slice(1, -1)
  const bytes = source.startsWith('<')
    ? Buffer.from(inner.replace(/\s+/g, ''), 'hex')
    : Buffer.from(inner.replace(/\\([0-7]{1,3}|[\s\S])/g, toCharacter), 'latin1')
  const isUtf16 = bytes[0] === 0xfe && bytes[1] === 0xff
  return isUtf16 ? new TextDecoder('utf-16be').decode(bytes) : bytes.toString('latin1')
}

function toCharacter(_: string, code: string): string {
  return /^[0-7]/.test(code)
    ? String.fromCharCode(Number.parseInt(code, 8) & 0xff)
    : (escapes[code] ?? code)
}

/** The objects of a file that may belong to its structure; of two with one number, the later one counts. */
function readObjects(file: Buffer): Objects {
  const text = file.toString('latin1')
  const objects = new Map<number, string>()
  const endFrom = createFinder(text, 'endobj')
  const streamFrom = createFinder(text, 'stream')
  let left = maxUnpackedLength
  // Of objects that share an end, because some have none, the first is read.
  let seen = -1
  for (const match of text.matchAll(/(?<!\d)(\d{1,8}) \d{1,5} obj\b/g)) {
    const start = match.index + match[0].length
    const [end, stream] = [endFrom(start), streamFrom(start)]
    const stop = Math.min(end, stream)
    if (stop === seen) continue
    seen = stop
    const own = text.slice(start, Math.min(stop, start + maxObjectLength))
    if (end < stream) objects.set(Number(match[1]), own)
    else if (/\/ObjStm\b/.test(own) && left > 0) {
      const packed = unpack(file.subarray(stream + (text.startsWith('\r\n', stream + 6) ? 8 : 7)))
      left -= packed?.length ?? maxPackedLength
      for (const [number, object] of packedObjects(own, packed ?? '')) objects.set(number, object)
    }
  }
  return objects
}

/** Returns a function that finds the next place of a word from ever later places on; infinite if there is none. */
function createFinder(text: string, word: string): (from: number) => number {
  let next = -1
  return (from) => {
    if (next < from) {
      const found = text.indexOf(word, from)
      next = found === -1 ? Number.POSITIVE_INFINITY : found
    }
    return next
  }
}

function unpack(bytes: Buffer): string | undefined {
  try {
    return inflateSync(bytes, { maxOutputLength: maxPackedLength }).toString('latin1')
  } catch {
    return undefined
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

/** An element with the attributes that it refers to. */
function withAttributes(text: string, objects: Objects): string {
  const attributes = /\/A\s*(\[[^\]]*\]|\d+\s+\d+\s+R)/.exec(text)?.[1] ?? ''
  const referred = referencesIn(attributes)
    .slice(0, maxAttributes)
    .map((number) => objects.get(number)?.slice(0, maxAttributeLength) ?? '')
  return [text.slice(0, maxAttributeLength), ...referred].join(' ')
}

function spanOf(text: string, objects: Objects): Span {
  const all = withAttributes(text, objects)
  const countOf = (name: string) => {
    const value = Number(new RegExp(`/${name}\\s+(\\d{1,4})`).exec(all)?.[1] ?? 1)
    return Math.max(1, Math.min(value, maxSpan))
  }
  return { rows: countOf('RowSpan'), columns: countOf('ColSpan') }
}

function referencesIn(text: string): number[] {
  return [...text.matchAll(/(\d+)\s+\d+\s+R\b/g)].map(([, number]) => Number(number))
}

/** Returns a function that reads the ids of the contents of an element: of their page and their number on it. */
function createContentReader(objects: Objects): (text: string) => string[] {
  let count = 0

  function read(text: string, page: string, depth: number): string[] {
    count += 1 + text.length / 1000
    if (depth > maxDepth || count > maxElements) return []
    const own = pageOf(text) || page
    const mark = /\/MCID\s+(\d+)/.exec(text)?.[1]
    if (mark !== undefined && !/\/K\b/.test(text)) return [`${own}_mc${mark}`]
    const kids = /\/K\s*(\[[^\]]*\]|<<[^>]*>>|\d+\s+\d+\s+R\b|\d+)/.exec(text)?.[1] ?? ''
    const parts = kids.match(/<<[^>]*>>|\d+\s+\d+\s+R\b|\d+/g) ?? []
    const ids: string[] = []
    for (const part of parts) {
      if (count > maxElements) break
      if (part.startsWith('<<')) append(ids, read(part, own, depth + 1))
      else if (!part.endsWith('R')) ids.push(`${own}_mc${part}`)
      else append(ids, read(objects.get(Number.parseInt(part, 10)) ?? '', own, depth + 1))
    }
    return ids
  }
  return (text) => read(text, '', 0)
}

/** Id of the page that an element names, as the parser makes it; empty if it names none. */
function pageOf(text: string): string {
  const [, number, generation] = /\/Pg\s+(\d+)\s+(\d+)\s+R\b/.exec(text) ?? []
  return number === undefined ? '' : `p${number}R${generation === '0' ? '' : generation}`
}
