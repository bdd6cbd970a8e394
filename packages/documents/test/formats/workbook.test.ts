import { describe, expect, test } from 'vitest'
import { part, relations } from '../office.js'
import { blocksOf, readFile } from '../outline.js'
import { number, rowsOf, text, workbook } from '../workbook.js'

const row = (...cells: string[]) => `| ${cells.join(' | ')} |`
const tableOf = (head: string[], ...rows: string[][]) =>
  [row(...head), `|${' --- |'.repeat(head.length)}`, ...rows.map((cells) => row(...cells))].join(
    '\n',
  )

const shared = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
const strings = '<si><t>Article</t></si><si><t>Stock</t></si>'
const sst = (name: string) => ({
  'xl/sharedStrings.xml': null,
  [name]: part('sst', strings),
})
const workbookRelations = (sheet: string, texts: string) => ({
  'xl/_rels/workbook.xml.rels': relations(
    ['rId1', 'worksheet', sheet],
    ['rId90', 'sharedStrings', texts],
  ),
})

describe('parts are found', () => {
  test.each([
    ['in another case', sst('xl/SharedStrings.xml')],
    [
      'with encoded characters',
      {
        ...sst('xl/shared%20strings.xml'),
        ...workbookRelations('worksheets/sheet1.xml', 'shared strings.xml'),
      },
    ],
    [
      'by an encoded reference',
      {
        ...sst('xl/shared strings.xml'),
        ...workbookRelations('worksheets/sheet1.xml', 'shared%20strings.xml'),
      },
    ],
    [
      'with a slash at the beginning',
      {
        ...sst('/xl/sharedStrings.xml'),
        ...workbookRelations('/xl/worksheets/sheet1.xml', '/xl/sharedStrings.xml'),
      },
    ],
    [
      'with backslashes',
      {
        ...sst('xl\\sharedStrings.xml'),
        ...workbookRelations('worksheets\\sheet1.xml', '.\\sharedStrings.xml'),
      },
    ],
    [
      'by steps up',
      {
        ...sst('texts/sharedStrings.xml'),
        ...workbookRelations('../xl/worksheets/sheet1.xml', '../texts/./sharedStrings.xml'),
      },
    ],
  ])('%s', async (_, parts) => {
    const content = workbook({ S: shared }, { strings, parts })
    expect(await blocksOf('a.xlsx', content)).toEqual(['## S', tableOf(['Article', 'Stock'])])
    expect(await readFile('a.xlsx', content)).toMatchObject({ omissions: [] })
  })
})

describe('a part that is missing is told', () => {
  test('if it has the texts of cells, of which numbers are left', async () => {
    const rows = `${shared}${rowsOf(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      { row: 2 },
    )}`
    const content = workbook({ S: rows }, { parts: { 'xl/sharedStrings.xml': null } })
    const { omissions, parts } = await readFile('a.xlsx', content)
    expect(omissions).toEqual([
      {
        kind: 'missing_part',
        count: 3,
        places: [{ part: 'xl/sharedStrings.xml' }, { sheet: 'S', part: 'xl/sharedStrings.xml' }],
      },
    ])
    expect(parts).toEqual({ count: 1, unread: 0 })
  })

  test('if it is a sheet', async () => {
    const content = workbook(
      { One: rowsOf([['a', 'b']]), Two: rowsOf([['c', 'd']]) },
      { parts: { 'xl/worksheets/sheet1.xml': null } },
    )
    const { omissions, parts } = await readFile('a.xlsx', content)
    expect(omissions).toMatchObject([
      { kind: 'missing_part', places: [{ sheet: 'One', part: 'xl/worksheets/sheet1.xml' }] },
    ])
    expect(parts).toEqual({ count: 2, unread: 1 })
  })

  test.each([
    ['texts', shared, { 'xl/sharedStrings.xml': null }],
    ['sheets', rowsOf([['a', 'b']]), { 'xl/worksheets/sheet1.xml': null }],
  ])('as a failure if nothing is left without its %s', async (_, rows, parts) => {
    await expect(readFile('a.xlsx', workbook({ S: rows }, { parts }))).rejects.toMatchObject({
      failure: 'damaged',
      message: expect.stringMatching(/the part xl\/\S+\.xml is missing/),
    })
  })

  test('if it has a string of which the number is too large', async () => {
    const rows = `${shared}<row r="2"><c r="A2" t="s"><v>7</v></c><c r="B2"><v>5</v></c></row>`
    const { omissions } = await readFile('a.xlsx', workbook({ S: rows }, { strings }))
    expect(omissions).toMatchObject([{ kind: 'missing_part', count: 1, detail: 'first in A2' }])
  })
})

