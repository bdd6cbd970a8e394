import fc from 'fast-check'
import type { BlockContent, PhrasingContent, Root, RootContent } from 'mdast'
import { describe, expect, test } from 'vitest'
import { blockSeparator, toBlocks } from '../../src/chunking/blocks.js'
import { chunkDocument } from '../../src/chunking/chunk-document.js'
import type { ChunkOptions } from '../../src/chunking/passage.js'
import type { Extraction } from '../../src/document/extraction.js'
import { plainText } from '../../src/document/nodes.js'
import { extract } from '../../src/read-document.js'

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.constantFrom(
    'Ende.',
    'e.g.',
    'ERR_42',
    '句子。',
    '漢字',
    '👨‍👩‍👧‍👦',
    'é',
    'https://a.example/?b=c',
    '|',
    '*',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
)
const phrase = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(' '))
const text = phrase.map((value) => ({ type: 'text' as const, value }))

const phrasing: fc.Arbitrary<PhrasingContent[]> = fc.array(
  fc.oneof(
    text,
    phrase.map((value) => ({ type: 'inlineCode' as const, value })),
    fc.array(text, { maxLength: 2 }).map((children) => ({ type: 'strong' as const, children })),
    fc.record({ type: fc.constant('link' as const), url: fc.webUrl(), children: fc.tuple(text) }),
    fc.constant({ type: 'break' as const }),
    fc.constant({ type: 'image' as const, url: 'a.png', alt: 'picture' }),
  ),
  { maxLength: 4 },
)
const cell = phrasing.map((children) => ({ type: 'tableCell' as const, children }))
const row = fc
  .array(cell, { maxLength: 3 })
  .map((children) => ({ type: 'tableRow' as const, children }))

const { block } = fc.letrec<{ block: BlockContent; blocks: BlockContent[] }>((tie) => ({
  blocks: fc.array(tie('block'), { maxLength: 3 }),
  block: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    phrasing.map((children) => ({ type: 'paragraph' as const, children })),
    fc.record({
      type: fc.constant('heading' as const),
      depth: fc.constantFrom(1 as const, 2 as const, 3 as const),
      children: phrasing,
    }),
    fc.record({ type: fc.constant('code' as const), lang: fc.constant('js'), value: phrase }),
    fc.array(row, { maxLength: 6 }).map((children) => ({ type: 'table' as const, children })),
    tie('blocks').map((children) => ({ type: 'blockquote' as const, children })),
    fc
      .tuple(fc.boolean(), fc.boolean(), fc.array(tie('blocks'), { maxLength: 4 }))
      .map(([ordered, spread, items]) => ({
        type: 'list' as const,
        ordered,
        spread,
        children: items.map((children) => ({ type: 'listItem' as const, children })),
      })),
  ),
}))
/** A top-level block of a document. */
const topBlock: fc.Arbitrary<RootContent> = fc
  .oneof(
    { weight: 8, arbitrary: block },
    { weight: 1, arbitrary: fc.constant({ type: 'thematicBreak' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'html' as const, value: '<br>' }) },
    {
      weight: 1,
      arbitrary: phrasing.map((children) => ({
        type: 'footnoteDefinition' as const,
        identifier: '1',
        children: [{ type: 'paragraph' as const, children }],
      })),
    },
  )
  .chain((node) =>
    fc
      .option(fc.integer({ min: 1, max: 9 }), { nil: undefined })
      .map((pageNumber) => (pageNumber === undefined ? node : { ...node, data: { pageNumber } })),
  )
const extraction: fc.Arbitrary<Extraction> = fc.record(
  {
    root: fc
      .array(topBlock, { minLength: 1, maxLength: 10 })
      .map((children): Root => ({ type: 'root', children })),
    title: phrase,
  },
  { requiredKeys: ['root'] },
)
const options: fc.Arbitrary<ChunkOptions> = fc.record({
  maxLength: fc.integer({ min: 64, max: 1500 }),
  minParagraphLength: fc.integer({ min: 0, max: 400 }),
  maxPassages: fc.constant(100_000),
})

function normalizedText(document: Extraction): string {
  return toBlocks(document)
    .map((part) => part.text)
    .join(blockSeparator)
}

function withoutBlanks(value: string): string {
  return value.replace(/\s+/g, '')
}

