import { describe, expect, test } from 'vitest'
import { chunkDocument } from '../../src/chunking/chunk-document.js'
import { type ChunkOptions, defaultChunkOptions, type Passage } from '../../src/chunking/passage.js'
import { extract } from '../../src/read-document.js'
import { docx, epub, odt, wordParagraph } from '../office.js'
import { passagesOf } from '../outline.js'

async function chunk(
  text: string,
  options: Partial<ChunkOptions> = {},
  contentType = 'text/markdown',
): Promise<Passage[]> {
  const extraction = await extract({ bytes: Buffer.from(text), contentType, key: 'file' })
  return chunkDocument(extraction, { ...defaultChunkOptions, ...options })
}

/** Prose of whole sentences, about so many characters long. */
function prose(length: number, word = 'word'): string {
  const sentence = `This ${word} is part of a sentence about nothing. `
  return sentence.repeat(Math.ceil(length / sentence.length)).trim()
}

describe('headings', () => {
  test('are in one passage with the text below them', async () => {
    const [title, subtitle, more] = await chunk(
      `# Manual\n\n${prose(300, 'intro')}\n\n## Setup\n\n${prose(300, 'setup')}\n\n${prose(300)}`,
    )
    expect(title).toMatchObject({
      subtype: 'title',
      content: `# Manual\n\n${prose(300, 'intro')}`,
      headings: [],
      ownHeadings: ['Manual'],
    })
    expect(subtitle).toMatchObject({
      subtype: 'subtitle',
      content: `## Setup\n\n${prose(300, 'setup')}`,
      headings: ['Manual'],
      ownHeadings: ['Setup'],
    })
    expect(more).toMatchObject({
      subtype: 'paragraph',
      headings: ['Manual', 'Setup'],
      ownHeadings: [],
    })
  })

  test('followed directly by lower ones stay together', async () => {
    const [passage] = await chunk('# A\n\n## B\n\n### C\n\ntext')
    expect(passage).toMatchObject({ content: '# A\n\n## B\n\n### C\n\ntext', subtype: 'title' })
    expect(passage?.ownHeadings).toEqual(['A', 'B', 'C'])
  })

  test('of empty sections are passages of their own', async () => {
    const passages = await chunk('# A\n\n## B\n\n## C\n\ntext')
    expect(passages.map((passage) => passage.content)).toEqual(['# A\n\n## B', '## C\n\ntext'])
    expect(passages[1]?.headings).toEqual(['A'])
  })

  test('end the sections of their own and lower levels', async () => {
    const passages = await chunk('# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n# D\n\nd')
    expect(passages.map((passage) => passage.headings)).toEqual([[], ['A'], ['A'], []])
  })

  test('are cut to a bounded length in the path, not in the text', async () => {
    const [first, second] = await chunk(`# ${prose(600)}\n\n${prose(500)}\n\n${prose(300)}`)
    expect(first?.content).toContain(prose(600))
    expect(second?.headings[0]?.length).toBeLessThanOrEqual(200)
  })
})

describe('the title of the document', () => {
  const style = (name: string) => `<w:pStyle w:val="${name}"/>`
  test.each([
    [
      'lease.docx',
      docx(
        wordParagraph('Lease in Basel', style('Titel')) +
          wordParagraph('Place', style('berschrift1')) +
          wordParagraph(prose(300, 'place')) +
          wordParagraph('Rent', style('berschrift1')) +
          wordParagraph(prose(300, 'rent')),
      ),
    ],
    [
      'lease.odt',
      odt(
        '<text:p text:style-name="P1">Lease in Basel</text:p>' +
          `<text:h text:outline-level="1">Place</text:h><text:p>${prose(300, 'place')}</text:p>` +
          `<text:h text:outline-level="1">Rent</text:h><text:p>${prose(300, 'rent')}</text:p>`,
      ),
    ],
    [
      'lease.html',
      `<title>Lease in Basel</title><h1>Lease in Basel</h1><h1>Place</h1><p>${prose(300, 'place')}</p><h1>Rent</h1><p>${prose(300, 'rent')}</p>`,
    ],
    [
      'lease.epub',
      epub([
        '<h1>The Pump</h1>',
        `<h1>Place</h1><p>${prose(300, 'place')}</p><h1>Rent</h1><p>${prose(300, 'rent')}</p>`,
      ]),
    ],
  ])('is above all its sections, whatever their level: %s', async (key, content) => {
    const title = key.endsWith('.epub') ? 'The Pump' : 'Lease in Basel'
    const passages = await passagesOf(key, content)
    expect(passages.map(({ headings, ownHeadings }) => [headings, ownHeadings])).toEqual([
      [[], [title, 'Place']],
      [[title], ['Rent']],
    ])
  })

  test('is only the first heading: another in its style is a section', async () => {
    const chapter = (title: string) =>
      wordParagraph(title, style('Titel')) + wordParagraph(prose(300, title))
    const passages = await passagesOf('a.docx', docx(chapter('One') + chapter('Two')))
    expect(passages.map(({ headings, ownHeadings }) => [headings, ownHeadings])).toEqual([
      [[], ['One']],
      [['One'], ['Two']],
    ])
  })

  test('is a passage if the text does not begin with it', async () => {
    const [first] = await chunk('---\ntitle: Pump\n---\n## Safety\n\nKeep away.')
    expect(first).toMatchObject({
      subtype: 'title',
      content: '# Pump\n\n## Safety\n\nKeep away.',
      ownHeadings: ['Pump', 'Safety'],
    })
  })

  test('is not repeated if a heading says the essential part of it', async () => {
    const html = '<title>Reset a password – Help Center</title><h1>Reset a password</h1><p>Click.'
    const passages = await chunk(html, {}, 'text/html')
    expect(passages.map((passage) => passage.content)).toEqual(['# Reset a password\n\nClick.'])
  })
})

