import { describe, expect, test } from 'vitest'
import { plainText } from '../../src/document/nodes.js'
import { extract } from '../../src/formats/markdown.js'

async function read(text: string) {
  return extract({ bytes: Buffer.from(text), contentType: 'text/markdown', key: 'a.md' })
}

/** The top-level nodes as `type: text`. */
async function outline(text: string): Promise<string[]> {
  const { root } = await read(text)
  return root.children.map((node) => `${node.type}: ${plainText(node)}`)
}

describe('blocks', () => {
  test('keep their kind and order', async () => {
    const text = '# A\n\nb\n\n> c\n\n- d\n- e\n\n```js\nf()\n```\n\n    g\n\n---\n\n## H'
    expect(await outline(text)).toEqual([
      'heading: A',
      'paragraph: b',
      'blockquote: c',
      'list: de',
      'code: f()',
      'code: g',
      'thematicBreak: ',
      'heading: H',
    ])
  })

  test('a table has its header as first row', async () => {
    const { root } = await read('| a | b |\n|---|---|\n| 1 | **2** |')
    expect(root.children).toMatchObject([
      {
        type: 'table',
        children: [
          { children: [{ children: [{ value: 'a' }] }, { children: [{ value: 'b' }] }] },
          { children: [{ children: [{ value: '1' }] }, { children: [{ type: 'strong' }] }] },
        ],
      },
    ])
  })

  test('a list says whether it is ordered, where it starts and whether it is loose', async () => {
    const { root } = await read('3. a\n4. b\n\npause\n\n- a\n\n- b')
    expect(root.children).toMatchObject([
      { type: 'list', ordered: true, start: 3, spread: false },
      { type: 'paragraph' },
      { type: 'list', ordered: false, spread: true },
    ])
  })

  test('a footnote keeps its text', async () => {
    expect(await outline('Text[^1].\n\n[^1]: word')).toEqual([
      'paragraph: Text[^1].',
      'paragraph: [^1]: word',
    ])
  })
})

describe('phrases', () => {
  test('links by reference are resolved', async () => {
    const { root } = await read('[docs][d]\n\n[d]: https://example.org/docs')
    expect(root.children).toMatchObject([
      { children: [{ type: 'link', url: 'https://example.org/docs' }] },
    ])
  })

  test('inline HTML is read as what it stands for', async () => {
    const { root } = await read('a <b>bold</b><br>next <img alt="chart" src=\'c.png\'>')
    expect(root.children).toMatchObject([
      {
        children: [
          { value: 'a ' },
          { type: 'strong', children: [{ value: 'bold' }] },
          { type: 'break' },
          { value: 'next ' },
          { type: 'image', alt: 'chart', url: 'c.png' },
        ],
      },
    ])
  })
})

describe('HTML blocks', () => {
  test('become nodes, without scripts and comments', async () => {
    const text = '<!-- note -->\n\n<script>\nrun()\n</script>\n\n<h2>Sub</h2>\n<p>Text</p>\n\nend'
    expect(await outline(text)).toEqual(['heading: Sub', 'paragraph: Text', 'paragraph: end'])
  })

  test('may enclose Markdown', async () => {
    const text = '<details>\n<summary>More</summary>\n\n**Inside**\n\n</details>'
    expect(await outline(text)).toEqual(['paragraph: More', 'paragraph: Inside'])
  })
})

describe('HTML in Markdown', () => {
  test('encloses Markdown in a table with blank lines', async () => {
    const text =
      '<table>\n<tr><td>A</td><td>\n\n**B**\n\n</td></tr>\n\n<tr><td>C</td><td>D</td></tr>\n</table>\n\nend'
    const { root } = await read(text)
    expect(root.children).toMatchObject([
      { type: 'table', children: [{}, { children: [{}, {}] }, { children: [{}, {}] }] },
      { type: 'paragraph' },
    ])
    expect(plainText(root)).toBe('ABCDend')
  })

  test('that never ends is bounded', async () => {
    const text = '<table><tr><td>a\n\nb\n\n'.repeat(20_000)
    await expect(read(text)).resolves.toMatchObject({ root: { type: 'root' } })
  })

  test.each([
    ['an empty frame', '<iframe src="a"/>\nSluice'],
    ['an empty title', '<div><title/>Sluice</div>'],
    ['a soft hyphen', 'Slu\u00adice'],
    ['a zero-width space', 'Slu\u200bice'],
  ])('and words beside %s are read', async (_, text) => {
    const { root } = await read(text)
    expect(plainText(root)).toContain('Sluice')
  })
})

describe('title', () => {
  test.each([
    ['YAML', '---\ntitle: "A: b"\ntags: [x]\n---\nText'],
    ['folded YAML', '---\ntitle: >\n  A:\n  b\n---\nText'],
    ['TOML', '+++\ntitle = "A: b"\n+++\nText'],
  ])('is taken from %s front matter, which is no content', async (_, text) => {
    expect((await read(text)).title).toBe('A: b')
    expect(await outline(text)).toEqual(['paragraph: Text'])
  })

  test('is the first heading of level 1 without front matter', async () => {
    expect((await read('## Sub\n\n# The *one*\n\n# Other')).title).toBe('The one')
    expect((await read('Text')).title).toBeUndefined()
  })

  test('invalid front matter is not content either', async () => {
    expect(await outline('---\ntitle: [\n---\nText')).toEqual(['paragraph: Text'])
  })

  test('prose between two rules is content', async () => {
    expect(await outline('---\n\nProse.\n\n---\n\nMore')).toEqual([
      'thematicBreak: ',
      'paragraph: Prose.',
      'thematicBreak: ',
      'paragraph: More',
    ])
  })
})
