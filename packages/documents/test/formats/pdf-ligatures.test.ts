import { expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { rawPage, rawText } from '../pdf.js'

const size = 10
const drawWhole = (text: string) => rawText(72, 700, text, { font: 'F2', size })

/** A page whose font has the glyphs A, B, C, ... for some letters; words are given as they are read. */
function pageOf(words: readonly (readonly string[])[], draw = drawWhole): Buffer {
  const letters = [...new Set(words.flat())]
  const code = (at: number) => (0x41 + at).toString(16)
  const unicode = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex')
  const map = letters.map((text, at) => `<${code(at)}> <${unicode(text)}>`)
  const toUnicode = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Letters def /CMapType 2 def
1 begincodespacerange <00> <ff> endcodespacerange
${map.length} beginbfchar
${map.join('\n')}
endbfchar
endcmap end end`
  // Glyphs are drawn from left to right, so the last one comes first.
  const drawn = words
    .map((word) => word.map((text) => String.fromCharCode(0x41 + letters.indexOf(text))))
    .map((word) => word.reverse().join(''))
    .reverse()
    .join(' ')
  return rawPage(draw(drawn), {
    fonts: '/F2 6 0 R',
    more: [
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode 7 0 R>>',
      ['', toUnicode],
    ],
  })
}

test.each([
  ['of lam and alef', [['لا'], ['ي', 'ز', 'ي', 'د'], ['ث', 'لا', 'ث', 'ة']], 'لا يزيد ثلاثة'],
  [
    'after the article',
    [
      ['س', 'ي', 'ا', 'س', 'ة'],
      ['ا', 'لأ', 'م', 'ت', 'ع', 'ة'],
    ],
    'سياسة الأمتعة',
  ],
  [
    'of three letters',
    [
      ['ا', 'لله'],
      ['ا', 'ل', 'و', 'ز', 'ن'],
    ],
    'الله الوزن',
  ],
])('glyphs %s keep the order of their letters', async (_, words, text) => {
  expect(await blocksOf('a.pdf', pageOf(words))).toEqual([text])
})

test('the article alone is not taken for a ligature', async () => {
  const words = [
    ['ا', 'ل', 'و', 'ز', 'ن'],
    ['ا', 'ل', 'ب', 'ا', 'ب'],
  ]
  expect(await blocksOf('a.pdf', pageOf(words))).toEqual(['الوزن الباب'])
})

/** Widths of the glyphs A to L, and of the space before them, in thousandths of the font size. */
const widths = [667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556]
const widthOf = (glyph: string) => widths[glyph.charCodeAt(0) - 0x41] ?? 278

/** Places each glyph by itself, from left to right, as browsers do. */
function drawApart(text: string): string {
  let x = 72
  return [...text]
    .map((glyph) => {
      const drawn = glyph === ' ' ? '' : rawText(x, 700, glyph, { font: 'F2', size })
      x += (widthOf(glyph) * size) / 1000
      return drawn
    })
    .join('\n')
}

test('letters of Arabic in their shapes, placed one by one, are words in their order', async () => {
  const words = [
    ['ﺳ', 'ﻴ', 'ﺎ', 'ﺳ', 'ﺔ'],
    ['ا', 'ﻟ', 'ﺴ', 'ﻔ', 'ﺮ'],
  ]
  expect(await blocksOf('a.pdf', pageOf(words, drawApart))).toEqual(['سياسة السفر'])
})

test('a full stop apart from a line of Arabic is at its end', async () => {
  const draw = (text: string) =>
    rawText(72, 700, '.', { size }) + rawText(90, 700, text, { font: 'F2', size })
  expect(await blocksOf('a.pdf', pageOf([['ع', 'ش', 'ر']], draw))).toEqual(['عشر .'])
})
