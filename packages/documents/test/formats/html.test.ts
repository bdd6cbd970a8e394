import { describe, expect, test } from 'vitest'
import { plainText } from '../../src/document/nodes.js'
import { extract } from '../../src/formats/html.js'

async function read(html: string | Uint8Array, contentType = 'text/html') {
  const bytes = typeof html === 'string' ? Buffer.from(html) : html
  return extract({ bytes, contentType, key: 'a.html' })
}

/** The top-level nodes as `type: text`. */
async function outline(html: string): Promise<string[]> {
  const { root } = await read(html)
  return root.children.map((node) => `${node.type}: ${plainText(node)}`)
}

const prose = 'A paragraph that is what the page is about.'

describe('main content', () => {
  test('is the content of main, without the page around it', async () => {
    const html = `<title>T</title><header><h1>Site</h1><nav><a href="/">Home</a></nav></header>
      <main><header><h1>Topic</h1></header><p>${prose}</p><footer>by me</footer></main>
      <aside>Ads</aside><footer>Imprint</footer>`
    expect(await outline(html)).toEqual(['heading: Topic', `paragraph: ${prose}`])
  })

  test('is the one article of a page without main', async () => {
    const html = `<div>Login</div><article><h1>A</h1><p>${prose}</p></article>`
    expect(await outline(html)).toEqual(['heading: A', `paragraph: ${prose}`])
  })

  test('is the body if main is only a small part of it', async () => {
    const html = `<main>x</main><div><p>${prose}</p><p>${prose}</p></div>`
    expect(await outline(html)).toContain(`paragraph: ${prose}`)
  })

  test('of an old page does not include divisions that are named and linked like navigation', async () => {
    const html = `<div id="sidebar"><a href="/a">One</a> <a href="/b">Two</a></div>
      <div class="wide menu"><p>${prose}</p></div><div role="navigation">Skip</div>`
    expect(await outline(html)).toEqual([`paragraph: ${prose}`])
  })

  test('has no links to the pages before and after it', async () => {
    const html = `<div><p>Next: <a href="b.html" rel="next">Care</a>, Up: <a href="/" rel="up">Top</a></p>
      </div><p>${prose}</p><p>See <a href="c.html">Parts</a>.</p>`
    expect(await outline(html)).toEqual([`paragraph: ${prose}`, 'paragraph: See Parts.'])
  })

  test('keeps the heading that a page has only in its header', async () => {
    const html = `<header><a href="/">Logo</a><h1>Topic</h1></header><p>${prose}</p>`
    expect(await outline(html)).toEqual(['heading: Topic', `paragraph: ${prose}`])
  })

  test('has no scripts, styles, controls and templates', async () => {
    const html = `<main><p>${prose}<script>a()</script><style>b{}</style><button>Copy</button>
      <select><option>c</select><textarea>d</textarea><svg><title>e</title></svg></p>
      <template>f</template><noscript>g</noscript><iframe>h</iframe><!-- i --></main>`
    expect(await outline(html)).toEqual([`paragraph: ${prose}`])
  })

  test('has collapsed answers', async () => {
    const html = `<main><h2>Why?</h2><div hidden aria-hidden="true"><p>${prose}</p></div></main>`
    expect(await outline(html)).toEqual(['heading: Why?', `paragraph: ${prose}`])
  })

  test('has headings without permalink signs', async () => {
    const html = '<main><h2>Use<a href="#use" aria-hidden="true">link</a><a href="#use">¶</a></h2>'
    expect(await outline(html)).toEqual(['heading: Use'])
  })
})

describe('tables', () => {
  test('have their caption before them', async () => {
    const html = '<table><caption>Prices</caption><tr><th>a<th>b<tr><td>1<td>2</table>'
    expect(await outline(html)).toEqual(['paragraph: Prices', 'table: ab12'])
  })

  test('used for layout become their content', async () => {
    const html = `<table><tr><td><h2>Head</h2><p>${prose}</p></td><td>Side</td></tr></table>`
    expect(await outline(html)).toEqual(['heading: Head', `paragraph: ${prose}`, 'paragraph: Side'])
  })

  test('have a bounded number of cells', async () => {
    const html = '<table><tr><th>a<th>b<tr><td colspan=1000000000 rowspan=65534>c</table>'
    const { root } = await read(html)
    expect(root.children).toMatchObject([{ type: 'table', children: [{}, {}] }])
    expect(JSON.stringify(root).length).toBeLessThan(10_000)
  })
})

describe('title', () => {
  test('is that of the head, in one line', async () => {
    expect((await read('<title>A\n  page</title><h1>Other</h1>')).title).toBe('A page')
  })

  test('is the first heading without one in the head, not the title of a drawing', async () => {
    const html = '<svg><title>Icon</title></svg><h1>A <em>page</em></h1>'
    expect((await read(html)).title).toBe('A page')
    expect((await read('<p>Text')).title).toBeUndefined()
  })
})

describe('charset', () => {
  test.each([
    ['meta', '<meta charset="shift_jis">', 'text/html'],
    ['old meta', '<meta http-equiv=Content-Type content="text/html; charset=Shift_JIS">', ''],
    ['media type', '', 'text/html; charset=shift_jis'],
  ])('is taken from the %s', async (_, head, contentType) => {
    const bytes = Buffer.concat([Buffer.from(head), Buffer.from([0x93, 0x8c, 0x8b, 0x9e])])
    const { root } = await read(bytes, contentType)
    expect(plainText(root)).toBe('東京')
  })
})

test('misnested and unclosed elements keep their text', async () => {
  const html = '<main><p><b>a<i>b</b>c</i><div>d</p>e<ul><li>f<table><td>g'
  const { root } = await read(html)
  expect(plainText(root)).toBe('abcdefg')
})