describe('texts of a workbook', () => {
  test('have their escapes decoded, and literal ones kept', async () => {
    const rows = [
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>',
      `<row r="2">${text('A2', 'up_x000D_\ndown')}<c r="B2" t="str"><f>A1</f><v>tab_x0009_stop</v></c></row>`,
      `<row r="3">${text('A3', 'snake_x_case')}${text('B3', '_x005F_x000D_ and _x00E9_')}</row>`,
    ]
    const si = [
      '<si><t xml:space="preserve">Switch it off_x000D_\nWait</t></si>',
      '<si><r><t>ri</t></r><r><t>ch</t></r><rPh sb="0" eb="1"><t>リ</t></rPh><phoneticPr fontId="1"/></si>',
    ]
    const after =
      '<headerFooter><oddHeader>&amp;CFor_x0020_sale &amp;amp; rent</oddHeader></headerFooter>'
    const sheets = { A_x0026_B: { rows: rows.join(''), after } }
    const content = workbook(sheets, { strings: si.join('') })
    expect(await blocksOf('a.xlsx', content)).toEqual([
      '## A&B',
      tableOf(
        ['Switch it off Wait', 'rich'],
        ['up down', 'tab stop'],
        ['snake_x_case', '_x000D_ and é'],
      ),
      'For sale &amp; rent',
    ])
  })

  test('are told where formulas have no value', async () => {
    const rows = `${rowsOf([['Item', 'Sum']])}<row r="2">${text('A2', 'Pump')}<c r="B2"><f>SUM(C1:C9)</f></c></row><row r="3">${text('A3', 'Seal')}<c r="B3"><f>1+1</f><v></v></c><c r="C3" t="str"><f>""</f><v></v></c></row>`
    const { omissions } = await readFile('a.xlsx', workbook({ Costs: rows }))
    expect(omissions).toEqual([
      {
        kind: 'formula_without_value',
        count: 2,
        places: [{ sheet: 'Costs' }],
        detail: 'first in B2',
      },
    ])
  })

  test('have their links', async () => {
    const rows = `<row r="1">${text('A1', 'Name')}${text('B1', 'Page')}</row><row r="2">${text('A2', 'Pump')}<c r="B2" t="str"><f>HYPERLINK("https://pumps.example/1","manual")</f><v>manual</v></c></row>`
    const after =
      '<hyperlinks><hyperlink ref="A2" r:id="rId5"/><hyperlink ref="A1:XFD1048576" location="x"/></hyperlinks>'
    const sheet = {
      rows,
      after,
      relations: [['rId5', 'hyperlink', 'https://pumps.example', 'external']] as const,
    }
    const content = workbook({ S: { ...sheet, relations: [...sheet.relations] } })
    expect((await blocksOf('a.xlsx', content))[1]).toContain(
      '| [Pump](https://pumps.example) | [manual](https://pumps.example/1) |',
    )
  })
})

