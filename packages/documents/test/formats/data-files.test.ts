import { describe, expect, test } from 'vitest'
import { blocksOf, passagesOf, readFile } from '../outline.js'

describe('separated values', () => {
  test.each([
    ['commas', 'prices.csv', 'Article,Price\n"Pump, large",10\nSeal,2\n'],
    ['semicolons', 'prices.csv', 'Article;Price\nPump, large;10\nSeal;2\n'],
    ['tabs', 'prices.tsv', 'Article\tPrice\nPump, large\t10\nSeal\t2\n'],
    ['a stated separator', 'prices.csv', 'sep=|\nArticle|Price\nPump, large|10\nSeal|2\n'],
    ['quotes that are none', 'prices.csv', 'Article;Price\nPump, large;10\nSeal;2\n;"'],
  ])('with %s are a table', async (_, key, content) => {
    const [table] = await blocksOf(key, content)
    expect(table).toContain(
      '| Article | Price |\n| --- | --- |\n| Pump, large | 10 |\n| Seal | 2 |',
    )
  })

  test('keep their header in every passage', async () => {
    const rows = Array.from({ length: 200 }, (_, at) => `P-${at},Pump number ${at}`)
    const passages = await passagesOf('a.csv', ['Code,Name', ...rows].join('\n'), 300)
    for (const { content } of passages) expect(content).toMatch(/^\| Code \| Name \|/)
    expect(passages.every(({ subtype }) => subtype === 'table')).toBe(true)
  })
})

describe('data', () => {
  test('of similar objects is a table, of other objects sections', async () => {
    const data = {
      name: 'Catalogue',
      valid: true,
      tags: ['a', 'b'],
      pumps: [
        { code: 'P1', price: 10 },
        { code: 'P2', price: null },
      ],
      contact: { mail: 'a@b.example', hours: { monday: '9 to 5' } },
    }
    const expected = [
      '# Catalogue',
      '- name: Catalogue\n- valid: true\n- tags: a, b',
      '## pumps',
      '| code | price |\n| --- | --- |\n| P1 | 10 |\n| P2 |  |',
      '## contact',
      '- mail: a@b.example',
      '### hours',
      '- monday: 9 to 5',
    ]
    expect(await blocksOf('a.json', JSON.stringify(data))).toEqual(expected)
    const yaml =
      'name: Catalogue\nvalid: true\ntags: [a, b]\npumps:\n  - {code: P1, price: 10}\n  - {code: P2, price: null}\ncontact:\n  mail: a@b.example\n  hours:\n    monday: 9 to 5\n'
    expect(await blocksOf('a.yaml', yaml)).toEqual(expected)
  })

  test('has empty cells for members that an object lacks', async () => {
    const content =
      '{"contacts":[{"role":"on call","phone":"12"},{"role":"bills","mail":"a@b.de"}]}'
    expect((await blocksOf('a.json', content)).at(-1)).toBe(
      '| role | phone | mail |\n| --- | --- | --- |\n| on call | 12 |  |\n| bills |  | a@b.de |',
    )
  })

  test('of one value per line is one table', async () => {
    const [table] = await blocksOf('a.jsonl', '{"a":1}\n{"a":2}\n')
    expect(table).toBe('| a |\n| --- |\n| 1 |\n| 2 |')
  })

  test.each([
    ['a.json', '{"a": ', /not valid JSON/],
    ['a.yaml', 'a: [1, 2', /not valid YAML \(.+ at line 1, column \d+\)\. Correct/],
  ])('%s that is broken says so', async (key, content, message) => {
    await expect(readFile(key, content)).rejects.toMatchObject({
      failure: 'damaged',
      message: expect.stringMatching(message),
    })
  })

  test('that is nested too deeply is refused', async () => {
    const json = `${'{"a":['.repeat(5000)}1${']}'.repeat(5000)}`
    await expect(readFile('a.json', json)).rejects.toMatchObject({ failure: 'too_deep' })
  })
})

