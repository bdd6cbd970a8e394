import { describe, expect, test } from 'vitest'
import { docx, wordParagraph as p, part } from '../office.js'
import { blocksOf, readFile } from '../outline.js'

const run = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
const between = (mark: string) => `${run('Alpha')}<w:r>${mark}</w:r>${run('Omega')}`
const heading = (content: string) => p(content, '<w:pStyle w:val="berschrift1"/>')
const vertical = (value: string) => `<w:vertAlign w:val="${value}"/>`
const field = (instruction: string, result: string, form = '') =>
  `<w:r><w:fldChar w:fldCharType="begin">${form}</w:fldChar></w:r><w:r><w:instrText> ${instruction} </w:instrText></w:r>` +
  `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${result}<w:r><w:fldChar w:fldCharType="end"/></w:r>`
const textOf = async (body: string, more = {}) =>
  (await blocksOf('a.docx', docx(body, more))).join('\n\n')

describe('marks between words', () => {
  test.each([
    ['a page break', '<w:br w:type="page"/>', 'Alpha\nOmega'],
    ['a column break', '<w:br w:type="column"/>', 'Alpha\nOmega'],
    ['a text-wrapping break', '<w:br w:type="textWrapping" w:clear="all"/>', 'Alpha\nOmega'],
    ['a line break', '<w:br/>', 'Alpha\nOmega'],
    ['a carriage return', '<w:cr/>', 'Alpha\nOmega'],
    ['a tab', '<w:tab/>', 'Alpha Omega'],
    ['a tab to a position', '<w:ptab w:relativeTo="margin" w:alignment="right"/>', 'Alpha Omega'],
    ['a hyphen that does not break', '<w:noBreakHyphen/>', 'Alpha-Omega'],
    ['an optional hyphen', '<w:softHyphen/>', 'AlphaOmega'],
  ])('%s', async (_, mark, expected) => {
    expect(await textOf(p(between(mark)))).toBe(expected)
  })

  test.each(['<w:br w:type="page"/>', '<w:cr/>', '<w:tab/>'])(
    'never glue words of a heading or of its path: %s',
    async (mark) => {
      const content = docx(heading(between(mark)))
      expect(await blocksOf('a.docx', content)).toEqual(['# Alpha Omega'])
      expect((await readFile('a.docx', content)).title).toBe('Alpha Omega')
    },
  )
})

describe('raised and lowered text', () => {
  test.each([
    ['a power', run('10') + run('6', vertical('superscript')), '10^6'],
    [
      'a power in two runs',
      run('10') + run('1', vertical('superscript')) + run('2', vertical('superscript')),
      '10^12',
    ],
    ['a sum', run('x') + run('n+1', vertical('superscript')), 'x^(n+1)'],
    ['a unit', run('25 m') + run('2', vertical('superscript')), '25 m²'],
    ['a raised position', run('10') + run('6', '<w:position w:val="6"/>'), '10^6'],
    ['a style', run('10') + run('6', '<w:rStyle w:val="Up"/>'), '10^6'],
    ['a formula of chemistry', run('H') + run('2', vertical('subscript')) + run('O'), 'H₂O'],
    ['an index', run('x') + run('i', vertical('subscript')), 'x_i'],
    ['a base', run('log') + run('2', vertical('subscript')) + run('8'), 'log_2 8'],
    [
      'an ordinal',
      run('the 1') + run('st', vertical('superscript')) + run(' floor'),
      'the 1st floor',
    ],
    [
      'a fraction',
      run('2') + run('1', vertical('superscript')) + run('/') + run('2', vertical('subscript')),
      '2 1/2',
    ],
    ['a raised blank', run('10') + run(' ', vertical('superscript')) + run('cups'), '10 cups'],
    ['a mark by itself', run('1', vertical('superscript')) + run(' Measured.'), '1 Measured.'],
  ])('is told apart: %s', async (_, runs, expected) => {
    const up = `<w:style w:type="character" w:styleId="Up"><w:name w:val="Up"/><w:rPr>${vertical('superscript')}</w:rPr></w:style>`
    expect(await textOf(p(runs), { 'word/styles.xml': part('w:styles', up) })).toBe(expected)
  })
})

