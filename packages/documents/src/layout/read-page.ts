import { append } from '../document/append.js'
import type { Omissions } from '../document/omissions.js'
import { cutAtAlignedGaps } from './aligned-gaps.js'
import type { Annotations, FilledIn } from './annotations.js'
import { createLayerFilter, type Drawing, readDrawing } from './drawing.js'
import { boxIn, fillIn } from './filled-in.js'
import { joinFractions } from './fractions.js'
import type { Note, Page } from './headers-footers.js'
import { createLigatureReader } from './ligatures.js'
import { type Line, toLines } from './lines.js'
import { median } from './measures.js'
import { createContentsReader, type Mark } from './page-contents.js'
import type { OptionalContent, PdfPage, TextContent } from './parser.js'
import { pictureShare, unreadPictures } from './pictures.js'
import { type DirectedText, type Direction, toDirections, turn, turnBack } from './pieces.js'
import type { RawObjects } from './raw-objects.js'
import { type RawStructure, readRawStructure } from './raw-structure.js'
import { createReplacer } from './replacements.js'
import { type Segment, toSegments, withoutRepeats } from './segments.js'
import { mayBeWatermark, type SidewaysText, takeCells, takeHeaders } from './sideways.js'
import { createSymbolReader } from './symbols.js'
import { countNodes, pageIdIn, readTags, type TableTags, withTables } from './tagged-tables.js'

/**
 * Nodes of structure trees that are read per document. The structure of a page names all rows of a table,
 * including those on other pages, so that reading all pages takes time quadratic in the length of the table.
 */
const maxStructureNodes = 2_000_000
/** Letters below which a page may be a scan with a stamp or a page number. */
const minLetters = 60
/** Letters below which nothing of a scan counts as read. */
const minLettersOfText = 20
/** Share of a page that the pictures of a scan cover. */
const minPictures = 0.5
/** Share of the height of a page at either end in which a scanner or an archive writes a line of its own. */
const margin = 0.08
/** Share of the width of a page at either side in which sideways text may be a running one. */
const edgeZone = 0.12
const upright: Direction = { cos: 1, sin: 0 }

/** A page with the facts about its picture. */
export interface ReadPage extends Page {
  /** Whether it is a picture of text of which nothing could be read. */
  isUnread: boolean
}

/** Properties of the document that all pages need. */
export interface PageContext {
  annotations: ReadonlyMap<number, Annotations>
  /** Layers, if some are not shown. */
  layers: OptionalContent | undefined
  omissions: Omissions
  /** The objects of the file. */
  objects: RawObjects
}

/** Returns a function that reads the pages of a document in order, from 1. */
export function createPageReader({ annotations, layers, omissions, objects }: PageContext) {
  let raw: RawStructure | undefined
  const rawStructure = () => {
    raw ??= readRawStructure(objects)
    return raw
  }
  const tagsOf = createTagReader(rawStructure)
  const contentsOf = createContentsReader(objects)
  const replacer = createReplacer(() => rawStructure().replacements)
  const withSymbols = createSymbolReader()
  const withLigatures = createLigatureReader()
  const known = new Set<number>()

  return async (page: PdfPage, number: number): Promise<ReadPage> => {
    const { transform, height, width } = page.getViewport({ scale: 1 })
    const area = width * height
    const added = annotations.get(number) ?? { filled: [], comments: [], drawn: new Map() }
    const { tags, isStructured } = await tagsOf(page)
    const contents = page.ref === null ? undefined : contentsOf(page.ref.num, number)
    const isReplaced =
      contents?.marks.some(hasReplacement) === true ||
      (isStructured && rawStructure().replacements.size > 0)
    const isMarked = tags !== undefined || layers !== undefined || isReplaced
    const text = await withLigatures(
      page,
      await page.getTextContent(isMarked ? { includeMarkedContent: true } : undefined),
    )
    const onCut = () => omissions.add('text_cut', { page: number }, { detail: 'replacement text' })
    const content = await withSymbols(
      page,
      isReplaced ? replacer.replace(text, contents?.marks ?? [], onCut) : text,
    )
    const isSparse = lettersIn(content) < minLetters
    const isUnknown = objects.isEncrypted && objects.hasPictures
    const isDrawn = isSparse || isUnknown || layers !== undefined || added.drawn.size > 0
    const drawing = isDrawn ? await readDrawing(page, area, layers) : undefined
    const isHidden = createLayerFilter(content, drawing?.layers ?? [], () => {
      omissions.add('hidden_text', { page: number })
    })
    const values = [...added.filled, ...signatures(added, drawing)]
    const directions = toDirections(content, transform, tags?.cells, isHidden)
    const { main, segments, ...read } = toPageSegments(directions, content, tags)
    const toBox = boxIn(transform, main)
    const { filled, others } = fillInDirection(values, { main, segments, ...read }, transform)
    const lines = [...toLines(filled, number), ...sidewaysLines(others, segments, number, width)]
    const pictures = contents?.pictures ?? (isUnknown ? drawing?.pictures : undefined) ?? []
    const unread =
      contents?.hasInvisibleText === true || (tags?.pictures.length ?? 0) > 0
        ? { count: 0, share: 0 }
        : unreadPictures(pictures, { area, content, known })
    const isScan =
      (isSparse && pictureShare(drawing?.pictures ?? [], area) >= minPictures) ||
      (unread.share >= minPictures && lettersInside(lines, height) < minLetters)
    if (isScan) omissions.add('scanned_page', { page: number })
    else if (unread.count > 0)
      omissions.add('picture_without_text', { page: number }, { count: unread.count })
    const notes = [
      ...added.comments.map(({ text, rect }) => toNote(text, toBox(rect))),
      ...stamps(added, drawing).map(({ text, rect }) => toNote(text, toBox(rect))),
      ...pictureNotes(tags, content, { transform, main, omissions, number, isScan }),
    ]
    const isUnread = isScan && lettersInside(lines, height) < minLettersOfText
    return { lines, height, notes: withoutShown(notes, lines), isUnread }
  }
}

