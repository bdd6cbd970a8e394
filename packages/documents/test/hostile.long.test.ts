import { deflateSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { ExtractionError, type Source } from '../src/document/extraction.js'
import { createLineJoiner } from '../src/document/join-lines.js'
import { createOmissions } from '../src/document/omissions.js'
import { toLines } from '../src/layout/lines.js'
import type { Segment } from '../src/layout/segments.js'
import { createTableSearch, type TableSearch, tableAt } from '../src/layout/tables.js'
import { readDocument } from '../src/read-document.js'
import { docx, odt, part, pptx, relations, shape, wordParagraph } from './office.js'
import { number, text as textCell, workbook } from './workbook.js'

const chunking = { maxLength: 1000, minParagraphLength: 200, maxPassages: 5000 }
const limits = { maxLength: 5_000_000, maxPages: 5000, maxUnpackedBytes: 2 ** 28 }

async function read(key: string, content: string | Uint8Array, more: Partial<Source> = {}) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const source = { key, contentType: '', bytes, allowPartial: true, ...limits, ...more }
  const { title, passages, omissions } = await readDocument(source, chunking)
  return { title, omissions, text: passages.map((passage) => passage.content).join('\n') }
}

const run = '<w:r><w:t>a</w:t></w:r>'
const field = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`
const listed = '<w:numPr><w:numId w:val="1"/></w:numPr>'
const hugeLabel = part(
  'w:numbering',
  `<w:abstractNum w:abstractNumId="4"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="${'%1'.repeat(500_000)}"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="4"/></w:num>`,
)
const derived = Array.from(
  { length: 20_000 },
  (_, at) => `<w:style w:styleId="s${at}"><w:basedOn w:val="b"/></w:style>`,
)
const wideCell =
  '<w:tc><w:tcPr><w:gridSpan w:val="200"/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>'
const chart = part(
  'c:chartSpace',
  `<c:ser><c:cat>${Array.from({ length: 2000 }, (_, at) => `<c:pt idx="${at}"><c:v>${at}</c:v></c:pt>`).join('')}</c:cat></c:ser>${'<c:ser><c:val><c:pt idx="0"><c:v>1</c:v></c:pt></c:val></c:ser>'.repeat(99)}`,
)
const charts = Array.from({ length: 100 }, (_, at) => at)

const manyRows = Array.from({ length: 30_000 }, (_, at) => {
  return `<row r="${at + 2}">${number(`A${at + 2}`, at)}</row>`
})

/** Small files of which each part is harmless, but not all pairs of them. */
const files: readonly (readonly [name: string, key: string, make: () => string | Uint8Array])[] = [
  [
    'raised letters without number in one text of XML',
    'a.xml',
    () => `<r><p>a ${'x<sub>2</sub>'.repeat(250_000)}</p></r>`,
  ],
  [
    'a label of a megabyte on each paragraph',
    'a.docx',
    () => docx(wordParagraph('a', listed).repeat(2000), { 'word/numbering.xml': hugeLabel }),
  ],
  [
    'an instruction of blanks around each run',
    'a.docx',
    () => {
      const instruction = `<w:r><w:instrText>${' '.repeat(900_000)}</w:instrText></w:r>`
      return docx(
        `<w:p>${field('begin')}${instruction}${field('separate')}${run.repeat(5000)}${field('end')}</w:p>`,
      )
    },
  ],
  [
    'many styles that are based on a long one',
    'a.docx',
    () => {
      const base = `<w:style w:styleId="b"><w:name w:val="b"/>${'<w:x/>'.repeat(100_000)}</w:style>`
      return docx(wordParagraph('a'), {
        'word/styles.xml': part('w:styles', base + derived.join('')),
      })
    },
  ],
  [
    'one wide row above many short ones',
    'a.docx',
    () =>
      docx(
        `<w:tbl><w:tr>${wideCell.repeat(5)}</w:tr>${'<w:tr><w:tc/></w:tr>'.repeat(50_000)}</w:tbl>`,
      ),
  ],
  [
    'charts of many points and series',
    'a.docx',
    () =>
      docx(wordParagraph('a'), {
        'word/_rels/document.xml.rels': relations(
          ...charts.map((at) => [`c${at}`, 'chart', `charts/${at}.xml`] as const),
        ),
        ...Object.fromEntries(charts.map((at) => [`word/charts/${at}.xml`, chart])),
      }),
  ],
  [
    'repeated rows of repeated cells',
    'a.odt',
    () => {
      const cell =
        '<table:table-cell table:number-columns-repeated="99"><text:p>a</text:p></table:table-cell>'
      const row = `<table:table-row table:number-rows-repeated="99">${cell.repeat(50)}</table:table-row>`
      return odt(`<table:table>${row.repeat(300)}</table:table>`)
    },
  ],
  [
    'sections of raw text that never end',
    'a.xhtml',
    () => `<html><body><p>a<br>${'<![CDATA['.repeat(60_000)}</p></body></html>`,
  ],
  [
    'a long list with letters',
    'a.html',
    () => `<p>a</p><ol type=a>${'<li><li>'.repeat(150_000)}</ol>`,
  ],
  [
    'a wide row above many short ones',
    'a.html',
    () => `<table><tr><td colspan=1000>a<td>b${'<tr><td>a'.repeat(30_000)}</table>`,
  ],
  [
    'code that begins with many empty lines',
    'a.rst',
    () => `a\n\n.. code:: x\n${'\n'.repeat(500_000)}   b`,
  ],
  [
    'header lines in an encoding that is not stated',
    'a.eml',
    () => Buffer.from(`Subject: a\n${'x: \xe4\n'.repeat(5000)}\nbody`, 'latin1'),
  ],
  [
    'messages in an encoding that is not stated',
    'a.mbox',
    () => Buffer.from('From a\nSubject: \xe4\n\nGr\xfc\xdfe\n\n'.repeat(2000), 'latin1'),
  ],
  [
    'merged cells over each other, with a long text',
    'a.xlsx',
    () =>
      workbook({
        Rows: {
          rows: `<row r="1">${textCell('A1', 'word '.repeat(150))}</row>${manyRows.join('')}`,
          after: `<mergeCells>${'<mergeCell ref="A1:XFD1048576"/>'.repeat(100_000)}</mergeCells>`,
        },
      }),
  ],
  [
    'a string of megabytes of blanks in many cells',
    'a.xlsx',
    () =>
      workbook(
        {
          Rows: `<row>${textCell('A1', 'a')}</row>${`<row>${'<c t="s"><v>0</v></c>'.repeat(1000)}</row>`.repeat(50)}`,
        },
        { strings: `<si><t>${' '.repeat(4_000_000)}</t></si>` },
      ),
  ],
  [
    'keys of a long text',
    'a.yaml',
    () => `a: &a ${'x'.repeat(1_000_000)}\nb:\n${'  ? [*a]\n  : 1\n'.repeat(5000)}`,
  ],
]

const taggedPdf = (more: string, end = '', drawn = '') => {
  const cell = '/TD <</MCID 0>> BDC BT /F 12 Tf 50 700 Td (A cell of a table) Tj ET EMC'
  const content = deflateSync(Buffer.from(`${cell} ${drawn}`)).toString('latin1')
  return Buffer.from(
    `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/StructTreeRoot 5 0 R/MarkInfo<</Marked true>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/StructParents 0/Contents 4 0 R/Resources<</Font<</F 9 0 R>>>>>>endobj