describe('an e-mail', () => {
  const head = [
    'From: =?UTF-8?Q?J=C3=B6rg?= <joerg@pumps.example>',
    'To: Ann <ann@pumps.example>',
    'Subject: =?UTF-8?B?UHJlaXNlIGbDvHIgUHVtcGVu?=',
    'Date: Fri, 15 Mar 2024 10:00:00 +0000',
    'MIME-Version: 1.0',
  ]

  test('has subject, people, its HTML text and the names of attachments', async () => {
    const content = [
      ...head,
      'Content-Type: multipart/mixed; boundary=m',
      '',
      '--m',
      'Content-Type: multipart/alternative; boundary=a',
      '',
      '--a',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'Plain prices',
      '--a',
      'Content-Type: text/html; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<p>Gr=FC=DFe</p><table><tr><th>Pump<th>Price<tr><td>P1<td>10</table>',
      '--a--',
      '--m',
      'Content-Type: application/pdf; name="offer.pdf"',
      'Content-Disposition: attachment; filename="offer.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'JVBERi0=',
      '--m--',
    ]
    expect(await blocksOf('a.eml', content.join('\r\n'))).toEqual([
      '# Preise für Pumpen',
      'From: Jörg <joerg@pumps.example>\nTo: Ann <ann@pumps.example>\nDate: 2024-03-15T10:00:00.000Z',
      'Grüße',
      '| Pump | Price |\n| --- | --- |\n| P1 | 10 |',
      'Attachments: offer.pdf',
    ])
  })

  test('of plain text keeps its paragraphs', async () => {
    const content = [...head, 'Content-Type: text/plain; charset=utf-8', '', 'One', '', 'Two'].join(
      '\r\n',
    )
    expect((await blocksOf('a.eml', content)).slice(2)).toEqual(['One', 'Two'])
  })
})

describe('MDX', () => {
  test('is Markdown without code, with the content and titles of components', async () => {
    const content = [
      '---\ntitle: Install\n---\n',
      "import { Card } from './card'\nexport const version = {\n  major: 2,\n}\n",
      '# Install\n',
      '{/* not shown */}\n',
      '<Tabs>\n  <Tab title="Linux">\n    Run `npm i {x}` and **wait**.\n\n    - one\n    - two\n  </Tab>\n</Tabs>\n',
      'Version {version.major} of <Badge color={`a>b`}>the pump</Badge>{" "}is 2 < 3.\n',
      '```jsx\nimport x from "y"\n<Kept a={1} />\n```\n',
    ].join('\n')
    expect(await blocksOf('a.mdx', content)).toEqual([
      '# Install',
      'Linux',
      'Run `npm i {x}` and **wait**.',
      '- one\n- two',
      'Version  of the pump is 2 < 3.',
      '```jsx\nimport x from "y"\n<Kept a={1} />\n```',
    ])
  })
})

test.each([
  [
    'a.csv',
    'a record of 500,000 columns',
    () => `a,b\n${'abc,'.repeat(500_000)}\n`,
    { failure: 'too_large', message: /The record in line 2 has more than 1,000,000 characters/ },
  ],
  [
    'a.yaml',
    'lists in lists',
    () => `a: ${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    { failure: 'too_deep', message: /more than 100 levels deep/ },
  ],
  [
    'a.yaml',
    'lists in lists without brackets',
    () => `${'- '.repeat(100_000)}a`,
    { failure: 'too_deep', message: /more than 100 levels deep/ },
  ],
  [
    'a.yaml',
    'aliases of aliases',
    () =>
      Array.from({ length: 9 }, (_, at) => {
        const values = Array(9).fill(at === 0 ? 'x' : `*a${at - 1}`)
        return `a${at}: &a${at} [${values.join(', ')}]\n`
      }).join(''),
    { failure: 'too_large', message: /repeat more than 100 times/ },
  ],
])('%s: %s is the fault of the file, with a rule and a number', async (key, _, make, expected) => {
  await expect(readFile(key, make())).rejects.toMatchObject({
    name: 'ExtractionError',
    failure: expected.failure,
    message: expect.stringMatching(expected.message),
  })
})

test('brackets in strings are not levels', async () => {
  const text = `a: |\n  ${'['.repeat(500)}\nb: "${'{'.repeat(500)}"\n`
  expect((await blocksOf('a.yaml', text)).join('\n')).toContain('['.repeat(500))
})
