import { expect, it } from 'vitest'
import { linearPattern } from '../src/patterns.js'

const texts = [
  ...[
    '',
    'a',
    'ab',
    'ba',
    'aab',
    'a b',
    'a\u00a0b',
    '\v',
    '\r',
    '\n',
    '\u2028',
    ':',
    '[',
    ']',
    ':]',
  ],
  ...[
    'A',
    '7',
    '-',
    '_',
    '.',
    '\\',
    '/',
    'ä',
    'Ω',
    '😀',
    '\ufeff',
    'k<n>',
    'ada@example.com',
    's',
    '\0',
  ],
]

it.each([
  ...[
    '^a+b?$',
    '^[^a]$',
    '^.$',
    '.',
    '^\\s$',
    '^\\S+$',
    '^[\\s\\S]$',
    '^[\\s.]+$',
    '^\\\\$',
    '^[[:a]$',
  ],
  ...[
    '^[[:alpha:]$',
    '^[]$',
    '^[^]$',
    '^\\u0041$',
    '^\\ud83d\\ude00$',
    '^\\u{1F600}$',
    '^[\\ud83d\\ude00]$',
  ],
  ...[
    '^/$',
    '^\\/$',
    '^(?<n>a)b$',
    '^(?:a|ab)+$',
    '^\\p{L}+$',
    '^\\P{L}+$',
    '\\bb',
    '^[\\w\\-.]+@\\w+\\.com$',
  ],
  '^\\0$',
  '^\\x41$',
  '^[\\]\\[]$',
  '^a{2}b$',
  'a|^$',
  '^\\d$',
  '^\\D$',
  '^\\.$',
  '^[\\d_-]$',
])('%s matches the same texts as in ECMAScript', (source) => {
  const pattern = linearPattern(source)
  const native = new RegExp(source, 'u')
  expect(texts.filter((text) => pattern?.test(text))).toEqual(
    texts.filter((text) => native.test(text)),
  )
})

it.each(['(?=a)', '(?!a)', '(?<=a)', '(?<!a)', '(a)\\1', '(?<n>a)\\k<n>', 'a{1001}'])(
  '%s is not supported',
  (source) => {
    expect(linearPattern(source)).toBeUndefined()
  },
)

it('refuses a malformed regular expression', () => {
  expect(() => linearPattern('(')).toThrow(SyntaxError)
})

it('matches long texts on which a backtracking engine would not end', () => {
  const text = 'a'.repeat(100_000)
  for (const source of ['^(a+)+$', '^(a|aa)+$', '^(a|a?)+$']) {
    expect(linearPattern(source)?.test(text)).toBe(true)
    expect(linearPattern(source)?.test(`${text}!`)).toBe(false)
  }
})