describe('merged cells', () => {
  const merges = (...ranges: string[]) =>
    `<mergeCells>${ranges.map((range) => `<mergeCell ref="${range}"/>`).join('')}</mergeCells>`

  test('count for every row and column that they cover', async () => {
    const rows = rowsOf([
      ['Region', 2023, '', 2024, ''],
      ['', 'Q1', 'Q2', 'Q1', 'Q2'],
      ['North', 1, 2, 3, 4],
      ['South', 5, 6, 7, 8],
      ['', 9, 10, 11, 12],
    ])
    const content = workbook({ S: { rows, after: merges('A1:A2', 'B1:C1', 'D1:E1', 'A4:A5') } })
    expect((await blocksOf('a.xlsx', content))[1]).toBe(
      tableOf(
        ['Region', '2023', '2023', '2024', '2024'],
        ['Region', 'Q1', 'Q2', 'Q1', 'Q2'],
        ['North', '1', '2', '3', '4'],
        ['South', '5', '6', '7', '8'],
        ['South', '9', '10', '11', '12'],
      ),
    )
  })

  test('that are a title are not the header of the table below', async () => {
    const rows = rowsOf([['Price list', '', ''], [], ['Code', 'Name', 'Price'], ['P1', 'Pump', 10]])
    const content = workbook({ S: { rows, after: merges('A1:C2') } })
    expect(await blocksOf('a.xlsx', content)).toEqual([
      '## S',
      'Price list',
      tableOf(['Code', 'Name', 'Price'], ['P1', 'Pump', '10']),
    ])
  })

  test('of a whole sheet, or many of them, take no long time', async () => {
    const rows = rowsOf([['a', 'b'], ...Array.from({ length: 500 }, () => [1, 2])])
    const ranges = Array.from({ length: 20_000 }, () => 'A1:XFD1048576')
    const content = workbook({ S: { rows, after: merges(...ranges, 'C9:A1', 'x') } })
    expect((await blocksOf('a.xlsx', content))[1]).toContain('| a | b |')
  })
})

describe('a sheet', () => {
  test('has several tables, each with its title', async () => {
    const rows =
      rowsOf([['Pumps'], ['Code', 'Price'], ['P1', 10], ['P2', 12]], { column: 1 }) +
      rowsOf([['Opening hours'], ['Day', 'From', 'To'], ['Monday', '9', '17']], { row: 7 })
    expect(await blocksOf('a.xlsx', workbook({ S: rows }))).toEqual([
      '## S',
      'Pumps',
      tableOf(['Code', 'Price'], ['P1', '10'], ['P2', '12']),
      'Opening hours',
      tableOf(['Day', 'From', 'To'], ['Monday', '9', '17']),
    ])
  })

  test('has sections of one table, which keep its header', async () => {
    const rows =
      rowsOf([
        ['Article', 'Price'],
        ['Pump', 10],
      ]) + rowsOf([['Spare parts'], ['Seal', 2], ['Hose', 3]], { row: 4 })
    expect(await blocksOf('a.xlsx', workbook({ S: rows }))).toEqual([
      '## S',
      tableOf(['Article', 'Price'], ['Pump', '10']),
      'Spare parts',
      tableOf(['Article', 'Price'], ['Seal', '2'], ['Hose', '3']),
    ])
  })

  test('has the tables that its author defined, side by side too', async () => {
    const rows = rowsOf([
      ['Overview', '', '', '', ''],
      ['Code', 'Price', '', 'City', 'Sales'],
      ['P1', 10, '', 'Ulm', 120],
      ['', '', '', 'Bonn', 80],
    ])
    const definition = (name: string, ref: string) =>
      part('table', '').replace('<table ', `<table displayName="${name}" ref="${ref}" `)
    const content = workbook(
      {
        S: {
          rows,
          relations: [
            ['rId1', 'table', '../tables/table1.xml'],
            ['rId2', 'table', '../tables/table2.xml'],
          ],
        },
      },
      {
        parts: {
          'xl/tables/table1.xml': definition('Prices', 'A2:B3'),
          'xl/tables/table2.xml': definition('Tabelle2', 'D2:E4'),
        },
      },
    )
    expect(await blocksOf('a.xlsx', content)).toEqual([
      '## S',
      'Overview',
      'Prices',
      tableOf(['Code', 'Price'], ['P1', '10']),
      tableOf(['City', 'Sales'], ['Ulm', '120'], ['Bonn', '80']),
    ])
  })

  test('is told if it is hidden; hidden rows and columns are read', async () => {
    const rows = `<row r="1" hidden="1">${text('A1', 'Code')}${text('B1', 'Price')}</row>${rowsOf([['P1', 10]], { row: 2 })}`
    const content = workbook({
      Shown: rows,
      Costs: { rows: rowsOf([['secret', 1]]), state: 'hidden' },
      Deep: { rows: rowsOf([['secret', 2]]), state: 'veryHidden' },
    })
    expect(await blocksOf('a.xlsx', content)).toEqual([
      '## Shown',
      tableOf(['Code', 'Price'], ['P1', '10']),
    ])
    expect(await readFile('a.xlsx', content)).toMatchObject({
      omissions: [
        { kind: 'hidden_sheet', count: 2, places: [{ sheet: 'Costs' }, { sheet: 'Deep' }] },
      ],
      parts: { count: 1, unread: 0 },
    })
  })
})

