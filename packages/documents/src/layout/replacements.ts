import { largest, smallest } from './measures.js'
import type { Mark } from './page-contents.js'
import type { TextContent, TextItem } from './parser.js'

/** Text that stands for the glyphs of a part of a document. */
export interface Replacement {
  /** Text that is read instead (`ActualText`). */
  text?: string
  /** Long form of the abbreviation (`E`), read after it. */
  expansion?: string
}

/** Replaces glyphs by the text that stands for them. */
export interface Replacer {
  /**
   * @param content with its marked content
   * @param marks of the page, in order
   * @param onCut called for each text that is longer than what is read
   */
  replace(content: TextContent, marks: readonly Mark[], onCut: () => void): TextContent
}

type Item = TextContent['items'][number]

/** Characters of one text, and of all of them in a document; beyond, the glyphs are read. */
const maxTextLength = 100_000
const maxLength = 10_000_000
/** Marks that may be missing in one of two readings of a page. */
const maxSkipped = 64
/** Items behind one that are looked at. */
const maxLookahead = 50
/** Size of text that stands for a picture, where the page has no text. */
const usualSize = 10
/** Ratio of the size of a large initial to that of the rest of its word. */
const initialRatio = 1.6
const hyphen = /^[\u00ad\u2010\u2011-]$/
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** @param structure replacements of elements of the structure, by the ids of the contents in them */
export function createReplacer(structure: () => ReadonlyMap<string, Replacement>): Replacer {
  let left = maxLength

  return {
    replace: (content, marks, onCut) => {
      const parts = partsOf(content.items, marks, structure())
      if (parts.length === 0) return content
      const changed = new Map<Item, Item[]>()
      const page = toPageItems(content)
      for (const part of parts) {
        const { text, expansion } = part.replacement
        const length = (text ?? '').length + (expansion ?? '').length
        left -= Math.min(length, maxTextLength * 2)
        if (left < 0 || length > maxTextLength) onCut()
        if (left < 0) continue
        replacePart(part, page, changed)
      }
      return {
        ...content,
        items: content.items.flatMap((item) => changed.get(item) ?? [item]),
      }
    },
  }
}

/** The items of a part of a page that a text stands for. */
interface Part {
  replacement: Replacement
  texts: TextItem[]
  /** The item with which it begins. */
  begin: Item
  mark: Mark | undefined
}

/** Finds the parts with a replacement; of parts in each other the outermost. */
function partsOf(
  items: readonly Item[],
  marks: readonly Mark[],
  structure: ReadonlyMap<string, Replacement>,
): Part[] {
  const parts = new Map<Replacement, Part>()
  const open: (Part | undefined)[] = []
  const next = createMarkFinder(marks)
  for (const item of items) {
    if ('str' in item) {
      const part = open.at(-1)
      if (item.str !== '' || part !== undefined) part?.texts.push(item)
    } else if (item.type === 'endMarkedContent') open.pop()
    else {
      const mark = next(item)
      const own = open.at(-1) ?? toPart(item, mark)
      open.push(own)
    }
  }
  return [...parts.values()]

  function toPart(item: Item, mark: Mark | undefined): Part | undefined {
    const id = 'id' in item && typeof item.id === 'string' ? item.id : undefined
    const element = id === undefined ? undefined : structure.get(id)
    const stated = mark?.text ?? (mark?.picture === undefined ? undefined : mark.alt)
    const own = stated === undefined ? undefined : { text: stated }
    const expanded = mark?.expansion === undefined ? undefined : { expansion: mark.expansion }
    const replacement = element ?? own ?? expanded
    if (replacement === undefined) return undefined
    const part = parts.get(replacement) ?? { replacement, texts: [], begin: item, mark }
    parts.set(replacement, part)
    return part
  }
}

/** Returns a function that finds the mark of each item that begins a marked part, in their order. */
function createMarkFinder(marks: readonly Mark[]): (item: Item) => Mark | undefined {
  let at = 0
  return (item) => {
    const tag = 'tag' in item ? (item.tag ?? undefined) : undefined
    const content = 'id' in item ? /_mc(\d+)$/.exec(item.id ?? '')?.[1] : undefined
    for (let step = at; step < Math.min(marks.length, at + maxSkipped); step += 1) {
      const mark = marks[step]
      if (mark?.tag !== tag || (content !== undefined && Number(content) !== mark?.content))
        continue
      at = step + 1
      return mark
    }
    return undefined
  }
}

/** The items of a page; parts are many, so that none may search all of them. */
interface PageItems {
  /** The items from one on, a few. */
  from(item: Item): Item[]
  /** A text that is not blank, in whose font texts without a glyph are read. */
  usual: TextItem | undefined
}

function toPageItems({ items }: TextContent): PageItems {
  const places = new Map(items.map((item, at) => [item, at]))
  return {
    from: (item) => {
      const at = places.get(item) ?? items.length
      return items.slice(at, at + maxLookahead)
    },
    usual: items.find((item): item is TextItem => isText(item) && item.str.trim() !== ''),
  }
}

