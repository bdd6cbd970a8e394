import { expect, test } from 'vitest'
import { blocksOf, passagesOf } from '../outline.js'
import { drawTaggedTable, pdf, sentences } from '../pdf.js'

const tagged = { tagged: true, pdfVersion: '1.5' } as const

const prices = Array.from({ length: 60 }, (_, at) => [`P-${at}`, `Seal ring ${at}`, `${at}.90`])

test.each([
  ['Times-Roman', 45],
  ['Helvetica', 45],
  ['Courier', 55],
  ['Courier-Bold', 55],
])(
  'a table that is tagged keeps all of its cells in %s, though nothing is between them',
  async (font, width) => {
    const content = await pdf((document) => {
      document.font('Helvetica').fontSize(18).text('Prices').fontSize(10)
      document.text(sentences('prices', 3)).moveDown().font(font)
      const places = [60, 62 + width, 62 + width * 2.6]
      drawTaggedTable(document, places, [['Code', 'Name', 'Price'], ...prices])
    }, tagged)
    const blocks = await blocksOf('a.pdf', content)
    expect(blocks.slice(0, 2)).toEqual(['# Prices', sentences('prices', 3)])
    const tables = blocks.slice(2)
    expect(tables.length).toBeGreaterThan(1)
    for (const table of tables) {
      expect(table.startsWith('| Code | Name | Price |\n| --- | --- | --- |\n| P-')).toBe(true)
    }
    const rows = tables.flatMap((table) => table.split('\n').slice(2))
    expect(rows).toEqual(prices.map((row) => `| ${row.join(' | ')} |`))
  },
)

test('a tagged table has empty and merged cells in their columns', async () => {
  const content = await pdf((document) => {
    document.fontSize(10)
    drawTaggedTable(
      document,
      [60, 160, 260],
      [
        ['Name', 'Small', 'Large'],
        ['Power', '', '25'],
        ['', '10', ''],
        ['Noise in the whole of the station', '', ''],
        ['Weight', '4', '9'],
      ],
    )
  }, tagged)
  expect(await blocksOf('a.pdf', content)).toEqual([
    [
      '| Name | Small | Large |',
      '| --- | --- | --- |',
      '| Power |  | 25 |',
      '|  | 10 |  |',
      '| Noise in the whole of the station |  |  |',
      '| Weight | 4 | 9 |',
    ].join('\n'),
  ])
})

test('a row that a page break splits is one row', async () => {
  const settings = Array.from({ length: 12 }, (_, at) => [`SETTING_${at}`, sentences(`${at}`, 9)])
  const content = await pdf((document) => {
    document.fontSize(10)
    drawTaggedTable(document, [60, 180], [['Name', 'Meaning'], ...settings], { width: 300 })
  }, tagged)
  const passages = await passagesOf('a.pdf', content, 100_000)
  const all = passages.map((passage) => passage.content).join('\n')
  for (const row of settings) expect(all).toContain(`| ${row.join(' | ')} |`)
  expect(passages.at(-1)?.pageNumber).toBeGreaterThan(1)
})

test('a tagged table of one column, and prose in columns with tags, stay text', async () => {
  const content = await pdf((document) => {
    document.fontSize(10)
    drawTaggedTable(document, [60], [[sentences('a box', 1)], [sentences('the box', 1)]])
    document.x = 60
    document.moveDown(3)
    const top = document.y
    for (const [left, about] of [
      [60, 'left'],
      [310, 'right'],
    ] as const) {
      const text = () => document.text(sentences(about, 5), left, top, { width: 225 })
      document.addStructure(document.struct('P', {}, [text]))
    }
  }, tagged)
  expect((await blocksOf('a.pdf', content)).join('\n')).not.toContain('|')
})
