import { describe, expect, test } from 'vitest'
import { ExtractionError, type Source } from '../src/document/extraction.js'
import { readDocument } from '../src/read-document.js'
import { docx, epub, part, pptx, shape, wordParagraph, xlsx } from './office.js'
import { zip } from './zip.js'

const chunking = { maxLength: 1000, minParagraphLength: 200, maxPassages: 5000 }
const limits = { maxLength: 5_000_000, maxPages: 100, maxUnpackedBytes: 2 ** 26 }

async function refusalOf(key: string, content: string | Uint8Array, more: Partial<Source>) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const source = { key, contentType: '', bytes, allowPartial: true, ...limits, ...more }
  return await readDocument(source, chunking).then(
    () => 'read',
    (error: unknown) => {
      if (error instanceof ExtractionError) return `${error.failure}: ${error.message}`
      throw error
    },
  )
}

type Case = readonly [
  limit: string,
  key: string,
  make: () => string | Uint8Array,
  reason: RegExp,
  more?: Partial<Source>,
]

/** Long texts are made of few repetitions: what is tested is that reading ends before they are parsed. */
const cases: readonly Case[] = [
  [
    'characters of a source',
    'a.txt',
    () => 'x'.repeat(2001),
    /^too_large: .*2,001 characters; at most 2,000 /,
    { maxLength: 1000 },
  ],
  [
    'characters of text',
    'a.json',
    () => JSON.stringify(['word '.repeat(300)]),
    /^too_large: .*more than 1,000 characters/,
    { maxLength: 1000 },
  ],
  [
    'passages',
    'a.md',
    () => '# a\n\n'.repeat(5001),
    /^too_many_passages: .*more than 5000 passages of up to 1000 characters/,
  ],
  [
    'slides',
    'a.pptx',
    () => pptx(['', '']),
    /^too_many_pages: .*2 slides; at most 1 /,
    { maxPages: 1 },
  ],
  [
    'sheets',
    'a.xlsx',
    () => xlsx({ A: '<row/>', B: '<row/>' }),
    /^too_many_pages: .*2 sheets; at most 1 /,
    { maxPages: 1 },
  ],
  [
    'chapters',
    'a.epub',
    () => epub(['<p>a</p>', '<p>b</p>']),
    /^too_many_pages: .*2 chapters; at most 1 /,
    { maxPages: 1 },
  ],
  [
    'parts of a package',
    'a.docx',
    () => zip(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`${at}`, '']))),
    /^too_large: .*20,001 parts; at most 20,000 /,
  ],
  [
    'bytes when unpacked',
    'a.docx',
    () => docx(wordParagraph('a'.repeat(1_100_000))),
    /^too_large: .*more than 1 MiB/,
    { maxUnpackedBytes: 2 ** 20 },
  ],
  [
    'compression of a part',
    'a.docx',
    () => docx('', { 'word/document.xml': Buffer.alloc(5_000_000) }),
    /^too_large: .*more than 1000 times its size/,
  ],
  [
    'depth of XML',
    'a.docx',
    () => docx(`${'<w:sdt>'.repeat(300)}${'</w:sdt>'.repeat(300)}`),
    /^too_deep: .*more than 250 levels/,
  ],
  [
    'pieces of a table',
    'a.docx',
    () => docx(`<w:tbl>${'<w:tr/>'.repeat(1_000_001)}</w:tbl>`),
    /^too_large: .*more than 1,000,000 pieces/,
  ],
  [
    'paragraphs of Word',
    'a.docx',
    () => docx('<w:p><w:r><w:t>a</w:t></w:r></w:p>'.repeat(600_001)),
    /^too_large: .*more than 600,000 paragraphs/,
  ],
  [
    'columns of sheets',
    'a.xlsx',
    () =>
      xlsx({
        A: `${Array.from({ length: 1001 }, (_, at) => `<row r="${at + 1}"><c r="XFD${at + 1}"><v>1</v></c></row>`).join('')}`,
      }),
    /^too_large: .*16,000,000 cells/,
  ],
  [
    'elements of HTML',
    'a.html',
    () => '<br>'.repeat(600_001),
    /^too_large: .*more than 600,000 elements/,
  ],
  [
    'elements of XHTML',
    'a.xhtml',
    () => `<html xmlns="http://www.w3.org/1999/xhtml">${'<p/>'.repeat(600_001)}</html>`,
    /^too_large: .*more than 600,000 elements/,
  ],
  ['depth of HTML', 'a.html', () => '<div>'.repeat(100_000), /^too_deep: .*more than 512 levels/],
  [
    'lines of Markdown',
    'a.md',
    () => '- a\n'.repeat(200_001),
    /^too_large: .*more than 200,000 lines/,
  ],
  [
    'marks of Markdown',
    'a.md',
    () => '*a* '.repeat(400_001),
    /^too_large: .*more than 800,000 marks/,
  ],
  ['depth of Markdown', 'a.md', () => `${'> '.repeat(200)}a`, /^too_deep: .*100 levels/],
  ['lines of text', 'a.txt', () => 'a\n'.repeat(600_001), /^too_large: .*more than 600,000 lines/],
  [
    'lines of settings',
    'a.ini',
    () => '[a]\n'.repeat(600_001),
    /^too_large: .*more than 600,000 lines/,
  ],
  ['lines of code', 'a.sql', () => 'a;\n'.repeat(600_001), /^too_large: .*more than 600,000 lines/],
  ['lines of Org', 'a.org', () => '* a\n'.repeat(600_001), /^too_large: .*more than 600,000 lines/],
  [
    'lines of a calendar',
    'a.ics',
    () => 'BEGIN:VEVENT\n'.repeat(600_001),
    /^too_large: .*more than 600,000 lines/,
  ],
  [
    'cues',
    'a.srt',
    () => '00:00:01,000 --> 00:00:02,000\na\n\n'.repeat(100),
    /^too_large: .*more than 1,000 characters/,
    { maxLength: 1000 },
  ],
  [
    'values of JSON',
    'a.json',
    () => `[${'1,'.repeat(1_000_000)}1]`,
    /^too_large: .*more than 1,000,000 values/,
  ],
  [
    'nested objects',
    'a.json',
    () => `[${'{"a":{"b":1}},'.repeat(100_000)}{"a":{"b":1}}]`,
    /^too_large: .*more than 100,000 nested objects/,
  ],
  [
    'lines of JSON',
    'a.jsonl',
    () => '{}\n'.repeat(600_001),
    /^too_large: .*more than 600,000 lines/,
  ],
  ['depth of data', 'a.json', () => '['.repeat(200), /^too_deep: .*more than 100 levels/],
  [
    'tokens of YAML',
    'a.yaml',
    () => '- a\n'.repeat(610_000),
    /^too_large: .*more than 2,400,000 tokens/,
  ],
  [
    'aliases of YAML',
    'a.yaml',
    () => `a: &a [${'1,'.repeat(300)}]\nb: [${'*a,'.repeat(100)}]`,
    /^too_large: .*more than 20,000 values/,
  ],
  [
    'a record',
    'a.csv',
    () => `a,b\n${'x'.repeat(1_000_001)},1\n`,
    /^too_large: .*more than 1,000,000 characters/,
  ],
  [
    'a header line',
    'a.eml',
    () => `Subject: ${'a'.repeat(2_100_000)}\n\na`,
    /^too_large: .*at most 2,097,152 /,
  ],
  [
    'parts in parts of mail',
    'a.eml',
    () =>
      Array.from(
        { length: 60 },
        (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`,
      ).join(''),
    /^too_deep: .*more than 50 levels/,
  ],
  [
    'messages of a mailbox',
    'a.mbox',
    () => 'From a\nSubject: x\n\n'.repeat(100_001),
    /^too_large: .*more than 100,000 messages/,
  ],
]

describe('a file beyond a limit is refused with the limit, its value and advice:', () => {
  test.each(cases.map((each) => ({ each, name: each[0], key: each[1] })))(
    '$name ($key)',
    async ({ each }) => {
      const [, key, make, reason, more = {}] = each
      const refusal = await refusalOf(key, make(), more)
      expect(refusal).toMatch(reason)
      expect(refusal).toMatch(/Split|Flatten|Remove|Shorten|Save|Replace|Reduce/)
    },
  )
})

describe('parts that are listed again and again are read once:', () => {
  const many = 3000
  const readText = async (key: string, bytes: Uint8Array) => {
    const { passages } = await readDocument({ key, contentType: '', bytes, ...limits }, chunking)
    return passages.map(({ content }) => content).join('\n')
  }

  test('chapters', async () => {
    const items = '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/>'
    const spine = '<itemref idref="c"/>'.repeat(many)
    const book = epub([], {
      'OEBPS/book.opf': `<package><manifest>${items}</manifest><spine>${spine}</spine></package>`,
      'OEBPS/c.xhtml': '<html><body><p>Once upon a time</p></body></html>',
    })
    expect((await readText('a.epub', book)).match(/Once/g)).toHaveLength(1)
  })

  test('slides', async () => {
    const slide = shape('idx="1"', 'Once upon a time')
    const list = `<p:sldIdLst>${'<p:sldId r:id="rId10"/>'.repeat(many)}</p:sldIdLst>`
    const file = pptx([slide], { 'ppt/presentation.xml': part('p:presentation', list) })
    expect((await readText('a.pptx', file)).match(/Once/g)).toHaveLength(1)
  })

  test('parts that share bytes', async () => {
    const file = Buffer.from(
      docx(wordParagraph('a'), { 'word/one.xml': 'abc', 'word/two.xml': 'abc' }),
    )
    // In the list of the archive, the last part begins where the one before it does.
    const lastEntry = (before: number) => file.lastIndexOf('PK\u0001\u0002', before, 'latin1')
    const last = lastEntry(file.length)
    file.copy(file, last + 42, lastEntry(last - 1) + 42, lastEntry(last - 1) + 46)
    expect(await refusalOf('a.docx', file, {})).toMatch(/^damaged: .*its parts overlap/)
  })
})
