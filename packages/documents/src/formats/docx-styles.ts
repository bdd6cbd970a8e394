import { attribute, descend, elements, type XmlElement } from './xml.js'

/** What a paragraph style makes of its paragraphs. */
export interface ParagraphStyle {
  role: 'text' | 'title' | 'quote' | 'code' | 'contents'
  /** Level of a heading, from 1. */
  level?: number
  numbering?: NumberingReference
}

/** Which list a paragraph belongs to. */
export interface NumberingReference {
  list: string
  /** From 0. */
  level: number
}

/** A style that is based on itself or on too many others is cut off here. */
const LONGEST_CHAIN = 20

/** Paragraph styles by id, with what they take over from the styles they are based on. */
export function readStyles(root: XmlElement | undefined): Map<string, ParagraphStyle> {
  const sources = new Map(
    elements(root, 'style').map((style) => [attribute(style, 'styleId') ?? '', style]),
  )
  return new Map([...sources.keys()].map((id) => [id, resolve(id, sources)]))
}

/** The list that the properties of a paragraph or a style name. */
export function numberingOf(properties: XmlElement | undefined): NumberingReference | undefined {
  const numbering = descend(properties, 'numPr')
  const list = attribute(descend(numbering, 'numId'), 'val')
  if (list === undefined) return undefined
  return { list, level: Number(attribute(descend(numbering, 'ilvl'), 'val') ?? 0) || 0 }
}

/** The level that the properties of a paragraph or a style name; body text has none. */
export function outlineLevel(properties: XmlElement | undefined): number | undefined {
  const value = attribute(descend(properties, 'outlineLvl'), 'val')
  const level = value === undefined ? Number.NaN : Number(value)
  return level >= 0 && level < 9 ? level + 1 : undefined
}

function resolve(id: string, sources: ReadonlyMap<string, XmlElement>): ParagraphStyle {
  const chain: XmlElement[] = []
  for (let next: string | undefined = id; next !== undefined && chain.length < LONGEST_CHAIN; ) {
    const style: XmlElement | undefined = sources.get(next)
    if (style === undefined) break
    chain.push(style)
    next = attribute(descend(style, 'basedOn'), 'val')
  }
  const names = chain.map((style) => (attribute(descend(style, 'name'), 'val') ?? '').toLowerCase())
  const level =
    first(chain.map((style) => outlineLevel(descend(style, 'pPr')))) ?? first(names.map(namedLevel))
  const numbering = first(chain.map((style) => numberingOf(descend(style, 'pPr'))))
  return {
    role: first(names.map(namedRole)) ?? 'text',
    ...(level !== undefined && { level }),
    ...(numbering !== undefined && { numbering }),
  }
}

/** The names of built-in styles are English in the file, whatever the language of the program. */
function namedLevel(name: string): number | undefined {
  const match = /^heading (\d)$/.exec(name)
  if (match !== null) return Number(match[1])
  return name === 'subtitle' ? 2 : undefined
}

function namedRole(name: string): ParagraphStyle['role'] | undefined {
  if (name === 'title') return 'title'
  if (/^toc (\d|heading)/.test(name)) return 'contents'
  if (/^(intense )?quote$|^block text$/.test(name)) return 'quote'
  if (/\bcode\b|preformatted/.test(name)) return 'code'
  return undefined
}

function first<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.find((value) => value !== undefined)
}

/** Whether the lists of a document count, by list and level. */
export function readNumbering(
  root: XmlElement | undefined,
): (list: NumberingReference) => Counting {
  const abstracts = new Map(
    elements(root, 'abstractNum').map((each) => [attribute(each, 'abstractNumId'), each]),
  )
  const levels = new Map<string, Map<number, Counting>>()
  for (const num of elements(root, 'num')) {
    const abstract = abstracts.get(attribute(descend(num, 'abstractNumId'), 'val'))
    levels.set(
      attribute(num, 'numId') ?? '',
      new Map(
        elements(abstract, 'lvl').map((lvl) => [Number(attribute(lvl, 'ilvl')), counting(lvl)]),
      ),
    )
  }
  return ({ list, level }) => levels.get(list)?.get(level) ?? 'bullet'
}

/** How a level of a list marks its items; `none` means that they are no list. */
export type Counting = 'bullet' | 'number' | 'none'

function counting(level: XmlElement): Counting {
  const format = attribute(descend(level, 'numFmt'), 'val') ?? 'decimal'
  if (format === 'none') return 'none'
  return format === 'bullet' ? 'bullet' : 'number'
}
