import { describe, expect, test } from 'vitest'
import { extract } from '../../src/read-document.js'
import { epub } from '../office.js'
import { blocksOf, readFile } from '../outline.js'

const chapter = (head: string, body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head>${head}</head><body>${body}</body></html>`

const pages: [what: string, head: string, body: string, blocks: string[]][] = [
  ['an empty script', '<script src="a.js"/>', '<p>Sluice</p>', ['Sluice']],
  ['an empty title', '<title/>', '<p>Sluice</p>', ['Sluice']],
  ['an empty style', '<style/>', '<p>Sluice</p>', ['Sluice']],
  ['an anchor', '', '<p><a id="x"/>Sluice <b/>gate</p>', ['Sluice gate']],
  ['an empty division', '', '<div class="a"/><p>One</p><p/><p>Two</p>', ['One', 'Two']],
  ['an empty frame', '', '<iframe src="about:blank"/><textarea/><p>Sluice</p>', ['Sluice']],
  ['unparsed text', '', '<p><![CDATA[a < b & c]]></p>', ['a < b & c']],
  [
    'named characters',
    '',
    '<p>caf&eacute;&nbsp;&mdash; &lt;b&gt; &amp; &#x20AC;</p>',
    ['café\u00a0— <b> & €'],
  ],
  ['prefixes', '', '<h:p xmlns:h="http://www.w3.org/1999/xhtml">A <h:b>B</h:b></h:p>', ['A **B**']],
  [
    'a formula',
    '',
    '<p><m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mfrac><m:mn>1</m:mn><m:mn>2</m:mn></m:mfrac></m:math></p>',
    ['1/2'],
  ],
  ['upper case', '', '<P>Sluice</P>', ['Sluice']],
  [
    'rows without a section',
    '',
    '<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>',
    ['| A | B |\n| --- | --- |\n| 1 | 2 |'],
  ],
  ['an instruction', '', '<?page 1?><p>Slu<?break?>ice</p>', ['Sluice']],
  [
    'the number of a printed page in a word',
    '',
    '<p>Slu<span epub:type="pagebreak" title="7">7</span>ice</p>',
    ['Sluice'],
  ],
  [
    'the reference to a note',
    '',
    '<p>word<a epub:type="noteref" href="#n1">1</a></p>',
    ['word[1]'],
  ],
]

describe('a page of XHTML with', () => {
  test.each(pages)('%s', async (_, head, body, blocks) => {
    expect(await blocksOf('a.xhtml', chapter(head, body))).toEqual(blocks)
  })

  test.each(pages)('%s, although it is not well-formed', async (_, head, body, blocks) => {
    expect(await blocksOf('a.xhtml', chapter(head, `${body}<hr>`))).toEqual(blocks)
  })
})

test('XHTML is known by its content type, its name or its beginning', async () => {
  const page = chapter('<title/>', '<p>Sluice</p>')
  const read = async (key: string, contentType: string, content = page) =>
    (await extract({ bytes: Buffer.from(content), contentType, key })).root.children.length
  const plain =
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>Sluice</p></body></html>'
  expect(await read('a', 'application/xhtml+xml', plain)).toBe(1)
  expect(await read('a.xhtml', '', plain)).toBe(1)
  expect(await read('a.html', 'text/html')).toBe(1)
  expect(await read('a.html', 'text/html', plain)).toBe(1)
})

test('a page of HTML that names the namespace of XHTML is read as HTML', async () => {
  const html = '<html xmlns="http://www.w3.org/1999/xhtml"><title>A</title><p>One<p>Two<br>Three'
  expect(await blocksOf('a.html', html)).toEqual(['# A', 'One', 'Two\nThree'])
})

test.each([
  ['elements nested without end', `<p>${'<b>'.repeat(100_000)}`, 'too_deep'],
  ['nothing', '<p/>', 'empty'],
])('XHTML with %s is refused', async (_, body, failure) => {
  await expect(readFile('a.xhtml', chapter('', body))).rejects.toMatchObject({ failure })
})

describe('names that stand for other names', () => {
  const page = (declarations: string, body: string) =>
    `<!DOCTYPE html [${declarations}]><html xmlns="http://www.w3.org/1999/xhtml"><body>${body}</body></html>`

  test('are replaced', async () => {
    const content = page(
      '<!ENTITY a "pump &#x26; "><!ENTITY b "&a;sluice">',
      '<p>The &b; here.</p>',
    )
    expect(await blocksOf('a.xhtml', content)).toEqual(['The pump & sluice here.'])
  })

  test('without end or for a huge text stay as they are written, and are told', async () => {
    const levels = 'bcdefghij'
    const bomb = [...levels].map((name, at) => {
      const inner = `&${at === 0 ? 'a' : levels[at - 1]};`.repeat(10)
      return `<!ENTITY ${name} "${inner}">`
    })
    const content = page(
      `<!ENTITY a "ha">${bomb.join('')}<!ENTITY loop "&loop;">`,
      '<p>&j; Sluice &loop;</p>',
    )
    expect(await blocksOf('a.xhtml', content)).toEqual(['&j; Sluice &loop;'])
    const { omissions } = await readFile('a.xhtml', content)
    expect(omissions).toEqual([{ kind: 'text_cut', count: 2, places: [], detail: '&j;' }])
  })

  test('that nothing declares are told, and the rest stays XML', async () => {
    const content = page(
      '<!ENTITY far SYSTEM "far.txt">',
      '<script/><p>The &far; and &caf\u0065; sluice.</p>',
    )
    expect(await blocksOf('a.xhtml', content)).toEqual(['The &far; and &cafe; sluice.'])
    const { omissions } = await readFile('a.xhtml', content)
    expect(omissions).toEqual([{ kind: 'missing_part', count: 2, places: [], detail: '&far;' }])
  })

  test('leave no trace of their declarations in a page that is not well-formed', async () => {
    const content = page('<!ENTITY prod "Pump 3000">', '<p>Buy the &prod;<br> now.')
    expect(await blocksOf('a.xhtml', content)).toEqual(['Buy the Pump 3000\nnow.'])
  })
})

describe('an e-book', () => {
  test.each(pages)('has its chapter with %s', async (_, __, body, blocks) => {
    const book = epub(['<h1>Start</h1><p>First</p>', `<h2>Next</h2>${body}`])
    expect(await blocksOf('a.epub', book)).toEqual([
      '# The Pump',
      '# Start',
      'First',
      '## Next',
      ...blocks,
    ])
  })

  test('has its notes, headers and footers', async () => {
    const body =
      '<header><h1>One</h1></header><p>Text</p><aside epub:type="footnote"><p>A note</p></aside><footer>The end</footer>'
    const content = epub([
      body.replace('<aside', '<aside xmlns:epub="http://www.idpf.org/2007/ops"'),
    ])
    expect(await blocksOf('a.epub', content)).toEqual([
      '# The Pump',
      '# One',
      'Text',
      'A note',
      'The end',
    ])
  })

  test('tells which chapters are missing, of an unknown type or only pictures', async () => {
    const book = (spine: string, manifest: string) =>
      `<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata/><manifest>${manifest}</manifest><spine>${spine}</spine></package>`
    const item = (id: string, href: string, type = 'application/xhtml+xml', more = '') =>
      `<item id="${id}" href="${href}" media-type="${type}"${more}/>`
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    const content = epub([], {
      'OEBPS/book.opf': book(
        ids.map((id) => `<itemref idref="${id}"/>`).join(''),
        [
          item('a', 'a.xhtml'),
          item('b', 'gone.xhtml'),
          item('c', 'c.xml', 'application/x-dtbook+xml'),
          item('d', 'd.xhtml'),
          item('e', 'e.xml', 'application/x-drawing', ' fallback="e2"'),
          item('e2', 'e2.xhtml'),
          item('f', 'f.svg', 'image/svg+xml'),
        ].join(''),
      ),
      'OEBPS/a.xhtml': chapter('', '<p>Text</p>'),
      'OEBPS/c.xml': '<dtbook/>',
      'OEBPS/d.xhtml': chapter('', '<img src="scan.png"/>'),
      'OEBPS/e.xml': '<drawing/>',
      'OEBPS/e2.xhtml': chapter('', '<p>In its place</p>'),
      'OEBPS/f.svg': '<svg xmlns="http://www.w3.org/2000/svg"><text>Map</text></svg>',
    })
    const { omissions, parts } = await readFile('a.epub', content)
    expect(omissions).toEqual([
      { kind: 'missing_part', count: 1, places: [{ part: 'OEBPS/gone.xhtml' }] },
      {
        kind: 'unknown_part',
        count: 1,
        places: [{ part: 'OEBPS/c.xml' }],
        detail: 'application/x-dtbook+xml',
      },
      { kind: 'picture_without_text', count: 1, places: [{ part: 'OEBPS/d.xhtml' }] },
    ])
    expect(parts).toEqual({ count: 6, unread: 3 })
    expect(await blocksOf('a.epub', content)).toEqual(['Text', 'In its place', 'Map'])
  })

  test('without any of its chapters is damaged', async () => {
    const content = epub([], {
      'OEBPS/book.opf':
        '<package><metadata/><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
    })
    await expect(readFile('a.epub', content)).rejects.toMatchObject({ failure: 'damaged' })
  })
})

describe('names that a page declares', () => {
  const declared = (declarations: string, body: string) =>
    `<?xml version="1.0"?><!DOCTYPE html [${declarations}]><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body>${body}</body></html>`

  test('stand for what it says, not for a sign of HTML', async () => {
    const content = declared(
      '<!ENTITY prod "Pump 3000"><!ENTITY prod "Pump 1">',
      '<p>Buy the &prod;&nbsp;now.</p>',
    )
    expect(await blocksOf('a.xhtml', content)).toEqual(['# T', 'Buy the Pump 3000\u00a0now.'])
  })

  test('make no page much longer', async () => {
    const content = declared(
      `<!ENTITY a "${'x'.repeat(200)}">`,
      `<p>Sluice ${'&a;'.repeat(10_000)}</p>`,
    )
    const [, text = ''] = await blocksOf('a.xhtml', content)
    expect(text.startsWith('Sluice')).toBe(true)
    expect(text.length).toBeLessThan(60_000)
  })
})

test('a chapter is found under a name in other letters', async () => {
  const opf =
    '<package><manifest><item id="c" href="Text/CHAPTER%200.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>'
  const book = epub(['<p>Sluice</p>'], { 'OEBPS/book.opf': opf })
  expect(await blocksOf('a.epub', book)).toEqual(['Sluice'])
})
