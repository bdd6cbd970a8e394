import { describe, expect, test } from 'vitest'
import { docx, wordParagraph as p, relations, wordCell, wordTable } from '../office.js'
import { blocksOf, passagesOf, readFile } from '../outline.js'

const style = (id: string) => `<w:pStyle w:val="${id}"/>`
const listed = (list: number, level: number) =>
  `${style('Listenabsatz')}<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`
const run = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`

describe('a Word document', () => {
  test('has headings by the styles of any language, without its table of contents', async () => {
    const body = [
      p('Pump manual', style('Titel')),
      p('Safety\t1', style('Verzeichnis1')),
      p('Safety', style('berschrift1')),
      p('Electricity', style('berschrift2')),
      p('Switch it off.'),
    ]
    const content = docx(body.join(''))
    expect(await blocksOf('a.docx', content)).toEqual([
      '# Pump manual',
      '# Safety',
      '## Electricity',
      'Switch it off.',
    ])
    expect((await readFile('a.docx', content)).title).toBe('Pump manual')
  })

  test('has whole words, although Word splits them into runs', async () => {
    const runs =
      run('Do ', '<w:b/>') +
      run('n', '<w:b/>') +
      run('ot', '<w:b/>') +
      run(' open') +
      run('!', '<w:b w:val="0"/>')
    expect(await blocksOf('a.docx', docx(p(runs)))).toEqual(['**Do not** open!'])
  })

  test('has lists with their levels and numbers', async () => {
    const body = [
      p('Tools', listed(1, 0)),
      p('Wrench', listed(1, 1)),
      p('Oil', listed(1, 0)),
      p('Close the valve', listed(2, 0)),
      p('Wait', listed(2, 0)),
    ]
    expect(await blocksOf('a.docx', docx(body.join('')))).toEqual([
      '- Tools\n  - Wrench\n- Oil',
      '1. Close the valve\n2. Wait',
    ])
  })

  test('has tables with merged cells in every row and column that they cover', async () => {
    const table = wordTable([
      ['Series', 'Model', 'Price'],
      [wordCell('North', '<w:vMerge w:val="restart"/>'), 'N1', '10 €'],
      [wordCell('', '<w:vMerge/>'), 'N2', '12 €'],
      [wordCell('On request', '<w:gridSpan w:val="2"/>'), 'S1'],
    ])
    expect(await blocksOf('a.docx', docx(p('Prices') + table))).toEqual([
      'Prices',
      [
        '| Series | Model | Price |',
        '| --- | --- | --- |',
        '| North | N1 | 10 € |',
        '| North | N2 | 12 € |',
        '| On request | On request | S1 |',
      ].join('\n'),
    ])
  })

  test('repeats the header of a long table in every passage', async () => {
    const rows = Array.from({ length: 60 }, (_, at) => [`P-${at}`, `Pump number ${at} of the list`])
    const passages = await passagesOf('a.docx', docx(wordTable([['Code', 'Name'], ...rows])), 400)
    expect(passages.length).toBeGreaterThan(3)
    for (const { content } of passages) expect(content).toMatch(/^\| Code \| Name \|\n\| --- /)
    expect(passages.map(({ content }) => content).join('\n')).toContain('| P-59 | Pump number 59')
  })

  test('has tracked insertions, but no deletions and field codes', async () => {
    const body = p(
      `<w:ins>${run('new ')}</w:ins><w:del><w:r><w:delText>old </w:delText></w:r></w:del>` +
        `<w:r><w:instrText>PAGEREF x</w:instrText></w:r>${run('text')}${run('secret', '<w:vanish/>')}`,
    )
    expect(await blocksOf('a.docx', docx(body))).toEqual(['new text'])
  })

  test('has links, numbered notes, text boxes once, and alternative texts of pictures', async () => {
    const box = `<w:txbxContent>${p('In the box')}</w:txbxContent>`
    const body =
      p(
        `<w:hyperlink r:id="rId3">${run('manual')}</w:hyperlink>${run(' of the pump')}<w:r><w:footnoteReference w:id="2"/></w:r>`,
      ) +
      p(
        `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>${box}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>${box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`,
      ) +
      p(
        '<w:r><w:drawing><wp:inline><wp:docPr id="1" descr="Pump from above"/></wp:inline></w:drawing></w:r>',
      ) +
      p(
        '<w:r><w:drawing><wp:inline><wp:docPr id="2" descr="IMG_1.png"/></wp:inline></w:drawing></w:r>',
      )
    expect(await blocksOf('a.docx', docx(body))).toEqual([
      '[manual](https://pumps.example/manual) of the pump[^1]',
      '[^1]: Measured in 2024.',
      'In the box',
      '![Pump from above]()',
    ])
  })

  test('without styles has bold lines as headings', async () => {
    const body = p(run('Opening hours', '<w:b/>')) + p('From nine to five.')
    expect(await blocksOf('a.docx', docx(body))).toEqual(['## Opening hours', 'From nine to five.'])
  })

  test('of strict or unusual producers is read too', async () => {
    const body = `<x:body>${p('Text').replaceAll('w:', 'x:')}</x:body>`
    const content = docx('', {
      '_rels/.rels': relations(['a', 'officeDocument', '/doc/main.xml']),
      'doc/main.xml': `<x:document xmlns:x="urn:x">${body}</x:document>`,
    })
    expect(await blocksOf('a.docx', content)).toEqual(['Text'])
  })
})
