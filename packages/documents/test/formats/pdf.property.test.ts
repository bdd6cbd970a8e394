import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { pdf } from '../pdf.js'

const size = fc.integer({ min: 2, max: 5 })
const part = fc.record({
  kind: fc.constantFrom(
    'text',
    'heading',
    'list',
    'raised',
    'table',
    'rotated header',
    'sideways',
    'form',
    'stands for',
    'narrow table',
  ),
  size,
})
interface Part {
  kind: string
  size: number
}
const columns = fc.tuple(
  fc.record({
    kind: fc.constantFrom('columns', 'table in a column', 'table beside text', 'two tables'),
    size,
  }),
)
const parts: fc.Arbitrary<Part[]> = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 3 }),
  columns,
)

const turns = [0, 90, 180, 270] as const

/** Makes words that are all different, not by numbers alone, by which running headers may differ. */
function createWords() {
  let count = 0
  return (amount: number): string[] =>
    Array.from({ length: amount }, () => {
      count += 1
      const letters = [...String(count)].map((digit) => 'abcdefghij'[Number(digit)])
      return `word${letters.join('')}x`
    })
}

type Draw = (document: PDFKit.PDFDocument, top: number, words: (amount: number) => string[]) => void

function at(document: PDFKit.PDFDocument, x: number, y: number, text: string): void {
  document.text(text, x, y, { lineBreak: false })
}

function drawGrid(document: PDFKit.PDFDocument, top: number, rows: string[][]): void {
  rows.forEach((row, y) => {
    row.forEach((cell, x) => {
      at(document, 60 + 120 * x, top + 16 * y, cell)
    })
  })
}