4 0 obj<</Filter/FlateDecode/Length ${content.length}>>stream\n${content}\nendstream endobj
5 0 obj<</Type/StructTreeRoot/K 6 0 R/ParentTree<</Nums[0[8 0 R]]>>>>endobj
6 0 obj<</S/Table/P 5 0 R/K[7 0 R]>>endobj
7 0 obj<</S/TR/P 6 0 R/K[8 0 R]>>endobj
8 0 obj<</S/TD/P 7 0 R/Pg 3 0 R/K 0/A<</O/Table/ColSpan 2>>>>endobj
9 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
${more}trailer<</Root 1 0 R>>
${end}`,
    'latin1',
  )
}

/** A stream of objects, whose numbers and places come first. */
function packedObjects(places: string, objects: string): string {
  const data = deflateSync(Buffer.from(`${places} ${objects}`)).toString('latin1')
  return `90 0 obj<</Type/ObjStm/First ${places.length + 1}/Filter/FlateDecode/Length ${data.length}>>stream\n${data}\nendstream endobj\n`
}

describe('a small file of', () => {
  test.each(files)('%s ends soon', async (_, key, make) => {
    const outcome = await read(key, make()).then(
      () => 'read',
      (error: unknown) => error,
    )
    if (outcome !== 'read') expect(outcome).toBeInstanceOf(ExtractionError)
  })

  test('cells whose parts refer to each other ends soon', async () => {
    const kids = (at: number) => `${at} 0 R `.repeat(30)
    const cells = Array.from(
      { length: 12 },
      (_, at) => `${20 + at} 0 obj<</S/TD/A<</ColSpan 2>>/K[${kids(21 + at)}]>>endobj\n`,
    )
    expect((await read('a.pdf', taggedPdf(cells.join('')))).text).toContain('A cell of a table')
  })

  test('objects that never end, or share one packed stream, ends soon', async () => {
    const open = '77 0 obj '.repeat(150_000)
    expect((await read('a.pdf', taggedPdf('', open))).text).toContain('A cell of a table')
    const packed = deflateSync(Buffer.alloc(97 * 1024 * 1024, 32)).toString('latin1')
    const shared = `${'77 0 obj /ObjStm '.repeat(300)}stream\n${packed}\nendstream endobj\n`
    expect((await read('a.pdf', taggedPdf(shared))).text).toContain('A cell of a table')
  })

  test.each([
    ['lists that never end', `/K[${'<<'.repeat(3_000_000)}`],
    ['lists that begin in each other', '/K['.repeat(2_000_000)],
    ['attributes that begin in each other', '/A['.repeat(2_000_000)],
  ])('cells with %s ends soon', async (_, inner) => {
    const packed = packedObjects('20 0', `<</S/TD/A<</ColSpan 2>>${inner}`)
    expect((await read('a.pdf', taggedPdf(packed))).text).toContain('A cell of a table')
  })

  test('packed objects with one text ends soon', async () => {
    const length = 6_000_000
    const places = Array.from({ length: 60_000 }, (_, at) => `${2 * at + 100} 0 1 ${length}`)
    const packed = packedObjects(places.join(' '), ' '.repeat(length))
    expect((await read('a.pdf', taggedPdf(packed))).text).toContain('A cell of a table')
  })

  const replaced = '/Span <</ActualText (ab)>> BDC 0 0 m EMC '
  test.each([
    ['shapes that a text stands for', replaced.repeat(100_000)],
    [
      'shapes in many marked parts',
      `${replaced}${'/a BMC '.repeat(500_000)}${'0 0 m '.repeat(500_000)}${'EMC '.repeat(500_000)}`,
    ],
  ])('drawings of %s ends soon', async (_, drawn) => {
    expect((await read('a.pdf', taggedPdf('', '', drawn))).text).toContain('A cell of a table')
  })

  test('pages that begin pictures again and again ends soon', async () => {
    const numbers = Array.from({ length: 20 }, (_, at) => 20 + at)
    const pages = numbers.map(
      (number) =>
        `${number} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 9 0 R>>>>>>endobj\n`,
    )
    const file = taggedPdf(pages.join(''), '', 'BI '.repeat(2_500_000)).toString('latin1')
    const kids = numbers.map((number) => `${number} 0 R`).join(' ')
    const longer = file.replace('/Kids[3 0 R]/Count 1', `/Kids[3 0 R ${kids}]/Count 21`)
    expect((await read('a.pdf', Buffer.from(longer, 'latin1'))).text).toContain('A cell of a table')
  })

  test('chosen values of a list ends soon', async () => {
    const values = Array.from({ length: 100_000 }, (_, at) => `(v${at})`).join('')
    const field = `/Subtype/Widget/FT/Ch/Ff 2097152/T(Town)/Rect[0 0 9 9]/Opt[${values}]/V[${values}]`
    const file = taggedPdf(`20 0 obj<<${field}>>endobj\n`).toString('latin1')
    const filled = file.replace('/StructParents 0', '/StructParents 0/Annots[20 0 R]')
    expect((await read('a.pdf', Buffer.from(filled, 'latin1'))).text).toContain('v99999')
  })

  test('a note that is referred to again and again is refused', async () => {
    const notes = part(
      'w:footnotes',
      `<w:footnote w:id="2">${wordParagraph('word '.repeat(2000))}</w:footnote>`,
    )
    const body = `<w:p>${'<w:r><w:footnoteReference w:id="2"/></w:r>'.repeat(10_000)}${run}</w:p>`
    await expect(read('a.docx', docx(body, { 'word/footnotes.xml': notes }))).rejects.toMatchObject(
      { failure: 'too_large' },
    )
  })
})

describe('a sheet', () => {
  test('may have more paragraphs than a call may have arguments', async () => {
    const rows = Array.from({ length: 130_000 }, (_, at) => {
      return `<row r="${2 * at + 1}"><c><v>${at}</v></c></row>`
    })
    const { text } = await read('a.xlsx', workbook({ Rows: rows.join('') }))
    expect(text).toContain('129999')
  })

  test('of many links on one cell has the first', async () => {
    const links = '<hyperlink ref="A1" r:id="h"/>'.repeat(600)
    const url = `https://pumps.example/${'a'.repeat(10_000)}`
    const { text } = await read(
      'a.xlsx',
      workbook({
        Rows: {
          rows: `<row>${textCell('A1', 'Pumps')}</row>`,
          after: `<hyperlinks>${links}</hyperlinks>`,
          relations: [['h', 'hyperlink', url, 'external']],
        },
      }),
    )
    expect(text.match(/https:/g)).toHaveLength(1)
  })

  test('shows the beginning of a long cell beside the comments on it', async () => {
    const comment = '<comment ref="A1"><text><t>why</t></text></comment>'.repeat(500)
    const file = workbook(
      {
        Rows: {
          rows: `<row>${textCell('A1', 'word '.repeat(6000))}</row>`,
          relations: [['c', 'comments', '../comments.xml']],
        },
      },
      {
        parts: {
          'xl/comments.xml': `<comments><commentList>${comment}</commentList></comments>`,
        },
      },
    )
    const { text } = await read('a.xlsx', file)
    expect(text.match(/Comment on A1/g)).toHaveLength(500)
    expect(text.length).toBeLessThan(500 * 300)
  })

  test('counts what it leaves out at one place without comparing texts', () => {
    const write = vi.spyOn(JSON, 'stringify')
    const omissions = createOmissions()
    for (let at = 0; at < 1000; at += 1) omissions.add('formula_without_value', { sheet: 'Rows' })
    const calls = write.mock.calls.length
    write.mockRestore()
    expect(omissions.list()).toMatchObject([{ count: 1000, places: [{ sheet: 'Rows' }] }])
    expect(calls).toBeLessThan(10)
  })
})

