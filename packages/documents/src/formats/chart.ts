import type { FlowBlock } from '../document/flow.js'
import { paragraph, table } from '../document/nodes.js'
import { createNumberFormat, showGeneral } from './number-format.js'
import { attribute, descend, elements, findElements, textContent, type XmlElement } from './xml.js'

/** Points and series above which the rest of a chart is not read: no chart shows as many. */
const maxPoints = 2000
const maxSeries = 100
/** Cells of the table of a chart, empty ones included. */
const maxCells = 20_000

/** A series of a chart: its name, and its values by the position of their category. */
interface Series {
  name: string
  values: Map<number, string>
}

/** Reads a chart of an Office document: its titles, and its series as the columns of a table. */
export function readChart(root: XmlElement): FlowBlock[] {
  const titles = titlesOf(root)
  const blocks: FlowBlock[] = titles.length === 0 ? [] : [paragraph(titles.join('; '))]
  const found = seriesOf(root).slice(0, maxSeries)
  if (found.length === 0) return blocks
  const categories = new Map<number, string>()
  for (const each of found) {
    for (const [at, text] of categoriesOf(each)) if (!categories.has(at)) categories.set(at, text)
  }
  const series = found.flatMap(toSeries)
  const positions = new Set([
    ...categories.keys(),
    ...series.flatMap(({ values }) => [...values.keys()]),
  ])
  const rows = [...positions]
    .sort((a, b) => a - b)
    .slice(0, Math.min(maxPoints, Math.ceil(maxCells / (series.length + 1))))
    .map((at) => [categories.get(at) ?? '', ...series.map(({ values }) => values.get(at) ?? '')])
  return [...blocks, table([['', ...series.map(({ name }) => name)], ...rows])]
}

/** The title of the chart, then those of its axes. */
function titlesOf(root: XmlElement): string[] {
  return findElements(root, 'title').flatMap((title) => {
    const rich = findElements(title, 'p').map(textContent)
    const cached = cachedTexts(title).map(([, text]) => text)
    const text = [...rich, ...cached].join(' ').replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [text]
  })
}

/** The series of charts of any type, and of the charts of newer programs, which have data of their own. */
function seriesOf(root: XmlElement): XmlElement[] {
  const plain = findElements(root, 'ser')
  if (plain.length > 0) return plain
  return findElements(root, 'series')
}

function categoriesOf(series: XmlElement): [number, string][] {
  const category = descend(series, 'cat') ?? descend(series, 'xVal')
  return category === undefined ? [] : cachedTexts(category)
}

function toSeries(series: XmlElement, at: number): Series[] {
  const name = nameOf(series) || `Series ${at + 1}`
  const values = descend(series, 'val') ?? descend(series, 'yVal')
  const sizes = descend(series, 'bubbleSize')
  const labels = labelsOf(series)
  const own = values === undefined ? [] : cachedTexts(values)
  const read: Series[] = [{ name, values: new Map(own) }]
  if (sizes !== undefined)
    read.push({ name: `${name} (size)`, values: new Map(cachedTexts(sizes)) })
  if (labels.size > 0) read.push({ name: `${name} (label)`, values: labels })
  return read
}

function nameOf(series: XmlElement): string {
  const text = descend(series, 'tx')
  if (text === undefined) return ''
  const cached = cachedTexts(text).map(([, value]) => value)
  return (cached.length > 0 ? cached.join(' ') : textContent(descend(text, 'v'))).trim()
}

/** Labels that somebody wrote on points of a chart in place of their values. */
function labelsOf(series: XmlElement): Map<number, string> {
  const labels = new Map<number, string>()
  for (const label of elements(descend(series, 'dLbls'), 'dLbl')) {
    const position = Number(attribute(descend(label, 'idx'), 'val'))
    const text = findElements(label, 'p').map(textContent).join(' ').replace(/\s+/g, ' ').trim()
    if (text !== '' && Number.isInteger(position)) labels.set(position, text)
  }
  return labels
}

/** Texts or numbers that a chart keeps of its workbook, by their position. Levels of a category are joined. */
function cachedTexts(reference: XmlElement): [number, string][] {
  const levels = findElements(reference, 'lvl')
  const sources = levels.length > 0 ? levels.reverse() : [reference]
  const show = numberFormat(textContent(findElements(reference, 'formatCode')[0]))
  const joined = new Map<number, string>()
  for (const source of sources) {
    for (const point of findElements(source, 'pt')) {
      const position = Number(attribute(point, 'idx') ?? 0)
      const stored = textContent(descend(point, 'v') ?? point)
        .replace(/\s+/g, ' ')
        .trim()
      if (stored === '' || !Number.isInteger(position)) continue
      const own = attribute(point, 'formatCode')
      const text = (own === undefined ? show : numberFormat(own))(stored)
      const before = joined.get(position)
      joined.set(position, before === undefined ? text : `${before} ${text}`)
    }
  }
  return [...joined]
}

/** Returns the formatter of numbers. Texts, which state no format, stay as they are. */
function numberFormat(code: string): (stored: string) => string {
  const format = code.trim()
  if (format === '') return plainValue
  return /^general$/i.test(format) ? showGeneral : createNumberFormat(format, false)
}

/** A number without the last digits of a binary fraction, such as those of 0.30000000000000004. */
function plainValue(text: string): string {
  return /^-?\d+\.\d{15,}$/.test(text) ? String(Number(Number(text).toPrecision(15))) : text
}
