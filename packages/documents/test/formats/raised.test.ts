import { describe, expect, test } from 'vitest'
import { epub } from '../office.js'
import { blocksOf } from '../outline.js'

const raised: [string, string][] = [
  ['10<sup>6</sup> cycles', '10^6 cycles'],
  ['10<sup>-3</sup>', '10^-3'],
  ['25 m<sup>2</sup>', '25 m²'],
  ['3 cm<sup>3</sup> of oil', '3 cm³ of oil'],
  ['H<sub>2</sub>O and CO<sub>2</sub>', 'H₂O and CO₂'],
  ['Ca<sup>2+</sup>', 'Ca²⁺'],
  ['SO<sub>4</sub><sup>2−</sup>', 'SO₄²⁻'],
  ['1010<sub>2</sub>', '1010_2'],
  ['log<sub>2</sub>8', 'log_2 8'],
  ['x<sub>i+1</sub>', 'x_(i+1)'],
  ['x<sub>i</sub><sup>2</sup>', 'x_i^2'],
  ['2<sup>n</sup>', '2^n'],
  ['the 1<sup>st</sup> and 2<sup>nd</sup>', 'the 1st and 2nd'],
  ['XX<sup>e</sup> siècle', 'XXe siècle'],
  ['Acme<sup>TM</sup> pump', 'Acme TM pump'],
  ['pressure<sup>1</sup> drops', 'pressure^1 drops'],
  ['It ends.<sup>3</sup> Next', 'It ends.[3] Next'],
  ['word<sup><a href="#fn1">1</a></sup>', 'word[1]'],
  ['word<sup class="reference"><a href="#cite-1">[1]</a></sup>', 'word[1]'],
  ['word<a role="doc-noteref" href="n.html#a">2</a>', 'word[2]'],
  ['<sup>16</sup>For the pump', '16 For the pump'],
  ['<sup>1</sup>/<sub>2</sub> litre', '1/2 litre'],
  ['2<sup>1</sup>⁄<sub>4</sub> inch', '2 1/4 inch'],
  ['10⁶ and x² and ½', '10⁶ and x² and ½'],
  ['<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>', '漢字(かんじ)'],
  ['<ruby>北<rt>běi</rt>京<rt>jīng</rt></ruby>', '北京(běi jīng)'],
]

test.each(raised)('%s in HTML is %s', async (html, text) => {
  expect(await blocksOf('a.html', `<p>${html}</p>`)).toEqual([text])
})

test.each(raised)('%s in Markdown is %s', async (html, text) => {
  expect(await blocksOf('a.md', html)).toEqual([text])
})

test.each([
  ['10<span style="vertical-align: super">6</span>', '10^6'],
  ['10<span class="T2">6</span> of H<span class="T1">2</span>O', '10^6 of H₂O'],
  ['note<a href="#n1"><sup>1</sup></a>', 'note[1]'],
])('%s, raised by styles or in a link', async (html, text) => {
  const styles =
    '<style>.T1 { vertical-align:sub; } .T2 { color: red; vertical-align: super }</style>'
  expect(await blocksOf('a.html', `${styles}<p>${html}</p>`)).toEqual([text])
})

describe('a formula of MathML', () => {
  test.each([
    ['<mfrac><mn>1</mn><mn>2</mn></mfrac>', '1/2'],
    ['<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>', '(a+b)/c'],
    ['<mn>2</mn><mfrac><mn>1</mn><mn>4</mn></mfrac>', '2 1/4'],
    ['<msup><mn>10</mn><mn>6</mn></msup>', '10^6'],
    ['<msup><mi>e</mi><mrow><mo>−</mo><mi>x</mi></mrow></msup>', 'e^(−x)'],
    ['<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>', 'x_i^2'],
    ['<msqrt><mn>2</mn><mi>x</mi></msqrt>', '√(2x)'],
    ['<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>', 'sin x'],
    [
      '<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable>',
      '[1, 2; 3, 4]',
    ],
    ['<mtext>flow</mtext><mtext>rate</mtext>', 'flow rate'],
    [
      '<semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x_{1}</annotation></semantics>',
      '$x_{1}$',
    ],
  ])('%s is %s', async (math, text) => {
    expect(await blocksOf('a.html', `<p>is <math>${math}</math> bar</p>`)).toEqual([
      `is ${text} bar`,
    ])
  })

  const math =
    '<math><semantics><mi>c</mi><annotation encoding="application/x-tex">c^2</annotation></semantics></math>'
  test.each([
    [
      'KaTeX',
      `<span class="katex"><span class="katex-mathml">${math}</span><span class="katex-html" aria-hidden="true">c2</span></span>`,
    ],
    [
      'MathJax 3',
      `<mjx-container><svg><path/></svg><mjx-assistive-mml>${math}</mjx-assistive-mml></mjx-container>`,
    ],
    [
      'MathJax 2',
      `<span class="MathJax_Preview">c2</span><span class="MathJax"><nobr aria-hidden="true">c2</nobr>${math}</span><script type="math/tex">c^2</script>`,
    ],
    ['its source alone', '<script type="math/tex">c^2</script>'],
    [
      'Wikipedia',
      `<span class="mwe-math-element"><span>${math}</span><img alt="c^2" src="x.svg"></span>`,
    ],
  ])('occurs once in a page of %s', async (_, html) => {
    expect(await blocksOf('a.html', `<p>is ${html} here</p>`)).toEqual(['is $c^2$ here'])
  })
})

test.each([
  ['is $a_1 * b * c_2$ here', 'is $a_1 * b * c_2$ here'],
  ['$\\{x\\}$ and $*x*$', '$\\{x\\}$ and $*x*$'],
  ['$$\nx \\\\\n- y\n$$', '$$\nx \\\\\n- y\n$$'],
  ['$5 and *$10*', '$5 and *$10*'],
  ['`$A` and `$B`', '`$A` and `$B`'],
])('the formulas of Markdown in %j are as written', async (markdown, text) => {
  expect(await blocksOf('a.md', markdown)).toEqual([text])
})

test('text that the style sheet of a book raises or lowers can be distinguished', async () => {
  const css =
    '.x { color: red } span.up, .high{font-size:70%;vertical-align: super}\n.low { vertical-align:sub }'
  const page =
    '<p>It makes 10<span class="t up">6</span> turns with H<small class="low">2</small>O.</p>'
  const book = epub([page], {
    'OEBPS/book.opf':
      '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata/><manifest><item id="c0" href="text/chapter%200.xhtml" media-type="application/xhtml+xml"/><item id="s" href="a.css" media-type="text/css"/><item id="gone" href="b.css" media-type="text/css"/></manifest><spine><itemref idref="c0"/></spine></package>',
    'OEBPS/a.css': css,
  })
  expect(await blocksOf('a.epub', book)).toEqual(['It makes 10^6 turns with H₂O.'])
})

test('raised text of preformatted text can be distinguished', async () => {
  const html = '<pre>10<sup>6</sup> turns\n  x<sub>i</sub> m<sup>2</sup></pre>'
  expect(await blocksOf('a.html', html)).toEqual(['```\n10^6 turns\n  x_i m²\n```'])
})
