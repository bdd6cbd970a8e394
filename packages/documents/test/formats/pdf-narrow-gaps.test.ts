import { describe, expect, test } from 'vitest'
import { blocksOf } from '../outline.js'
import { pdf, sentences } from '../pdf.js'

const fonts = ['Times-Roman', 'Times-Bold', 'Helvetica', 'Helvetica-Bold', 'Times-Italic'] as const

describe('cells as near to each other as words are separated where their gaps are aligned', () => {
  test.each(fonts)('in %s, with names on the left and numbers on the right', async (font) => {
    const rows = Array.from({ length: 25 }, (_, at) => {
      return [`P-${at + 10}`, `Seal ring ${at + 10}`, `${at + 10}.90`]
    })
    const content = await pdf((document) => {
      document.font('Helvetica').fontSize(18).text('Prices').font(font).fontSize(10).moveDown()
      const all = [['Code', 'Name', 'Price'], ...rows]
      const widths = [0, 1, 2].map((column) => {
        return Math.max(...all.map((row) => document.widthOfString(row[column] ?? '')))
      })
      const [code = 0, name = 0, price = 0] = widths
      for (const [left, middle, right] of all) {
        const { y } = document
        document.text(left ?? '', 60, y, { lineBreak: false })
        document.text(middle ?? '', 60 + code + 7, y, { lineBreak: false })
        const end = 60 + code + 7 + name + 7 + price
        const start = end - document.widthOfString(right ?? '')
        document.text(right ?? '', start, y, { lineBreak: false })
        document.y = y + 16
      }
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      '# Prices',
      [
        '| Code | Name | Price |',
        '| --- | --- | --- |',
        ...rows.map((row) => `| ${row.join(' | ')} |`),
      ].join('\n'),
    ])
  })

  test.each(fonts)('in %s, where one cell ends a space before the next column', async (font) => {
    const rows = [
      ['A, solid matter', 'Water, 9 litres', 'Lounges'],
      ['B, liquids', 'Foam, 6 litres', 'Car deck'],
      ['F, cooking oil', 'Wet chemical, 3', 'Galley'],
    ] as const
    const header = ['Class', 'Extinguisher', 'Place'] as const
    const content = await pdf((document) => {
      document.font(font).fontSize(12)
      const width = (text: string) => document.widthOfString(text)
      const starts = [60, 60 + width('A, solid matter ') + 0.5, 290]
      const ends = [(starts[1] ?? 0) - 8, 280, 350]
      header.forEach((text, at) => {
        // Centred above its column.
        const x = ((starts[at] ?? 0) + (ends[at] ?? 0) - width(text)) / 2
        document.text(text, x, 60, { lineBreak: false })
      })
      for (const [at, row] of rows.entries()) {
        for (const [column, text] of row.entries()) {
          document.text(text, starts[column] ?? 0, 77 + at * 17, { lineBreak: false })
        }
      }
    })
    expect(await blocksOf('a.pdf', content)).toEqual([
      ['| Class | Extinguisher | Place |', '| --- | --- | --- |']
        .concat(rows.map((row) => `| ${row.join(' | ')} |`))
        .join('\n'),
    ])
  })
})

/** Writes pieces of text far enough apart for the parser to return each alone, but nearer than cells. */
function drawPieces(document: PDFKit.PDFDocument, pieces: readonly string[]): void {
  const { y } = document
  let x = 60
  for (const piece of pieces) {
    document.text(piece, x, y, { lineBreak: false })
    x += document.widthOfString(piece) + 7
  }
  document.y = y + 12
}

describe('does not split', () => {
  test('a justified text, word for word', async () => {
    const words = sentences('the pump', 30).split(' ')
    const lines = Array.from({ length: 40 }, (_, at) => words.slice(at * 9, at * 9 + 9))
    const content = await pdf((document) => {
      document.fontSize(10)
      for (const line of lines) drawPieces(document, line)
    })
    const text = lines.flat().join(' ').trim()
    expect((await blocksOf('a.pdf', content)).join(' ')).toBe(text)
  })

  test('a list with wide gaps after its markers', async () => {
    const content = await pdf((document) => {
      document.fontSize(10)
      for (let at = 1; at <= 8; at += 1)
        drawPieces(document, [`${at}.`, `Close valve number ${at}`])
    })
    expect((await blocksOf('a.pdf', content)).join('\n')).not.toContain('|')
  })

  test('an address and a paragraph with names in bold', async () => {
    const content = await pdf((document) => {
      document.fontSize(10)
      for (const line of ['Pump Company', '12 Long Street', 'Bern 3000', 'Switzerland']) {
        drawPieces(document, line.split(' '))
      }
      document.moveDown(2)
      for (const name of ['open', 'shut', 'flushed quickly', 'run', 'washed out', 'watched']) {
        document.font('Helvetica')
        drawPieces(document, [`The valve that is ${name}`, 'is said to be', `${name} by hand and`])
      }
    })
    expect((await blocksOf('a.pdf', content)).join('\n')).not.toContain('|')
  })

  test('code', async () => {
    const content = await pdf((document) => {
      document.font('Helvetica').fontSize(10).text(sentences('code', 4)).moveDown()
      document.font('Courier')
      for (const name of ['pump', 'seal', 'hose', 'ring', 'door']) {
        drawPieces(document, [`const ${name}`, `= open('${name}')`])
      }
    })
    expect((await blocksOf('a.pdf', content)).join('\n')).not.toContain('|')
  })
})
