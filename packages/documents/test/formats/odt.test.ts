import { describe, expect, test } from 'vitest'
import { odt, part } from '../office.js'
import { blocksOf, readFile } from '../outline.js'

const number = (at: number, format: string, more = '') =>
  `<text:list-level-style-number text:level="${at}" style:num-format="${format}" ${more}/>`
const listStyle = (name: string, ...levels: string[]) =>
  `<text:list-style style:name="${name}">${levels.join('')}</text:list-style>`
const item = (content: string, more = '') => `<text:list-item ${more}>${content}</text:list-item>`
const p = (text: string, style = '') => `<text:p text:style-name="${style}">${text}</text:p>`
const list = (style: string, content: string, more = '') =>
  `<text:list text:style-name="${style}" ${more}>${content}</text:list>`
const blocks = async (text: string, automatic = '', more = {}) =>
  await blocksOf('a.odt', odt(text, '', automatic, more))

describe('lists of OpenDocument', () => {
  test('have the labels of their style, levels above included', async () => {
    const style = listStyle(
      'L1',
      number(1, '1', 'style:num-suffix="."'),
      number(2, '1', 'text:display-levels="2"'),
      number(3, 'a', 'style:num-prefix="(" style:num-suffix=")"'),
    )
    const inner = `<text:list>${item(p('x'))}${item(`${p('y')}<text:list>${item(p('deep'))}</text:list>`)}</text:list>`
    const text = list(
      'L1',
      item(p('One') + inner) + item(p('Two') + p('More of two')) + item(p('Three')),
    )
    expect(await blocks(text, style)).toEqual([
      '1. One\n   - 1.1 x\n   - 1.2 y\n     - (a) deep\n2. Two\n   More of two\n3. Three',
    ])
  })

  test('start, continue and leave out numbers as they say', async () => {
    const style = listStyle('L1', number(1, 'I', 'style:num-suffix="." text:start-value="4"'))
    const text =
      list(
        'L1',
        `${item(p('four'))}<text:list-header>${p('head')}</text:list-header>${item(p('five'))}`,
        'xml:id="a"',
      ) +
      p('Between') +
      list('L1', item(p('six')), 'text:continue-numbering="true"') +
      p('And') +
      list('L1', item(p('anew')) + item(p('nine'), 'text:start-value="9"')) +
      p('Or') +
      list('L1', item(p('seven')), 'text:continue-list="a"')
    expect(await blocks(text, style)).toEqual([
      '- IV. four\n  head\n- V. five',
      'Between',
      '- VI. six',
      'And',
      '- IV. anew\n- IX. nine',
      'Or',
      '- VII. seven',
    ])
  })

  test('that go on at an inner level keep its numbers', async () => {
    const style = listStyle('L1', number(1, '1'), number(2, '1', 'text:display-levels="2"'))
    const wrapped = (text: string) => item(`<text:list>${item(p(text))}</text:list>`)
    const text =
      list('L1', item(p('One')) + wrapped('a')) +
      p('Between') +
      list('L1', wrapped('b'), 'text:continue-numbering="true"')
    expect(await blocks(text, style)).toEqual(['1. One\n   - 1.1 a', 'Between', '- 1.2 b'])
  })

  test('number headings by the outline or by their list', async () => {
    const outline = `<text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>`
    const styles = {
      'styles.xml': part('office:document-styles', `<office:styles>${outline}</office:styles>`),
    }
    const h = (level: number, text: string, more = '') =>
      `<text:h text:outline-level="${level}" ${more}>${text}</text:h>`
    const text =
      h(1, 'Delivery') +
      h(2, 'Time') +
      h(1, 'Preface', 'text:is-list-header="true"') +
      h(1, 'Payment') +
      h(2, 'Due') +
      list('L1', item(`<text:h text:outline-level="1">Annex</text:h>`))
    expect(
      await blocks(text, listStyle('L1', number(1, 'A', 'style:num-suffix=")"')), styles),
    ).toEqual([
      '# 1 Delivery',
      '## 1.1 Time',
      '# Preface',
      '# 2 Payment',
      '## 2.1 Due',
      '# A) Annex',
    ])
  })

  test('have the labels that are written into the file', async () => {
    const text = list('', item(`<text:number>§ 7</text:number>${p('Term')}`))
    expect(await blocks(text)).toEqual(['- § 7 Term'])
  })
})