function replacePart(
  { replacement, texts, begin, mark }: Part,
  page: PageItems,
  changed: Map<Item, Item[]>,
): void {
  const { expansion } = replacement
  const text = cleaned(replacement.text)
  const last = texts.findLast(({ str }) => str.trim() !== '')
  if (text === undefined) {
    const long = cleaned(expansion) ?? ''
    if (last !== undefined && long !== '')
      changed.set(last, [{ ...last, str: `${last.str.trimEnd()} (${long})` }])
    return
  }
  if (last === undefined) {
    const added =
      mark?.picture === undefined ? undefined : pictureText(text, mark.picture, page.usual)
    if (added === undefined || text === '') return
    changed.set(begin, [begin, added])
    // The parser takes the room of the picture for a space.
    const next = page.from(begin).find(isText)
    const isRoom = next?.str.trim() === '' && startOf(next) < startOf(added) + added.width / 2
    if (next !== undefined && isRoom) changed.set(next, [])
    return
  }
  const glyphs = texts.map(({ str }) => str).join('')
  const [low, high] = heightsOf(texts)
  if (lettersOf(glyphs) === lettersOf(text) && high < low * initialRatio) return
  // A hyphen at the end of a line is no part of its word.
  const isHyphen = hyphen.test(glyphs.trim()) && (text === '' || text === '\u00ad')
  const str = isHyphen && endsLine(last, page) ? '\u00ad' : isHyphen ? '' : text
  const main = texts.reduce((most, each) => (isMain(each, most) ? each : most))
  for (const each of texts)
    changed.set(each, each === main && str !== '' ? [withText(main, texts, str)] : [])
}

function isText(item: Item): item is TextItem {
  return 'str' in item
}

function startOf({ transform }: TextItem): number {
  return transform[4] ?? 0
}

function heightsOf(texts: readonly TextItem[]): [smallest: number, tallest: number] {
  const heights = texts.filter(({ str }) => str.trim() !== '').map(({ height }) => height)
  return [smallest(heights), largest(heights)]
}

function cleaned(text: string | undefined): string | undefined {
  return text?.slice(0, maxTextLength).replace(/\s+/g, ' ').trim()
}

function lettersOf(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, '')
}

/** Whether the text of an item is better placed: a large initial stands lower than the rest of its word. */
function isMain(item: TextItem, other: TextItem): boolean {
  const [own, length] = [item.str.trim().length, other.str.trim().length]
  return own > length || (own === length && own > 0 && item.height < other.height * 0.8)
}

function withText(main: TextItem, texts: readonly TextItem[], str: string): TextItem {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = main.transform
  const dir = rightToLeft.test(str) ? 'rtl' : 'ltr'
  const isUpright = b === 0 && c === 0 && a > 0
  const beside = texts.filter(
    ({ transform, str: own }) =>
      own.trim() !== '' &&
      transform[1] === 0 &&
      Math.abs((transform[5] ?? 0) - f) < main.height * 2 &&
      (transform[4] ?? 0) <= e + main.width + main.height * 2,
  )
  if (!isUpright || beside.length < 2) return { ...main, str, dir }
  const lefts = beside.map(({ transform }) => transform[4] ?? 0)
  const left = smallest(lefts)
  const right = largest(
    beside
      .filter(({ transform }) => Math.abs((transform[5] ?? 0) - f) < 1)
      .map(({ transform, width }) => (transform[4] ?? 0) + width),
  )
  return { ...main, str, dir, width: right - left, transform: [a, b, c, d, left, f] }
}

/** Whether the next text is on another line. */
function endsLine(item: TextItem, page: PageItems): boolean {
  const [, ...after] = page.from(item)
  const next = after.find((each): each is TextItem => isText(each) && each.str.trim() !== '')
  const [, , c = 0, d = 1, e = 0, f = 0] = item.transform
  if (next === undefined) return true
  const [, , , , x = 0, y = 0] = next.transform
  return Math.abs(c) > Math.abs(d)
    ? Math.abs(x - e) > item.height * 0.5
    : Math.abs(y - f) > item.height * 0.5
}

/** Text in the place of a picture, in the font of the text around it. */
function pictureText(
  str: string,
  picture: readonly number[],
  near: TextItem | undefined,
): TextItem | undefined {
  const size = near?.height || usualSize
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = picture
  // A small picture stands in a line; a large one is read at its upper edge.
  const [x, y] = [Math.min(e, e + a, e + c), Math.max(f, f + b, f + d)]
  const isSmall = Math.abs(d) < size * 2
  return {
    str,
    dir: rightToLeft.test(str) ? 'rtl' : 'ltr',
    width: Math.abs(a),
    height: size,
    transform: [size, 0, 0, size, x, isSmall ? Math.min(f, f + d) + size * 0.1 : y - size],
    fontName: near?.fontName ?? '',
  }
}
