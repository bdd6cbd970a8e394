import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  docx,
  docxParts,
  epub,
  odt,
  part,
  pptx,
  shape,
  wordParagraph,
  wordTable,
  xlsx,
} from '../../../../packages/documents/test/office.js'
import { drawTable, pdf, sentences } from '../../../../packages/documents/test/pdf.js'
import { zip } from '../../../../packages/documents/test/zip.js'
import {
  createIngestPool,
  type IngestPool,
  ingest,
} from '../../src/features/search/indexing/ingest.js'

const limits = { timeLimitMs: 15_000, memoryLimitMb: 512 }
/** Damaged files of each format: truncated, with flipped bits, with swapped parts. */
const perFormat = 16
/** The damage is the same in every run, so that a failure is reproducible. */
const seed = 20_261_121

let pool: IngestPool
let samples: Record<string, Buffer>

beforeAll(async () => {
  pool = createIngestPool({
    ...limits,
    workers: 2,
    onError(error) {
      throw error
    },
  })
  const table = wordTable([
    ['a', 'b'],
    ['1', '2'],
  ])
  samples = {
    'a.pdf': await pdf((document) => {
      document.fontSize(18).text('Pumps').fontSize(11).text(sentences('pumps', 20))
      drawTable(document, [60, 200, 300], [['a', 'b', 'c'], ...Array(60).fill(['1', '2', '3'])])
      document.outline.addItem('Pumps')
    }),
    'a.docx': docx(wordParagraph(sentences('Word', 10)) + table),
    'a.pptx': pptx([shape('type="title"', 'Slide') + shape('idx="1"', 'One', 'Two')]),
    'a.xlsx': xlsx(
      { S: '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>4</v></c></row>' },
      { strings: ['text'] },
    ),
    'a.odt': odt(`<text:h>Head</text:h><text:p>${sentences('text', 10)}</text:p>`),
    'a.epub': epub([`<h1>One</h1><p>${sentences('books', 10)}</p>`, '<p>Two</p>']),
    'a.eml': Buffer.from(
      'From: a@b.example\r\nSubject: Hi\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>Text</p>\r\n--x--\r\n',
    ),
    'a.csv': Buffer.from('a;b\n"1;2";3\n4;5\n'),
    'a.json': Buffer.from('{"a":[{"b":1},{"b":2}],"c":{"d":{"e":[1,[2,{"f":3}]]}}}'),
    'a.yaml': Buffer.from('a: &x [1, 2]\nb: *x\nc:\n  - d: 1\n    e: |\n      text\n'),
    'a.md': Buffer.from(
      '---\ntitle: a\n---\n# a\n\n|a|b|\n|-|-|\n|1|2|\n\n- a\n  > b\n\n```\nc\n```\n',
    ),
    'a.html': Buffer.from(
      '<main><h1>a</h1><table><tr><td colspan=2>b<tr><td>c</table><ul><li>d</main>',
    ),
    'a.txt': Buffer.from('Größe\n=====\n\n1.1 漢字\n\ntext\n', 'utf16le'),
    'a.tsv': Buffer.from('a\tb\n1\t"2\n3"\n'),
    'a.mdx': Buffer.from('import a\n\n<Tab title="x">{a}\n\n```js\nb\n```\n</Tab>\n'),
  }
})
afterAll(() => pool[Symbol.asyncDispose]())

async function outcomeOf(key: string, bytes: Uint8Array): Promise<string> {
  try {
    const { passages } = await ingest(pool, { content: { bytes }, contentType: '', key })
    return passages.length > 0 ? 'indexed' : 'nothing'
  } catch (error) {
    if (error instanceof Error && 'failure' in error) return String(error.failure)
    throw error
  }
}

/** A kind of damage. */
const damage: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc.oneof(
  fc.double({ min: 0, max: 1, noNaN: true }).map((share) => (bytes: Buffer) => {
    return bytes.subarray(0, Math.floor(bytes.length * share))
  }),
  fc
    .array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 7 })), { minLength: 1, maxLength: 40 })
    .map((flips) => (bytes: Buffer) => {
      const broken = Buffer.from(bytes)
      for (const [place, bit] of flips) {
        const at = place % broken.length
        broken[at] = (broken[at] ?? 0) ^ (1 << bit)
      }
      return broken
    }),
  fc
    .tuple(fc.nat(), fc.nat(), fc.nat({ max: 400 }))
    .map(([from, to, length]) => (bytes: Buffer) => {
      const start = from % bytes.length
      const place = to % bytes.length
      const moved = bytes.subarray(start, start + length)
      return Buffer.concat([bytes.subarray(0, place), moved, bytes.subarray(place + moved.length)])
    }),
)

