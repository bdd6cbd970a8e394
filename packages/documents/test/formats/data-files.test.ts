import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from '../../src/formats/data-values.js'
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

  test('of several YAML documents is a section for each', async () => {
    const yaml =
      'name: shop\nspec:\n  ports: {http: 80}\n---\nkind: Service\nspec:\n  port: 8443\n---\n# nothing\n---\nplain\n'
    expect(await blocksOf('a.yaml', yaml)).toEqual([
      '# shop',
      '- name: shop',
      '## spec',
      '### ports',
      '- http: 80',
      '# 2',
      '- kind: Service',
      '## spec',
      '- port: 8443',
      '# 3',
      'plain',
    ])
  })

  test('has empty cells for members that an object lacks', async () => {
    const content =
      '{"contacts":[{"role":"on call","phone":"12"},{"role":"bills","mail":"a@b.de"}]}'
    expect((await blocksOf('a.json', content)).at(-1)).toBe(
      '| role | phone | mail |\n| --- | --- | --- |\n| on call | 12 |  |\n| bills |  | a@b.de |',
    )
  })

  test('has numbers and other plain values as they are written', async () => {
    const json =
      '[{"order":738529527931269425,"version":1.10,"rate":1e5,"big":1E400},{"order":738529527931269426,"version":1.20,"rate":-0.0,"big":0.1000}]'
    expect(await blocksOf('a.json', json)).toEqual([
      '| order | version | rate | big |\n| --- | --- | --- | --- |\n| 738529527931269425 | 1.10 | 1e5 | 1E400 |\n| 738529527931269426 | 1.20 | -0.0 | 0.1000 |',
    ])
    const yaml = [
      'postcode: 01234',
      'release: 1.10',
      'account: 12345678901234567890',
      'octal: 0o17',
      'old octal: 010',
      'hexadecimal: 0xFF',
      'grouped: 1_000_000',
      'scientific: 1.50e+3',
      'day: 2024-01-05',
      'time: 12:30:45',
      'answer: yes',
      'truth: True',
      'infinite: .inf',
      'quoted: "007"',
      'none: ~',
    ]
    expect(await blocksOf('a.yaml', yaml.join('\n'))).toEqual([
      yaml
        .map((line) => `- ${line.replaceAll('"', '')}`)
        .join('\n')
        .replace('none: ~', 'none:'),
    ])
  })

  test('has every member in the order of the source, also of keys that occur twice', async () => {
    expect(await blocksOf('a.json', '{"10":"ten","2":"two","a":1,"a":2,"__proto__":"p"}')).toEqual([
      '- 10: ten\n- 2: two\n- a: 1\n- a: 2\n- __proto__: p',
    ])
    expect(await blocksOf('a.yaml', '10: ten\n2: two\na: 1\na: 2\n')).toEqual([
      '- 10: ten\n- 2: two\n- a: 1\n- a: 2',
    ])
  })

  test('has the text of strings with escapes', async () => {
    const json = String.raw`{"a\"b": "line\nnext \u00e9 \\", "empty": "", "path": "C:\\"}`
    expect(await blocksOf('a.json', json)).toEqual([
      '- a"b: line\n  next é \\\n- empty:\n- path: C:\\',
    ])
  })

  test('of several documents with anchors has what they stand for', async () => {
    const yaml =
      'base: &base {image: pump, port: 080}\nweb:\n  <<: *base\n  port: 8080\nlist: [*base]\n---\nsecond: 1.0\n---\n'
    expect(await blocksOf('a.yaml', yaml)).toEqual([
      '# 1',
      '## base',
      '- image: pump\n- port: 080',
      '## web',
      '- image: pump\n- port: 8080',
      '## list',
      '### 1',
      '- image: pump\n- port: 080',
      '# 2',
      '- second: 1.0',
    ])
  })

  test('of any kind keeps the spelling of its values', async () => {
    const literal = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
      fc.bigInt({ min: 10n ** 17n, max: 10n ** 30n }).map(String),
      fc.tuple(fc.nat(999), fc.nat(999)).map(([a, b]) => `${a}.${b}0`),
      fc.constantFrom('true', 'false', '1e5', '-0', '2E-07'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(literal, { minLength: 1, maxLength: 20 }), async (literals) => {
        const json = `{"values": [${literals.join(', ')}], "last": ${literals[0]}}`
        const [text] = await blocksOf('a.json', json)
        expect(text).toBe(`- values: ${literals.join(', ')}\n- last: ${literals[0]}`)
        const yaml = `values:\n${literals.map((each) => `  - ${each}\n`).join('')}`
        expect(await blocksOf('a.yaml', yaml)).toEqual([`- values: ${literals.join(', ')}`])
      }),
    )
  })

  test('of one value per line is one table', async () => {
    const [table] = await blocksOf('a.jsonl', '{"a":1}\n{"a":2}\n')
    expect(table).toBe('| a |\n| --- |\n| 1 |\n| 2 |')
  })

  test('with comments and commas at the end of lists has both, in order', async () => {
    const settings = [
      '// Settings of the pump',
      '{',
      '  "rate": 1.10, // litres: see "http://x//y"',
      '  /* in',
      '   * bars */',
      '  "limits": ["low", /* or */ "high",],',
      '  "valves": [',
      '    // the first',
      '    { "id": 1 },',
      '    { "id": 2, },',
      '  ],',
      '}',
      '// the end',
    ].join('\n')
    for (const key of ['a.jsonc', 'a.json']) {
      expect(await blocksOf(key, settings)).toEqual([
        '- //: Settings of the pump\n- rate: 1.10\n- //: litres: see "http://x//y"\n- //: in bars\n- limits: low, // or, high\n- //: the end',
        '## valves',
        '| // | id |\n| --- | --- |\n| the first | 1 |\n|  | 2 |',
      ])
    }
  })

  test('with a hundred thousand comments in a row is read', async () => {
    const [list] = await blocksOf('a.json', `${'//\n'.repeat(100_000)}{"a": 1}`)
    expect(list).toBe('- a: 1')
  })

  test.each([
    ['a.json', '{"a": ', /not valid JSON/],
    ['a.json', '[1, 2] 3', /not valid JSON/],
    ['a.json', '[,]', /not valid JSON/],
    ['a.json', '{"a": 1,,}', /not valid JSON/],
    ['a.json', '{"a": "b\tc"}', /not valid JSON/],
    ['a.json', '{"a": 1} /* no end', /not valid JSON/],
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
    'a.json',
    'lists in lists that do not end',
    () => '['.repeat(100_000),
    { failure: 'too_deep', message: /more than 100 levels deep/ },
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
    { failure: 'too_large', message: /repeat more than 20,000 values/ },
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

test('JSON is read where JavaScript reads it, with the same members and values', () => {
  const toValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(toValue)
    if (value === null || typeof value === 'string') return value
    if (typeof value !== 'object') return String(value)
    return { keys: Object.keys(value), values: Object.values(value).map(toValue) }
  }
  const values = fc.jsonValue({ maxDepth: 4 })
  fc.assert(
    fc.property(values, fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent)
      // JavaScript sorts keys that are numbers, and writes large ones in another way.
      fc.pre(!/"\d+":|"__proto__":|\d[eE]/.test(text))
      expect(readJson(text)).toEqual(toValue(JSON.parse(text)))
    }),
    { numRuns: 200 },
  )
  const faults = fc.tuple(
    values,
    fc.nat(),
    fc.constantFrom('', ',', ':', '"', ']', '}', '1', '\n', '\\', 'e', '-', '0', '.'),
  )
  fc.assert(
    fc.property(faults, ([value, place, inserted]) => {
      const text = JSON.stringify(value)
      const at = place % (text.length + 1)
      const faulty = text.slice(0, at) + inserted + text.slice(at + (inserted === '' ? 1 : 0))
      const isValid = (read: (text: string) => unknown) => {
        try {
          read(faulty)
          return true
        } catch {
          return false
        }
      }
      expect(isValid(readJson), faulty).toBe(isValid(JSON.parse))
    }),
    { numRuns: 500 },
  )
})

test('braces of templates in YAML are what the source says', async () => {
  expect(
    (await blocksOf('a.yaml', 'image: {{ .Values.image }}\nport: 080\n')).join('\n'),
  ).toContain('{ .Values.image }')
})