test('the search for tables ends with what a document may cost', () => {
  const segment = (at: number): Segment => ({
    text: `w${at}`,
    x0: (at % 3) * 100,
    x1: (at % 3) * 100 + 40,
    y: Math.floor(at / 3) * 12,
    size: 10,
    font: 'F',
    uniform: true,
    monospace: false,
    rightToLeft: false,
    joints: [],
  })
  const lines = toLines(
    Array.from({ length: 300 }, (_, at) => segment(at)),
    1,
  )
  const find = (search: TableSearch) =>
    tableAt(lines, 0, { above: 0, join: (texts) => texts.join(' '), search })
  const search = createTableSearch(1)
  const before = search.left
  expect(find(search)?.rows).toHaveLength(100)
  expect(before - search.left).toBeGreaterThanOrEqual(300)
  expect(find({ left: -1 })).toBeUndefined()
})

describe('an e-mail', () => {
  const parts = (count: number) =>
    `Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n${Array.from({ length: count }, (_, at) => `--b\n\ntext ${at}\n`).join('')}--b--\n`

  test('of more parts than are read says how many are not', async () => {
    const { omissions, text } = await read('a.eml', parts(2100))
    expect(text).toContain('text 1999')
    expect(omissions).toEqual([{ kind: 'text_cut', count: 100, places: [], detail: 'parts' }])
    expect((await read('a.eml', parts(2000))).omissions).toEqual([])
  })

  test('with a header line of megabytes is refused by its length', async () => {
    const refusal = read('a.eml', `Subject: ${'a '.repeat(2_000_000)}\n\nbody`)
    await expect(refusal).rejects.toMatchObject({
      failure: 'too_large',
      message: expect.stringContaining('header line of 4000002 bytes'),
    })
  })

  test('whose characters are all written as codes keeps them', async () => {
    const coded = '=77=6f=72=64=3D=\n=20x=zz '.repeat(10)
    const { text } = await read(
      'a.eml',
      `Subject: a\nContent-Transfer-Encoding: quoted-printable\n\n${coded}`,
    )
    expect(text).toContain('word= x=zz word= x=zz')
  })
})

