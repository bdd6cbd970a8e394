import type { Label } from '../document/flow.js'
import { writeNumber } from '../document/numbering-formats.js'
import { type ListLevel, levelCount, type OdtStyles } from './odt-styles.js'
import { attribute, type XmlElement } from './xml.js'

/** The numbers that the levels of a list are at. */
type Counters = (number | undefined)[]

/** A list at the level that is being read. */
export interface OpenList {
  /** Name of its style, unless its paragraphs say it. */
  style: string | undefined
  /** From 0. */
  level: number
  counters: Counters
}

/** Counts the items of lists and the headings of a document in their order. */
export interface OdtNumbering {
  /** Begins a list, within another one or by itself. */
  open(element: XmlElement, parent: OpenList | undefined): OpenList
  /**
   * Counts an item, and returns its label; undefined if its level has none.
   *
   * @param paragraphStyle of its first paragraph
   */
  item(list: OpenList, item: XmlElement, paragraphStyle: string): Label | undefined
  /** Counts a heading outside of lists. */
  heading(element: XmlElement, level: number): Label | undefined
}

const maxValue = 1_000_000_000
/** Longer labels are a mistake or an attack. */
const maxLabelLength = 200

export function createOdtNumbering(styles: OdtStyles): OdtNumbering {
  const byId = new Map<string, Counters>()
  const byStyle = new Map<string, Counters>()
  const outline: Counters = []

  return {
    open(element, parent) {
      const style = attribute(element, 'style-name') ?? parent?.style
      if (parent !== undefined) {
        const level = Math.min(parent.level + 1, levelCount - 1)
        return { style, level, counters: parent.counters }
      }
      const continued = byId.get(attribute(element, 'continue-list') ?? '')
      const isContinued = attribute(element, 'continue-numbering') === 'true'
      const counters = continued ?? (isContinued ? byStyle.get(style ?? '') : undefined) ?? []
      byStyle.set(style ?? '', counters)
      const id = attribute(element, 'id')
      if (id !== undefined) byId.set(id, counters)
      return { style, level: 0, counters }
    },
    item({ style, level, counters }, item, paragraphStyle) {
      const levels = styles.list(style ?? styles.listOf(paragraphStyle) ?? '')
      count(counters, level, levels, attribute(item, 'start-value'))
      return levels === undefined ? { type: 'bullet' } : labelOf(counters, level, levels)
    },
    heading(element, level) {
      const at = Math.min(Math.max(level - 1, 0), levelCount - 1)
      const isUncounted =
        attribute(element, 'is-list-header') === 'true' ||
        styles.listOf(attribute(element, 'style-name') ?? '') === ''
      if (isUncounted || styles.outline.length === 0) return undefined
      const restarts = attribute(element, 'restart-numbering') === 'true'
      if (restarts) outline[at] = undefined
      count(outline, at, styles.outline, attribute(element, 'start-value'))
      const label = labelOf(outline, at, styles.outline)
      return label?.type === 'text' ? label : undefined
    },
  }
}

function count(
  counters: Counters,
  level: number,
  levels: readonly ListLevel[] | undefined,
  stated: string | undefined,
): void {
  const start = Math.trunc(Number(stated ?? Number.NaN))
  const value = counters[level]
  if (Number.isFinite(start)) counters[level] = Math.min(Math.max(start, 0), maxValue)
  else
    counters[level] = value === undefined ? startOf(levels, level) : Math.min(value + 1, maxValue)
  counters.length = Math.min(counters.length, level + 1)
}

function startOf(levels: readonly ListLevel[] | undefined, level: number): number {
  return Math.min(Math.max(levels?.[level]?.start ?? 1, 0), maxValue)
}

function labelOf(counters: Counters, at: number, levels: readonly ListLevel[]): Label | undefined {
  const level = levels[at]
  if (level === undefined || level.format === 'bullet') return { type: 'bullet' }
  const numbers: string[] = []
  for (let other = Math.max(at - level.shown + 1, 0); other <= at; other += 1) {
    const format = levels[other]?.format ?? 'decimal'
    if (format === 'bullet' || format === 'none') continue
    numbers.push(writeNumber(counters[other] ?? startOf(levels, other), format))
  }
  // A level without a number of its own shows only the text around it.
  const shown = level.format === 'none' ? '' : numbers.join('.')
  const text = `${level.prefix}${shown}${level.suffix}`.replace(/\s+/g, ' ').trim()
  return text === '' ? undefined : { type: 'text', text: text.slice(0, maxLabelLength) }
}
