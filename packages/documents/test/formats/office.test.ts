import { describe, expect, test } from 'vitest'
import { epub, odt, part, pptx, relations, shape, xlsx } from '../office.js'
import { blocksOf, passagesOf, readFile } from '../outline.js'

const titlePlaceholder = 'type="title"'
const bodyPlaceholder = 'idx="1"'

describe('a presentation', () => {
  test('has its slides in order, as pages, under their titles', async () => {
    const content = pptx([
      shape('type="ctrTitle"', 'Pumps of 2024') + shape('type="subTitle"', 'An overview'),
      shape(bodyPlaceholder, 'Quiet', 'Cheap') +
        shape(titlePlaceholder, 'Why') +
        shape('type="sldNum"', '2'),
      shape('', 'No title here'),
    ])
    expect(await blocksOf('a.pptx', content)).toEqual([
      '# Pumps of 2024',
      'An overview',
      '## Why',
      '- Quiet\n- Cheap',
      '## Slide 3',
      'No title here',
    ])
    const passages = await passagesOf('a.pptx', content)
    expect(passages.map(({ pageNumber }) => pageNumber)).toEqual([1, 2, 3])
    expect(await readFile('a.pptx', content)).toMatchObject({ title: 'Pumps of 2024', pages: 3 })
  })

  test('has tables, nested points, diagrams and notes', async () => {
    const cell = (text: string, merge = '') =>
      `<a:tc${merge}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`
    const table = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>${cell('Year')}${cell('Sold')}</a:tr><a:tr>${cell('2023')}${cell('41')}</a:tr><a:tr>${cell('', ' vMerge="1"')}${cell('7')}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
    const nested = '<a:p><a:pPr lvl="1"/><a:r><a:t>Less noise</a:t></a:r></a:p>'
    const content = pptx(
      [shape(titlePlaceholder, 'Sales') + table + shape(bodyPlaceholder, 'Better', nested)],
      {
        'ppt/slides/_rels/slide1.xml.rels': relations(
          ['rId1', 'notesSlide', '../notesSlides/notesSlide1.xml'],
          ['rId2', 'diagramData', '../diagrams/data1.xml'],
        ),
        'ppt/notesSlides/notesSlide1.xml': part(
          'p:notes',
          `<p:cSld><p:spTree>${shape('type="sldImg"')}${shape('type="body"', 'Mention the prize.')}</p:spTree></p:cSld>`,
        ),
        'ppt/diagrams/data1.xml': part(
          'dataModel',
          '<ptLst><pt><t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></t></pt><pt><t><a:p><a:r><a:t>Build</a:t></a:r></a:p></t></pt></ptLst>',
        ),
      },
    )
    expect(await blocksOf('a.pptx', content)).toEqual([
      '# Sales',
      '| Year | Sold |\n| --- | --- |\n| 2023 | 41 |\n| 2023 | 7 |',
      '- Better\n  - Less noise',
      '- Plan\n- Build',
      'Notes:',
      'Mention the prize.',
    ])
  })
})