describe('text of OpenDocument', () => {
  const style = (name: string, properties: string) =>
    `<style:style style:name="${name}"><style:text-properties ${properties}/></style:style>`
  const styles =
    style('Up', 'style:text-position="super 58%"') +
    style('Down', 'style:text-position="-33% 58%"') +
    style('Gone', 'text:display="none"') +
    style('Sym', 'style:font-name="Symbol"') +
    '<style:font-face style:name="Symbol1" svg:font-family="\'Symbol\'"/>' +
    style('Greek', 'style:font-name="Symbol1"')
  const span = (name: string, text: string) =>
    `<text:span text:style-name="${name}">${text}</text:span>`
  test.each([
    ['line breaks', 'Alpha<text:line-break/>Omega', 'Alpha\nOmega'],
    ['tabs', 'Alpha<text:tab/>Omega', 'Alpha Omega'],
    ['spaces', 'Alpha<text:s/>Omega', 'Alpha Omega'],
    ['powers', `10${span('Up', '6')}`, '10^6'],
    ['indexes', `x${span('Down', 'i')}`, 'x_i'],
    ['symbols', span('Sym', '&#xF0A3;'), '≤'],
    ['symbols of a declared font', span('Greek', '&#xF061;'), 'α'],
    [
      'readings',
      '<text:ruby><text:ruby-base>東</text:ruby-base><text:ruby-text>とう</text:ruby-text></text:ruby>',
      '東(とう)',
    ],
    ['no hidden text', `a${span('Gone', 'secret')}`, 'a'],
  ])('has %s', async (_, content, expected) => {
    expect(await blocks(p(content), styles)).toEqual([expected])
  })

  test('has lines of code together, with their spaces', async () => {
    const code =
      p('if (a)', 'Preformatted_20_Text') + p('<text:s text:c="2"/>b()', 'Preformatted_20_Text')
    expect(await blocks(code)).toEqual(['```\nif (a)\n  b()\n```'])
  })

  test('has notes of several paragraphs, comments with authors, and shapes', async () => {
    const note =
      '<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>One.</text:p><text:p>Two.</text:p></text:note-body></text:note>'
    const comment =
      '<office:annotation><dc:creator>Ann Lee</dc:creator><dc:date>2024-01-01</dc:date><text:p>Which?</text:p></office:annotation>'
    const shape = '<draw:custom-shape><text:p>In a shape</text:p></draw:custom-shape>'
    const frame =
      '<draw:frame><draw:text-box><text:p>On the page</text:p></draw:text-box></draw:frame>'
    expect(await blocks(frame + p(`Text${note}${comment}${shape}`))).toEqual([
      'On the page',
      'Text[^1]',
      '[^1]: One. Two.',
      'Comment (Ann Lee): Which?',
      'In a shape',
    ])
  })

  test('has formulas, charts, and pictures without a description told', async () => {
    const object = (name: string) =>
      `<draw:frame><draw:object xlink:href="./${name}"/><draw:image xlink:href="./ObjectReplacements/${name}"/></draw:frame>`
    const picture = '<draw:frame><draw:image xlink:href="Pictures/1.png"/></draw:frame>'
    const math =
      '<math><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow><annotation>x^2 + {1 over 2}</annotation></semantics></math>'
    const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`
    const chart = `<chart:chart><chart:title><text:p>Sales</text:p></chart:title><table:table><table:table-row>${cell('')}${cell('North')}</table:table-row><table:table-row>${cell('2024')}${cell('41')}</table:table-row></table:table></chart:chart>`
    const content = odt(
      p(`2${object('Object 1')}cups`) + p(`See ${object('Object 2')}${picture}`),
      '',
      '',
      {
        'Object 1/content.xml': math,
        'Object 2/content.xml': part(
          'office:document-content',
          `<office:chart>${chart}</office:chart>`,
        ),
      },
    )
    expect(await blocksOf('a.odt', content)).toEqual([
      '2 x^2+1/2 cups',
      'See',
      'Sales',
      '|  | North |\n| --- | --- |\n| 2024 | 41 |',
    ])
    expect((await readFile('a.odt', content)).omissions).toEqual([
      { kind: 'picture_without_text', count: 1, places: [{ part: 'Pictures/1.png' }] },
    ])
  })

  test('has headers and footers once, without numbers of pages', async () => {
    const page = (name: string) =>
      `<style:master-page style:name="${name}"><style:header><text:p>Pump manual<text:tab/>Page <text:page-number>3</text:page-number></text:p></style:header><style:footer><text:p>Acme</text:p></style:footer><style:header-left style:display="false"><text:p>Never</text:p></style:header-left></style:master-page>`
    const styles = part(
      'office:document-styles',
      `<office:master-styles>${page('A')}${page('B')}</office:master-styles>`,
    )
    expect(await blocks(p('Text'), '', { 'styles.xml': styles })).toEqual([
      'Header: Pump manual',
      'Footer: Acme',
      'Text',
    ])
  })
})

describe('tables of OpenDocument', () => {
  const cell = (text: string, more = '') =>
    `<table:table-cell ${more}>${text === '' ? '' : `<text:p>${text}</text:p>`}</table:table-cell>`
  const covered = (more = '') => `<table:covered-table-cell ${more}/>`
  const table = (...rows: string[]) =>
    `<table:table>${rows.map((row) => `<table:table-row>${row}</table:table-row>`).join('')}</table:table>`

  test('have merged cells in every row and column that they cover', async () => {
    const text = table(
      cell('A') + cell('Both', 'table:number-columns-spanned="2"') + covered(),
      cell('Block', 'table:number-columns-spanned="2" table:number-rows-spanned="2"') +
        covered() +
        cell('1'),
      covered('table:number-columns-repeated="2"') + cell('2'),
      cell('x') + cell('y', 'table:number-columns-repeated="2"'),
    )
    expect(await blocks(text)).toEqual([
      '| A | Both | Both |\n| --- | --- | --- |\n| Block | Block | 1 |\n| Block | Block | 2 |\n| x | y | y |',
    ])
  })

  test('have blocks, lists and tables in cells, whose words do not touch', async () => {
    const inner =
      p('3') + p('1') + list('L1', item(p('one')) + item(p('two'))) + table(cell('x') + cell('y'))
    const text = table(`${cell('A')}<table:table-cell>${inner}</table:table-cell>`)
    expect(await blocks(text, listStyle('L1', number(1, 'a', 'style:num-suffix=")"')))).toEqual([
      '| A | 3 1 a) one b) two x y |\n| --- | --- |',
    ])
  })

  test.each(['1000000000', '-1', 'x'])('with spans of %s stay bounded', async (span) => {
    const wide = cell(
      'word',
      `table:number-columns-spanned="${span}" table:number-rows-spanned="${span}" table:number-columns-repeated="${span}"`,
    )
    const row = `<table:table-row table:number-rows-repeated="${span}">${wide}${covered(`table:number-columns-repeated="${span}"`)}</table:table-row>`
    const text = (await blocks(`<table:table>${row.repeat(20)}</table:table>`)).join('')
    expect(text).toContain('word')
    expect(text.length).toBeLessThan(500_000)
  })
})
