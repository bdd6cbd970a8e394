import { describe, expect, test } from 'vitest'
import { part, pptx, relations, shape } from '../office.js'
import { blocksOf, readFile } from '../outline.js'

const title = shape('type="title"', 'T')
const paragraph = (text: string, properties = '') =>
  `<a:p><a:pPr ${properties.startsWith('lvl') ? properties.split('>')[0] : ''}>${properties.replace(/^lvl[^>]*>/, '')}</a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`
const numbered = (text: string, type: string, more = '') =>
  paragraph(text, `<a:buAutoNum type="${type}"${more}/>`)
const frame = (inner: string) =>
  `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="x"/></p:nvGraphicFramePr><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></p:graphicFrame>`
const picture = (properties = '') =>
  `<p:pic><p:nvPicPr><p:cNvPr id="3" name="Picture 2" ${properties}/></p:nvPicPr></p:pic>`
const blocks = async (tree: string, more = {}) =>
  (await blocksOf('a.pptx', pptx([title + tree], more))).slice(1)

describe('numbers of paragraphs on slides', () => {
  test.each([
    ['arabicPeriod', '1. a\n2. b'],
    ['arabicParenR', '1. a\n2. b'],
    ['arabicParenBoth', '- (1) a\n- (2) b'],
    ['alphaLcParenR', '- a) a\n- b) b'],
    ['alphaUcPeriod', '- A. a\n- B. b'],
    ['romanUcPeriod', '- I. a\n- II. b'],
    ['circleNumDbPlain', '- ① a\n- ② b'],
    ['ea1ChsPeriod', '- 一. a\n- 二. b'],
  ])('in the format %s', async (type, expected) => {
    const body = shape('', numbered('a', type), numbered('b', type))
    expect(await blocks(body)).toEqual([expected])
  })

  test('start where they say, and anew behind another paragraph', async () => {
    const start = ' startAt="3"'
    const body = shape(
      '',
      numbered('c', 'arabicPeriod', start),
      numbered('d', 'arabicPeriod', start),
      paragraph('Text', '<a:buNone/>'),
      numbered('one', 'arabicPeriod'),
    )
    expect(await blocks(body)).toEqual(['3. c\n4. d', 'Text', '1. one'])
  })

  test('may come from the styles of their shape', async () => {
    const style =
      '<a:lstStyle><a:lvl1pPr><a:buAutoNum type="alphaLcPeriod"/></a:lvl1pPr></a:lstStyle>'
    const body = shape('', 'one', 'two').replace('<a:bodyPr/>', `<a:bodyPr/>${style}`)
    expect(await blocks(body)).toEqual(['- a. one\n- b. two'])
  })

  test('may come from the layout of the slide, or from its master', async () => {
    const level = (number: number, mark: string) => `<a:lvl${number}pPr>${mark}</a:lvl${number}pPr>`
    const placeholder = (name: string, style: string) =>
      `<p:sp><p:nvSpPr><p:nvPr><p:ph ${name}/></p:nvPr></p:nvSpPr><p:txBody><a:lstStyle>${style}</a:lstStyle></p:txBody></p:sp>`
    const layout = placeholder('idx="7"', level(2, '<a:buNone/>'))
    const master = placeholder('type="body"', level(1, '<a:buAutoNum type="romanUcPeriod"/>'))
    const bullets = [1, 2, 3].map((at) => level(at, '<a:buChar char="•"/>')).join('')
    const body = shape(
      'idx="7"',
      'one',
      paragraph('inner', 'lvl="1">'),
      'two',
      paragraph('deep', 'lvl="2">'),
    )
    const content = pptx([body], {
      'ppt/slides/_rels/slide1.xml.rels': relations(['rId1', 'slideLayout', '../layouts/l.xml']),
      'ppt/layouts/l.xml': part('p:sldLayout', `<p:cSld><p:spTree>${layout}</p:spTree></p:cSld>`),
      'ppt/layouts/_rels/l.xml.rels': relations(['rId1', 'slideMaster', '../m.xml']),
      'ppt/m.xml': part(
        'p:sldMaster',
        `<p:cSld><p:spTree>${master}</p:spTree></p:cSld><p:txStyles><p:bodyStyle>${bullets}</p:bodyStyle></p:txStyles>`,
      ),
    })
    expect((await blocksOf('a.pptx', content)).slice(1)).toEqual([
      '- I. one',
      'inner',
      '- II. two\n  - deep',
    ])
  })

  test('bullets stay bullets, also in text boxes', async () => {
    const body = shape(
      '',
      paragraph('a', '<a:buChar char="•"/>'),
      paragraph('b', '<a:buChar char="•"/>'),
    )
    expect(await blocks(body)).toEqual(['- a\n- b'])
  })
})