const m = (name: string, ...children: string[]) => `<m:${name}>${children.join('')}</m:${name}>`
const t = (text: string) => m('r', m('t', text))
const e = (...children: string[]) => m('e', ...children)

describe('formulas', () => {
  test.each([
    ['a fraction', m('f', m('num', t('1')), m('den', t('2'))), '1/2'],
    ['a long fraction', m('f', m('num', t('a+b')), m('den', t('2c'))), '(a+b)/2c'],
    ['a mixed number', t('2') + m('f', m('num', t('1')), m('den', t('2'))), '2 1/2'],
    ['a power', m('sSup', e(t('x')), m('sup', t('2'))), 'x^2'],
    ['an index', m('sSub', e(t('x')), m('sub', t('i'))), 'x_i'],
    ['both', m('sSubSup', e(t('x')), m('sub', t('i')), m('sup', t('n+1'))), 'x_i^(n+1)'],
    [
      'a square root',
      m('rad', m('radPr', '<m:degHide m:val="1"/>'), m('deg'), e(t('x+1'))),
      '√(x+1)',
    ],
    ['a cube root', m('rad', m('deg', t('3')), e(t('x'))), 'root(x, 3)'],
    [
      'a sum',
      m(
        'nary',
        '<m:naryPr><m:chr m:val="∑"/></m:naryPr>',
        m('sub', t('i=1')),
        m('sup', t('n')),
        e(t('i')),
      ),
      '∑_(i=1)^n i',
    ],
    [
      'brackets',
      m('d', '<m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>', e(t('a')), e(t('b'))),
      '[a|b]',
    ],
    [
      'a matrix',
      m('m', m('mr', e(t('1')), e(t('0'))), m('mr', e(t('0')), e(t('1')))),
      '1, 0; 0, 1',
    ],
    ['a function', m('func', m('fName', t('sin')), e(t('x'))), 'sin x'],
    [
      'a limit',
      m('func', m('fName', m('limLow', e(t('lim')), m('lim', t('x→0')))), e(t('x'))),
      'lim_(x→0) x',
    ],
    ['an accent', m('acc', e(t('x'))), 'x̂'],
  ])('are written in one line: %s', async (_, formula, expected) => {
    expect(await textOf(p(`${run('is ')}${m('oMath', formula)}${run(' here')}`))).toBe(
      `is ${expected} here`,
    )
    expect(await textOf(p(m('oMathPara', m('oMath', formula))))).toBe(expected)
  })

  test('are apart from what stands beside them', async () => {
    const half = m('oMath', m('f', m('num', t('1')), m('den', t('2'))))
    expect(await textOf(p(`${run('2')}${half}${run(' cups')}`))).toBe('2 1/2 cups')
    expect(await textOf(p(`${run('2')}${half}${run('cups')}`))).toBe('2 1/2 cups')
  })
})

describe('characters of symbol fonts', () => {
  const sym = (font: string, code: string) =>
    `<w:r><w:sym w:font="${font}" w:char="${code}"/></w:r>`
  const font = (name: string) => `<w:rFonts w:ascii="${name}" w:hAnsi="${name}"/>`
  test.each([
    [sym('Wingdings', 'F0FC'), '✓'],
    [sym('Wingdings', 'F0FB'), '✗'],
    [sym('Wingdings', 'F0E0'), '→'],
    [sym('Wingdings 2', 'F050'), '✓'],
    [sym('Webdings', 'F061'), '✓'],
    [sym('Symbol', 'F0A3'), '≤'],
    [sym('Symbol', 'F06D'), 'μ'],
    [sym('Arial', '2713'), '✓'],
    [run('&#xF0B3;', font('Symbol')), '≥'],
    [run('a', font('Symbol')), 'α'],
    [run('&#xF0FC;'), '✓'],
  ])('are those that they show: %s', async (content, expected) => {
    expect(await textOf(p(run('a ') + content + run(' b')))).toBe(`a ${expected} b`)
  })

  test('are told where they are not known', async () => {
    const { omissions } = await readFile(
      'a.docx',
      docx(p(run('a') + sym('Wingdings 3', 'F0CC') + run('b'))),
    )
    expect(omissions).toEqual([
      { kind: 'unknown_symbol', count: 1, places: [], detail: 'Wingdings 3 F0CC' },
    ])
  })
})

