import type { TextContent, TextItem } from './parser.js'

/** A piece of text of the parser, in coordinates in which its text runs to the right. */
export interface Piece {
  text: string
  x: number
  /** Baseline. */
  y: number
  width: number
  size: number
  font: string
  rightToLeft: boolean
  /** Number on the page of the tagged cell that it belongs to. */
  cell: number | undefined
}

/** Direction of text, as cosine and sine of its angle on the upright page, whose y-axis points down. */
export interface Direction {
  cos: number
  sin: number
}

/** The text of a page that runs in one direction. */
export interface DirectedText extends Direction {
  pieces: Piece[]
}

/** A point in the coordinates of the upright page: points from its left upper corner. */
export interface Point {
  x: number
  y: number
}

const right: Direction = { cos: 1, sin: 0 }
/** Directions of slanted text that are read; letters along a curve have more of them. */
const maxDirections = 24
/** Sine below which text is parallel to an edge of the page. */
const maxSlope = 0.1
/** The mark of an item in bitmap fonts of TeX (TS1), whose characters have codes but no names. */
const texBullet = '\u0088'
/** Shapes of Hebrew and Arabic letters by their place in a word. */
const presentationForms = /[\ufb1d-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]/g
const toLetters = (form: string) => form.normalize('NFKC')
/** Difference of directions that are the same, as a sine. */
const sameDirection = 0.035

/**
 * The text of a page by its direction, the one with the most text first. Text that is parallel to an edge of
 * the page comes before slanted text, such as a watermark over a page of little text.
 *
 * @param transform from the coordinates of the page to the upright page
 * @param cells tagged cells by the id of their content
 * @param isHidden whether the next item is in a layer that is not shown; called with each item in order
 */
export function toDirections(
  content: TextContent,
  transform: readonly number[],
  cells: ReadonlyMap<string, number> = new Map(),
  isHidden: (item: TextContent['items'][number]) => boolean = () => false,
): DirectedText[] {
  const cellOf = createCellFinder(cells)
  const found: { direction: DirectedText; length: number }[] = []
  let current: (typeof found)[number] | undefined
  for (const item of content.items) {
    const cell = cellOf(item)
    if (isHidden(item) || !isText(item)) continue
    const isBlank = item.str.trim() === ''
    const placed = place(item, transform, content.styles[item.fontName]?.vertical === true)
    // A space of a font without size has no direction.
    if (!isBlank || current === undefined) current = findDirection(found, placed.direction)
    current.length += item.str.trim().length
    current.direction.pieces.push(toPiece(item, placed, current.direction, cell))
  }
  const isParallel = ({ direction: { cos, sin } }: (typeof found)[number]) => cos === 0 || sin === 0
  return found
    .filter(({ length }) => length > 0)
    .sort((a, b) => Number(isParallel(b)) - Number(isParallel(a)) || b.length - a.length)
    .map(({ direction }) => direction)
}

interface Placed extends Point {
  direction: Direction
  width: number
  size: number
}

/** The position of an item on the upright page. */
function place(item: TextItem, transform: readonly number[], isVertical: boolean): Placed {
  const [va = 1, vb = 0, vc = 0, vd = 1, ve = 0, vf = 0] = transform
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = item.transform
  const along = { x: va * a + vc * b, y: vb * a + vd * b }
  const across = { x: -(va * c + vc * d), y: -(vb * c + vd * d) }
  // In vertical writing, a line runs downwards and the next one is to the left of it.
  const { x, y } = isVertical ? across : along
  return {
    direction: toDirection(x, y),
    x: va * e + vc * f + ve,
    y: vb * e + vd * f + vf,
    width: isVertical ? item.height : item.width,
    size: (isVertical ? item.width : item.height) || Math.hypot(c, d) || 1,
  }
}

function toPiece(
  item: TextItem,
  { x, y, width, size }: Placed,
  direction: Direction,
  cell: number | undefined,
): Piece {
  return {
    text: item.str === texBullet ? '•' : item.str.replace(presentationForms, toLetters),
    ...turn({ x, y }, direction),
    width,
    size,
    font: item.fontName,
    rightToLeft: item.dir === 'rtl',
    cell,
  }
}

function findDirection(
  found: { direction: DirectedText; length: number }[],
  { cos, sin }: Direction,
): { direction: DirectedText; length: number } {
  const isSame = ({ direction }: (typeof found)[number]) =>
    direction.cos * cos + direction.sin * sin > 0 &&
    Math.abs(direction.cos * sin - direction.sin * cos) < sameDirection
  const known = found.find(isSame) ?? (found.length >= maxDirections ? found.at(-1) : undefined)
  if (known !== undefined) return known
  const added = { direction: { cos, sin, pieces: [] }, length: 0 }
  found.push(added)
  return added
}

/** Nearly parallel to an edge counts as parallel: scanned pages are never quite straight. */
function toDirection(x: number, y: number): Direction {
  const length = Math.hypot(x, y)
  if (!(length > 0)) return right
  const [cos, sin] = [x / length, y / length]
  if (Math.abs(sin) <= maxSlope) return { cos: Math.sign(cos), sin: 0 }
  if (Math.abs(cos) <= maxSlope) return { cos: 0, sin: Math.sign(sin) }
  return { cos, sin }
}

/** From the upright page to coordinates in which text of the direction runs to the right. */
export function turn({ x, y }: Point, { cos, sin }: Direction): Point {
  return { x: x * cos + y * sin, y: y * cos - x * sin }
}

/** The reverse of {@link turn}. */
export function turnBack({ x, y }: Point, { cos, sin }: Direction): Point {
  return { x: x * cos - y * sin, y: x * sin + y * cos }
}

/** Returns a function that is called with the items of a page in order and returns the cell that each is in. */
function createCellFinder(cells: ReadonlyMap<string, number>) {
  const open: (number | undefined)[] = []
  return (item: TextContent['items'][number]): number | undefined => {
    if (isText(item)) return open.at(-1)
    if (item.type === 'endMarkedContent') open.pop()
    else open.push(typeof item.id === 'string' ? cells.get(item.id) : open.at(-1))
    return undefined
  }
}

function isText(item: TextContent['items'][number]): item is TextItem {
  return 'str' in item
}