describe('around the cells of a sheet', () => {
  const xdr = 'xmlns:xdr="x" xmlns:a="a" xmlns:c="c" xmlns:mc="mc" xmlns:dgm="d"'
  const shapeOf = (name: string, content: string, properties = '') =>
    `<xdr:twoCellAnchor><xdr:${name}><xdr:nv><xdr:cNvPr id="1" name="x" ${properties}/></xdr:nv>${content}</xdr:${name}></xdr:twoCellAnchor>`
  const paragraphs = (...texts: string[]) =>
    texts.map((each) => `<a:p><a:r><a:t>${each}</a:t></a:r></a:p>`).join('')
  const chartOf = (title: string) =>
    `<c:chartSpace ${xdr}><c:chart><c:title><c:tx><c:rich>${paragraphs(title)}</c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:f>S!B1</c:f><c:strCache><c:pt idx="0"><c:v>Sold</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt><c:pt idx="1"><c:v>South</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>12</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart><c:catAx><c:title><c:tx><c:rich>${paragraphs('Region')}</c:rich></c:tx></c:title></c:catAx></c:plotArea></c:chart></c:chartSpace>`
  const drawing = [
    shapeOf('sp', `<xdr:txBody>${paragraphs('Prices without', 'tax')}</xdr:txBody>`),
    shapeOf('grpSp', `<xdr:sp><xdr:txBody>${paragraphs('In a group')}</xdr:txBody></xdr:sp>`),
    shapeOf('pic', '', 'descr="The pump from above"'),
    shapeOf('pic', ''),
    shapeOf(
      'graphicFrame',
      '<a:graphic><a:graphicData><c:chart r:id="rId1"/></a:graphicData></a:graphic>',
    ),
    shapeOf(
      'graphicFrame',
      '<a:graphic><a:graphicData><dgm:relIds r:dm="rId2"/></a:graphicData></a:graphic>',
    ),
    shapeOf(
      'graphicFrame',
      '<a:graphic><a:graphicData><c:chart r:id="rId3"/></a:graphicData></a:graphic>',
    ),
    '<mc:AlternateContent><mc:Choice><xdr:sp><xdr:txBody><a:p><a:r><a:t>New</a:t></a:r></a:p></xdr:txBody></xdr:sp></mc:Choice><mc:Fallback><xdr:sp><xdr:txBody><a:p><a:r><a:t>Old</a:t></a:r></a:p></xdr:txBody></xdr:sp></mc:Fallback></mc:AlternateContent>',
  ]
  const parts = {
    'xl/drawings/drawing1.xml': `<xdr:wsDr ${xdr} xmlns:r="r">${drawing.join('')}</xdr:wsDr>`,
    'xl/drawings/_rels/drawing1.xml.rels': relations(
      ['rId1', 'chart', '../charts/chart1.xml'],
      ['rId2', 'diagramData', '../diagrams/data1.xml'],
      ['rId3', 'chart', '../charts/gone.xml'],
    ),
    'xl/charts/chart1.xml': chartOf('Sales of pumps'),
    'xl/diagrams/data1.xml': `<dgm:dataModel ${xdr}><dgm:ptLst><dgm:pt><dgm:t>${paragraphs('Plan')}</dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`,
    'xl/embeddings/oleObject1.bin': 'x',
    'xl/comments1.xml': part(
      'comments',
      '<authors/><commentList><comment ref="B2"><text><r><t>Ann:</t></r><r><t xml:space="preserve">_x000D_\n ask the maker</t></r></text></comment><comment ref="A2"><text><t>[Threaded comment] Your version of Excel</t></text></comment></commentList>',
    ),
    'xl/threadedComments/threadedComment1.xml':
      '<ThreadedComments><threadedComment ref="A2" id="1"><text>Is it sold?</text></threadedComment><threadedComment ref="A2" id="2" parentId="1"><text>Until May.</text></threadedComment></ThreadedComments>',
  }

  test('are text boxes, charts, diagrams, descriptions, comments, headers and footers', async () => {
    const sheet = {
      rows: rowsOf([
        ['Code', 'Price'],
        ['P1', 10],
      ]),
      after:
        '<headerFooter differentFirst="1"><oddHeader>&amp;L&amp;"Arial,Bold"&amp;14Confidential&amp;R&amp;D</oddHeader><oddFooter>&amp;CPage &amp;P of &amp;N</oddFooter><firstHeader>&amp;LConfidential</firstHeader></headerFooter>',
      relations: [
        ['rId1', 'drawing', '../drawings/drawing1.xml'],
        ['rId2', 'comments', '../comments1.xml'],
        ['rId3', 'threadedComment', '../threadedComments/threadedComment1.xml'],
        ['rId4', 'oleObject', '../embeddings/oleObject1.bin'],
      ] as Parameters<typeof relations>,
    }
    const content = workbook({ S: sheet }, { parts })
    expect(await blocksOf('a.xlsx', content)).toEqual([
      '## S',
      tableOf(['Code', 'Price'], ['P1', '10']),
      'Prices without',
      'tax',
      'In a group',
      '![The pump from above]()',
      'Chart: Sales of pumps; Region. Series: Sold. Categories: North, South',
      '- Plan',
      'New',
      'Comment on B2 (10): Ann: ask the maker',
      'Comment on A2 (P1): Is it sold?',
      'Comment on A2 (P1): Until May.',
      'Confidential',
    ])
    const { omissions } = await readFile('a.xlsx', content)
    expect(omissions?.map(({ kind, places }) => [kind, places])).toEqual([
      ['picture_without_text', [{ sheet: 'S' }]],
      ['missing_part', [{ sheet: 'S', part: 'xl/charts/gone.xml' }]],
      ['embedded_file', [{ sheet: 'S', part: 'xl/embeddings/oleObject1.bin' }]],
    ])
  })
})

