import type { Label } from '../document/flow.js'
import { writeNumber } from '../document/numbering-formats.js'
import { type NumberingReference, type ParagraphStyle, toggle } from './docx-styles.js'
import { attribute, descend, elements, type XmlElement } from './xml.js'

/** A paragraph in a list, with the label that Word computes for it. */
export interface Numbered {
  /** Undefined where the list shows none, as that of a second paragraph of an item. */
  label: Label | undefined
  /** From 0. */
  level: number
}

/** Counts the paragraphs of a document in their order. */
export interface Numbering {
  /**
   * Counts a paragraph that is shown, text or none.
   *
   * @param own the numbering of the paragraph itself
   * @returns undefined if it is in no list
   */
  next(own: NumberingReference | undefined, style: ParagraphStyle | undefined): Numbered | undefined
}

const levelCount = 9
/** Links from a list to a style to another list; a loop ends here. */
const maxLinks = 10
/** Longer labels are a mistake or an attack. */
const maxLabelLength = 200
const maxValue = 1_000_000_000

interface Level {
  start: number
  /** As Word names it, such as `lowerRoman`. */
  format: string
  /** With `%1` and so on for the numbers of the levels. */
  text: string
  /** Whether the numbers of all levels are written as decimal. */
  legal: boolean
  /** The level, from 1, above which none starts this one anew; 0: nothing does; undefined: every higher one. */
  restart?: number
  /** Id of the style of paragraphs whose level it is. */
  style?: string
}

/** A list. Lists with one definition count together. */
interface List {
  levels: readonly Level[]
  /** The numbers that the levels are at. */
  values: (number | undefined)[]
  /** Numbers at which this list starts anew, by level. */
  starts: ReadonlyMap<number, number>
  /** Levels that have started at the number of this list. */
  started: Set<number>
}

/** @param styles ids of lists by the ids of the styles of lists */
export function createNumbering(
  root: XmlElement | undefined,
  styles: ReadonlyMap<string, string>,
): Numbering {
  const lists = readLists(root, styles)
  return {
    next(own, style) {
      const id = own?.list ?? style?.numbering?.list
      // List 0 removes a paragraph from the list of its style.
      if (id === undefined || id === '0') return undefined
      const list = lists.get(id)
      const level = levelOf(own, style, list)
      if (list === undefined) return { label: { type: 'bullet' }, level }
      count(list, level)
      return { label: labelOf(list, level), level }
    },
  }
}

function levelOf(
  own: NumberingReference | undefined,
  style: ParagraphStyle | undefined,
  list: List | undefined,
): number {
  const linked = style?.chain
    .map((id) => list?.levels.findIndex((level) => level.style === id) ?? -1)
    .find((at) => at !== -1)
  const inherited = own?.list === undefined ? style?.numbering?.level : undefined
  const level = Math.trunc(own?.level ?? linked ?? inherited ?? 0)
  return Math.min(Math.max(level, 0), levelCount - 1)
}

function count(list: List, level: number): void {
  const { levels, values, starts, started } = list
  const startsAnew = starts.has(level) && !started.has(level)
  const value = values[level]
  values[level] =
    value === undefined || startsAnew ? startOf(list, level) : Math.min(value + 1, maxValue)
  started.add(level)
  for (let deeper = level + 1; deeper < levelCount; deeper += 1) {
    const restart = levels[deeper]?.restart
    if (restart === undefined || level < restart) values[deeper] = undefined
  }
}

function startOf({ levels, starts }: List, level: number): number {
  return starts.get(level) ?? levels[level]?.start ?? 1
}

function labelOf(list: List, at: number): Label | undefined {
  const level = list.levels[at]
  if (level === undefined) return { type: 'bullet' }
  if (level.format === 'bullet') return level.text.trim() === '' ? undefined : { type: 'bullet' }
  const text = level.text.replace(/%([1-9])/g, (_, digit: string) => {
    const other = Number(digit) - 1
    const format = list.levels[other]?.format ?? 'decimal'
    if (format === 'bullet') return ''
    const isLegal = level.legal && format !== 'none'
    return writeNumber(list.values[other] ?? startOf(list, other), isLegal ? 'decimal' : format)
  })
  const label = text.replace(/\s+/g, ' ').trim().slice(0, maxLabelLength)
  return label === '' ? undefined : { type: 'text', text: label }
}

