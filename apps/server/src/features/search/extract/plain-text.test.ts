import { expect, test } from 'vitest'
import { extract } from './plain-text.js'

test('blank lines separate paragraphs, everything else stays as written', async () => {
  const text = 'First line\n  indented *second*\n \t\n\n# not a heading\n'
  const source = { bytes: Buffer.from(text), contentType: 'text/plain', key: 'a.txt' }
  expect((await extract(source)).root.children).toMatchObject([
    { type: 'paragraph', children: [{ value: 'First line\n  indented *second*' }] },
    { type: 'paragraph', children: [{ value: '# not a heading' }] },
  ])
})