describe('separated values', () => {
  test('of different lengths make no errors on the way', async () => {
    const trace = vi.spyOn(Error, 'captureStackTrace')
    const { text } = await read('a.csv', `Stock of pumps\n${'a,b\n'.repeat(1000)}`)
    const errors = trace.mock.calls.length
    trace.mockRestore()
    expect(text).toContain('Stock of pumps')
    expect(errors).toBeLessThan(100)
  })

  test('between empty lines and with quotes that do not end keep all of their texts', async () => {
    const empty = '\n'.repeat(20)
    const { text } = await read('a.csv', `a,b\n1,2${empty}3,"4\n5,6${empty}7,8\n"9" x",10\n`)
    for (const value of ['1', '"4', '6', '8', '"9" x"', '10']) expect(text).toContain(value)
  })

  test('are refused while they are read if they are too many', async () => {
    const values = 'a,b\n'.repeat(20_000)
    await expect(read('a.csv', values, { maxLength: 50_000 })).rejects.toMatchObject({
      failure: 'too_large',
      message: expect.stringContaining('50,000 characters'),
    })
  })
})

describe('files inside of files', () => {
  const inner = (text: string) => docx(wordParagraph(text))
  const holding = (names: readonly string[], bytes: Uint8Array) =>
    docx(wordParagraph('outside'), {
      'word/_rels/document.xml.rels': relations(
        ...names.map((name) => [name, 'package', `embeddings/${name}.docx`] as const),
      ),
      'word/document.xml': part(
        'w:document',
        `<w:body>${wordParagraph('outside')}${names.map((name) => `<w:p><w:r><w:object><o:OLEObject r:id="${name}"/></w:object></w:r></w:p>`).join('')}</w:body>`,
      ),
      ...Object.fromEntries(names.map((name) => [`word/embeddings/${name}.docx`, bytes])),
    })
  const names = Array.from({ length: 20 }, (_, at) => `e${at}`)

  test('share one limit of what they unpack to', async () => {
    const large = inner('inside '.repeat(20_000))
    const { omissions, text } = await read('a.docx', holding(names, large), {
      maxUnpackedBytes: 300_000,
    })
    expect(text).toContain('inside')
    expect(omissions).toMatchObject([{ kind: 'embedded_file', count: 18 }])
  })

  test('are counted on all levels together', async () => {
    const { omissions } = await read('a.docx', holding(names, holding(names, inner('deep'))))
    expect(omissions.find(({ kind }) => kind === 'embedded_file')?.count).toBe(20)
  })
})

