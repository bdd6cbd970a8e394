import { toIndexText } from '@botstead/documents/text'
import { DatabaseSync } from '@photostructure/sqlite'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { toQuery } from '../query.js'
import { toTsquery } from './postgres-keywords.js'
import { toFts5Match } from './sqlite-keywords.js'

const database = new DatabaseSync(':memory:')
database.exec(`create virtual table passages using fts5(body, tokenize = 'porter unicode61')`)
const insert = database.prepare('insert into passages (rowid, body) values (?, ?)')
const select = database.prepare(
  'select rowid from passages where passages match ? order by bm25(passages), rowid',
)
afterAll(() => database.close())

const corpus = [
  'Set the code ERR_TLS_1042 in the log',
  'TLS errors are logged, 1042 of them',
  'Reset your password on the settings page',
  '我们使用Python编程很久了',
  '小猫喜欢睡觉',
  'Das Gerät heißt „Größe 3“',
]
corpus.forEach((text, index) => {
  insert.run(index, toIndexText(text))
})

/** The texts that a query finds, best first. */
function find(text: string): number[] {
  const match = toFts5Match(toQuery(text))
  return match === undefined ? [] : select.all(match).map((row) => Number(row.rowid))
}

/** Pieces with a meaning in one of the query languages, in any order. */
const hostile = fc.constantFrom(
  ...[
    '"',
    "'",
    '*',
    '^',
    ':',
    '-',
    '+',
    '(',
    ')',
    '{',
    '}',
    ',',
    ' ',
    '\0',
    '\\',
    '!',
    '&',
    '|',
    '<->',
  ],
  'NEAR',
  'AND',
  'OR',
  'NOT',
  'body',
  'a',
  '猫',
  'é',
  '\ud800',
  '़',
  '0',
  ':*',
  '.5e3',
  '@b.co',
)
const anything = fc.oneof(
  fc.array(hostile, { maxLength: 40 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
)

describe('toFts5Match', () => {
  test('any term suffices, and more of them rank higher', () => {
    expect(find('resetting passwords')).toEqual([2])
    expect(find('password settings log')[0]).toBe(2)
    expect(find('password settings log')).toContain(0)
  })

  test('a code ranks above its scattered parts', () => {
    expect(find('ERR_TLS_1042')).toEqual([0, 1])
  })

  test('a phrase finds words in this order', () => {
    expect(select.all('"tls 1042"').map((row) => row.rowid)).toEqual([0])
    expect(find('"the code"')[0]).toBe(0)
  })

  test('every character of a CJK text is found, alone, in pairs and in phrases', () => {
    for (const character of '小猫喜欢睡觉') expect(find(character)).toContain(4)
    expect(find('喜欢')).toEqual([4])
    expect(find('"用Python编"')).toEqual([3])
  })

  test('accents and case do not matter', () => {
    expect(find('GERAET groesse')).toEqual([5])
  })

  test('no input is a syntax error', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const match = toFts5Match(toQuery(text))
        if (match !== undefined) select.all(match)
      }),
      { numRuns: 2000 },
    )
  })

  test('every word of a text finds that text', () => {
    const table = 'create virtual table temp.one using fts5(body, tokenize = "porter unicode61")'
    database.exec(table)
    const replace = database.prepare('insert or replace into one (rowid, body) values (1, ?)')
    const count = database.prepare('select count(*) as found from one where one match ?')
    const word = fc.stringMatching(/^[\p{Script=Latin}\p{Script=Han}\p{Script=Hangul}0-9]{1,12}$/u)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.nat(), (words, index) => {
        replace.run(toIndexText(words.join(' ')))
        const match = toFts5Match(toQuery(words[index % words.length] ?? ''))
        if (match !== undefined) expect(count.get(match)).toEqual({ found: 1 })
      }),
      { numRuns: 500 },
    )
  })

  test('an empty query has no expression', () => {
    expect(toFts5Match(toQuery('??'))).toBeUndefined()
  })
})

describe('toTsquery', () => {
  test('terms and phrases are alternatives', () => {
    expect(toTsquery(toQuery('fix ERR_42 猫'))).toBe(
      `'fix' | 'err' | '42' | '猫':* | ('err' <-> '42')`,
    )
    expect(toTsquery(toQuery('!'))).toBeUndefined()
  })

  test('any input results in words, quotes and operators only', () => {
    const lexeme = String.raw`'[\p{L}\p{N}\p{M}]+'(?::\*)?`
    const operand = String.raw`(?:${lexeme}|\(${lexeme}(?: <-> ${lexeme})+\))`
    const grammar = new RegExp(String.raw`^${operand}(?: \| ${operand})*$`, 'u')
    fc.assert(
      fc.property(anything, (text) => {
        const rendered = toTsquery(toQuery(text))
        if (rendered !== undefined) expect(rendered).toMatch(grammar)
      }),
    )
  })
})

const postgresUrl = inject('postgresUrl')
describe.skipIf(postgresUrl === '')('toTsquery on PostgreSQL', () => {
  const client = new pg.Client(postgresUrl)
  beforeAll(async () => {
    await client.connect()
  })
  afterAll(() => client.end())

  test.each(['simple', 'english'])('no input is a syntax error for %s', async (configuration) => {
    await fc.assert(
      fc.asyncProperty(anything, async (text) => {
        const query = toTsquery(toQuery(text))
        if (query !== undefined)
          await client.query('select to_tsquery($1, $2)', [configuration, query])
      }),
      { numRuns: 1000 },
    )
  })

  test('terms, prefixes and phrases find the same texts as in FTS5', async () => {
    const matches = async (question: string, text: string) => {
      const values = [toIndexText(text), toTsquery(toQuery(question))]
      const sql = `select to_tsvector('english', $1) @@ to_tsquery('english', $2) as found`
      const { rows } = await client.query(sql, values)
      return rows[0].found
    }
    expect(await matches('resetting passwords', corpus[2] ?? '')).toBe(true)
    expect(await matches('猫', corpus[4] ?? '')).toBe(true)
    expect(await matches('"用Python编"', corpus[3] ?? '')).toBe(true)
    expect(await matches('GERAET', corpus[5] ?? '')).toBe(true)
    expect(await matches('volcano', corpus[2] ?? '')).toBe(false)
  })
})