/** Draws a part with its words in reading order. */
function drawerOf(kind: string, size: number): Draw {
  const rowsOf = (words: (amount: number) => string[], rows: number) =>
    Array.from({ length: rows }, () => words(3))
  switch (kind) {
    case 'columns':
      return (document, top, words) => {
        for (const x of [60, 310]) {
          for (let line = 0; line < size + 4; line += 1) {
            at(document, x, top + 13 * line, words(4).join(' '))
          }
        }
      }
    case 'table in a column':
      return (document, top, words) => {
        const lines = (x: number, y: number, count: number) => {
          for (let line = 0; line < count; line += 1)
            at(document, x, y + 13 * line, words(4).join(' '))
        }
        lines(60, top, 6)
        rowsOf(words, size + 2).forEach((row, y) => {
          row.forEach((cell, x) => {
            at(document, 60 + 72 * x, top + 96 + 15 * y, cell)
          })
        })
        lines(60, top + 116 + 15 * (size + 2), 6)
        lines(310, top, 16 + size)
      }
    case 'table beside text':
      return (document, top, words) => {
        rowsOf(words, size + 3).forEach((row, y) => {
          row.forEach((cell, x) => {
            at(document, 60 + 72 * x, top + 15 * y, cell)
          })
        })
        for (let line = 0; line < size + 6; line += 1)
          at(document, 310, top + 11.7 * line, words(4).join(' '))
      }
    case 'two tables':
      return (document, top, words) => {
        for (const [left, pitch] of [
          [60, 15],
          [320, 18.3],
        ] as const) {
          rowsOf(words, size + 4).forEach((row, y) => {
            row.forEach((cell, x) => {
              at(document, left + 72 * x, top + pitch * y, cell)
            })
          })
        }
      }
    case 'narrow table':
      return (document, top, words) => {
        document.font('Courier')
        rowsOf(words, size + 3).forEach((row, y) => {
          at(document, 60, top + 14 * y, row.map((cell) => cell.padEnd(11)).join(' '))
        })
        document.font('Helvetica')
      }
    case 'stands for':
      return (document, top, words) => {
        for (let line = 0; line < size; line += 1) {
          const y = top + 16 * line
          const [before = '', actual = '', after = ''] = words(3)
          at(document, 60, y, before)
          document.markContent('Span', { actual })
          at(document, 64 + document.widthOfString(before), y, 'QQQ')
          document.endMarkedContent()
          at(document, 68 + document.widthOfString(`${before}QQQ`), y, after)
        }
      }
    case 'table':
      return (document, top, words) => drawGrid(document, top, rowsOf(words, size + 2))
    case 'rotated header':
      return (document, top, words) => {
        words(3).forEach((word, x) => {
          const place: [number, number] = [70 + 120 * x, top + 60]
          document.save().rotate(-90, { origin: place })
          document.text(word, ...place, { lineBreak: false, baseline: 'alphabetic' }).restore()
        })
        drawGrid(document, top + 70, rowsOf(words, size))
      }
    case 'sideways':
      return (document, top, words) => {
        document.save().rotate(-90, { origin: [200, top + 100] })
        for (let line = 0; line < size; line += 1) {
          at(document, 200, top + 100 + 14 * line, words(2).join(' '))
        }
        document.restore()
      }
    case 'heading':
      return (document, top, words) => {
        document.fontSize(16)
        at(document, 60, top, words(2).join(' '))
        document.fontSize(10)
        for (let line = 0; line < size; line += 1)
          at(document, 60, top + 30 + 13 * line, words(8).join(' '))
      }
    case 'list':
      return (document, top, words) => {
        for (let item = 0; item < size; item += 1) {
          const indent = 15 * (item % 3)
          at(document, 60 + indent, top + 28 * item, item % 2 === 0 ? '•' : `${item})`)
          at(document, 75 + indent, top + 28 * item, words(6).join(' '))
          at(document, 75 + indent, top + 28 * item + 13, words(3).join(' '))
        }
      }
    case 'raised':
      return (document, top, words) => {
        for (let line = 0; line < size; line += 1) {
          const y = top + 16 * line
          const [base = '', raised = '', ...rest] = words(6)
          at(document, 60, y, base)
          const x = 61 + document.widthOfString(base)
          document.fontSize(6.5)
          at(document, x, line % 2 === 0 ? y - 1 : y + 5, raised)
          const next = x + document.widthOfString(raised)
          document.fontSize(10)
          at(document, next + 3, y, rest.join(' '))
        }
      }
    case 'form':
      return (document, top, words) => {
        for (let line = 0; line < size; line += 1) {
          const [label = '', value = ''] = words(2)
          at(document, 60, top + 24 * line, `${label}:`)
          document.formText(value, 160, top + 24 * line - 4, 200, 18, { value })
        }
      }
    default:
      return (document, top, words) => {
        for (let line = 0; line < size; line += 1)
          at(document, 60, top + 13 * line, words(8).join(' '))
      }
  }
}

test('no word of a page is lost, none is glued to another, and each part keeps its order', async () => {
  const pages = fc.array(
    fc.record({
      turned: fc.constantFrom(...turns),
      parts,
    }),
    { minLength: 1, maxLength: 3 },
  )
  await fc.assert(
    fc.asyncProperty(pages, async (drawn) => {
      const words = createWords()
      const made: string[][] = []
      const content = await pdf((document) => {
        document.font('Helvetica').initForm()
        drawn.forEach(({ turned, parts }, page) => {
          if (page > 0) document.addPage()
          Object.assign(document.page.dictionary.data, { Rotate: turned })
          document.fontSize(10)
          parts.forEach(({ kind, size }, index) => {
            const own: string[] = []
            drawerOf(kind, size)(document, 80 + 240 * index, (amount) => {
              const added = words(amount)
              own.push(...added)
              return added
            })
            made.push(own)
          })
        })
      })
      const all = (await blocksOf('a.pdf', content))
        .join('\n')
        .match(/[\p{L}\p{N}]*word[\p{L}\p{N}]*/gu)
      // The header of a table that is continued is there on each page.
      const read = [...new Set(all)]
      expect([...read].sort()).toEqual(made.flat().sort())
      for (const own of made) {
        const members = new Set(own)
        expect(read.filter((word) => members.has(word))).toEqual(own)
      }
    }),
    { numRuns: 40 },
  )
})
