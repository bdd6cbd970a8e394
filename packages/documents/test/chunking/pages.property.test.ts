import fc from 'fast-check'
import type { BlockContent, Paragraph, RootContent, TableRow, Text } from 'mdast'
import { expect, test } from 'vitest'
import { blockSeparator, toBlocks } from '../../src/chunking/blocks.js'
import { chunkDocument } from '../../src/chunking/chunk-document.js'

/** A line of a document: its number of words, and the number of pages that begin before it. */
const line = fc.record({
  words: fc.integer({ min: 1, max: 12 }),
  turns: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 })),
})
type Line = typeof line extends fc.Arbitrary<infer T> ? T : never

const part = fc.record({
  kind: fc.constantFrom(
    ...(['paragraph', 'code', 'list', 'nested', 'table', 'blockquote', 'heading'] as const),
  ),
  lines: fc.array(line, { minLength: 1, maxLength: 25 }),
})

/** Writes parts one after the other; every word names its page. */
function createPrinter() {
  let page = 1
  let count = 0

  function print({ words, turns }: Line): { page: number; text: string } {
    page += turns
    const text = Array.from({ length: words }, () => {
      count += 1
      return `page${page}word${count}`
    })
    return { page, text: text.join(' ') }
  }
  /** A paragraph with one text node per line, as of a PDF. */
  function paragraph(lines: readonly Line[]): Paragraph {
    const children = lines.map((each): Text => {
      const printed = print(each)
      return { type: 'text', value: `${printed.text} `, data: { pageNumber: printed.page } }
    })
    return { type: 'paragraph', children }
  }
  function items(lines: readonly Line[]): BlockContent {
    return {
      type: 'list',
      children: lines.map((each) => ({ type: 'listItem', children: [paragraph([each])] })),
    }
  }
  function row(each: Line): TableRow {
    const printed = print(each)
    const cell: Text = { type: 'text', value: printed.text }
    const children = [{ type: 'tableCell' as const, children: [cell] }]
    return { type: 'tableRow', data: { pageNumber: printed.page }, children }
  }

  return ({ kind, lines }: { kind: string; lines: readonly Line[] }): RootContent => {
    const [first = { words: 1, turns: 0 }, ...rest] = lines
    switch (kind) {
      case 'code': {
        const printed = lines.map(print)
        const pageBreaks = printed.map((each, at) => ({ line: at, page: each.page }))
        const value = printed.map((each) => `  ${each.text}`).join('\n')
        return { type: 'code', value, data: { pageBreaks } }
      }
      case 'list':
        return items(lines)
      case 'nested': {
        const outer = { type: 'listItem' as const, children: [paragraph([first])] }
        return {
          type: 'list',
          ordered: true,
          children: [outer, { type: 'listItem', children: rest.length > 0 ? [items(rest)] : [] }],
        }
      }
      case 'table':
        return { type: 'table', children: lines.map(row) }
      case 'blockquote':
        return { type: 'blockquote', children: lines.map((each) => paragraph([each])) }
      case 'heading': {
        const printed = print(first)
        const children: Text[] = [{ type: 'text', value: printed.text }]
        return { type: 'heading', depth: 2, children, data: { pageNumber: printed.page } }
      }
      default:
        return paragraph(lines)
    }
  }
}

test('every passage of any document carries the page on which its first word stands', () => {
  const parts = fc.array(part, { minLength: 1, maxLength: 8 })
  const lengths = fc.record({
    maxLength: fc.integer({ min: 64, max: 1500 }),
    minParagraphLength: fc.integer({ min: 0, max: 400 }),
    maxPassages: fc.constant(100_000),
  })
  fc.assert(
    fc.property(parts, lengths, (printed, options) => {
      const children = printed.map(createPrinter())
      const document = { root: { type: 'root' as const, children } }
      const blocks = toBlocks(document)
      const whole = blocks.map(({ text }) => text).join(blockSeparator)
      for (const { content, start, end, pageNumber } of chunkDocument(document, options)) {
        // A word that was cut in two is known by its part before the cut.
        const before = /\w*$/.exec(whole.slice(0, start))?.[0] ?? ''
        const page = /page(\d+)word/.exec(before + whole.slice(start, end))?.[1]
        expect(`${pageNumber}`, content).toBe(page ?? `${pageNumber}`)
      }
    }),
  )
})
