import { expect, test } from 'vitest'
import { blocksOf } from '../../../../test/formats/outline.js'
import { extract } from './plain-text.js'

test('blank lines separate paragraphs, everything else stays as written', async () => {
  const text = 'First line\n  indented *second*\n \t\n\n# not a heading\n'
  const source = { bytes: Buffer.from(text), contentType: 'text/plain', key: 'a.txt' }
  expect((await extract(source)).root.children).toMatchObject([
    { type: 'paragraph', children: [{ value: 'First line\n  indented *second*' }] },
    { type: 'paragraph', children: [{ value: '# not a heading' }] },
  ])
})

test('underlined lines and numbered sections are headings, items of a list are not', async () => {
  const text = [
    'The Pump\n========\nVersion 2.',
    'Care\n----',
    'A rule:\n--------------------',
    '  3. Close the valve.\n~~~~~~~~~~~~~~~~~~~~~~\nNext',
    '1. Overview',
    '1.1. Parts of it',
    'There are two.',
    '2.  Close the valve',
    '2.5 litres are needed.',
  ]
  expect(await blocksOf('a.txt', text.join('\n\n'))).toEqual([
    '# The Pump',
    'Version 2.',
    '## Care',
    'A rule:\n--------------------',
    '3. Close the valve.\n~~~~~~~~~~~~~~~~~~~~~~\nNext',
    '# 1. Overview',
    '## 1.1. Parts of it',
    'There are two.',
    '2.  Close the valve',
    '2.5 litres are needed.',
  ])
})

test('what was made for a printer or a terminal is read without what it does to its letters', async () => {
  const text = 'N\bNA\bAM\bME\bE\n\n_\bp_\bu_\bm_\bp \u001b[1mwaits\u001b[0m'
  expect(await blocksOf('pump.txt', text)).toEqual(['NAME', 'pump waits'])
})