describe('damaged files of every format become passages or an error for the author', () => {
  test.each([
    'a.pdf',
    'a.docx',
    'a.pptx',
    'a.xlsx',
    'a.odt',
    'a.epub',
    'a.eml',
    'a.csv',
    'a.tsv',
    'a.txt',
    'a.md',
    'a.html',
    'a.json',
    'a.yaml',
    'a.mdx',
  ])('%s', async (key) => {
    const whole = samples[key] ?? Buffer.alloc(0)
    expect(await outcomeOf(key, whole)).toBe('indexed')
    // Running out of time or memory is a refusal too, but none of these files may need so much.
    const acceptable =
      /^(?:indexed|damaged|empty|no_text|binary|protected|unsupported|too_(?:large|deep))$/
    await fc.assert(
      fc.asyncProperty(damage, async (break_) => {
        expect(await outcomeOf(key, break_(whole))).toMatch(acceptable)
      }),
      { numRuns: perFormat, seed, endOnFailure: true },
    )
  })
})

describe('a bomb', () => {
  const entities = `<!DOCTYPE w [${Array.from({ length: 10 }, (_, at) => {
    return `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`
  }).join('')}<!ENTITY e0 "boom">]>`

  test.each<[string, () => Buffer, string]>([
    [
      'of zeros in one part',
      () => docx('', { 'word/document.xml': Buffer.alloc(30_000_000) }),
      'too_large',
    ],
    [
      'of many parts',
      () => {
        const names = Array.from({ length: 20_001 }, (_, at) => [`word/${at}`, ''])
        return zip({ ...docxParts(''), ...Object.fromEntries(names) })
      },
      'too_large',
    ],
    [
      'of entities',
      () =>
        docx('', {
          'word/document.xml': `${entities}<w:document><w:p><w:r><w:t>&e10;</w:t></w:r></w:p></w:document>`,
        }),
      'damaged',
    ],
    [
      'of an outside entity',
      () =>
        docx('', {
          'word/document.xml':
            '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:document>',
        }),
      'damaged',
    ],
    [
      'of elements in elements',
      () =>
        docx(`${'<w:sdt><w:sdtContent>'.repeat(5000)}${'</w:sdtContent></w:sdt>'.repeat(5000)}`),
      'too_deep',
    ],
    [
      'of one endless table',
      () => docx(`<w:tbl>${'<w:tr/>'.repeat(1_000_000)}</w:tbl>`),
      'too_large',
    ],
    [
      'of styles that are based on each other',
      () =>
        docx(wordParagraph('Text', '<w:pStyle w:val="A"/>'), {
          'word/styles.xml': part(
            'w:styles',
            '<w:style w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>',
          ),
        }),
      'indexed',
    ],
    [
      'of columns',
      () =>
        docx(
          `<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr>${wordParagraph('a')}</w:tc><w:tc>${wordParagraph('b')}</w:tc></w:tr></w:tbl>`,
        ),
      'indexed',
    ],
  ])('%s fails soon and alone', async (_, make, expected) => {
    expect(await outcomeOf('a.docx', make())).toBe(expected)
  })

  test('is refused with a readable limit', async () => {
    const content = { bytes: docx(wordParagraph('a'.repeat(3_000_000))) }
    await using narrow = createIngestPool({
      onError(error) {
        throw error
      },
      workers: 1,
      maxUnpackedBytes: 2 * 1024 * 1024,
    })
    await expect(ingest(narrow, { content, contentType: '', key: 'a.docx' })).rejects.toThrow(
      'The document unpacks to more than 2 MiB, the most that can be read. Split it',
    )
  })

  test('of cells far to the right or of shared texts costs nothing', async () => {
    const far = xlsx({ S: '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>' })
    expect(await outcomeOf('a.xlsx', far)).toBe('indexed')
    const beyond = xlsx({ S: '<row r="1"><c r="ZZZ1"><v>1</v></c></row>' })
    expect(await outcomeOf('a.xlsx', beyond)).toBe('damaged')
  })

  test('of braces, tags, quotes and brackets ends soon', async () => {
    expect(await outcomeOf('a.mdx', Buffer.from('{<A {'.repeat(50_000)))).toBe('indexed')
    expect(await outcomeOf('a.csv', Buffer.from(`"${'a,"b'.repeat(20_000)}`))).toBe('indexed')
    expect(await outcomeOf('a.json', Buffer.from('['.repeat(1_000_000)))).toBe('too_deep')
  })

  test('does not affect the reading of other files', async () => {
    expect(await outcomeOf('a.docx', samples['a.docx'] ?? Buffer.alloc(0))).toBe('indexed')
  })
})