describe('fields and controls', () => {
  test.each([
    ['a reference', field('REF clause \\h', run('2.1')), '2.1'],
    [
      'a link',
      field('HYPERLINK "https://pumps.example/"', run('pumps')),
      '[pumps](https://pumps.example/)',
    ],
    ['a simple field', `<w:fldSimple w:instr=" DATE ">${run('1 May')}</w:fldSimple>`, '1 May'],
    ['a field in a field', field(`IF ${''}`, field('REF x', run('in'))), 'in'],
    ['a formula of a field', field('EQ \\f(1,2) \\r(3,x)', ''), '1/2 root(x, 3)'],
    ['a power of a field', `${run('10')}${field('EQ \\s\\up 5(6)', '')}`, '10^6'],
    [
      'a reading above words',
      field('EQ \\* jc2 \\* "Font:MS Mincho" \\* hps10 \\o\\ad(\\s\\up 9(かんじ),漢字)', ''),
      '漢字(かんじ)',
    ],
    ['a number of a page', `${run('x')}${field('PAGE', run('7'))}`, 'x'],
    [
      'a check box of a form',
      field(
        'FORMCHECKBOX',
        '',
        '<w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData>',
      ),
      '[x]',
    ],
    [
      'an empty check box',
      field(
        'FORMCHECKBOX',
        '',
        '<w:ffData><w:checkBox><w:default w:val="0"/></w:checkBox></w:ffData>',
      ),
      '[ ]',
    ],
    [
      'a choice',
      field(
        'FORMDROPDOWN',
        '',
        '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList></w:ffData>',
      ),
      'blue',
    ],
    [
      'a text of a form',
      field('FORMTEXT', run('Ann'), '<w:ffData><w:textInput/></w:ffData>'),
      'Ann',
    ],
    [
      'a control',
      `<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="no"/></w:dropDownList></w:sdtPr><w:sdtContent>${run('chosen')}</w:sdtContent></w:sdt>`,
      'chosen',
    ],
    [
      'a checked control',
      `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>${run('☒')}</w:sdtContent></w:sdt>`,
      '[x]',
    ],
    [
      'a control to fill in',
      `${run('x')}<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>${run('Click here')}</w:sdtContent></w:sdt>`,
      'x',
    ],
    [
      'a moved text',
      `<w:moveFrom>${run('moved')}</w:moveFrom><w:moveTo>${run('moved')}</w:moveTo>`,
      'moved',
    ],
    [
      'readings',
      `<w:r><w:ruby><w:rt>${run('とう')}</w:rt><w:rubyBase>${run('東')}</w:rubyBase></w:ruby></w:r><w:r><w:ruby><w:rt>${run('きょう')}</w:rt><w:rubyBase>${run('京')}</w:rubyBase></w:ruby></w:r>`,
      '東京(とうきょう)',
    ],
  ])('show what readers see: %s', async (_, content, expected) => {
    expect(await textOf(p(content))).toBe(expected)
  })

  test('a table of contents is left out, in whatever style its lines are', async () => {
    const open =
      '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC \\o "1-3"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    const body =
      p(`${open}${run('Safety 1')}`) +
      p(field('PAGEREF _x', run('2'))) +
      p('<w:r><w:fldChar w:fldCharType="end"/></w:r>') +
      heading('Safety')
    expect(await textOf(body)).toBe('# Safety')
  })

  test('a field that never ends hides nothing', async () => {
    const open =
      '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC</w:instrText></w:r>'
    expect(await textOf(p(open) + p('The rest.'))).toBe('The rest.')
  })

  test('hidden text is told', async () => {
    const hidden = '<w:style w:type="character" w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>'
    const body = p(
      run('shown') + run('secret', '<w:vanish/>') + run('too', '<w:rStyle w:val="H"/>'),
    )
    const content = docx(body, { 'word/styles.xml': part('w:styles', hidden) })
    expect(await blocksOf('a.docx', content)).toEqual(['shown'])
    expect((await readFile('a.docx', content)).omissions).toEqual([
      { kind: 'hidden_text', count: 2, places: [] },
    ])
  })
})
