import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'

/** Documents that programs made; `programs/make.sh` makes them again. */
const made = (name: string) => readFileSync(new URL(`../programs/${name}`, import.meta.url))

const manual = (continued: string) => [
  '# Pump manual',
  '# Safety',
  'Switch it off at the wall.\nThen wait 10^6 microseconds, about 1 s. Use H₂O only, see [the page](https://pumps.example/). The dose is 1/2 litre, at most x^(n+1).[^1]',
  '[^1]: Measured in 2024.',
  `1. Close the valve\n   - a. the red one\n   - b. the blue one\n2. Open the lid\n   ${continued}`,
  '5. Wait',
  '- Wrench\n  - small\n- Oil',
  'Prices of 2024',
  '| Model | Price |\n| --- | --- |\n| N1 | 10 € |\n| N2 | 12 € |',
  '> Do not open it.',
  '```\nif (hot)\n  wait()\n```',
]

const contract = [
  'Header: Contract of sale',
  'Footer: Acme Ltd',
  '# 1. Delivery',
  '## 1.1 Time',
  '- (a) The goods arrive within ten days.\n  - i. Holidays do not count.\n- (b) Parts may arrive alone.',
  'Comment (Ann Lee): Really?',
  '# 2. Payment',
  '## 2.1 Invoices',
  'Due\nafter thirty days, 10^6 at most.[^1]',
  '[^1]: Without tax.',
  '3. Third step',
  'Between the steps.',
  '4. Fourth step',
  '- A point',
  'Text in a frame',
  '| Series | Price | Price |\n| --- | --- | --- |\n| North | 10 net | 20 |\n| North | 30 | 40 |',
  'End.',
]

describe('documents of pandoc', () => {
  test.each(['pandoc.docx', 'pandoc.odt'])('%s has all of the manual', async (name) => {
    expect(await blocksOf(name, made(name))).toEqual(manual('It is heavy.'))
    expect((await readFile(name, made(name))).omissions).toEqual([])
  })

  test('pandoc.pptx has all of the slides', async () => {
    expect(await blocksOf('pandoc.pptx', made('pandoc.pptx'))).toEqual([
      '# Pumps of 2024',
      'Ann Lee',
      '## Why',
      '1. Quiet\n2. Cheap',
      'Notes:',
      'Mention the prize.',
      '## Sales',
      '| Year | Sold |\n| --- | --- |\n| 2023 | 41 |\n| 2024 | 50 |',
      '## Power',
      'It makes 10^6 turns with H₂O.',
    ])
  })
})

describe('documents of LibreOffice', () => {
  test.each(['libreoffice.docx', 'libreoffice.odt'])('%s has all of the contract', async (name) => {
    expect(await blocksOf(name, made(name))).toEqual(contract)
    expect((await readFile(name, made(name))).omissions).toEqual([
      { kind: 'hidden_text', count: 1, places: [] },
    ])
  })

  test.each(['libreoffice.odp', 'libreoffice.pptx'])('%s has all of the slides', async (name) => {
    expect(await blocksOf(name, made(name))).toEqual([
      '# Pumps of 2024',
      '- A) Quiet\n- B) 10^6 turns',
      'Notes:',
      'Mention the prize.',
      '## Slide 2',
      'In a shape',
      '| Both | Both |\n| --- | --- |\n| Year | 2024 |',
    ])
    expect(await readFile(name, made(name))).toMatchObject({
      title: 'Pumps of 2024',
      pages: 2,
      parts: { count: 2, unread: 0 },
      omissions: [],
    })
  })
})

test.each([
  ['libreoffice.xlsx', '[Ask the maker first](https://pumps.example/)', 'D3 (1,249.50 €)'],
  ['libreoffice.ods', 'Ask [the maker](https://pumps.example/) first', '1,249.50 €'],
])('%s has the sheet as LibreOffice shows it', async (name, link, place) => {
  expect(await blocksOf(name, made(name))).toEqual([
    '## Machines',
    'Machines of 2024',
    '| Post code | Bought | Hours | Price |\n| --- | --- | --- | --- |\n' +
      '| 01234 | 15.03.2024 | 36:00 | 1,249.50 € |\n| 01234 | 01.04.2024 | 1:30 | 2,499.00 € |',
    link,
    `Comment on ${place}: Without tax`,
  ])
  expect(await readFile(name, made(name))).toMatchObject({
    omissions: [{ kind: 'hidden_sheet', count: 1, places: [{ sheet: 'Costs' }] }],
    parts: { count: 1, unread: 0 },
  })
})
