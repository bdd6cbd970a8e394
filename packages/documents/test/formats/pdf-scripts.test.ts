import { expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { pdf, rawPage, rawText } from '../pdf.js'

/** Pieces of a line: text, size and height above the baseline, each directly after the one before. */
type Piece = readonly [text: string, size?: number, rise?: number]

/** Widths of Helvetica, in thousandths of the size; of letters that are not listed 556. */
const widths = new Map(
  Object.entries({
    "ijl'": 222,
    ' .,It': 278,
    '-r': 333,
    ckvsxyzJ: 500,
    T: 611,
    ABEKPSVXY: 667,
    CDHNRUw: 722,
    m: 833,
    W: 944,
  }).flatMap(([letters, width]) => [...letters].map((letter): [string, number] => [letter, width])),
)

function drawLine(pieces: readonly Piece[], y = 700): string {
  let x = 72
  return pieces
    .map(([text, size = 12, rise = 0]) => {
      const drawn = rawText(x, y + rise, text, { size })
      x += [...text].reduce((sum, sign) => sum + (widths.get(sign) ?? 556) * size, 0) / 1000
      return drawn
    })
    .join('')
}

test.each<[string, Piece[], string]>([
  ['a power', [['The lamp makes 10'], ['6', 8, 4.5], [' cycles.']], 'The lamp makes 10^6 cycles.'],
  ['a negative power', [['It is 10'], ['-3', 8, 4.5], [' m.']], 'It is 10^-3 m.'],
  ['a unit', [['The room has 25 m'], ['2', 8, 4.5], ['.']], 'The room has 25 m².'],
  ['a lowered number', [['Water is H'], ['2', 8, -2], ['O here.']], 'Water is H₂O here.'],
  ['an index', [['The value x'], ['n', 8, -2], [' is it.']], 'The value x_n is it.'],
  ['an ordinal', [['On the 1'], ['st', 8, 4.5], [' of May']], 'On the 1st of May'],
  [
    'a footnote',
    [['It is 40 degrees'], ['1', 8, 4.5], ['and more.']],
    'It is 40 degrees^1 and more.',
  ],
  [
    'the text of a footnote',
    [['1', 8, 4.5], ['Measured in the shade.']],
    '1 Measured in the shade.',
  ],
  [
    'a power of several pieces',
    [['It is 10'], ['-', 8, 4.5], ['3', 8, 4.5], [' m.']],
    'It is 10^-3 m.',
  ],
  ['a trade mark', [['The Pumpex'], ['TM', 8, 4.5], [' pump']], 'The Pumpex TM pump'],
])('%s can be distinguished', async (_, pieces, expected) => {
  expect(await blocksOf('a.pdf', rawPage(drawLine(pieces)))).toEqual([expected])
})

test('a small fraction has its parts beside each other', async () => {
  const content = rawPage(
    rawText(72, 700, 'The dose is') +
      rawText(141, 705, '1', { size: 8 }) +
      rawText(141, 696, '2', { size: 8 }) +
      rawText(150, 700, 'litre.'),
  )
  expect(await blocksOf('a.pdf', content)).toEqual(['The dose is 1/2 litre.'])
})

test('a fraction of the size of the text has its parts beside each other', async () => {
  const content = rawPage(
    rawText(72, 708, 'The speed is v =') +
      rawText(164, 716, 'a + b') +
      rawText(174, 700, '2') +
      rawText(195, 708, 'as stated.'),
  )
  expect(await blocksOf('a.pdf', content)).toEqual(['The speed is v = (a + b)/2 as stated.'])
})

test.each([
  ['Symbol', 'abc', 'αβχ'],
  ['SymbolMT', 'a', 'α'],
  ['ZapfDingbats', '4', '✔'],
  ['ZapfDingbats', 'n', '■'],
  ['ABCDEF+Wingdings-Regular', 'l', '●'],
])('a sign of the font %s is what it looks like', async (name, key, expected) => {
  const content = rawPage(
    rawText(72, 700, key, { font: 'F2' }) + rawText(100, 700, 'The pump is checked.'),
    {
      fonts: '/F2 6 0 R',
      more: [`<</Type/Font/Subtype/Type1/BaseFont/${name}>>`],
    },
  )
  expect((await blocksOf('a.pdf', content)).join(' ')).toMatch(
    new RegExp(`^(?:- |(?:- )?${expected} )The pump is checked\\.$`),
  )
})

test('a number that stands higher than its line is not taken for the number of the page', async () => {
  const content = await pdf((document) => {
    document.fontSize(10).text('The inlet opens 10', 60, 80, { lineBreak: false })
    document.text('6', 150, 75, { lineBreak: false })
    document.text('Close it in the evening.', 60, 100)
  })
  expect((await blocksOf('a.pdf', content)).join('\n')).toContain('6')
})
