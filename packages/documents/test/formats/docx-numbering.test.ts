import { describe, expect, test } from 'vitest'
import { docx, wordParagraph as p, part, wordTable } from '../office.js'
import { blocksOf } from '../outline.js'

const level = (at: number, text: string, format = 'decimal', more = '') =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`
const definition = (id: number, ...levels: string[]) =>
  `<w:abstractNum w:abstractNumId="${id}">${levels.join('')}</w:abstractNum>`
const num = (id: number, definitionId: number, overrides = '') =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${definitionId}"/>${overrides}</w:num>`
const restartAt = (at: number, start: number) =>
  `<w:lvlOverride w:ilvl="${at}"><w:startOverride w:val="${start}"/></w:lvlOverride>`
const listed = (list: number, at: number) =>
  `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr>`
const item = (text: string, list: number, at = 0) => p(text, listed(list, at))

const styles = (content: string) => ({ 'word/styles.xml': part('w:styles', content) })
const style = (id: string, name: string, properties = '') =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:pPr>${properties}</w:pPr></w:style>`

const read = async (body: string, numbering: string, more = {}) =>
  await blocksOf(
    'a.docx',
    docx(body, { 'word/numbering.xml': part('w:numbering', numbering), ...more }),
  )

describe('numbers that Word computes', () => {
  test('stand in front of headings and clauses, with those of the levels above', async () => {
    const numbering = definition(0, level(0, '%1'), level(1, '%1.%2')) + num(1, 0)
    const body =
      p('Delivery', '<w:pStyle w:val="H1"/>') +
      item('Within ten days.', 1, 1) +
      item('In parts.', 1, 1) +
      p('Payment', '<w:pStyle w:val="H1"/>') +
      item('Invoices are due after thirty days.', 1, 1)
    const heads = styles(style('H1', 'heading 1', `${listed(1, 0)}<w:outlineLvl w:val="0"/>`))
    expect(await read(body, numbering, heads)).toEqual([
      '# 1 Delivery',
      '- 1.1 Within ten days.\n- 1.2 In parts.',
      '# 2 Payment',
      '- 2.1 Invoices are due after thirty days.',
    ])
  })

  test.each([
    ['decimal', '1 2 27'],
    ['decimalZero', '01 02 27'],
    ['upperRoman', 'I II XXVII'],
    ['lowerRoman', 'i ii xxvii'],
    ['upperLetter', 'A B AA'],
    ['lowerLetter', 'a b aa'],
    ['ordinal', '1st 2nd 27th'],
    ['cardinalText', 'One Two Twenty-seven'],
    ['ordinalText', 'First Second Twenty-seventh'],
    ['chineseCounting', '一 二 二十七'],
    ['chineseCountingThousand', '一 二 二十七'],
    ['japaneseCounting', '一 二 二十七'],
    ['ideographDigital', '一 二 二七'],
    ['chineseLegalSimplified', '壹 贰 贰拾柒'],
    ['ideographTraditional', '甲 乙 庚'],
    ['koreanCounting', '일 이 이십칠'],
    ['ganada', '가 나 파'],
    ['aiueo', 'ア イ ヒ'],
    ['russianLower', 'а б э'],
    ['hebrew2', 'א ב הה'],
    ['thaiNumbers', '๑ ๒ ๒๗'],
    ['hex', '1 2 1B'],
    ['decimalEnclosedCircle', '① ② 27'],
    ['unheardOf', '1 2 27'],
  ])('in the format %s are %s', async (format, expected) => {
    const numbering =
      definition(0, level(0, '§%1', format)) + num(1, 0) + num(2, 0, restartAt(0, 27))
    const blocks = await read(item('a', 1) + item('b', 1) + item('c', 2), numbering)
    const [one, two, last] = expected.split(' ')
    expect(blocks).toEqual([`- §${one} a\n- §${two} b\n- §${last} c`])
  })

  test('start, restart and continue as the lists say', async () => {
    const numbering =
      definition(
        0,
        level(0, '%1.').replace('w:start w:val="1"', 'w:start w:val="5"'),
        level(1, '%2)', 'lowerLetter'),
        level(2, '(%3)', 'lowerRoman', '<w:lvlRestart w:val="1"/>'),
        level(3, '[%4]', 'decimal', '<w:lvlRestart w:val="0"/>'),
      ) +
      num(1, 0) +
      num(2, 0, restartAt(0, 1))
    const body = [
      item('five', 1),
      item('a', 1, 1),
      item('i', 1, 2),
      item('first', 1, 3),
      item('b', 1, 1),
      item('still counting', 1, 2),
      item('second', 1, 3),
      item('six', 1),
      item('again a', 1, 1),
      item('anew', 1, 2),
      p('Between.'),
      item('seven', 1),
      item('one', 2),
      item('two', 2),
      item('goes on', 1),
    ]
    expect(await read(body.join(''), numbering)).toEqual([
      [
        '5. five',
        '   - a) a',
        '     - (i) i',
        '       - [1] first',
        '   - b) b',
        '     - (ii) still counting',
        '       - [2] second',
        '6. six',
        '   - a) again a',
        '     - (i) anew',
      ].join('\n'),
      'Between.',
      '7. seven',
      '1. one\n2. two\n3. goes on',
    ])
  })

  test('keep their leading zeros', async () => {
    const numbering = definition(0, level(0, '%1', 'decimalZero')) + num(1, 0)
    expect(await read(item('one', 1) + item('two', 1), numbering)).toEqual(['- 01 one\n- 02 two'])
  })

  test('are those of the levels that are linked to styles, in any language', async () => {
    const numbering =
      definition(
        0,
        level(0, 'Artikel %1', 'upperRoman', '<w:pStyle w:val="b1"/>'),
        level(1, '%1.%2', 'decimal', '<w:pStyle w:val="b2"/><w:isLgl/>'),
      ) + num(3, 0)
    const numbered = '<w:numPr><w:numId w:val="3"/></w:numPr>'
    const based = style('b2', 'heading 2').replace('<w:pPr>', '<w:basedOn w:val="b1"/><w:pPr>')
    const more = styles(style('b1', 'heading 1', numbered) + based)
    const body =
      p('Zweck', '<w:pStyle w:val="b1"/>') +
      p('Umfang', '<w:pStyle w:val="b2"/>') +
      p('Anhang', '<w:pStyle w:val="b1"/><w:numPr><w:numId w:val="0"/></w:numPr>') +
      p('Haftung', '<w:pStyle w:val="b1"/>') +
      p('Grenzen', '<w:pStyle w:val="b2"/>')
    expect(await read(body, numbering, more)).toEqual([
      '# Artikel I Zweck',
      '## 1.1 Umfang',
      '# Anhang',
      '# Artikel II Haftung',
      '## 2.1 Grenzen',
    ])
  })

  test('are those of a style of lists', async () => {
    const numbering =
      '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="Clauses"/></w:abstractNum>' +
      definition(2, '<w:styleLink w:val="Clauses"/>', level(0, 'Clause %1')) +
      num(1, 1) +
      num(2, 2)
    const list =
      '<w:style w:type="numbering" w:styleId="Clauses"><w:name w:val="Clauses"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    expect(await read(item('Term', 1) + item('End', 1), numbering, styles(list))).toEqual([
      '- Clause 1 Term\n- Clause 2 End',
    ])
  })

  test('count empty paragraphs, which show a number, but not deleted ones', async () => {
    const numbering = definition(0, level(0, '%1.')) + num(1, 0)
    const deleted = p(
      '<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>',
      `${listed(1, 0)}<w:rPr><w:del/></w:rPr>`,
    )
    const body = item('one', 1) + deleted + item('', 1) + item('three', 1)
    expect(await read(body, numbering)).toEqual(['1. one', '3. three'])
  })

  test('are missing in front of the second paragraph of an item, which stays in it', async () => {
    const numbering =
      definition(0, level(0, '%1.')) +
      definition(1, level(0, ' ', 'bullet')) +
      num(1, 0) +
      num(2, 1)
    const body = item('one', 1) + item('more of it', 2) + item('two', 1)
    expect(await read(body, numbering)).toEqual(['1. one\n   more of it\n2. two'])
  })

  test('stand in cells of tables, and go on behind a note', async () => {
    const numbering = definition(0, level(0, '%1.'), level(1, '%1.%2')) + num(1, 0)
    const note = '<w:r><w:t>noted</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    const cell = `<w:tc><w:tcPr/>${item('in a cell', 1, 1)}${item('and one more', 1, 1)}</w:tc>`
    const body =
      item('first', 1) + p(note, listed(1, 0)) + item('third', 1) + wordTable([['a', cell]])
    expect(await read(body, numbering)).toEqual([
      '1. first\n2. noted[^1]\n3. third',
      '[^1]: Measured in 2024.',
      '| a | 3.1 in a cell 3.2 and one more |\n| --- | --- |',
    ])
  })

  test('are all that some cells have', async () => {
    const numbering = definition(0, level(0, '%1.')) + num(1, 0)
    const cell = `<w:tc>${p('', listed(1, 0))}</w:tc>`
    expect(
      await read(
        wordTable([
          [cell, 'Bolt'],
          [cell, 'Nut'],
        ]),
        numbering,
      ),
    ).toEqual(['| 1. | Bolt |\n| --- | --- |\n| 2. | Nut |'])
  })

  test.each([
    [
      'loops of styles',
      '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="A"/></w:abstractNum>',
    ],
    [
      'levels and starts out of range',
      definition(1, level(99, '%1'), level(0, '%9%8', 'upperRoman').replace('"1"', '"1e300"')),
    ],
    ['endless texts', definition(1, level(0, 'x'.repeat(1_000_000)))],
    ['no definition', ''],
  ])('stay bounded with %s', async (_, definitions) => {
    const loop =
      '<w:style w:type="numbering" w:styleId="A"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    const body = p('word', listed(1, 1e9)) + p('more', listed(1, 0))
    const text = (await read(body, definitions + num(1, 1), styles(loop))).join('\n')
    expect(text).toContain('word')
    expect(text).toContain('more')
    expect(text.length).toBeLessThan(1000)
  })
})