test.each([
  ['cells far to the right in every row', 'A', 'XFD', 2000],
  ['rows far below', '1048576', '1048577', 2],
])('%s are the fault of the file', async (_, first, last, count) => {
  const isColumn = /[A-Z]/.test(last)
  const rows = Array.from({ length: count }, (_, at) => {
    const reference = isColumn ? `${at === 0 ? first : last}${at + 1}` : `A${Number(first) + at}`
    return `<row r="${/\d+$/.exec(reference)?.[0]}">${number(reference, 1)}</row>`
  })
  await expect(readFile('a.xlsx', workbook({ S: rows.join('') }))).rejects.toMatchObject({
    name: 'ExtractionError',
    failure: expect.stringMatching(/too_large|damaged/),
  })
})

test('raised and lowered text of a cell changes no number', async () => {
  const run = (value: string, place = '') =>
    `<r><rPr>${place && `<vertAlign val="${place}"/>`}</rPr><t xml:space="preserve">${value}</t></r>`
  const rich = `${run('10')}${run('6', 'superscript')}${run(' cells, CO')}${run('2', 'subscript')}`
  const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is>${rich}</is></c></row>`
  const content = workbook({ S: rows }, { strings: `<si>${rich}</si>` })
  expect((await blocksOf('a.xlsx', content)).join('\n')).toContain(
    row('10^6 cells, CO₂', '10^6 cells, CO₂'),
  )
})

test('whole numbers of many digits stay different, however they are stored', async () => {
  const rows = `<row r="1">${number('A1', '1.23456789012345E+17')}${number('B1', '1E+20')}${number('C1', '0.5')}</row>`
  const content = workbook({ S: rows })
  expect((await blocksOf('a.xlsx', content)).join('\n')).toContain(
    row('123456789012345000', '1E+20', '0.5'),
  )
})