describe('a workbook', () => {
  const text = (reference: string, index: number) => `<c r="${reference}" t="s"><v>${index}</v></c>`
  const row = (number: number, cells: string) => `<row r="${number}">${cells}</row>`

  test('has the visible sheets with captions, tables and remarks', async () => {
    const sheet =
      row(1, text('B1', 0)) +
      row(3, text('B3', 1) + text('D3', 2)) +
      row(4, `${text('B4', 3)}<c r="D4" s="2"><v>1249.5</v></c>`) +
      row(5, '<c r="B5" t="inlineStr"><is><t>Seal</t></is></c><c r="D5" s="2"><v>3</v></c>') +
      row(6, '<c r="B6" t="str"><f>A1</f><v>Prices without tax</v></c>')
    const content = xlsx(
      { Prices: sheet, Secret: row(1, text('A1', 0)) },
      { strings: ['Price list', 'Article', 'Price', 'Pump'], states: { Secret: 'hidden' } },
    )
    expect(await blocksOf('a.xlsx', content)).toEqual([
      '## Prices',
      'Price list',
      '| Article | Price |\n| --- | --- |\n| Pump | 1,249.50 € |\n| Seal | 3.00 € |',
      'Prices without tax',
    ])
  })

  test('shows dates, times, percentages, booleans and results as users see them', async () => {
    const cells = [
      '<c r="A1" s="1"><v>45366</v></c>',
      '<c r="B1" s="4"><v>45366.75</v></c>',
      '<c r="C1" s="3"><v>0.0525</v></c>',
      '<c r="D1" t="b"><v>1</v></c>',
      '<c r="E1"><f>A1*3</f><v>0.30000000000000004</v></c>',
      '<c r="F1" t="e"><v>#DIV/0!</v></c>',
    ]
    const [, table] = await blocksOf('a.xlsx', xlsx({ S: row(1, cells.join('')) }))
    expect(table?.split('\n')[0]).toBe(
      '| 2024-03-15 | 2024-03-15 18:00 | 5.25% | TRUE | 0.3 | #DIV/0! |',
    )
  })
})

describe('an OpenDocument text', () => {
  test('has headings, lists, tables, notes and links, without indexes and deletions', async () => {
    const content = odt(`
      <text:tracked-changes><text:changed-region><text:deletion><text:p>Deleted</text:p></text:deletion></text:changed-region></text:tracked-changes>
      <text:p text:style-name="P1">Pump manual</text:p>
      <text:table-of-content><text:index-body><text:p>Safety 1</text:p></text:index-body></text:table-of-content>
      <text:h text:outline-level="2">Safety</text:h>
      <text:p>Switch<text:s text:c="1"/>it
        <text:span>off</text:span><text:note text:id="ftn1"><text:note-citation>1</text:note-citation><text:note-body><text:p>At the wall.</text:p></text:note-body></text:note>. <text:a xlink:href="https://pumps.example">More</text:a></text:p>
      <text:list><text:list-item><text:p>One</text:p><text:list><text:list-item><text:p>Inner</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>Two</text:p></text:list-item></text:list>
      <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Model</text:p></table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>N1</text:p></table:table-cell><table:table-cell><text:p>10</text:p></table:table-cell></table:table-row><table:table-row><table:covered-table-cell/><table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table>`)
    expect(await blocksOf('a.odt', content)).toEqual([
      '# Pump manual',
      '## Safety',
      'Switch it off[^1]. [More](https://pumps.example)',
      '[^1]: At the wall.',
      '- One\n  - Inner\n- Two',
      '| Model | Price |\n| --- | --- |\n| N1 | 10 |\n| N1 | 12 |',
    ])
  })

  test('with a password is refused with advice', async () => {
    const entry = '<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>'
    await expect(readFile('a.odt', odt('<text:p>x</text:p>', entry))).rejects.toMatchObject({
      failure: 'protected',
      message: expect.stringContaining('Save it without the password'),
    })
  })
})

describe('an e-book', () => {
  test('has its chapters in reading order, named by the table of contents if they have no heading', async () => {
    const content = epub(['<h1>Start</h1><p>It begins.</p>', '<p>It <b>ends</b>.</p>'])
    expect(await blocksOf('a.epub', content)).toEqual([
      '# The Pump',
      '# Start',
      'It begins.',
      '## Chapter 2',
      'It **ends**.',
    ])
  })

  test('with copy protection is refused, but not with obfuscated fonts', async () => {
    const encryption = (algorithm: string) => ({
      'META-INF/encryption.xml': `<encryption><EncryptedData><EncryptionMethod Algorithm="${algorithm}"/></EncryptedData></encryption>`,
    })
    const drm = epub(['<p>x</p>'], encryption('http://www.w3.org/2001/04/xmlenc#aes128-cbc'))
    await expect(readFile('a.epub', drm)).rejects.toMatchObject({ failure: 'protected' })
    const fonts = epub(['<p>Text</p>'], encryption('http://www.idpf.org/2008/embedding'))
    expect(await blocksOf('a.epub', fonts)).toContain('Text')
  })
})
