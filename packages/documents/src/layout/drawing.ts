import { identity, type Matrix, multiply, toMatrix } from './matrix.js'
import type { OperatorList, OptionalContent, PdfPage, TextContent } from './parser.js'
import type { Picture } from './pictures.js'

/** Properties of a page that only its drawing operators have. */
export interface Drawing {
  /** Pictures, or what may be one. */
  pictures: Picture[]
  /** Text of stamps and signatures, by the id of the annotation. */
  texts: Map<string, string>
  /** For each marked part that belongs to a layer, in order: whether the layer is shown. */
  layers: { isShown: boolean; isForm: boolean }[]
}

/** Share of the page below which a picture is not counted, such as a letter of a font of pictures. */
const minPicture = 0.004
/** Nested states of drawing that are followed, and pictures of a page. */
const maxDepth = 100
const maxPictures = 2000

interface Glyph {
  unicode?: string
}

/** Reads the drawing of a page. Takes as long as reading its text, so it is done only where it is needed. */
export async function readDrawing(
  page: PdfPage,
  area: number,
  layers: OptionalContent | undefined,
): Promise<Drawing> {
  const { OPS } = await import('unpdf/pdfjs')
  const operators = await page.getOperatorList()
  return {
    pictures: picturesOf(operators, area, OPS),
    texts: annotationTexts(operators, OPS),
    layers: layers === undefined ? [] : layersOf(operators, layers, OPS),
  }
}

type Codes = Readonly<Record<string, number>>

/**
 * Pictures are drawn on a square of one unit, so an operator that stretches it to a considerable part of the page
 * draws a picture. The parser leaves out pictures themselves, because it does not decode them.
 */
function picturesOf({ fnArray, argsArray }: OperatorList, area: number, codes: Codes): Picture[] {
  const pictures: Picture[] = []
  const saved: Matrix[] = []
  let matrix = identity
  fnArray.forEach((code, at) => {
    if (code === codes.save || code === codes.paintFormXObjectBegin) {
      if (saved.length < maxDepth) saved.push(matrix)
      const inner = code === codes.save ? undefined : toMatrix(asList(asList(argsArray[at])[0]))
      if (inner !== undefined) matrix = multiply(matrix, inner)
    } else if (code === codes.restore || code === codes.paintFormXObjectEnd) {
      matrix = saved.pop() ?? identity
    } else if (code === codes.transform) {
      const own = toMatrix(asList(argsArray[at]))
      if (own === undefined) return
      matrix = multiply(matrix, own)
      const share = Math.abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]) / area
      if (share < minPicture || pictures.length >= maxPictures) return
      pictures.push({ matrix, pixels: undefined, object: undefined, isDescribed: false })
    }
  })
  return pictures
}

function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return ArrayBuffer.isView(value) && 'length' in value ? Array.from(value as Float32Array) : []
}

/** The text that each annotation draws, in one line. */
function annotationTexts({ fnArray, argsArray }: OperatorList, codes: Codes): Map<string, string> {
  const texts = new Map<string, string>()
  let id: string | undefined
  fnArray.forEach((code, at) => {
    const [first] = asList(argsArray[at])
    if (code === codes.beginAnnotation) id = typeof first === 'string' ? first : undefined
    else if (code === codes.endAnnotation) id = undefined
    if (id === undefined) return
    if (code === codes.showText) texts.set(id, (texts.get(id) ?? '') + toText(asList(first)))
    // Each line is placed by itself.
    else if (code === codes.moveText || code === codes.setTextMatrix || code === codes.nextLine) {
      texts.set(id, `${texts.get(id) ?? ''} `)
    }
  })
  return new Map([...texts].map(([key, text]) => [key, text.replace(/\s+/g, ' ').trim()]))
}

/** Glyphs and, between them, their distances in thousandths of the font size. */
function toText(glyphs: readonly unknown[]): string {
  return glyphs
    .map((glyph) => {
      if (typeof glyph === 'number') return glyph < -200 ? ' ' : ''
      return isGlyph(glyph) ? (glyph.unicode ?? '') : ''
    })
    .join('')
}

function isGlyph(value: unknown): value is Glyph {
  return typeof value === 'object' && value !== null && 'unicode' in value
}

function layersOf(
  { fnArray, argsArray }: OperatorList,
  layers: OptionalContent,
  codes: Codes,
): Drawing['layers'] {
  return fnArray.flatMap((code, at) => {
    const [tag, group] = asList(argsArray[at])
    if (code !== codes.beginMarkedContentProps || tag !== 'OC') return []
    const next = fnArray[at + 1]
    const isForm = next === codes.paintFormXObjectBegin || next === codes.beginGroup
    return [{ isShown: group === null || layers.isVisible(group), isForm }]
  })
}

/**
 * Returns a test for the items of a page, in their order: whether an item is in a layer that is not shown. Items do
 * not name their layer, but the layers begin in the order of the drawing.
 *
 * @param onHidden called for each text in such a layer
 */
export function createLayerFilter(
  content: TextContent,
  layers: Drawing['layers'],
  onHidden: () => void,
): (item: TextContent['items'][number]) => boolean {
  const isLayer = (item: TextContent['items'][number]) => 'tag' in item && item.tag === 'OC'
  const count = content.items.filter(isLayer).length
  const own = layers.length === count ? layers : layers.filter(({ isForm }) => !isForm)
  if (own.length !== count || own.every(({ isShown }) => isShown)) return () => false
  const open: boolean[] = []
  let next = 0
  return (item) => {
    if ('str' in item) {
      const isHidden = open.includes(true)
      if (isHidden && item.str.trim() !== '') onHidden()
      return isHidden
    }
    if (item.type === 'endMarkedContent') open.pop()
    else {
      open.push(isLayer(item) && own[next]?.isShown === false)
      if (isLayer(item)) next += 1
    }
    return false
  }
}

/** Whether a document has a layer that is not shown when it is opened. */
export function hasHiddenLayer(layers: OptionalContent): boolean {
  return [...layers].some(([, { visible }]) => !visible)
}
