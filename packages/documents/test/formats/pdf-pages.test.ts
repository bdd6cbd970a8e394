import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Passage } from '../../src/chunking/passage.js'
import { blocksOf, passagesOf } from '../outline.js'
import { pdf } from '../pdf.js'

const wordPattern = /page(\d+)word/

/** Words that name their page; the document breaks pages automatically. */
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
  // Nothing is lost, such as a line at the edge of a page that resembles those of other pages.
  const words = passages.flatMap(({ content }) => content.match(/page\d+word\d+/g) ?? [])
  expect(words.map((word) => Number(/\d+$/.exec(word)?.[0]))).toEqual(words.map((_, at) => at + 1))
  for (const { content, pageNumber } of passages) {
    expect(wordPattern.exec(content)?.[1], content).toBe(`${pageNumber}`)
  }
}

test('a listing of many pages has passages with correct pages', async () => {
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

test('lists, code and paragraphs over several pages have passages with correct pages', async () => {
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
            // The page breaks before a line that would not fit is written.
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

test('a monospaced manual has headings, paragraphs and pages', async () => {
  const options = Array.from({ length: 150 }, (_, at) => [
    `       --option-${at}`,
    `              Sets the pressure of pump ${at} to what is given here.`,
    '',
  ])
  const lines = ['NAME', '       pump - moves water', '', 'OPTIONS', ...options.flat()]
  const places = new Map<string, number>()
  let page = 1
  const content = await pdf((document) => {
    document.font('Courier').fontSize(9)
    for (const line of lines) {
      if (document.y > 760) {
        document.addPage()
        page += 1
      }
      places.set(line.trim(), page)
      if (line === '') document.moveDown()
      else document.text(line)
    }
  })
  expect((await blocksOf('a.pdf', content)).slice(0, 4)).toEqual([
    '# NAME',
    'pump - moves water',
    '# OPTIONS',
    '--option-0\n              Sets the pressure of pump 0 to what is given here.',
  ])
  const passages = await passagesOf('a.pdf', content)
  expect(
    passages
      .map((each) => each.content)
      .join('\n')
      .match(/--option-\d+/g),
  ).toHaveLength(150)
  for (const { content, pageNumber } of passages.slice(2)) {
    expect(places.get(content.split('\n', 1)[0]?.trim() ?? '')).toBe(pageNumber)
  }
  const length = passages.reduce((sum, each) => sum + each.content.length, 0)
  expect(length / passages.length).toBeGreaterThan(500)
})
