import fc from 'fast-check'
import { expect, test } from 'vitest'
import { passagesOf } from '../../../../test/formats/outline.js'
import { pdf } from '../../../../test/formats/pdf.js'
import type { Passage } from '../chunk/passage.js'

const WORD = /page(\d+)word/

/** Words that say where they stand; the document breaks its pages where it must. */
function createWords(document: PDFKit.PDFDocument) {
  let page = 1
  let count = 0
  document.on('pageAdded', () => {
    page += 1
  })
  return (most: number) => {
    return Array.from({ length: most }, () => {
      count += 1
      return `page${page}word${count}`
    }).join(' ')
  }
}

function expectPages(passages: readonly Passage[]): void {
  for (const { content, pageNumber } of passages) {
    expect(WORD.exec(content)?.[1], content).toBe(`${pageNumber}`)
  }
}

test('a listing of many pages has passages that begin where they say', async () => {
  const content = await pdf((document) => {
    const words = createWords(document)
    document.font('Courier').fontSize(9)
    for (let at = 0; at < 400; at += 1) {
      if (document.y > 760) document.addPage()
      document.text(`${' '.repeat(at % 4)}${words(3)};`)
    }
  })
  const passages = await passagesOf('a.pdf', content)
  expectPages(passages)
  expect(new Set(passages.map(({ pageNumber }) => pageNumber)).size).toBeGreaterThan(5)
})

test('lists, code and paragraphs that go over pages have passages that begin where they say', async () => {
  const part = fc.record({
    kind: fc.constantFrom('code', 'list', 'text'),
    lines: fc.integer({ min: 1, max: 90 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 2, maxLength: 5 }), async (parts) => {
      const content = await pdf((document) => {
        const words = createWords(document)
        for (const { kind, lines } of parts) {
          document.font(kind === 'code' ? 'Courier' : 'Helvetica').fontSize(10)
          for (let at = 0; at < lines; at += 1) {
            // The page is turned before the line is written that would not fit, and named.
            if (document.y > 760) document.addPage()
            document.text(kind === 'list' ? `${at + 1}. ${words(3)}` : words(4))
          }
          document.moveDown(2)
        }
      })
      expectPages(await passagesOf('a.pdf', content))
    }),
    { numRuns: 12 },
  )
})
