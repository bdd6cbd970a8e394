import fc from 'fast-check'
import { expect, test } from 'vitest'
import '../property-tests.js'
import type { Extraction } from '../../src/document/extraction.js'
import { plainText } from '../../src/document/nodes.js'
import { blocksOf, readFile } from '../outline.js'
import { rowsOf, type SheetXml, workbook } from '../workbook.js'

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
    { numRuns: 150 },
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
    { numRuns: 60 },
  )
})

/** The parts of a sheet, from top to bottom: lines of one cell, and tables in which some cells are merged or empty. */
const region = fc.oneof(
  fc.record({ kind: fc.constant('line' as const), gap: fc.nat(2) }),
  fc.record({
    kind: fc.constant('table' as const),
    gap: fc.integer({ min: 1, max: 3 }),
    column: fc.nat(3),
    columns: fc.integer({ min: 2, max: 5 }),
    rows: fc.integer({ min: 2, max: 6 }),
    isEmpty: fc.func(fc.boolean()),
    merged: fc.constantFrom('', 'two columns', 'two rows'),
  }),
)
const sheets = fc.array(fc.array(region, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 3,
})
type Region = typeof region extends fc.Arbitrary<infer T> ? T : never

/** Writes a sheet of words that are all different. */
function writeSheet(regions: readonly Region[], word: () => string): SheetXml {
  let top = 1
  const merged: string[] = []
  const rows = regions.map((each) => {
    top += each.gap
    const row = top
    if (each.kind === 'line') {
      top += 1
      return rowsOf([[`${word()} ${word()}`]], { row })
    }
    top += each.rows
    const name = (column: number) => 'ABCDEFGHI'[each.column + column]
    const isCovered = (y: number, x: number) =>
      (each.merged === 'two columns' && y === 1 && x === 1) ||
      (each.merged === 'two rows' && y === 2 && x === 0)
    if (each.merged === 'two columns') merged.push(`${name(0)}${row + 1}:${name(1)}${row + 1}`)
    if (each.merged === 'two rows' && each.rows > 2)
      merged.push(`${name(0)}${row + 1}:${name(0)}${row + 2}`)
    const values = Array.from({ length: each.rows }, (_, y) =>
      Array.from({ length: each.columns }, (_, x) => {
        const isEmpty = isCovered(y, x) || (y > 0 && x > 0 && each.isEmpty(y, x))
        return isEmpty ? '' : word()
      }),
    )
    return rowsOf(values, { row, column: each.column })
  })
  const ranges = merged.map((ref) => `<mergeCell ref="${ref}"/>`).join('')
  return { rows: rows.join(''), after: ranges === '' ? '' : `<mergeCells>${ranges}</mergeCells>` }
}

test('no word of a workbook of several sheets, tables and lines is lost, moved or glued', async () => {
  await fc.assert(
    fc.asyncProperty(sheets, async (regions) => {
      const words: string[] = []
      const word = () => {
        words.push(`word${words.length}z`)
        return words.at(-1) ?? ''
      }
      const written = regions.map((each, at) => [`S${at}`, writeSheet(each, word)] as const)
      const content = workbook(Object.fromEntries(written))
      const text = (await blocksOf('a.xlsx', content)).join('\n\n')
      // A merged cell is read in each row and column, and a table that goes on repeats its header.
      expect([...new Set(text.match(/[\p{L}\p{N}]*word[\p{L}\p{N}]*/gu))]).toEqual(words)
    }),
    { numRuns: 60 },
  )
})

test('no word of a file of lines, records and lines of several lines is lost, moved or glued', async () => {
  const words = fc.integer({ min: 2, max: 4 })
  const part = fc.oneof(
    fc.record({ kind: fc.constant('line' as const), size: words }),
    fc.record({ kind: fc.constant('blank' as const), size: words }),
    fc.record({ kind: fc.constant('record' as const), size: words, form: fc.nat(2) }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(',', ';', '\t'),
      fc.array(part, { minLength: 1, maxLength: 12 }),
      async (separator, parts) => {
        const made: string[] = []
        const word = () => {
          made.push(`word${made.length}z`)
          return made.at(-1) ?? ''
        }
        const lines = [{ kind: 'line' as const, size: 2 }, ...parts].map((each) => {
          if (each.kind === 'blank') return ''
          const values = (make: () => string) => Array.from({ length: each.size }, make)
          if (each.kind === 'line') return values(word).join(' ')
          if (each.form === 0) return values(word).join(separator)
          const inner = each.form === 1 ? separator : '\n'
          return values(() => `"${word()}""${inner} ${word()}"`).join(separator)
        })
        const text = (await blocksOf('a.csv', lines.join('\n'))).join('\n\n')
        expect([...new Set(text.match(/[\p{L}\p{N}]*word[\p{L}\p{N}]*/gu))]).toEqual(made)
      },
    ),
    { numRuns: 150 },
  )
})