describe('characters that are in no text', () => {
  const escaped: readonly (readonly [key: string, content: string | Uint8Array])[] = [
    ['a.json', '{"a\\u0000b": "x\\ud800y\\u0001z"}'],
    ['a.yaml', '"a\\0b": "x\\x01yz"'],
    ['a.html', '<p>ab: x&#1;y&#xffff;z</p><img src="&#2;x.png" width=90 height=90>'],
    [
      'a.eml',
      'Subject: =?utf-8?q?ab:_x=00yz?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nab: xyz\n--b\nContent-Type: application/octet-stream; name="=?utf-8?q?n=00a=07me.bin?="\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\nAAECAwQ=\n--b--\n',
    ],
    [
      'a.docx',
      docx(
        '<w:p><w:r><w:t>ab: x</w:t><w:sym w:font="Arial" w:char="0000"/><w:sym w:font="Arial" w:char="D800"/><w:t>yz</w:t></w:r></w:p>',
      ),
    ],
  ]

  test.each(escaped)('do not get out of %s', async (key, content) => {
    const { title = '', omissions, text } = await read(key, content)
    expect(text).toMatch(/ab: xy\s?z/)
    const all = [title, text, ...omissions.flatMap(({ places }) => places.map(({ part }) => part))]
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
    expect(all.join('')).not.toMatch(/[\x00-\x08\x0e-\x1f\ud800-\udfff\uffff]/u)
  })

  test('and megabytes do not get into reports', () => {
    const omissions = createOmissions()
    omissions.add('embedded_file', { part: `\0${'n'.repeat(1_000_000)}` }, { detail: 'a\nb\0' })
    const [{ places, detail } = { places: [], detail: '' }] = omissions.list()
    expect(places).toEqual([{ part: `${'n'.repeat(199)}…` }])
    expect(detail).toBe('a b')
  })
})

