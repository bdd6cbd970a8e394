import { expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { pdf, sentences } from '../pdf.js'

/** Writes lines of cells, each cell at its own position. */
function drawLines(
  document: PDFKit.PDFDocument,
  lines: readonly (readonly [x: number, text: string])[][],
): void {
  let { y } = document
  for (const line of lines) {
    for (const [x, text] of line) document.text(text, x, y, { lineBreak: false })
    y += 18
  }
  document.x = 60
  document.y = y + 20
}

test('column headers are above their cells, however they are aligned', async () => {
  const cities = ['Oslo', 'Bern', 'Rome', 'Riga', 'Bonn', 'Cork'] as const
  const content = await pdf((document) => {
    document.fontSize(18).text('Limits ¶').fontSize(10).moveDown()
    document.text(sentences('limits', 3)).moveDown()
    drawLines(document, [
      [
        [95, 'City'],
        [215, 'Country'],
        [345, 'Limit'],
        [450, 'Remarks'],
      ],
      ...cities.map((city, at): [number, string][] => [
        [60, city],
        [180, `Country ${at}`],
        [310, `${at + 1}10`],
        ...(at % 2 === 0 ? [[445, 'fair weeks'] satisfies [number, string]] : []),
      ]),
    ])
    document.text(sentences('remarks', 3))
  })
  const [title, , table] = await blocksOf('a.pdf', content)
  expect(title).toBe('# Limits')
  expect(table?.split('\n').slice(0, 4)).toEqual([
    '| City | Country | Limit | Remarks |',
    '| --- | --- | --- | --- |',
    '| Oslo | Country 0 | 110 | fair weeks |',
    '| Bern | Country 1 | 210 |  |',
  ])
})

test('a column without a header stays beside one with cells', async () => {
  const content = await pdf((document) => {
    document.fontSize(10).text(sentences('a', 3)).moveDown()
    drawLines(document, [
      [
        [200, 'Small'],
        [320, 'Large'],
      ],
      ...['Power', 'Noise', 'Weight', 'Price'].map((name, at): [number, string][] => [
        [60, name],
        [200, `${at + 1}0`],
        [320, `${at + 2}5`],
      ]),
    ])
    document.text(sentences('b', 3))
  })
  const table = (await blocksOf('a.pdf', content)).find((block) => block.startsWith('|'))
  expect(table?.split('\n').slice(0, 3)).toEqual([
    '|  | Small | Large |',
    '| --- | --- | --- |',
    '| Power | 10 | 25 |',
  ])
})

test('lines of many numbers at the top of pages are data, and lines with a date and a page run', async () => {
  const content = await pdf((document) => {
    for (const page of [1, 2]) {
      if (page > 1) document.addPage()
      document.text(`Report of 12.03.2024 10:30, page ${page} of 2`, 60, 60)
      document.text(
        `1${page} 2${page} 3${page} 4${page} 5${page} 6${page} 7${page} 8${page}`,
        60,
        80,
      )
      document.text(sentences(`page ${page}`, 4), 60, 140)
    }
  })
  const text = (await blocksOf('a.pdf', content)).join('\n')
  expect(text).toContain('11 21 31 41 51 61 71 81')
  expect(text).toContain('12 22 32 42 52 62 72 82')
  expect(text).not.toContain('Report of')
})
