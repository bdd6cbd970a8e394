import { append } from '../document/append.js'
import type { RawObjects } from './raw-objects.js'
import type { Replacement } from './replacements.js'
import { toPdfValue, toText } from './syntax.js'
import type { Span, TaggedPicture } from './tagged-tables.js'

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
  /** Texts that elements have instead of their contents, by the ids of these. */
  replacements: ReadonlyMap<string, Replacement>
}

/**
 * Reads which cells of tagged tables cover several rows or columns, pictures that mark no content, and texts that stand
 * for contents. The parser does not expose them, so the objects of the structure are searched in the file. In damaged
 * files nothing may be found: all cells count as single.
 */
export function readRawStructure({
  texts: objects,
  isEncrypted,
  resolve,
}: RawObjects): RawStructure {
  const spans = new Map<string, Span>()
  const pictures = new Map<string, TaggedPicture[]>()
  const replacements = new Map<string, Replacement>()
  const contentsOf = createContentReader(objects)
  for (const text of objects.values()) {
    const role = /\/S\s*\/(\w+)/.exec(text)?.[1]
    if (role === undefined) continue
    if (!isEncrypted && /\/(?:ActualText|E)\b/.test(text)) {
      const replacement = toReplacement(text, resolve)
      if (replacement !== undefined)
        for (const id of contentsOf(text)) replacements.set(id, replacement)
    }
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
  return { spans, pictures, replacements }
}

function toReplacement(text: string, resolve: RawObjects['resolve']): Replacement | undefined {
  const element = toPdfValue(text)
  if (!(element instanceof Map) || !element.has('K')) return undefined
  const stringOf = (key: string) => {
    const value = resolve(element.get(key))
    return typeof value === 'object' && 'bytes' in value ? toText(value.bytes) : undefined
  }
  const [own, expansion] = [stringOf('ActualText'), stringOf('E')]
  if (own !== undefined) return { text: own }
  return expansion === undefined ? undefined : { expansion }
}

function toPicture(text: string, objects: Objects): TaggedPicture {
  const box = /\/BBox\s*\[([\d.\s-]+)\]/.exec(withAttributes(text, objects))?.[1]
  const bbox = box?.trim().split(/\s+/).map(Number)
  const element = toPdfValue(text)
  const alt = element instanceof Map ? (element.get('Alt') ?? element.get('ActualText')) : undefined
  const said =
    typeof alt === 'object' && 'bytes' in alt ? toText(alt.bytes).replace(/\s+/g, ' ').trim() : ''
  return {
    ...(said !== '' && { alt: said }),
    ...(bbox?.length === 4 && bbox.every(Number.isFinite) && { bbox }),
  }
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
