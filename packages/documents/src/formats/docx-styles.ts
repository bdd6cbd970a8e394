import { attribute, descend, elements, type XmlElement } from './xml.js'

/** Properties of a style of paragraphs. */
export interface ParagraphStyle {
  role: 'text' | 'title' | 'quote' | 'code' | 'contents'
  /** Level of a heading, from 1. */
  level?: number
  numbering?: NumberingReference
  /** Ids of the style and of those that it is based on, from itself on. */
  chain: readonly string[]
  /** Whether the style hides its text. */
  hidden: boolean
}

/** The list that a paragraph or a style names; each part may be inherited. */
export interface NumberingReference {
  /** Id of the list; `0` is none. */
  list?: string
  /** From 0. */
  level?: number
}

/** Properties of a run that change its text. */
export interface CharacterStyle {
  hidden?: boolean
  position?: 'raised' | 'lowered' | 'none'
  /** Name of the font. */
  font?: string
}

export interface Styles {
  paragraphs: ReadonlyMap<string, ParagraphStyle>
  characters: ReadonlyMap<string, CharacterStyle>
  /** Ids of lists by the ids of the styles of lists. */
  lists: ReadonlyMap<string, string>
}

/** Styles that a style is based on; a loop ends here. */
const maxStyleChain = 20

/** Styles by their ids, with their inherited properties. */
export function readStyles(root: XmlElement | undefined): Styles {
  // Each style is read once, however many are based on it.
  const sources = new Map(
    elements(root, 'style').map((style) => [attribute(style, 'styleId') ?? '', toOwn(style)]),
  )
  const paragraphs = new Map<string, ParagraphStyle>()
  const characters = new Map<string, CharacterStyle>()
  const lists = new Map<string, string>()
  for (const [id, { type, numbering }] of sources) {
    const chain = chainOf(id, sources)
    switch (type) {
      case 'character':
        characters.set(id, inherited(chain))
        break
      case 'numbering':
        if (numbering?.list !== undefined) lists.set(id, numbering.list)
        break
      default:
        paragraphs.set(id, toParagraphStyle(chain))
    }
  }
  return { paragraphs, characters, lists }
}

/** A style's own properties, without inherited ones. */
interface OwnStyle {
  id: string
  type: string | undefined
  basedOn: string | undefined
  level: number | undefined
  namedLevel: number | undefined
  role: ParagraphStyle['role'] | undefined
  numbering: NumberingReference | undefined
  character: CharacterStyle
}

function toOwn(style: XmlElement): OwnStyle {
  const properties = descend(style, 'pPr')
  const name = (attribute(descend(style, 'name'), 'val') ?? '').toLowerCase()
  return {
    id: attribute(style, 'styleId') ?? '',
    type: attribute(style, 'type'),
    basedOn: attribute(descend(style, 'basedOn'), 'val'),
    level: outlineLevel(properties),
    namedLevel: namedLevel(name),
    role: namedRole(name),
    numbering: numberingOf(properties),
    character: characterStyleOf(descend(style, 'rPr')),
  }
}

function chainOf(id: string, sources: ReadonlyMap<string, OwnStyle>): OwnStyle[] {
  const chain: OwnStyle[] = []
  for (let next: string | undefined = id; next !== undefined && chain.length < maxStyleChain; ) {
    const style: OwnStyle | undefined = sources.get(next)
    if (style === undefined) break
    chain.push(style)
    next = style.basedOn
  }
  return chain
}

function toParagraphStyle(chain: readonly OwnStyle[]): ParagraphStyle {
  const level =
    first(chain.map((each) => each.level)) ?? first(chain.map((each) => each.namedLevel))
  const list = first(chain.map(({ numbering }) => numbering?.list))
  const listLevel = first(chain.map(({ numbering }) => numbering?.level))
  return {
    role: first(chain.map((each) => each.role)) ?? 'text',
    chain: chain.map(({ id }) => id),
    hidden: inherited(chain).hidden === true,
    ...(level !== undefined && { level }),
    ...(list !== undefined && {
      numbering: { list, ...(listLevel !== undefined && { level: listLevel }) },
    }),
  }
}

function inherited(chain: readonly OwnStyle[]): CharacterStyle {
  return Object.assign({}, ...chain.map(({ character }) => character).reverse())
}

/** The properties of a run or of a style of runs. */
export function characterStyleOf(properties: XmlElement | undefined): CharacterStyle {
  if (properties === undefined) return {}
  const style: CharacterStyle = {}
  const hidden = toggle(properties, 'vanish')
  if (hidden !== undefined) style.hidden = hidden
  const position = positionOf(properties)
  if (position !== undefined) style.position = position
  const fonts = descend(properties, 'rFonts')
  const font = attribute(fonts, 'ascii') ?? attribute(fonts, 'hAnsi')
  if (font !== undefined) style.font = font
  return style
}

/** Half points from which a text that is moved up or down is raised or lowered, not only aligned. */
const raisedFrom = 4

function positionOf(properties: XmlElement): CharacterStyle['position'] {
  switch (attribute(descend(properties, 'vertAlign'), 'val')) {
    case 'superscript':
      return 'raised'
    case 'subscript':
      return 'lowered'
    case 'baseline':
      return 'none'
    default: {
      const moved = Number(attribute(descend(properties, 'position'), 'val') ?? Number.NaN)
      if (moved >= raisedFrom) return 'raised'
      return moved <= -raisedFrom ? 'lowered' : undefined
    }
  }
}

/** A toggle property: on if it is there and does not say otherwise, undefined if it is not there. */
export function toggle(properties: XmlElement | undefined, name: string): boolean | undefined {
  const found = descend(properties, name)
  if (found === undefined) return undefined
  return !['0', 'false', 'off', 'none'].includes(attribute(found, 'val') ?? '')
}

/** The list in the properties of a paragraph or a style. */
export function numberingOf(properties: XmlElement | undefined): NumberingReference | undefined {
  const numbering = descend(properties, 'numPr')
  if (numbering === undefined) return undefined
  const list = attribute(descend(numbering, 'numId'), 'val')
  const level = attribute(descend(numbering, 'ilvl'), 'val')
  return {
    ...(list !== undefined && { list }),
    ...(level !== undefined && { level: Number(level) || 0 }),
  }
}

/** The heading level in the properties of a paragraph or a style. */
export function outlineLevel(properties: XmlElement | undefined): number | undefined {
  const value = attribute(descend(properties, 'outlineLvl'), 'val')
  const level = value === undefined ? Number.NaN : Number(value)
  return level >= 0 && level < 9 ? level + 1 : undefined
}

/** In the file, the names of built-in styles are English in every language of the program. */
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
