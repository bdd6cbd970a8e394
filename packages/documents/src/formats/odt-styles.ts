import { attribute, descend, elements, type XmlElement } from './xml.js'

/** Styles of an OpenDocument file, of paragraphs and of runs of text. */
export interface OdtStyles {
  /** Adds the declaration of a font, a style, a style of lists or the numbering of headings. */
  add(element: XmlElement): void
  /** The names of a style and of the styles that it inherits from, in this order. */
  namesOf(style: string): readonly string[]
  text(style: string): TextStyle
  /** Name of the style of lists of a paragraph; empty if it is in none on purpose. */
  listOf(style: string): string | undefined
  list(name: string): readonly ListLevel[] | undefined
  readonly outline: readonly ListLevel[]
}

/** Properties of a run that change its text. */
interface TextStyle {
  position?: 'raised' | 'lowered'
  hidden?: boolean
  font?: string
}

/** Labels of the items at one level of a list. */
export interface ListLevel {
  /** As `writeNumber` names it, or `bullet`. */
  format: string
  prefix: string
  suffix: string
  /** Number of levels that the label shows, from its own upwards. */
  shown: number
  start: number
}

interface Style extends TextStyle {
  parent?: string
  list?: string
}

/** Styles that a style is based on; a loop ends here. */
const maxStyleChain = 20
export const levelCount = 10

export function createOdtStyles(): OdtStyles {
  const styles = new Map<string, Style>()
  const lists = new Map<string, ListLevel[]>()
  /** Families of fonts by the names under which the file declares them: `Symbol1` is one of Symbol. */
  const families = new Map<string, string>()
  let outline: ListLevel[] = []

  const chainOf = (name: string): { name: string; style: Style | undefined }[] => {
    const chain: { name: string; style: Style | undefined }[] = []
    for (let next: string | undefined = name; next !== undefined; ) {
      const style: Style | undefined = styles.get(next)
      chain.push({ name: next, style })
      if (chain.length >= maxStyleChain) break
      next = style?.parent
    }
    return chain
  }
  return {
    add(element) {
      const name = attribute(element, 'name') ?? ''
      if (element.name === 'list-style') lists.set(name, readLevels(element))
      else if (element.name === 'outline-style') outline = readLevels(element)
      else if (element.name === 'font-face') families.set(name, familyOf(element) ?? name)
      else styles.set(name, toStyle(element))
    },
    namesOf: (name) => chainOf(name).map((each) => each.name),
    text(name) {
      const chain = chainOf(name).map(({ style }) => style)
      const position = chain.find((style) => style?.position !== undefined)?.position
      const hidden = chain.find((style) => style?.hidden !== undefined)?.hidden
      const font = chain.find((style) => style?.font !== undefined)?.font
      return {
        ...(position !== undefined && { position }),
        ...(hidden !== undefined && { hidden }),
        ...(font !== undefined && { font: families.get(font) ?? font }),
      }
    },
    listOf: (name) => chainOf(name).find(({ style }) => style?.list !== undefined)?.style?.list,
    list: (name) => lists.get(name),
    get outline() {
      return outline
    },
  }
}

function toStyle(element: XmlElement): Style {
  const parent = attribute(element, 'parent-style-name')
  const list = attribute(element, 'list-style-name')
  const properties = descend(element, 'text-properties')
  const position = positionOf(attribute(properties, 'text-position'))
  const display = attribute(properties, 'display')
  const font = attribute(properties, 'font-name') ?? familyOf(properties)
  return {
    ...(parent !== undefined && { parent }),
    ...(list !== undefined && { list }),
    ...(position !== undefined && { position }),
    ...(display !== undefined && { hidden: display === 'none' }),
    ...(font !== undefined && { font }),
  }
}

function familyOf(element: XmlElement | undefined): string | undefined {
  return attribute(element, 'font-family')?.replaceAll("'", '')
}

/** A position is `super`, `sub` or a share of the height of letters, and then the size. */
export function positionOf(text: string | undefined): TextStyle['position'] {
  const [place = ''] = (text ?? '').trim().split(/\s+/)
  if (place === 'super') return 'raised'
  if (place === 'sub') return 'lowered'
  const share = Number.parseFloat(place)
  if (share > 0) return 'raised'
  return share < 0 ? 'lowered' : undefined
}

function readLevels(element: XmlElement): ListLevel[] {
  const levels: ListLevel[] = []
  for (const each of elements(element)) {
    const at = Number(attribute(each, 'level')) - 1
    if (Number.isInteger(at) && at >= 0 && at < levelCount) levels[at] = toLevel(each)
  }
  return levels
}

function toLevel(element: XmlElement): ListLevel {
  const isBullet = /bullet|image/.test(element.name)
  const shown = Math.trunc(Number(attribute(element, 'display-levels') ?? 1)) || 1
  const start = Math.trunc(Number(attribute(element, 'start-value') ?? 1))
  return {
    format: isBullet ? 'bullet' : numberFormat(element),
    prefix: attribute(element, 'num-prefix') ?? '',
    suffix: attribute(element, 'num-suffix') ?? '',
    shown: Math.min(Math.max(shown, 1), levelCount),
    start: Number.isFinite(start) ? start : 1,
  }
}

/** Formats by their first sign; LibreOffice writes the beginning of the sequence. */
const formats: Readonly<Record<string, string>> = {
  i: 'lowerRoman',
  I: 'upperRoman',
  一: 'chineseCounting',
  壹: 'ideographLegalTraditional',
  壱: 'japaneseLegal',
  甲: 'ideographTraditional',
  子: 'ideographZodiac',
  ア: 'aiueo',
  イ: 'iroha',
  '①': 'decimalEnclosedCircle',
  '１': 'decimalFullWidth',
  일: 'koreanCounting',
  가: 'ganada',
  ㄱ: 'chosung',
  А: 'russianUpper',
  а: 'russianLower',
  Α: 'greekUpper',
  α: 'greekLower',
  א: 'hebrew2',
  أ: 'arabicAlpha',
  ก: 'thaiLetters',
}

function numberFormat(element: XmlElement): string {
  const stated = attribute(element, 'num-format') ?? ''
  const isRepeated = attribute(element, 'num-letter-sync') === 'true'
  if (stated === '') return 'none'
  if (stated === 'a') return isRepeated ? 'lowerLetter' : 'lowerColumn'
  if (stated === 'A') return isRepeated ? 'upperLetter' : 'upperColumn'
  if (stated.startsWith('1st')) return 'ordinal'
  if (stated.startsWith('01')) return 'decimalZero'
  return formats[[...stated][0] ?? ''] ?? 'decimal'
}
