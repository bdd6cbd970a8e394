import { append } from '../document/append.js'
import type { RawObjects } from './raw-objects.js'
import type { Replacement } from './replacements.js'
import { isReference, type PdfDictionary, type PdfValue, toText } from './syntax.js'
import type { Span, TaggedPicture } from './tagged-tables.js'

/** Attributes of an element that are read, with the numbers of their revisions. */
const maxAttributes = 8
/** Rows or columns that a cell covers at most. */
const maxSpan = 200
/** Lists, references and elements in each other in a cell that are followed, and their number in cells of all tables. */
const maxDepth = 36
const maxElements = 500_000

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
export function readRawStructure({ texts, isEncrypted, resolve }: RawObjects): RawStructure {
  const spans = new Map<string, Span>()
  const pictures = new Map<string, TaggedPicture[]>()
  const replacements = new Map<string, Replacement>()
  const contentsOf = createContentReader(resolve)
  for (const [number, text] of texts) {
    const role = /\/S\s*\/(\w+)/.exec(text)?.[1]
    if (role === undefined) continue
    const isCell = role === 'TD' || role === 'TH'
    const isReplaced = !isEncrypted && /\/(?:ActualText|E)\b/.test(text)
    if (!isCell && !isReplaced && role !== 'Figure') continue
    const element = resolve({ reference: number })
    if (!(element instanceof Map)) continue
    const replacement = isReplaced ? toReplacement(element, resolve) : undefined
    if (replacement !== undefined)
      for (const id of contentsOf(element)) replacements.set(id, replacement)
    if (role === 'Figure' && !isEncrypted && !element.has('K')) {
      const page = pageOf(element)
      const own = pictures.get(page) ?? []
      own.push(toPicture(element, resolve))
      pictures.set(page, own)
    } else if (isCell) {
      const span = spanOf(element, resolve)
      if (span.rows * span.columns === 1) continue
      for (const id of contentsOf(element)) spans.set(id, span)
    }
  }
  return { spans, pictures, replacements }
}

type Resolve = RawObjects['resolve']

function toReplacement(element: PdfDictionary, resolve: Resolve): Replacement | undefined {
  if (!element.has('K')) return undefined
  const stringOf = (key: string) => {
    const value = resolve(element.get(key))
    return typeof value === 'object' && 'bytes' in value ? toText(value.bytes) : undefined
  }
  const [own, expansion] = [stringOf('ActualText'), stringOf('E')]
  if (own !== undefined) return { text: own }
  return expansion === undefined ? undefined : { expansion }
}

function toPicture(element: PdfDictionary, resolve: Resolve): TaggedPicture {
  const box = attributeOf(element, 'BBox', resolve)
  const bbox = Array.isArray(box) ? box.map(Number) : undefined
  const alt = element.get('Alt') ?? element.get('ActualText')
  const said =
    typeof alt === 'object' && 'bytes' in alt ? toText(alt.bytes).replace(/\s+/g, ' ').trim() : ''
  return {
    ...(said !== '' && { alt: said }),
    ...(bbox?.length === 4 && bbox.every(Number.isFinite) && { bbox }),
  }
}

/** An attribute of an element, or of an object of attributes that it refers to. */
function attributeOf(element: PdfDictionary, name: string, resolve: Resolve): PdfValue | undefined {
  const attributes = [resolve(element.get('A')) ?? []].flat().slice(0, maxAttributes).map(resolve)
  for (const each of [element, ...attributes]) {
    if (each instanceof Map && each.has(name)) return resolve(each.get(name))
  }
  return undefined
}

function spanOf(element: PdfDictionary, resolve: Resolve): Span {
  const countOf = (name: string) => {
    const value = attributeOf(element, name, resolve)
    return typeof value === 'number' ? Math.max(1, Math.min(Math.trunc(value), maxSpan)) : 1
  }
  return { rows: countOf('RowSpan'), columns: countOf('ColSpan') }
}

/** Returns a function that reads the ids of the contents of an element: of their page and their number on it. */
function createContentReader(resolve: Resolve): (element: PdfDictionary) => string[] {
  let count = 0

  function read(value: PdfValue | undefined, page: string, depth: number): string[] {
    count += 1
    if (depth > maxDepth || count > maxElements) return []
    if (typeof value === 'number') return [`${page}_mc${value}`]
    if (Array.isArray(value)) {
      const ids: string[] = []
      for (const part of value) append(ids, read(part, page, depth + 1))
      return ids
    }
    if (!(value instanceof Map)) {
      return isReference(value) ? read(resolve(value), page, depth + 1) : []
    }
    const own = pageOf(value) || page
    const mark = value.get('MCID')
    return read(value.has('K') ? value.get('K') : mark, own, depth + 1)
  }
  return (element) => read(element, '', 0)
}

/** Id of the page that an element names, as the parser makes it; empty if it names none. */
function pageOf(element: PdfDictionary): string {
  const page = element.get('Pg')
  return isReference(page) ? `p${page.reference}R${page.generation ?? ''}` : ''
}
