import {
  builtInFormat,
  createNumberFormat,
  createTextFormat,
  type NumberFormat,
  showGeneral,
} from './number-format.js'
import { levelSpans, type PlacedSpan } from './raised-spans.js'
import {
  attribute,
  descend,
  elements,
  findElements,
  readXml,
  textContent,
  type XmlElement,
} from './xml.js'

/** The reason for which a cell is not read, or not as the author sees it. */
export type CellFault = 'formula_without_value' | 'missing_part' | 'picture_without_text'

/** Turns cells into the text that users of the workbook see. */
export interface CellReader {
  /** @param onFault called if the cell has something that is not in its text */
  text(cell: XmlElement, onFault: (fault: CellFault) => void): string
}

interface Style {
  number: NumberFormat
  text?: (text: string) => string
}

/** Formats that are prepared for one workbook; more are shown as `General`. Excel allows about 250 of an author's own. */
const maxFormats = 1000
const general: Style = { number: showGeneral }

/**
 * @param shared strings that cells refer to by number
 * @param styles the part with the number formats
 * @param workbook has the year from which days are counted
 */
export function createCellReader(
  shared: readonly string[],
  styles: XmlElement | undefined,
  workbook: XmlElement,
): CellReader {
  const styleOf = createStyles(styles, isFrom1904(workbook))

  return {
    text(cell, onFault) {
      const value = textContent(descend(cell, 'v'))
      const { t: type, s: index = 0, vm } = cell.attributes
      const style = styleOf(Number(index))
      if (value === '' && type !== 'str' && type !== 'inlineStr') {
        if (descend(cell, 'f') !== undefined) onFault('formula_without_value')
        return ''
      }
      switch (type) {
        case 's': {
          const text = shared[Number(value)]
          if (text === undefined) onFault('missing_part')
          return toShownText(text ?? '', style)
        }
        case 'inlineStr':
          return toShownText(richText(descend(cell, 'is')), style)
        case 'str':
          return toShownText(decodeEscapes(value), style)
        case 'b':
          return value === '1' ? 'TRUE' : 'FALSE'
        case 'e':
          // A picture in a cell is an error with rich data behind it.
          if (value !== '#VALUE!' || vm === undefined) return value
          onFault('picture_without_text')
          return ''
        case 'd':
          return style.number === showGeneral ? value : style.number(toDays(value))
        default:
          return style.number(value)
      }
    },
  }
}

/** Longer texts are shown as they are: a format may write them dozens of times. */
const maxFormattedText = 1000

function toShownText(text: string, { text: format }: Style): string {
  if (format === undefined || text === '' || text.length > maxFormattedText) return text
  return format(text)
}

/**
 * Reads the strings of a workbook that cells refer to by number, each in one line: a million cells may show one string of
 * megabytes of blanks.
 */
export function readSharedStrings(bytes: Uint8Array): string[] {
  const strings: string[] = []
  readXml(bytes, {
    wanted: new Set(['si']),
    visit: (item) => strings.push(inOneLine(richText(item))),
  })
  return strings
}

/** A text as a cell of a table has it. */
export function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Plain or rich text, without phonetic guides. */
export function richText(element: XmlElement | undefined): string {
  if (element === undefined) return ''
  const runs = levelSpans(elements(element, 'r').map(toSpan))
  const plain = decodeEscapes(elements(element, 't').map(textContent).join(''))
  return plain + runs.map(({ text }) => text).join('')
}

/** A run of rich text, which may be raised or lowered. */
function toSpan(run: XmlElement): PlacedSpan {
  const text = decodeEscapes(textContent(descend(run, 't')))
  const place = attribute(descend(run, 'rPr', 'vertAlign'), 'val')
  if (place === 'superscript') return { text, position: 'raised' }
  return place === 'subscript' ? { text, position: 'lowered' } : { text }
}

/**
 * Decodes characters that are written as `_xHHHH_` in strings of a workbook (ST_Xstring of ISO/IEC 29500).
 * A literal `_x000D_` is written as `_x005F_x000D_`.
 */
export function decodeEscapes(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16))
    return /[\p{Cc}\ufffe\uffff]/u.test(character) && !/\s/.test(character) ? '' : character
  })
}

function isFrom1904(workbook: XmlElement): boolean {
  const stated = attribute(descend(workbook, 'workbookPr'), 'date1904') ?? ''
  return ['1', 'true'].includes(stated)
}

/** The formats of cells by the number of their style, each prepared when it is needed first. */
function createStyles(styles: XmlElement | undefined, from1904: boolean): (index: number) => Style {
  if (styles === undefined) return () => general
  const own = new Map(
    findElements(styles, 'numFmt').map((format) => [
      Number(attribute(format, 'numFmtId')),
      decodeEscapes(attribute(format, 'formatCode') ?? ''),
    ]),
  )
  const ids = elements(descend(styles, 'cellXfs'), 'xf').map((xf) =>
    Number(attribute(xf, 'numFmtId') ?? 0),
  )
  const prepared = new Map<number, Style>()
  return (index) => {
    const id = ids[index] ?? 0
    const known = prepared.get(id)
    if (known !== undefined) return known
    if (prepared.size >= maxFormats) return general
    const style = toStyle(own.get(id) ?? builtInFormat(id) ?? '', from1904)
    prepared.set(id, style)
    return style
  }
}

function toStyle(code: string, from1904: boolean): Style {
  const text = createTextFormat(code)
  const number = createNumberFormat(code, from1904)
  return text === undefined ? { number } : { number, text }
}

const dayMs = 86_400_000
/** Day 0 in Unix time. It is 1899-12-30 because the format counts a 1900-02-29 that did not exist. */
const epochMs = Date.UTC(1899, 11, 30)

/** A date of ISO 8601 as days, as most cells have it; other texts stay as they are. */
function toDays(value: string): string {
  const time = Date.parse(/[Zz]|[+-]\d\d:?\d\d$/.test(value) ? value : `${value}Z`)
  const date = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : time
  return Number.isNaN(date) ? value : String((date - epochMs) / dayMs)
}