describe('text of slides', () => {
  const run = (text: string, properties = '') =>
    `<a:r><a:rPr ${properties}/><a:t>${text}</a:t></a:r>`
  test.each([
    ['breaks', `<a:p>${run('Alpha')}<a:br/>${run('Omega')}</a:p>`, 'Alpha\nOmega'],
    ['powers', `<a:p>${run('10')}${run('6', 'baseline="30000"')}</a:p>`, '10^6'],
    ['indexes', `<a:p>${run('x')}${run('i', 'baseline="-25000"')}</a:p>`, 'x_i'],
    [
      'symbols',
      '<a:p><a:r><a:rPr><a:latin typeface="Symbol"/></a:rPr><a:t>&#xF0A3;</a:t></a:r></a:p>',
      '≤',
    ],
    [
      'formulas',
      '<a:p><a14:m><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></a14:m></a:p>',
      '1/2',
    ],
  ])('has %s', async (_, content, expected) => {
    expect(await blocks(shape('', content))).toEqual([expected])
  })

  test('a break in a title is a boundary', async () => {
    const tree = shape('type="title"', `<a:p>${run('Alpha')}<a:br/>${run('Omega')}</a:p>`)
    expect(await blocksOf('a.pptx', pptx([tree]))).toEqual(['# Alpha Omega'])
  })
})

describe('tables of slides', () => {
  const cell = (text: string, merge = '') =>
    `<a:tc ${merge}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`
  const grid = (...rows: string[]) =>
    frame(
      `<a:tbl><a:tblGrid>${'<a:gridCol/>'.repeat(3)}</a:tblGrid>${rows.map((row) => `<a:tr>${row}</a:tr>`).join('')}</a:tbl>`,
    )

  test('have merged cells in every row and column that they cover', async () => {
    const tree = grid(
      cell('A') + cell('Both', 'gridSpan="2"') + cell('', 'hMerge="1"'),
      cell('Down', 'rowSpan="2"') + cell('1') + cell('2'),
      cell('', 'vMerge="1"') + cell('3') + cell('4'),
    )
    expect(await blocks(tree)).toEqual([
      '| A | Both | Both |\n| --- | --- | --- |\n| Down | 1 | 2 |\n| Down | 3 | 4 |',
    ])
  })

  test('of a program that leaves covered cells out are the same', async () => {
    const tree = grid(cell('A') + cell('Both', 'gridSpan="2"'), cell('0') + cell('1') + cell('2'))
    expect(await blocks(tree)).toEqual(['| A | Both | Both |\n| --- | --- | --- |\n| 0 | 1 | 2 |'])
  })

  test('with hostile spans stay bounded', async () => {
    const tree = grid(cell('word', 'gridSpan="1000000000"'), cell('x') + cell('y'))
    expect((await blocks(tree)).join('').length).toBeLessThan(50_000)
  })
})

describe('parts of a presentation', () => {
  test('charts stand where they are shown, comments and notes behind the slide', async () => {
    const point = (text: string) => `<c:pt idx="0"><c:v>${text}</c:v></c:pt>`
    const more = {
      'ppt/_rels/presentation.xml.rels': relations(
        ['rId10', 'slide', 'slides/slide1.xml'],
        ['rId3', 'commentAuthors', 'commentAuthors.xml'],
      ),
      'ppt/commentAuthors.xml': part('p:cmAuthorLst', '<p:cmAuthor id="0" name="Ann Lee"/>'),
      'ppt/slides/_rels/slide1.xml.rels': relations(
        ['rId1', 'chart', '../charts/chart1.xml'],
        ['rId2', 'comments', '../comments/comment1.xml'],
        ['rId3', 'notesSlide', '../notesSlides/notesSlide1.xml'],
      ),
      'ppt/charts/chart1.xml': part(
        'c:chartSpace',
        `<c:ser><c:tx><c:strRef><c:strCache>${point('North')}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>${point('2024')}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>${point('41')}</c:numCache></c:numRef></c:val></c:ser>`,
      ),
      'ppt/comments/comment1.xml': part(
        'p:cmLst',
        '<p:cm authorId="0"><p:text>Is this right?</p:text></p:cm>',
      ),
      'ppt/notesSlides/notesSlide1.xml': part(
        'p:notes',
        `<p:cSld><p:spTree>${shape('type="body"', 'Say this.')}</p:spTree></p:cSld>`,
      ),
    }
    expect(await blocks(frame('<c:chart r:id="rId1"/>') + shape('', 'After'), more)).toEqual([
      '|  | North |\n| --- | --- |\n| 2024 | 41 |',
      'After',
      'Comment (Ann Lee): Is this right?',
      'Notes:',
      'Say this.',
    ])
  })

  test('pictures without a description, hidden shapes and lost slides are told', async () => {
    const hidden = shape('', 'Secret').replace('name="x"', 'name="x" hidden="1"')
    const group = `<p:grpSp>${shape('', 'In a group')}${picture()}</p:grpSp>`
    const content = pptx([
      title + group + hidden,
      picture('descr="IMG_1.png"'),
      picture('descr="A pump"'),
    ])
    expect(await blocksOf('a.pptx', content)).toEqual([
      '# T',
      'In a group',
      '## Slide 3',
      '![A pump]()',
    ])
    expect(await readFile('a.pptx', content)).toMatchObject({
      parts: { count: 3, unread: 1 },
      omissions: [
        { kind: 'picture_without_text', count: 2, places: [{ slide: 1 }, { slide: 2 }] },
        { kind: 'hidden_text', count: 1, places: [{ slide: 1 }] },
      ],
    })
  })
})
