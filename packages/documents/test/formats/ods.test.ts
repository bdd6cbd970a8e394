import { expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'
import { zip } from '../zip.js'

/** A spreadsheet of sheets given as XML, with further parts. */
function ods(sheets: string, parts: Readonly<Record<string, string>> = {}): Buffer {
  const names = ['office', 'table', 'text', 'draw', 'xlink', 'svg', 'chart', 'style']
  const namespaces = names.map((name) => `xmlns:${name}="${name}"`).join(' ')
  return zip({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${namespaces}><office:body><office:spreadsheet>${sheets}</office:spreadsheet></office:body></office:document-content>`,
    ...parts,
  })
}

const cell = (text: string, attributes = '') =>
  `<table:table-cell office:value-type="string" ${attributes}><text:p>${text}</text:p></table:table-cell>`
const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`
const sheet = (...rows: string[]) =>
  `<table:table table:name="S">${rows.join('')}<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>`

test('a spreadsheet has repeated and merged cells in every row and column that they cover', async () => {
  const content = ods(
    sheet(
      `<table:table-header-rows>${row(cell('Region'), cell('2024', 'table:number-columns-spanned="2"'), '<table:covered-table-cell/>')}</table:table-header-rows>`,
      row(
        cell('North', 'table:number-rows-spanned="2"'),
        cell('1', 'table:number-columns-repeated="2"'),
      ),
      row('<table:covered-table-cell/>', cell('2'), cell('3')),
      `<table:table-row table:number-rows-repeated="2">${cell('South')}${cell('4')}${cell('5')}</table:table-row>`,
    ),
  )
  expect(await blocksOf('a.ods', content)).toEqual([
    '## S',
    '| Region | 2024 | 2024 |\n| --- | --- | --- |\n| North | 1 | 1 |\n| North | 2 | 3 |\n| South | 4 | 5 |\n| South | 4 | 5 |',
  ])
})

test('a spreadsheet has charts and text boxes, and tells what is not read', async () => {
  const frame = (object: string) =>
    `<draw:frame><draw:object xlink:href="./${object}"/></draw:frame>`
  const formula = '<table:table-cell table:formula="of:=1+1"/>'
  const chart = `<office:document-content xmlns:office="o" xmlns:chart="c" xmlns:text="t" xmlns:table="b"><office:body><office:chart><chart:chart><chart:title><text:p>Sales</text:p></chart:title><chart:plot-area><chart:axis><chart:title><text:p>Region</text:p></chart:title></chart:axis></chart:plot-area><table:table><table:table-row>${cell('North')}</table:table-row></table:table></chart:chart></office:chart></office:body></office:document-content>`
  const shapes = `<table:shapes>${frame('Object 1')}${frame('Object 2')}<draw:frame><draw:text-box><text:p>Beside</text:p></draw:text-box></draw:frame><draw:frame><draw:image/></draw:frame><draw:frame><draw:image/><svg:desc>A pump</svg:desc></draw:frame></table:shapes>`
  const content = ods(sheet(shapes, row(cell('Item'), cell('Sum')), row(cell('Pump'), formula)), {
    'Object 1/content.xml': chart.replaceAll('office:value-type="string"', ''),
  })
  expect((await blocksOf('a.ods', content)).slice(3)).toEqual([
    'Chart: Sales. Axes: Region. Labels: North',
    'Beside',
    '![A pump]()',
  ])
  const { omissions } = await readFile('a.ods', content)
  expect(omissions?.map(({ kind, places }) => [kind, places])).toEqual([
    ['picture_without_text', [{ sheet: 'S' }]],
    ['formula_without_value', [{ sheet: 'S' }]],
    ['missing_part', [{ sheet: 'S', part: 'Object 2/content.xml' }]],
  ])
})

test('a spreadsheet has the headers and footers of its pages, without numbers and names of sheets', async () => {
  const page = (name: string, content: string) =>
    `<style:master-page style:name="${name}">${content}</style:master-page>`
  const number = '<text:page-number>1</text:page-number>'
  const styles =
    page(
      'Sales',
      `<style:header><style:region-left><text:p>Acme <text:span>Ltd</text:span></text:p></style:region-left><style:region-right><text:p><text:sheet-name>?</text:sheet-name> <text:date>1.1.</text:date></text:p></style:region-right></style:header><style:header-left style:display="false"><text:p>Off</text:p></style:header-left><style:footer><text:p>Internal<text:tab/>Page ${number}</text:p></style:footer><style:footer-first><text:p>Internal</text:p></style:footer-first>`,
    ) + page('Other', '<style:header><text:p>Not used</text:p></style:header>')
  const parts = {
    'styles.xml': `<office:document-styles xmlns:office="o" xmlns:style="s" xmlns:text="t"><office:master-styles>${styles}</office:master-styles></office:document-styles>`,
  }
  const style =
    '<style:style style:name="ta1" style:family="table" style:master-page-name="Sales"><style:table-properties table:display="true"/></style:style>'
  const table = sheet(row(cell('Item'), cell('Sum')), row(cell('Pump'), cell('2')))
  const content = ods(
    style + table.replace('table:name', 'table:style-name="ta1" table:name'),
    parts,
  )
  expect((await blocksOf('a.ods', content)).slice(2)).toEqual(['Acme Ltd', 'Internal'])
})

test('repetitions without end take no long time', async () => {
  const many = 'table:number-columns-repeated="999999999"'
  const rows = `<table:table-row table:number-rows-repeated="999999999">${cell('x', many)}</table:table-row>`
  const content = ods(sheet(row(cell('a'), cell('b')), rows))
  const source = { bytes: content, contentType: '', key: 'a.ods', maxLength: 100_000 }
  const { extract } = await import('../../src/read-document.js')
  await expect(extract(source)).rejects.toMatchObject({ failure: 'too_large' })
})

test('raised and lowered text of a cell changes no number', async () => {
  const styles = ['super 58%', '-33% 58%'].map(
    (place, at) =>
      `<style:style style:name="T${at}" style:family="text"><style:text-properties style:text-position="${place}"/></style:style>`,
  )
  const span = (at: number, text: string) =>
    `<text:span text:style-name="T${at}">${text}</text:span>`
  const content = `${styles.join('')}${sheet(row(cell(`10${span(0, '6')} cells`), cell(`CO${span(1, '2')}`)))}`
  expect((await blocksOf('a.ods', ods(content))).join('\n')).toContain('| 10^6 cells | CO₂ |')
})
