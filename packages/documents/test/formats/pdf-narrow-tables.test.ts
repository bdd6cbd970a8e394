import { expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { pdf, sentences } from '../pdf.js'

const prices = [
  ['Part', 'Size', 'Price'],
  ['Seal', '12', '1.10'],
  ['Ring', '14', '2.20'],
  ['Bolt', '16', '3.30'],
  ['Nut', '18', '4.40'],
  ['Cap', '20', '5.50'],
]
const sites = [
  ['Site', 'Heat', 'Level'],
  ['Ulm', '21', 'low'],
  ['Bonn', '22', 'high'],
  ['Kiel', '23', 'mid'],
  ['Jena', '24', 'low'],
  ['Gera', '25', 'high'],
]
const morePrices = [prices[0] ?? [], ...sites.slice(1)]

const markdown = ([header = [], ...rows]: string[][]) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

/** Draws on a page of text in 10 points. */
type Draw = (document: PDFKit.PDFDocument) => void

const grid =
  (rows: string[][], x: number, y: number, pitch = 15): Draw =>
  (document) => {
    rows.forEach((row, at) => {
      row.forEach((cell, column) => {
        document.text(cell, x + 70 * column, y + pitch * at, { lineBreak: false })
      })
    })
  }

const prose =
  (about: string, count: number, x: number, y: number, width = 230): Draw =>
  (document) => {
    document.text(sentences(about, count), x, y, { width })
  }

async function blocks(...draws: Draw[]): Promise<string[]> {
  const content = await pdf((document) => {
    document.font('Helvetica').fontSize(10)
    for (const draw of draws) draw(document)
  })
  return await blocksOf('a.pdf', content)
}

test.each([
  ['left', 50, 310],
  ['right', 310, 50],
])('a table beside a column of text, on its %s', async (_, x, beside) => {
  const read = await blocks(grid(prices, x, 60), prose('pumps', 10, beside, 60))
  const expected = [markdown(prices), sentences('pumps', 10)]
  expect(read).toEqual(x < beside ? expected : expected.reverse())
})

test.each([
  ['left', 50, 310],
  ['right', 310, 50],
])('a table within the %s of two columns of text', async (_, x, other) => {
  const own = [sentences('pumps', 6), markdown(prices), sentences('valves', 8)]
  const read = await blocks(
    prose('pumps', 6, x, 60),
    grid(prices, x, 220),
    prose('valves', 8, x, 330),
    prose('doors', 26, other, 60),
  )
  const expected = x < other ? [...own, sentences('doors', 26)] : [sentences('doors', 26), ...own]
  expect(read).toEqual(expected)
})

test('tables at the same height in both columns of text', async () => {
  const read = await blocks(
    prose('pumps', 6, 50, 60),
    grid(prices, 50, 220),
    prose('valves', 8, 50, 330),
    prose('doors', 6, 310, 60),
    grid(sites, 310, 220),
    prose('locks', 8, 310, 330),
  )
  expect(read).toEqual([
    sentences('pumps', 6),
    markdown(prices),
    sentences('valves', 8),
    sentences('doors', 6),
    markdown(sites),
    sentences('locks', 8),
  ])
})

test.each([
  ['with other distances of rows', sites, 60, 18],
  ['that begins lower', sites, 66, 15],
  ['with the same header', morePrices, 60, 15],
])('two tables beside each other, one %s', async (_, second, y, pitch) => {
  const read = await blocks(grid(prices, 50, 60), grid(second, 310, y, pitch))
  expect(read).toEqual([markdown(prices), markdown(second)])
})

test('a table as wide as the page between columns of text is one', async () => {
  const wide = prices.map((row, at) => [...row, ...(sites[at] ?? [])])
  const read = await blocks(
    prose('pumps', 6, 50, 60),
    prose('doors', 6, 310, 60),
    grid(wide, 62, 220),
    prose('valves', 6, 50, 330),
    prose('locks', 6, 310, 330),
  )
  expect(read).toContain(markdown(wide))
})

test('a table of long cells in the middle of their rows is one', async () => {
  const places = [60, 200, 320] as const
  const read = await blocks((document) => {
    const at = (text: string, x: number, y: number) =>
      document.text(text, x, y, { lineBreak: false })
    for (const [column, name] of ['Check', 'Every', 'By'].entries())
      at(name, places[column] ?? 0, 60)
    for (let row = 0; row < 6; row += 1) {
      const y = 80 + 30 * row
      at(`Part ${row} of the pump`, 60, y)
      at(`and of its valve ${row}`, 60, y + 12)
      at(`${row + 1} weeks`, 200, y + 6)
      at(`Inspector ${row}`, 320, y + 6)
    }
  })
  expect(read).toHaveLength(1)
  expect(read[0]).toContain('| Part 3 of the pump and of its valve 3 | 4 weeks | Inspector 3 |')
})

test('a table of letters of one width has its header in columns, and no line of signs', async () => {
  const rows = [
    ['Code', 'Name', 'Price'],
    ...Array.from({ length: 8 }, (_, at) => [`P-${at}`, `Seal ring ${at}`, `${at}.90`]),
  ]
  const cells: Draw = (document) => {
    document.font('Courier')
    rows.forEach((row, at) => {
      for (const [column, x] of [50, 80, 158].entries())
        document.text(row[column] ?? '', x, 60 + 14 * at, { lineBreak: false })
    })
  }
  const typed: Draw = (document) => {
    document.font('Courier')
    const lines = [rows[0] ?? [], ['-----', '-----------', '-----'], ...rows.slice(1)]
    lines.forEach(([code = '', name = '', price = ''], at) => {
      const line = code.padEnd(7) + name.padEnd(13) + price
      document.text(line, 50, 60 + 12 * at, { lineBreak: false })
    })
  }
  expect(await blocks(cells)).toEqual([markdown(rows)])
  expect(await blocks(typed)).toEqual([markdown(rows)])
})
