import { expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { rawPage, rawText } from '../pdf.js'

/** A page whose font has the glyphs A, B, C, ... for some letters; words are given as they are read. */
function arabicPage(words: readonly (readonly string[])[]): Buffer {
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
  return rawPage(rawText(72, 700, drawn, { font: 'F2' }), {
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
  expect(await blocksOf('a.pdf', arabicPage(words))).toEqual([text])
})

test('the article alone is not taken for a ligature', async () => {
  const words = [
    ['ا', 'ل', 'و', 'ز', 'ن'],
    ['ا', 'ل', 'ب', 'ا', 'ب'],
  ]
  expect(await blocksOf('a.pdf', arabicPage(words))).toEqual(['الوزن الباب'])
})
