import fc from 'fast-check'
import { expect, test } from 'vitest'
import '../property-tests.js'
import type { Extraction } from '../../src/document/extraction.js'
import { plainText } from '../../src/document/nodes.js'
import { readFile } from '../outline.js'
import { rowsOf, workbook } from '../workbook.js'

/** Values as people have them in tables: words, amounts, codes, sentences with any separator in them. */
const value = fc.oneof(
  fc.constantFrom('Pump', 'Ulm', 'P-1', '01234', '1.10', '1,50', '738529527931269425', 'Größe 3'),
  fc
    .array(fc.constantFrom('pump', 'a;b', 'c,d', 'e|f', '"12"', 'is', 'quiet.'), {
      minLength: 1,
      maxLength: 5,
    })
    .map((words) => words.join(' ')),
)

/** A table of two to six columns whose rows are whole, below a header of names. */
const tableOfValues = fc
  .tuple(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 2, max: 12 }))
  .chain(([columns, rows]) =>
    fc
      .array(fc.array(value, { minLength: columns, maxLength: columns }), {
        minLength: rows,
        maxLength: rows,
      })
      .map((body) => [Array.from({ length: columns }, (_, at) => `Name ${'ABCDEF'[at]}`), ...body]),
  )

const dialect = fc.record({
  separator: fc.constantFrom(',', ';', '\t', '|'),
  quotesAll: fc.boolean(),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  mark: fc.constantFrom('', '\ufeff'),
  stated: fc.boolean(),
  emptyLines: fc.boolean(),
  above: fc.constantFrom([], ['Report'], ['Report of January', '']),
})

type Dialect = typeof dialect extends fc.Arbitrary<infer T> ? T : never

function toCsv(rows: readonly string[][], form: Dialect): string {
  const quote = (text: string) =>
    form.quotesAll || /[",;|\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const lines = rows.map((row) => row.map(quote).join(form.separator))
  const all = form.emptyLines ? lines.flatMap((line) => [line, '']) : lines
  const first = form.stated ? [`sep=${form.separator}`] : form.above
  return form.mark + [...first, ...all, ''].join(form.lineEnd)
}

/** The texts of all cells of tables, in order. */
function cellsOf({ root }: Extraction): string[][] {
  return root.children.flatMap((node) => {
    if (node.type !== 'table') return []
    return node.children.map((row) => row.children.map(plainText))
  })
}

test('a table that is written as separated values keeps every value in its row and column', async () => {
  await fc.assert(
    fc.asyncProperty(tableOfValues, dialect, async (rows, form) => {
      expect(cellsOf(await readFile('a.csv', toCsv(rows, form)))).toEqual(rows)
    }),
    { numRuns: 300 },
  )
})

test('a table that is written as a workbook keeps every value in its row and column', async () => {
  await fc.assert(
    fc.asyncProperty(
      tableOfValues,
      fc.nat({ max: 5 }),
      fc.nat({ max: 5 }),
      async (rows, row, column) => {
        const content = workbook({ S: rowsOf(rows, { row: row + 1, column }) })
        expect(cellsOf(await readFile('a.xlsx', content))).toEqual(rows)
      },
    ),
    { numRuns: 100 },
  )
})