describe('names that JavaScript knows', () => {
  test('are text like any other', async () => {
    const { text } = await read('a.tex', '\\section{A}\nCall \\constructor now')
    expect(text).toContain('\\constructor')
    const named = relations(['rId10', 'slide', 'slides/slide1.xml'], ['x', 'constructor', 'a.xml'])
    const more = { 'ppt/_rels/presentation.xml.rels': named, 'ppt/a.xml': '<a/>' }
    expect((await read('a.pptx', pptx([shape('', 'Hello')], more))).text).toContain('Hello')
    const polluted = await read('a.json', '{"__proto__": {"polluted": "yes"}}')
    expect(polluted.text).toContain('__proto__')
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })
})

test('each line of a paragraph is joined by its neighbours, however long the paragraph is', () => {
  const lines = Array.from({ length: 300 }, (_, at) => `word${at} and more of the para-`)
  const joiner = createLineJoiner(() => lines)
  const examined = vi.spyOn(RegExp.prototype, 'exec')
  const text = joiner.join([...lines, 'graph'])
  const characters = examined.mock.calls.reduce((sum, [given]) => sum + given.length, 0)
  examined.mockRestore()
  expect(text).toMatch(/^word0 and more of the para-?word1 .*paragraph$/)
  // All of the text above each line would be 1.2 million.
  expect(characters).toBeLessThan(300_000)
})
