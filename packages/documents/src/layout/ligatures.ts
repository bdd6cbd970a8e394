import type { PdfPage, TextContent } from './parser.js'

/** Pages of a document that are searched for ligatures before it counts as one without: this takes as long as reading their text. */
const maxLookups = 8
/** An alef before a lam: the article of most words, or a ligature of lam and alef that was taken apart the wrong way round. */
const mayBeLigature = /[\u0622\u0623\u0625\u0627]\u0644/
const rightToLeftWords = /[\p{Script=Arabic}\p{Script=Hebrew}\p{M}]+/gu
const isRightToLeft = /^[\p{Script=Arabic}\p{Script=Hebrew}\p{M}]+$/u

interface Glyph {
  unicode?: string
}

/**
 * Returns a function that puts the letters of ligatures in their order in text from right to left. The parser gets glyphs
 * as they are drawn, from left to right, and reverses their text letter by letter, also that of a glyph for several letters.
 */
export function createLigatureReader() {
  let lookups = 0
  let isFound = false
  return async (page: PdfPage, content: TextContent): Promise<TextContent> => {
    const isNeeded = content.items.some(
      (item) => 'str' in item && item.dir === 'rtl' && mayBeLigature.test(item.str),
    )
    if (!isNeeded || (!isFound && lookups >= maxLookups)) return content
    lookups += 1
    const words = await wordsWithLigatures(page)
    if (words.size === 0) return content
    isFound = true
    const items = content.items.map((item) => {
      if (!('str' in item) || item.dir !== 'rtl') return item
      const str = item.str.replace(rightToLeftWords, (word) => words.get(word) ?? word)
      return { ...item, str }
    })
    return { ...content, items }
  }
}

/** The words of a page that have a glyph for several letters, by the words that the parser makes of them. */
async function wordsWithLigatures(page: PdfPage): Promise<Map<string, string>> {
  const { OPS } = await import('unpdf/pdfjs')
  const { fnArray, argsArray } = await page.getOperatorList()
  const words = new Map<string, string>()
  fnArray.forEach((code, at) => {
    if (code !== OPS.showText) return
    const [drawn] = argsArray[at] as readonly unknown[]
    let word: string[] = []
    const end = () => {
      if (word.some((letters) => letters.length > 1)) {
        words.set([...word.join('')].reverse().join(''), word.reverse().join(''))
      }
      word = []
    }
    for (const glyph of drawn as readonly (Glyph | number | null)[]) {
      // Numbers are the distance between glyphs.
      if (typeof glyph === 'number') continue
      const unicode = glyph?.unicode ?? ''
      if (isRightToLeft.test(unicode)) word.push(unicode)
      else end()
    }
    end()
  })
  return words
}