function hasReplacement({ text, expansion, alt, picture }: Mark): boolean {
  return (
    text !== undefined || expansion !== undefined || (alt !== undefined && picture !== undefined)
  )
}

/** Letters of a page without those along its upper and lower edge, such as of a stamp by the scanner. */
function lettersInside(lines: readonly Line[], height: number): number {
  return lines
    .filter(({ y, turned }) => {
      const isAtEdge = turned === undefined && (y < height * margin || y > height * (1 - margin))
      return !isAtEdge && turned !== 'edge' && turned !== 'watermark'
    })
    .reduce((sum, { text }) => sum + text.trim().length, 0)
}

/** Returns a function that reads the structure of pages, if it has tables or pictures. */
function createTagReader(rawStructure: () => RawStructure) {
  let nodes = 0
  return async (proxy: PdfPage): Promise<{ tags?: TableTags; isStructured: boolean }> => {
    if (nodes > maxStructureNodes) return { isStructured: true }
    // A damaged structure is ignored: the text can be read without it.
    const root = await proxy.getStructTree().catch(() => null)
    if (root === null) return { isStructured: false }
    nodes += countNodes(root)
    const page = pageIdIn(root)
    if (page === undefined) return { isStructured: false }
    const { spans, pictures } = rawStructure()
    const tags = readTags(root, (id) => spans.get(id))
    append(tags.pictures, pictures.get(page) ?? [])
    const isUsed = tags.cells.size > 0 || tags.pictures.length > 0
    return { ...(isUsed && { tags }), isStructured: true }
  }
}

function lettersIn({ items }: TextContent): number {
  return items.reduce((sum, item) => sum + ('str' in item ? item.str.trim().length : 0), 0)
}

/** Puts values among the text of their direction, which need not be the main one of a page of little text. */
function fillInDirection(
  values: readonly FilledIn[],
  { main, segments, others }: { main: Direction; segments: Segment[]; others: SidewaysText[] },
  transform: readonly number[],
): { filled: Segment[]; others: SidewaysText[] } {
  // Values run to the right on the page as it was before it was turned.
  const [x = 1, y = 0] = transform
  const isOwn = ({ cos, sin }: Direction) => cos * x + sin * y > 0 && cos * y === sin * x
  if (isOwn(main) || !others.some(isOwn))
    return { filled: fillIn(segments, values, boxIn(transform, main)), others }
  const filled = others.map((other) => {
    if (!isOwn(other)) return other
    return { ...other, segments: fillIn(other.segments, values, boxIn(transform, other)) }
  })
  return { filled: segments, others: filled }
}

/** The segments of a page in its main direction, and those in others. */
function toPageSegments(
  directions: readonly DirectedText[],
  content: TextContent,
  tags: TableTags | undefined,
): { main: Direction; segments: Segment[]; others: SidewaysText[] } {
  const [first] = directions
  // A page of nothing but slanted text is an upright one with a watermark.
  const main = first !== undefined && isParallel(first) ? first : { ...upright, pieces: [] }
  const read = ({ pieces }: DirectedText) => withoutRepeats(toSegments(pieces, content.styles))
  const own = joinFractions(read(main))
  const turned = directions
    .filter((each) => each !== main)
    .map((each) => ({ cos: each.cos, sin: each.sin, segments: read(each) }))
  if (tags !== undefined && tags.cells.size > 0) {
    const { cells, others } = takeCells(main, turned)
    return { main, segments: withTables([...own, ...cells], tags), others }
  }
  const { headers, others } = takeHeaders(own, main, turned)
  return { main, segments: [...cutAtAlignedGaps(own), ...headers], others }
}

