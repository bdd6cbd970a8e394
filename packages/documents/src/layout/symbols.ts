import { isSymbolFont, symbolOf } from '../formats/symbol-fonts.js'
import type { PdfPage, TextContent, TextItem } from './parser.js'

/** Pages of a document on which the names of fonts are looked up: this takes as long as reading their text. */
const maxLookups = 8
/** Characters of a text in a symbol font, such as the mark of an item. */
const maxSymbols = 2
/** Letters and digits, whose keys were pressed, and the private range in which symbol fonts are often stored. */
const keys = /^[\w\uf020-\uf0ff]+$/
const firstPrivate = 0xf000

/** Signs of the font Zapf Dingbats that are not in the block of Unicode for it, by their codes. */
const otherDingbats: ReadonlyMap<number, string> = new Map([
  [0x25, '☎'],
  [0x2a, '☛'],
  [0x2b, '☞'],
  [0x48, '★'],
  [0x6c, '●'],
  [0x6e, '■'],
  [0x73, '▲'],
  [0x74, '▼'],
  [0x75, '◆'],
  [0x77, '◗'],
])
const firstDingbat = 0x2701

/** The bullet of Symbol, by its private code, which has no other meaning in other fonts. */
const bullet = '\uf0b7'

/**
 * Marks of lists in Office, by their private codes. Where Symbol and Wingdings are missing, LibreOffice shows their
 * characters in OpenSymbol and keeps the codes, so that it is unknown which of both fonts was meant; as the marks of lists,
 * these are the usual ones.
 */
const marks: ReadonlyMap<string, string> = new Map([
  ['\uf076', '❖'],
  ['\uf0a7', '▪'],
  ['\uf0a8', '◻'],
  [bullet, '•'],
  ['\uf0d8', '➢'],
  ['\uf0fc', '✓'],
])

/**
 * Returns a function that replaces the letters of symbol fonts by the symbols that they show. The text does not
 * name its fonts, so those are looked up which are used for single letters only.
 */
export function createSymbolReader() {
  const names = new Map<string, string>()
  let lookups = 0
  return async (page: PdfPage, content: TextContent): Promise<TextContent> => {
    const fonts = fontsOfSymbols(content)
    if (fonts.some((font) => !names.has(font)) && lookups < maxLookups) {
      lookups += 1
      await page.getOperatorList()
      for (const font of fonts) names.set(font, nameOf(page, font))
    }
    return { ...content, items: content.items.map(withSymbols) }
  }

  function withSymbols(item: TextContent['items'][number]): TextContent['items'][number] {
    if (!isText(item)) return item
    const name = names.get(item.fontName) ?? ''
    const str = isKnown(name)
      ? [...item.str].map((sign) => toSymbol(name, sign)).join('')
      : item.str.replaceAll(bullet, '•')
    return str === item.str ? item : { ...item, str }
  }
}

/** Fonts that are used for single letters only. */
function fontsOfSymbols({ items }: TextContent): string[] {
  const fonts = new Map<string, boolean>()
  for (const item of items) {
    if (!isText(item)) continue
    const text = item.str.trim()
    if (text === '') continue
    const mayBe = text.length <= maxSymbols && keys.test(text)
    fonts.set(item.fontName, mayBe && fonts.get(item.fontName) !== false)
  }
  return [...fonts].flatMap(([font, mayBe]) => (mayBe ? [font] : []))
}

function isText(item: TextContent['items'][number]): item is TextItem {
  return 'str' in item
}

/** The name of a font without the tag of a subset and the style: `wingdings` for `ABCDEF+Wingdings-Regular`. */
function nameOf({ commonObjs }: PdfPage, font: string): string {
  const name = commonObjs.has(font) ? (commonObjs.get(font)?.name ?? '') : ''
  const [family = ''] = name.replace(/^[A-Z]{6}\+/, '').split(/[-,]/)
  return family
    .toLowerCase()
    .replace(/^(wingdings) ?([23])$/, '$1 $2')
    .replace(/^symbolmt$/, 'symbol')
}

const standIn = 'opensymbol'

function isKnown(name: string): boolean {
  return name === standIn || name.includes('dingbats') || isSymbolFont(name)
}

function toSymbol(name: string, sign: string): string {
  if (name === standIn) return marks.get(sign) ?? sign
  const code = sign.charCodeAt(0)
  const key = code >= firstPrivate ? code - firstPrivate : code
  if (!name.includes('dingbats')) return symbolOf(name, key) ?? sign
  const isLetter = key > 0x20 && key < 0x7f
  const dingbat = String.fromCharCode(firstDingbat + key - 0x21)
  return otherDingbats.get(key) ?? (isLetter ? dingbat : sign)
}
