import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  docx,
  odt,
  pptx,
  shape,
  wordTable,
  xlsx,
} from '../../../../packages/documents/test/office.js'
import { drawTaggedTable, pdf } from '../../../../packages/documents/test/pdf.js'
import {
  createIngestPool,
  type IngestPool,
  ingest,
} from '../../src/features/search/indexing/ingest.js'

/** The same contents in every run, so that a failure is reproducible. */
const seed = 20_261_122
/** Outcomes that the content of a file explains, unlike running out of time or memory. */
const explained =
  /^(?:indexed|nothing|damaged|empty|no_text|binary|protected|unsupported|too_(?:large|deep|many_pages|many_passages))$/

let pool: IngestPool
beforeAll(() => {
  pool = createIngestPool({
    timeLimitMs: 60_000,
    memoryLimitMb: 512,
    workers: 2,
    onError(error) {
      throw error
    },
  })
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

/** The beginning of files of a format, and the parts of its structure. */
const formats: Record<string, { begin: string; tokens: readonly string[] }> = {
  'a.csv': { begin: '', tokens: ['"', ',', ';', '\n', '\r', '""', 'a', '\t'] },
  'a.yaml': {
    begin: '',
    tokens: ['a: ', '- ', '&x ', '*x', '\n', '  ', '[', '}', '|', '!!', '---\n', '<<: ', '? '],
  },
  'a.json': { begin: '', tokens: ['{', '}', '[', ']', '"a"', ':', ',', '1e999', '\\u', '"', ' '] },
  'a.ndjson': { begin: '', tokens: ['{"a":1}', '\n', '[', ']', '"', '{', '1', ','] },
  'a.xhtml': {
    begin: '<?xml version="1.0"?>',
    tokens: [
      '<!DOCTYPE a [',
      '<!ENTITY x "&x;&x;">',
      ']>',
      '<p>',
      '&x;',
      '</p>',
      '<![CDATA[',
      ']]>',
    ],
  },
  'a.html': {
    begin: '',
    tokens: [
      '<table>',
      '<tr>',
      '<td colspan=99999 rowspan=99999>',
      '</table>',
      '<li>',
      '<pre>',
      '<b',
      '&#',
      '<!--',
      '-->',
      'a',
    ],
  },
  'a.md': {
    begin: '',
    tokens: [
      '> ',
      '- ',
      '1. ',
      '#',
      '|',
      '\n',
      '`',
      '```',
      '[',
      '](',
      '*',
      '_',
      '<a ',
      '[^1]',
      '---\n',
      'a',
    ],
  },
  'a.mdx': { begin: '', tokens: ['<A', '>', '{', '}', '`', '</A>', 'import ', '\n', '"', 'a'] },
  'a.txt': {
    begin: '',
    tokens: ['A', '\n', '\n\n', '=====', '1.1 ', '\f', '\t', '- ', '\u0000', '\ufeff'],
  },
  'a.eml': {
    begin: 'From: a@b.example\r\n',
    tokens: [
      'Content-Type: multipart/mixed; boundary=x\r\n',
      '\r\n',
      '--x\r\n',
      '--x--',
      'Subject: =?utf-8?B?',
      '?=',
      'Content-Transfer-Encoding: base64\r\n',
      'YQ==',
    ],
  },
  'a.pdf': {
    begin: '%PDF-1.7\n',
    tokens: [
      '1 0 obj\n',
      '<<',
      '>>',
      '/Kids [1 0 R]',
      '/Type /Pages',
      '/Length 99999999',
      'stream\n',
      'endstream\n',
      'endobj\n',
      'xref\n',
      'trailer',
      '/Root 1 0 R',
      '%%EOF',
      '/StructTreeRoot 1 0 R',
    ],
  },
  'a.docx': {
    begin: 'PK\u0003\u0004',
    tokens: ['PK\u0001\u0002', 'PK\u0005\u0006', '\u0000\u0000', 'word/document.xml'],
  },
  'a.xlsx': {
    begin: 'PK\u0003\u0004',
    tokens: ['PK\u0005\u0006', '\u0000', 'xl/workbook.xml', '\u0014'],
  },
  'a.pptx': {
    begin: 'PK\u0003\u0004',
    tokens: ['PK\u0005\u0006', '\u0000', 'ppt/presentation.xml', '\u0014'],
  },
  'a.odt': {
    begin: 'PK\u0003\u0004',
    tokens: ['PK\u0005\u0006', '\u0000', 'content.xml', 'mimetype'],
  },
  'a.epub': {
    begin: 'PK\u0003\u0004',
    tokens: ['PK\u0005\u0006', '\u0000', 'META-INF/container.xml'],
  },
}

describe('malformed contents become passages or an error for the author', () => {
  test.each(Object.entries(formats))('%s', async (key, { begin, tokens }) => {
    const noise = fc.uint8Array({ maxLength: 2000 })
    const syntax = fc
      .array(fc.tuple(fc.constantFrom(...tokens), fc.nat({ max: 40 })), { maxLength: 60 })
      .map((parts) => Buffer.from(begin + parts.map(([token, n]) => token.repeat(n)).join('')))
    await fc.assert(
      fc.asyncProperty(fc.oneof(noise, syntax), async (bytes) => {
        expect(await outcomeOf(key, bytes)).toMatch(explained)
      }),
      { numRuns: 10, seed, endOnFailure: true },
    )
  })
})

describe('deep nesting becomes passages or an error for the author', () => {
  const deep = 20_000
  test.each<[string, string, () => Buffer]>([
    ['HTML elements', 'a.html', () => Buffer.from('<div><b>'.repeat(deep))],
    ['HTML tables', 'a.html', () => Buffer.from('<table><tr><td>'.repeat(2000))],
    ['HTML lists', 'a.html', () => Buffer.from('<ul><li>'.repeat(deep))],
    ['quotes', 'a.md', () => Buffer.from(`${'> '.repeat(2000)}a`)],
    ['brackets of links', 'a.md', () => Buffer.from('['.repeat(5000))],
    ['emphasis', 'a.md', () => Buffer.from('*a **b '.repeat(3000))],
    ['JSON lists', 'a.ndjson', () => Buffer.from(`${'['.repeat(deep)}${']'.repeat(deep)}`)],
    ['YAML lists', 'a.yaml', () => Buffer.from(`${'['.repeat(deep)}${']'.repeat(deep)}`)],
    [
      'YAML maps',
      'a.yaml',
      () => Buffer.from(Array.from({ length: 500 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')),
    ],
    [
      'parts of a mail',
      'a.eml',
      () =>
        Buffer.from(
          Array.from(
            { length: 1000 },
            (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
          ).join(''),
        ),
    ],
    [
      'sections of a text document',
      'a.odt',
      () => odt(`${'<text:section>'.repeat(5000)}${'</text:section>'.repeat(5000)}`),
    ],
    [
      'groups of shapes',
      'a.pptx',
      () =>
        pptx([`${'<p:grpSp>'.repeat(5000)}${shape('idx="1"', 'a')}${'</p:grpSp>'.repeat(5000)}`]),
    ],
    [
      'tables in cells',
      'a.docx',
      () =>
        docx(
          `${'<w:tbl><w:tr><w:tc>'.repeat(2000)}${'</w:tc></w:tr></w:tbl>'.repeat(2000)}${wordTable([['a', 'b']])}`,
        ),
    ],
  ])('%s in %s', async (_, key, make) => {
    expect(await outcomeOf(key, make())).toMatch(explained)
  })

  test('aliases in a.yaml', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`,
    )
    expect(await outcomeOf('a.yaml', Buffer.from(`a0: &a0 lol\n${levels.join('\n')}\n`))).toBe(
      'too_large',
    )
  })

  test('entities in a.xhtml', async () => {
    const entities = Array.from(
      { length: 30 },
      (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(9)}">`,
    )
    const page = `<!DOCTYPE html [<!ENTITY e0 "lol">${entities.join('')}]><html><p>Text &e30;</p></html>`
    expect(await outcomeOf('a.xhtml', Buffer.from(page))).toBe('indexed')
  })

  test('the structure of a PDF', async () => {
    const content = await pdf(
      (document) => {
        let parent = document.struct('Table')
        document.addStructure(parent)
        for (let level = 0; level < 400; level += 1) {
          const next = document.struct(['TR', 'TD', 'Table'][level % 3] ?? 'Table')
          parent.add(next)
          parent = next
        }
        parent.add(() => document.fontSize(10).text('Text at the bottom of it'))
        parent.end()
      },
      { tagged: true, pdfVersion: '1.5' },
    )
    expect(await outcomeOf('a.pdf', content)).toBe('indexed')
  })
})

describe('large empty content', () => {
  test('a row of many empty cells in a.xlsx', async () => {
    const cells = '<c r="A1"/>'.repeat(300_000)
    expect(await outcomeOf('a.xlsx', xlsx({ S: `<row r="1">${cells}</row>` }))).toMatch(explained)
  })

  test('a million columns in a.csv', async () => {
    expect(await outcomeOf('a.csv', Buffer.from(`${','.repeat(1_000_000)}\n1`))).toMatch(explained)
  })

  test('many empty rows in a.xlsx and empty items in a.json', async () => {
    const rows = Array.from({ length: 100_000 }, (_, at) => `<row r="${at + 1}"/>`)
    expect(await outcomeOf('a.xlsx', xlsx({ S: rows.join('') }))).toMatch(explained)
    expect(await outcomeOf('a.json', Buffer.from(`[${'{},'.repeat(10_000)}{}]`))).toMatch(explained)
  })
})

test('a damaged tagged PDF becomes passages or an error for its author', async () => {
  const whole = await pdf(
    (document) => {
      document.fontSize(10)
      const rows = Array.from({ length: 60 }, (_, at) => [`P-${at}`, `Seal ${at}`])
      drawTaggedTable(document, [60, 160], [['Code', 'Name'], ...rows])
    },
    { tagged: true, pdfVersion: '1.5', compress: false },
  )
  expect(await outcomeOf('a.pdf', whole)).toBe('indexed')
  const flips = fc.array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), {
    minLength: 1,
    maxLength: 60,
  })
  await fc.assert(
    fc.asyncProperty(flips, async (changes) => {
      const broken = Buffer.from(whole)
      for (const [at, value] of changes) broken[at] = value
      expect(await outcomeOf('a.pdf', broken)).toMatch(explained)
    }),
    { numRuns: 15, seed, endOnFailure: true },
  )
})