function isParallel({ cos, sin }: Direction): boolean {
  return cos === 0 || sin === 0
}

/** Lines in other directions than the page, each direction in its own order. */
function sidewaysLines(
  others: readonly SidewaysText[],
  main: readonly Segment[],
  page: number,
  width: number,
): Line[] {
  const size = main.length === 0 ? 0 : median(main.map((segment) => segment.size))
  return others.flatMap((other) => {
    const lines = toLines(cutAtAlignedGaps(joinFractions(other.segments)), page)
    const isWatermark = mayBeWatermark(lines, other, size)
    return lines.map((line, at): Line => {
      const turned = isWatermark ? 'watermark' : isAtEdge(line, other, width) ? 'edge' : 'inside'
      return { ...line, turned, ...(at === 0 && { isApart: true }) }
    })
  })
}

function isAtEdge({ x0, x1, y }: Line, direction: Direction, width: number): boolean {
  const places = [x0, x1].map((x) => turnBack({ x, y }, direction).x)
  const isLeft = places.every((x) => x < width * edgeZone)
  return isLeft || places.every((x) => x > width * (1 - edgeZone))
}

/** Signatures with their drawn text, and with what that does not say. */
function signatures({ drawn }: Annotations, drawing: Drawing | undefined): FilledIn[] {
  return [...drawn].flatMap(([id, { rect, isSignature, lines }]) => {
    if (!isSignature) return []
    const text = drawing?.texts.get(id) ?? ''
    const shown = text.replace(/\s+/g, '')
    const isShown = (line: string) =>
      shown.includes(line.slice(line.indexOf(':') + 1).replace(/\s+/g, ''))
    const all = [...(text === '' ? [] : [text]), ...lines.filter((line) => !isShown(line))]
    return all.length === 0 ? [] : [{ lines: all, rect, isBox: false }]
  })
}

function stamps(
  { drawn }: Annotations,
  drawing: Drawing | undefined,
): { text: string; rect: readonly number[] }[] {
  return [...drawn].flatMap(([id, { rect, isSignature }]) => {
    const text = drawing?.texts.get(id) ?? ''
    return isSignature || text === '' ? [] : [{ text, rect }]
  })
}

function toNote(text: string, box: { x0: number; x1: number; top: number; bottom: number }): Note {
  return { text, x: (box.x0 + box.x1) / 2, y: (box.top + box.bottom) / 2 }
}

/** Descriptions of pictures, where they are; those without one are told, unless they are the scan of the page. */
function pictureNotes(
  tags: TableTags | undefined,
  content: TextContent,
  page: {
    transform: readonly number[]
    main: Direction
    omissions: Omissions
    number: number
    isScan: boolean
  },
): Note[] {
  const pictures = tags?.pictures ?? []
  const toBox = boxIn(page.transform, page.main)
  return pictures.flatMap(({ alt, bbox, after }) => {
    if (alt === undefined) {
      if (page.isScan) return []
      page.omissions.add('picture_without_text', { page: page.number })
      return []
    }
    // Some programs state the size only.
    const isPlaced = bbox !== undefined && (bbox[0] !== 0 || bbox[1] !== 0)
    if (isPlaced) return [toNote(alt, toBox(bbox))]
    const place = after === undefined ? undefined : placeOf(after, content, page.transform)
    return [{ text: alt, ...turn(place ?? { x: 0, y: 0 }, page.main) }]
  })
}

/** The position of the last text of a marked part, on the upright page. */
function placeOf(id: string, { items }: TextContent, transform: readonly number[]) {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = transform
  const start = items.findIndex((item) => 'id' in item && item.id === id)
  const end = items.findIndex((item, at) => at > start && 'type' in item)
  const text = items.slice(start, end === -1 ? undefined : end).findLast((item) => 'str' in item)
  if (start === -1 || text === undefined || !('transform' in text)) return undefined
  const [x = 0, y = 0] = text.transform.slice(4)
  return { x: a * x + c * y + e, y: b * x + d * y + f }
}

/** Comments often repeat the text that they mark. */
function withoutShown(notes: readonly Note[], lines: readonly Line[]): Note[] {
  if (notes.length === 0) return []
  const simplify = (text: string) => text.replace(/\s+/g, '').toLowerCase()
  const shown = simplify(lines.map(({ text }) => text).join(''))
  return notes.filter(({ text }) => !shown.includes(simplify(text)))
}