/** Whether the characters of `part` occur in `whole` in the same order. */
function isSubsequence(part: string, whole: string): boolean {
  let found = 0
  for (const character of whole.split('')) {
    if (character === part.charAt(found)) found += 1
  }
  return found === part.length
}

describe('any document', () => {
  test('keeps all of its text in its normalized text', () => {
    fc.assert(
      fc.property(extraction, (document) => {
        const words = withoutBlanks(plainText(document.root))
        expect(isSubsequence(words, normalizedText(document))).toBe(true)
      }),
    )
  })

  test('has every character in exactly one passage, in order', () => {
    fc.assert(
      fc.property(extraction, options, (document, limits) => {
        const whole = normalizedText(document)
        const passages = chunkDocument(document, limits)
        let end = 0
        for (const passage of passages) {
          expect(whole.slice(end, passage.start).trim()).toBe('')
          expect(passage.start).toBeLessThan(passage.end)
          end = passage.end
        }
        expect(whole.slice(end).trim()).toBe('')
        expect(passages.map((passage) => passage.position)).toEqual([...passages.keys()])
      }),
    )
  })

  test('has passages with the text of their range that respect the limit', () => {
    fc.assert(
      fc.property(extraction, options, (document, limits) => {
        const whole = normalizedText(document)
        for (const { content, start, end } of chunkDocument(document, limits)) {
          expect(content.length).toBeLessThanOrEqual(limits.maxLength)
          expect(withoutBlanks(content)).toContain(withoutBlanks(whole.slice(start, end)))
        }
      }),
    )
  })

  test('has passages that share nothing but repeated headers, with the page on which they begin', () => {
    fc.assert(
      fc.property(extraction, options, (document, limits) => {
        const whole = normalizedText(document)
        const parts = toBlocks(document)
        for (const { content, start, end, pageNumber } of chunkDocument(document, limits)) {
          const first = parts.findLast((part) => part.start <= start)
          const own = withoutBlanks(whole.slice(start, end))
          const at = withoutBlanks(content).indexOf(own)
          const before = withoutBlanks(content).slice(0, at)
          const after = withoutBlanks(content).slice(at + own.length)
          expect(['', withoutBlanks(first?.repeat?.before ?? '')]).toContain(before)
          const last = parts.findLast((part) => part.start < end)
          expect(['', withoutBlanks(last?.repeat?.after ?? '')]).toContain(after)
          const within = parts.filter(
            (part) => part.start < end && part.start >= (first?.start ?? 0),
          )
          const pages = within.map((part) => part.pages[0]?.page)
          expect(pageNumber).toBe(pages.find((page) => page !== undefined))
        }
      }),
    )
  })

  test('has passages that cut no character in half', () => {
    const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
    fc.assert(
      fc.property(extraction, options, (document, limits) => {
        for (const { content } of chunkDocument(document, limits)) {
          expect(content).not.toMatch(halves)
          expect(content).not.toMatch(/^\p{M}|\u200d$|^\u200d/u)
        }
      }),
    )
  })
})

test('any bytes become passages or an ExtractionError', async () => {
  const snippet = fc.constantFrom(
    ...[
      '# ',
      '## ',
      '> ',
      '- ',
      '1. ',
      '```',
      '~~~',
      '|',
      '|-|',
      '\n',
      '\n\n',
      '    ',
      '\t',
      '***',
    ],
    '[a](b)',
    '![c](d)',
    '[^1]',
    '[^1]: e',
    '<div>',
    '</p>',
    '<table><td>',
    '<!--',
    '&amp;',
    '---\n',
    'title: x\n',
    '\0',
    'word ',
    '漢字',
    '\\',
    '`',
    '<br>',
    '<h1>',
    '<li>',
    '<main>',
  )
  const content = fc.array(snippet, { maxLength: 80 }).map((parts) => parts.join(''))
  const contentType = fc.constantFrom('text/markdown', 'text/html', 'text/plain')
  const limits = { maxLength: 100, minParagraphLength: 30, maxPassages: 1000 }
  await fc.assert(
    fc.asyncProperty(content, contentType, async (value, type) => {
      const source = { bytes: Buffer.from(value), contentType: type, key: 'file' }
      const document = await extract(source).catch((error: Error) => error)
      if (document instanceof Error) expect(document.name).toBe('ExtractionError')
      else expect(chunkDocument(document, limits)).not.toEqual([])
    }),
    { numRuns: 1000 },
  )
})
