import { type Label, withLabel } from '../document/flow.js'
import type { Span } from '../document/nodes.js'
import { writeNumber } from '../document/numbering-formats.js'
import { formulaText } from './omml.js'
import type { Relations } from './opc.js'
import { levelSpans, type PlacedSpan } from './raised-spans.js'
import { isSymbolFont, type OnUnknownSymbol, shownText } from './symbol-fonts.js'
import { attribute, descend, elements, textContent, type XmlElement } from './xml.js'

/** A paragraph of a slide. */
export interface SlideLine {
  spans: Span[]
  /** From 0. */
  level: number
  /** The label in front of it; undefined if the paragraph states none. */
  label: Label | undefined
  /** Whether the paragraph says that nothing stands in front of it. */
  isPlain: boolean
}

/** Context of the paragraphs of a slide. */
export interface SlideTextContext {
  relations: Relations
  onUnknownSymbol: OnUnknownSymbol
}

const levelCount = 9

/**
 * The paragraphs of a shape or a cell, with their numbers.
 *
 * @param above styles that the shape inherits, the nearest first
 */
export function readLines(
  body: XmlElement | undefined,
  context: SlideTextContext,
  above: readonly XmlElement[] = [],
): SlideLine[] {
  const numbers = createNumbers()
  const styles = descend(body, 'lstStyle')
  return elements(body, 'p').map((element) => {
    const properties = descend(element, 'pPr')
    const stated = Math.trunc(Number(attribute(properties, 'lvl') ?? 0)) || 0
    const level = Math.min(Math.max(stated, 0), levelCount - 1)
    const spans = readSpans(element, context)
    const ofLevel = (style: XmlElement | undefined) => markOf(descend(style, `lvl${level + 1}pPr`))
    const mark = markOf(properties) ?? ofLevel(styles) ?? inheritedMark(above.map(ofLevel))
    const isBlank = spans.every((span) => span.node === undefined && span.text.trim() === '')
    return {
      spans,
      level,
      // Empty paragraphs show no number and are not counted.
      label: isBlank ? undefined : numbers.label(level, mark),
      isPlain: mark?.name === 'buNone',
    }
  })
}

/** The paragraphs of a cell in one run of text, with their numbers. */
export function cellSpans(body: XmlElement | undefined, context: SlideTextContext): Span[] {
  return readLines(body, context).flatMap(({ spans, label }, index) => [
    ...(index === 0 ? [] : [{ text: ' ' }]),
    ...withLabel(label, spans),
  ])
}

/** Bullets that are inherited say little: nearly every master has them, also for paragraphs that are no items. */
function inheritedMark(marks: readonly (XmlElement | undefined)[]): XmlElement | undefined {
  const nearest = marks.find((mark) => mark !== undefined)
  return nearest?.name === 'buAutoNum' || nearest?.name === 'buNone' ? nearest : undefined
}

function markOf(properties: XmlElement | undefined): XmlElement | undefined {
  return elements(properties).find(({ name }) =>
    ['buNone', 'buAutoNum', 'buChar', 'buBlip'].includes(name),
  )
}

/** Counts numbered paragraphs: those of one level and one kind, without another of the level between them. */
function createNumbers() {
  const counts: ({ key: string; value: number } | undefined)[] = []
  return {
    label(level: number, mark: XmlElement | undefined): Label | undefined {
      counts.length = Math.min(counts.length, level + 1)
      if (mark?.name !== 'buAutoNum') {
        counts[level] = undefined
        return mark === undefined || mark.name === 'buNone' ? undefined : { type: 'bullet' }
      }
      const type = attribute(mark, 'type') ?? 'arabicPeriod'
      const start = Math.trunc(Number(attribute(mark, 'startAt') ?? 1)) || 1
      const key = `${type} ${start}`
      const last = counts[level]
      const value = last?.key === key ? last.value + 1 : Math.min(Math.max(start, 1), 32_767)
      counts[level] = { key, value }
      return { type: 'text', text: autoNumber(type, value) }
    },
  }
}

/** Formats of automatic numbers, by the beginnings of their names; longer ones first. */
const autoFormats: readonly (readonly [prefix: string, format: string])[] = [
  ['alphaLc', 'lowerLetter'],
  ['alphaUc', 'upperLetter'],
  ['romanLc', 'lowerRoman'],
  ['romanUc', 'upperRoman'],
  ['arabicDb', 'decimalFullWidth'],
  ['arabic1', 'arabicAlpha'],
  ['arabic2', 'arabicAbjad'],
  ['circleNum', 'decimalEnclosedCircle'],
  ['ea1Chs', 'chineseCounting'],
  ['ea1Cht', 'taiwaneseCounting'],
  ['ea1Jpn', 'japaneseCounting'],
  ['hebrew2', 'hebrew2'],
  ['thaiAlpha', 'thaiLetters'],
  ['thaiNum', 'thaiNumbers'],
  ['hindiNum', 'hindiNumbers'],
]

function autoNumber(type: string, value: number): string {
  const format = autoFormats.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'decimal'
  const number = writeNumber(value, format)
  if (type.endsWith('ParenBoth')) return `(${number})`
  if (type.endsWith('ParenR')) return `${number})`
  if (type.endsWith('Minus')) return `${number}-`
  return type.endsWith('Period') ? `${number}.` : number
}

/** The text of a paragraph, including fields such as dates. */
export function readSpans(element: XmlElement, context: SlideTextContext): Span[] {
  const spans = elements(element).flatMap((child): PlacedSpan[] => {
    switch (child.name) {
      case 'br':
        return [{ text: '', node: { type: 'break' } }]
      case 'r':
      case 'fld':
        return [readRun(child, context)]
      case 'm':
      case 'AlternateContent':
        return [{ text: ` ${formulaText(descend(child, 'Choice') ?? child)} ` }]
      default:
        return []
    }
  })
  return levelSpans(spans)
}

function readRun(run: XmlElement, { relations, onUnknownSymbol }: SlideTextContext): PlacedSpan {
  const properties = descend(run, 'rPr')
  const relation = relations.get(attribute(descend(properties, 'hlinkClick'), 'id') ?? '')
  const baseline = Number.parseInt(attribute(properties, 'baseline') ?? '0', 10)
  const fonts = ['sym', 'latin'].map((name) => attribute(descend(properties, name), 'typeface'))
  return {
    text: shownText(textContent(descend(run, 't')), fontOf(fonts), onUnknownSymbol),
    ...(isTrue(attribute(properties, 'b')) && { bold: true }),
    ...(isTrue(attribute(properties, 'i')) && { italic: true }),
    ...(relation?.external === true && { url: relation.target }),
    ...(baseline > 0 && { position: 'raised' as const }),
    ...(baseline < 0 && { position: 'lowered' as const }),
  }
}

/** The font of symbols only if that of the letters is one too: PowerPoint states both. */
function fontOf([symbols, latin]: readonly (string | undefined)[]): string | undefined {
  return isSymbolFont(latin) ? latin : latin === undefined ? symbols : undefined
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}