describe('paragraphs', () => {
  test('are passages of their own', async () => {
    const passages = await chunk(`${prose(250, 'a')}\n\n${prose(250, 'b')}`)
    expect(passages.map((passage) => passage.content)).toEqual([prose(250, 'a'), prose(250, 'b')])
  })

  test('that are short are joined to the block after them', async () => {
    const [passage, ...rest] = await chunk(`Short.\n\n${prose(250)}`)
    expect(passage?.content).toBe(`Short.\n\n${prose(250)}`)
    expect(rest).toEqual([])
  })

  test('that are short and end a section are joined to the block before them', async () => {
    const passages = await chunk(`${prose(250)}\n\nShort.\n\n# Next\n\ntext`)
    expect(passages[0]?.content).toBe(`${prose(250)}\n\nShort.`)
    expect(passages[1]?.content).toBe('# Next\n\ntext')
  })

  test('stay apart as far as the minimum length is set lower', async () => {
    const passages = await chunk('One.\n\nTwo.', { minParagraphLength: 0 })
    expect(passages.map((passage) => passage.content)).toEqual(['One.', 'Two.'])
  })

  test('that introduce a block stay with it, even apart from the text before them', async () => {
    const passages = await chunk(
      `${prose(150)}\n\nDo this:\n\n- ${prose(150, 'x')}\n- ${prose(150, 'y')}`,
      { maxLength: 400 },
    )
    expect(passages[0]?.content).toBe(prose(150))
    expect(passages[1]?.content).toMatch(/^Do this:\n\n- This x/)
  })

  test('that are long are cut after a sentence, into parts of about the same length', async () => {
    const passages = await chunk(prose(1300))
    expect(passages).toHaveLength(2)
    for (const { content } of passages) {
      expect(content).toMatch(/^This .*nothing\.$/)
      expect(content.length).toBeGreaterThan(550)
    }
  })

  test('without spaces are cut after a sentence too', async () => {
    const sentence = '这是一个没有空格的句子，它只有标点符号。'
    const passages = await chunk(sentence.repeat(20), { maxLength: 100 })
    for (const { content } of passages) expect(content).toMatch(/^这.*。$/)
  })

  test('without any boundary are cut between whole characters', async () => {
    const family = '👨‍👩‍👧‍👦'
    const passages = await chunk(family.repeat(50), { maxLength: 64 })
    for (const { content } of passages) expect(content).toBe(family.repeat(content.length / 11))
  })

  test('of wrapped lines are cut after sentences, not lines', async () => {
    const text = prose(2000).replace(/(.{40,60}) /g, '$1\n')
    for (const { content } of await chunk(text)) expect(content).toMatch(/nothing\.$/)
  })

  test('of lines without sentences are cut between lines', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `GET /items/${index} 200 12ms`)
    for (const { content } of await chunk(lines.join('\n'), {}, 'text/plain')) {
      expect(content).toMatch(/^GET .* 12ms$/s)
    }
  })
})

describe('lists, quotes and code', () => {
  test('are kept whole where they fit', async () => {
    const text = '- a\n  - b\n\n1. c\n2. d\n\n> e\n>\n> f\n\n```js\ng()\n```'
    const passages = await chunk(text, { minParagraphLength: 0 })
    expect(passages.map(({ subtype, content }) => [subtype, content])).toEqual([
      ['list', '- a\n  - b'],
      ['list', '1. c\n2. d'],
      ['blockquote', '> e\n>\n> f'],
      ['code', '```js\ng()\n```'],
    ])
  })

  test('a long list is cut between its items, and a part of a nested list loses its indentation', async () => {
    const inner = Array.from({ length: 12 }, (_, index) => `  - inner ${index} ${'x'.repeat(20)}`)
    const passages = await chunk(`- outer\n${inner.join('\n')}\n- last`, { maxLength: 200 })
    expect(passages.length).toBeGreaterThan(2)
    for (const { content, subtype } of passages) {
      expect(subtype).toBe('list')
      expect(content).toMatch(/^- /)
    }
    expect(passages[1]?.content).toMatch(/^- inner .*(?:\n- inner .*)*$/m)
  })

  test('long code is cut between lines and every part is fenced', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `  call(${index}, "argument")`)
    const passages = await chunk(`\`\`\`js\n${lines.join('\n')}\n\`\`\``, { maxLength: 300 })
    const inner = passages.map(({ content }) => content.replace(/^```js\n|\n```$/g, ''))
    expect(passages.length).toBeGreaterThan(2)
    for (const { content } of passages) expect(content).toMatch(/^```js\n {2}call.*\n```$/s)
    expect(inner.join('\n')).toBe(lines.join('\n'))
  })

  test('code that contains fences has longer ones', async () => {
    const [passage] = await chunk('````md\n```js\na\n```\n````')
    expect(passage?.content).toBe('````md\n```js\na\n```\n````')
  })
})