function readLists(
  root: XmlElement | undefined,
  styles: ReadonlyMap<string, string>,
): Map<string, List> {
  const definitions = new Map(
    elements(root, 'abstractNum').map((each) => [attribute(each, 'abstractNumId') ?? '', each]),
  )
  const nums = new Map(elements(root, 'num').map((num) => [attribute(num, 'numId') ?? '', num]))
  const values = new Map<string, (number | undefined)[]>()
  const levels = new Map<string, Level[]>()
  const lists = new Map<string, List>()
  for (const [id, num] of nums) {
    const definition = definitionOf(id, nums, definitions, styles)
    const own = values.get(definition) ?? []
    values.set(definition, own)
    const defined = levels.get(definition) ?? readLevels(definitions.get(definition))
    levels.set(definition, defined)
    const overrides = elements(num, 'lvlOverride')
    lists.set(id, {
      values: own,
      levels: overrides.some((each) => descend(each, 'lvl') !== undefined)
        ? withLevels(
            defined,
            overrides.flatMap((each) => elements(each, 'lvl')),
          )
        : defined,
      starts: new Map(
        overrides.flatMap((each): [number, number][] => {
          const start = attribute(descend(each, 'startOverride'), 'val')
          return start === undefined ? [] : [[Number(attribute(each, 'ilvl')), toNumber(start, 1)]]
        }),
      ),
      started: new Set(),
    })
  }
  return lists
}

/** The id of the definition of a list, which may be that of the style that its own one names. */
function definitionOf(
  list: string,
  nums: ReadonlyMap<string, XmlElement>,
  definitions: ReadonlyMap<string, XmlElement>,
  styles: ReadonlyMap<string, string>,
): string {
  let id = attribute(descend(nums.get(list), 'abstractNumId'), 'val') ?? ''
  for (let links = 0; links < maxLinks; links += 1) {
    const style = attribute(descend(definitions.get(id), 'numStyleLink'), 'val')
    const linked = style === undefined ? undefined : nums.get(styles.get(style) ?? '')
    if (linked === undefined) break
    id = attribute(descend(linked, 'abstractNumId'), 'val') ?? ''
  }
  return id
}

function readLevels(definition: XmlElement | undefined): Level[] {
  return withLevels([], elements(definition, 'lvl'))
}

function withLevels(levels: readonly Level[], defined: readonly XmlElement[]): Level[] {
  const all = [...levels]
  for (const element of defined) {
    const at = Number(attribute(element, 'ilvl'))
    if (Number.isInteger(at) && at >= 0 && at < levelCount) all[at] = toLevel(element, at)
  }
  // A level that is not defined is a bullet.
  return Array.from({ length: levelCount }, (_, at) => all[at] ?? bulletLevel)
}

const bulletLevel: Level = { start: 1, format: 'bullet', text: '•', legal: false }

function toLevel(element: XmlElement, at: number): Level {
  const value = (name: string) => attribute(descend(element, name), 'val')
  const restart = value('lvlRestart')
  const style = value('pStyle')
  return {
    start: toNumber(value('start'), 1),
    format: formatOf(element),
    // A picture as a bullet has no text.
    text:
      value('lvlPicBulletId') === undefined
        ? (value('lvlText') ?? `%${at + 1}.`).slice(0, maxLabelLength)
        : '•',
    legal: toggle(element, 'isLgl') === true,
    ...(restart !== undefined && { restart: toNumber(restart, 0) }),
    ...(style !== undefined && { style }),
  }
}

/** Newer formats stand beside one that older programs know. */
function formatOf(element: XmlElement): string {
  const format =
    descend(element, 'numFmt') ??
    descend(element, 'AlternateContent', 'Fallback', 'numFmt') ??
    descend(element, 'AlternateContent', 'Choice', 'numFmt')
  const name = attribute(format, 'val') ?? 'decimal'
  // `001, 002, 003, ...` is a format of its own.
  return name === 'custom' ? 'decimalZero' : name
}

function toNumber(text: string | undefined, otherwise: number): number {
  const value = Math.trunc(Number(text ?? otherwise))
  return Number.isFinite(value) ? Math.min(Math.max(value, 0), maxValue) : otherwise
}
