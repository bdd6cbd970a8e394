import { describe, expect, test } from 'vitest'
import { docx, wordParagraph as p, part, relations, wordCell, wordTable, xlsx } from '../office.js'
import { blocksOf, readFile } from '../outline.js'
import type { ZipParts } from '../zip.js'

const withParts = (body: string, list: Parameters<typeof relations>, more: ZipParts) =>
  docx(body, { 'word/_rels/document.xml.rels': relations(...list), ...more })
const drawing = (inner: string, properties = '') =>
  `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" ${properties}/><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
const texts = (points: readonly string[]) =>
  points.map((text, at) => `<c:pt idx="${at}"><c:v>${text}</c:v></c:pt>`).join('')

const chart = part(
  'c:chartSpace',
  `<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>` +
    `<c:ser><c:tx><c:strRef><c:strCache>${texts(['North'])}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:ptCount val="1000000000"/>${texts(['2023', '2024'])}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>${texts(['41', '0.30000000000000004'])}</c:numCache></c:numRef></c:val></c:ser>` +
    `<c:ser><c:tx><c:v>South</c:v></c:tx><c:val><c:numRef><c:numCache>${texts(['7'])}</c:numCache></c:numRef></c:val></c:ser></c:barChart>` +
    `<c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Pieces</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx></c:plotArea></c:chart>`,
)
const chartTable = '|  | North | South |\n| --- | --- | --- |\n| 2023 | 41 | 7 |\n| 2024 | 0.3 |  |'

describe('parts of a Word document', () => {
  test('charts and diagrams are read where they stand', async () => {
    const body =
      p(`<w:r><w:t>Before</w:t></w:r>${drawing('<c:chart r:id="rId1"/>')}`) +
      p(drawing('<dgm:relIds r:dm="rId2"/>')) +
      p('After')
    const content = withParts(
      body,
      [
        ['rId1', 'chart', 'charts/chart1.xml'],
        ['rId2', 'diagramData', 'diagrams/data1.xml'],
      ],
      {
        'word/charts/chart1.xml': chart,
        'word/diagrams/data1.xml': part(
          'dgm:dataModel',
          '<dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p><a:p><a:r><a:t>first</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst>',
        ),
      },
    )
    expect(await blocksOf('a.docx', content)).toEqual([
      'Before',
      'Sales; Pieces',
      chartTable,
      '- Plan first',
      'After',
    ])
  })

  test('numbers of charts are shown in their formats', async () => {
    const numbers = (code: string, values: readonly string[]) =>
      `<c:numRef><c:numCache><c:formatCode>${code}</c:formatCode>${texts(values)}</c:numCache></c:numRef>`
    const series = `<c:ser><c:tx><c:v>Share</c:v></c:tx><c:cat>${numbers('yyyy-mm-dd', ['45366'])}</c:cat><c:val>${numbers('0%', ['0.25'])}</c:val></c:ser>`
    const content = withParts(
      p(drawing('<c:chart r:id="rId1"/>')),
      [['rId1', 'chart', 'charts/chart1.xml']],
      { 'word/charts/chart1.xml': part('c:chartSpace', series) },
    )
    expect(await blocksOf('a.docx', content)).toEqual([
      '|  | Share |\n| --- | --- |\n| 2024-03-15 | 25% |',
    ])
  })

  test('chunks in other formats are read with the reader of their format', async () => {
    const content = withParts(
      p('Start') +
        '<w:altChunk r:id="rId1"/><w:altChunk r:id="rId2"/><w:altChunk r:id="rId3"/>' +
        p('End'),
      [
        ['rId1', 'aFChunk', 'afchunk1.html'],
        ['rId2', 'aFChunk', 'afchunk2.docx'],
        ['rId3', 'aFChunk', 'afchunk3.rtf'],
      ],
      {
        'word/afchunk1.html': '<html><body><h2>Terms</h2><p>From a page.</p></body></html>',
        'word/afchunk2.docx': docx(p('From a document.')),
        'word/afchunk3.rtf': '{\\rtf1 x}',
      },
    )
    expect(await blocksOf('a.docx', content)).toEqual([
      'Start',
      '## Terms',
      'From a page.',
      'From a document.',
      'End',
    ])
    expect((await readFile('a.docx', content)).omissions).toEqual([
      { kind: 'embedded_file', count: 1, places: [{ part: 'word/afchunk3.rtf' }], detail: '.rtf' },
    ])
  })

  test('a workbook inside is read, another file is told with its name', async () => {
    const object = (id: string) =>
      p(
        `<w:r><w:object><v:shape><v:imagedata r:id="rId9"/></v:shape><o:OLEObject Type="Embed" ProgID="x" r:id="${id}"/></w:object></w:r>`,
      )
    const sheet =
      '<row r="1"><c r="A1" t="inlineStr"><is><t>Pump</t></is></c><c r="B1"><v>7</v></c></row>'
    const content = withParts(
      object('rId1') + object('rId2'),
      [
        ['rId1', 'package', 'embeddings/Sheet1.xlsx'],
        ['rId2', 'oleObject', 'embeddings/oleObject1.bin'],
      ],
      {
        'word/embeddings/Sheet1.xlsx': xlsx({ Stock: sheet }),
        'word/embeddings/oleObject1.bin': 'x',
      },
    )
    const blocks = await blocksOf('a.docx', content)
    expect(blocks[0]).toBe('Stock')
    expect(blocks.join()).toMatch(/Pump.*7/s)
    expect((await readFile('a.docx', content)).omissions).toEqual([
      {
        kind: 'embedded_file',
        count: 1,
        places: [{ part: 'word/embeddings/oleObject1.bin' }],
        detail: '.bin',
      },
    ])
  })

  test('documents in documents end at a level', async () => {
    let inner = docx(p('Innermost'))
    for (let level = 0; level < 6; level += 1) {
      inner = withParts(
        `${p(`Level ${level}`)}<w:altChunk r:id="rId1"/>`,
        [['rId1', 'aFChunk', 'c.docx']],
        {
          'word/c.docx': inner,
        },
      )
    }
    expect(await blocksOf('a.docx', inner)).toEqual(['Level 5', 'Level 4', 'Level 3', 'Level 2'])
    expect((await readFile('a.docx', inner)).omissions?.[0]?.kind).toBe('embedded_file')
  })

  test('comments are read with their authors, behind the list that they are in', async () => {
    const comments = part(
      'w:comments',
      `<w:comment w:id="0" w:author="Ann Lee"><w:p><w:r><w:annotationRef/></w:r><w:r><w:t>Which one?</w:t></w:r></w:p><w:p><w:r><w:t>Ask.</w:t></w:r></w:p></w:comment>`,
    )
    const listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    const body =
      p('<w:r><w:t>One</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r>', listed) +
      p('Two', listed)
    const content = withParts(
      body,
      [
        ['rId2', 'numbering', 'numbering.xml'],
        ['rId5', 'comments', 'comments.xml'],
      ],
      { 'word/comments.xml': comments },
    )
    expect(await blocksOf('a.docx', content)).toEqual([
      '- One\n- Two',
      'Comment (Ann Lee): Which one? Ask.',
    ])
  })

  test('headers and footers that pages show are read once, without numbers of pages', async () => {
    const page = '<w:fldSimple w:instr="PAGE"><w:r><w:t>3</w:t></w:r></w:fldSimple>'
    const header = (text: string) => part('w:hdr', p(text))
    const reference = (kind: string, type: string, id: string) =>
      `<w:${kind}Reference w:type="${type}" r:id="${id}"/>`
    const sections =
      p(
        'Text',
        `<w:sectPr>${reference('header', 'default', 'rId1')}${reference('header', 'first', 'rId2')}${reference('header', 'even', 'rId3')}<w:titlePg/></w:sectPr>`,
      ) +
      p(
        'More',
        `<w:sectPr>${reference('header', 'default', 'rId4')}${reference('footer', 'default', 'rId5')}</w:sectPr>`,
      )
    const content = withParts(
      sections,
      [
        ['rId1', 'header', 'header1.xml'],
        ['rId2', 'header', 'header2.xml'],
        ['rId3', 'header', 'header3.xml'],
        ['rId4', 'header', 'header4.xml'],
        ['rId5', 'footer', 'footer1.xml'],
      ],
      {
        'word/header1.xml': header('Pump manual'),
        'word/header2.xml': header('Acme Ltd, 1 Main Street'),
        'word/header3.xml': header('Never shown'),
        'word/header4.xml': header('Pump manual'),
        'word/footer1.xml': part(
          'w:ftr',
          `<w:p><w:r><w:t>Revision 7</w:t></w:r><w:r><w:tab/></w:r><w:r><w:t xml:space="preserve">Page </w:t></w:r>${page}</w:p>`,
        ),
      },
    )
    expect(await blocksOf('a.docx', content)).toEqual([
      'Header: Pump manual',
      'Header: Acme Ltd, 1 Main Street',
      'Footer: Revision 7',
      'Text',
      'More',
    ])
  })

  test('pictures without a description and missing parts are told with their places', async () => {
    const blip = '<pic:pic><pic:blipFill><a:blip r:embed="rId1"/></pic:blipFill></pic:pic>'
    const content = withParts(
      p('Text') +
        p(drawing(blip)) +
        p(drawing(blip, 'descr="A pump"')) +
        p(drawing('<c:chart r:id="rId2"/>')),
      [
        ['rId1', 'image', 'media/image1.png'],
        ['rId2', 'chart', 'charts/lost.xml'],
      ],
      { 'word/media/image1.png': 'x' },
    )
    expect(await blocksOf('a.docx', content)).toEqual(['Text', '![A pump]()'])
    expect((await readFile('a.docx', content)).omissions).toEqual([
      { kind: 'missing_part', count: 1, places: [{ part: 'word/charts/lost.xml' }] },
      { kind: 'picture_without_text', count: 1, places: [{ part: 'word/media/image1.png' }] },
    ])
  })
})

describe('merged cells of Word', () => {
  const tableOf = async (table: string) => (await blocksOf('a.docx', docx(table))).join('\n\n')

  test('count for every row and column that they cover', async () => {
    const rows = [
      ['Series', wordCell('Price', '<w:gridSpan w:val="2"/>')],
      [wordCell('North', '<w:vMerge w:val="restart"/>'), '10', '20'],
      [wordCell('', '<w:vMerge/>'), wordCell('30', '<w:gridSpan w:val="2"/>')],
    ]
    expect(await tableOf(wordTable(rows))).toBe(
      '| Series | Price | Price |\n| --- | --- | --- |\n| North | 10 | 20 |\n| North | 30 | 30 |',
    )
  })

  test('stand in their columns where a row begins later', async () => {
    const later = `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${wordCell('b')}${wordCell('c')}</w:tr>`
    const table = wordTable([['A', 'B', 'C']]).replace('</w:tbl>', `${later}</w:tbl>`)
    expect(await tableOf(table)).toBe('| A | B | C |\n| --- | --- | --- |\n|  | b | c |')
  })

  test('hold blocks and tables whose words do not touch, and their notes', async () => {
    const note = p('<w:r><w:t>noted</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>')
    const inner = `<w:tc>${p('3')}${p('1')}${wordTable([['x', 'y']])}${note}</w:tc>`
    expect(await tableOf(wordTable([['A', inner]]))).toBe(
      '| A | 3 1 x y noted[^1] |\n| --- | --- |\n\n[^1]: Measured in 2024.',
    )
  })

  test('with a row whose deletion is tracked do not show it', async () => {
    const gone = `<w:tr><w:trPr><w:del w:id="1"/></w:trPr>${wordCell('x')}${wordCell('y')}</w:tr>`
    const table = wordTable([
      ['A', 'B'],
      ['1', '2'],
    ]).replace('</w:tbl>', `${gone}</w:tbl>`)
    expect(await tableOf(table)).toBe('| A | B |\n| --- | --- |\n| 1 | 2 |')
  })

  test.each(['1000000000', '-5', 'x', '1e300'])('of %s columns stay bounded', async (span) => {
    const wide = wordCell('word '.repeat(200), `<w:gridSpan w:val="${span}"/>`)
    const before = `<w:tr><w:trPr><w:gridBefore w:val="${span}"/></w:trPr>${wide}${wide}</w:tr>`
    const text = await tableOf(`<w:tbl>${before.repeat(50)}</w:tbl>`)
    expect(text).toContain('word')
    expect(text.length).toBeLessThan(2_000_000)
  })
})