describe('tables', () => {
  const rows = Array.from({ length: 30 }, (_, index) => `| item ${index} | ${index * 3} |`)
  const table = `| name | price |\n| --- | --- |\n${rows.join('\n')}`

  test('are cut between rows, each part with the caption and the header', async () => {
    const passages = await chunk(`Prices of 2024\n\n${table}`, { maxLength: 250 })
    expect(passages.length).toBeGreaterThan(2)
    const head = 'Prices of 2024\n\n| name | price |\n| --- | --- |\n'
    const body = passages.map(({ content }) => {
      expect(content.startsWith(head)).toBe(true)
      return content.slice(head.length)
    })
    expect(body.join('\n')).toBe(rows.join('\n'))
    for (const passage of passages) expect(passage.subtype).toBe('table')
  })

  test('do not repeat a header that leaves no space for rows', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `a long column name ${index}`)
    const wide = `| ${names.join(' | ')} |\n|${'-|'.repeat(10)}\n|${' cell |'.repeat(10)}`
    for (const { content } of await chunk(wide, { maxLength: 100 })) {
      expect(content.length).toBeLessThanOrEqual(100)
    }
  })

  test('keep a pipe in a cell from becoming two cells', async () => {
    const [passage] = await chunk('| a |\n|---|\n| x \\| y |')
    expect(passage?.content).toBe('| a |\n| --- |\n| x \\| y |')
  })
})

describe('phrases', () => {
  test.each([
    ['marks and links are kept', '*a* **b** ~~c~~ `d` [e](https://f.example)'],
    ['codes are not escaped', 'ERR_TLS_1042 and a*b and 1. x'],
    ['images are kept', 'see ![chart](c.png)'],
  ])('%s', async (_, text) => {
    expect((await chunk(text)).map((passage) => passage.content)).toEqual([text])
  })

  test.each([
    ['embedded data', '![dot](data:image/png;base64,AAAA)', '![dot]()'],
    ['links inside the document', '[Setup](#setup) first', 'Setup first'],
    ['scripts', '<a href="javascript:x()">run</a>', 'run'],
    ['an address that is its own text', '<https://a.example/b>', 'https://a.example/b'],
  ])('%s: the address is left out', async (_, text, expected) => {
    expect((await chunk(text)).map((passage) => passage.content)).toEqual([expected])
  })

  test('a paragraph of images alone is an image', async () => {
    const [passage] = await chunk('[![a](b.png)](https://c.example)\n![d](e.png)')
    expect(passage?.subtype).toBe('image')
  })
})

describe('pages', () => {
  const paragraph = (value: string, pageNumber: number) => ({
    type: 'paragraph' as const,
    data: { pageNumber },
    children: [{ type: 'text' as const, value }],
  })

  test('give passages their number and keep paragraphs apart', () => {
    const children = [paragraph('One.', 1), paragraph('Two.', 2), paragraph('Three.', 2)]
    const passages = chunkDocument({ root: { type: 'root', children } }, defaultChunkOptions)
    expect(passages).toMatchObject([
      { pageNumber: 1, content: 'One.' },
      { pageNumber: 2, content: 'Two.\n\nThree.' },
    ])
  })
})

describe('the number of passages', () => {
  const book = Array.from({ length: 60 }, (_, index) => prose(500, `p${index}`)).join('\n\n')

  test('is kept by joining more paragraphs', async () => {
    expect(await chunk(book)).toHaveLength(60)
    expect((await chunk(book, { maxPassages: 30 })).length).toBeLessThanOrEqual(30)
  })

  test('is enforced in the end', async () => {
    await expect(chunk(book, { maxPassages: 10 })).rejects.toMatchObject({
      failure: 'too_many_passages',
      message: expect.stringContaining('more than 10 passages of up to 1200 characters'),
    })
  })
})

test('very many short paragraphs in long passages take time in proportion to their number', () => {
  const children = Array.from({ length: 100_000 }, () => ({
    type: 'paragraph' as const,
    children: [{ type: 'text' as const, value: 'a' }],
  }))
  const lengths = { maxLength: 20_000, minParagraphLength: 20_000 }
  const passages = chunkDocument(
    { root: { type: 'root', children } },
    { ...defaultChunkOptions, ...lengths },
  )
  expect(passages).toHaveLength(15)
})
