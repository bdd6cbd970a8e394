import { describe, expect, test } from 'vitest'
import { isEmptyQuery, toQuery } from './query.js'

describe('terms', () => {
  test('function words of a question are omitted', () => {
    expect(toQuery('How do I reset my password?').terms).toEqual(['reset', 'password'])
    expect(toQuery("What's the bot's limit? Don't know").terms).toEqual(['bot', 'limit', 'know'])
  })

  test('a question of nothing but function words keeps them', () => {
    expect(toQuery('to be or not to be').terms).toEqual(['to', 'be', 'or', 'not'])
  })

  test('each term is listed once and their number is bounded', () => {
    expect(toQuery('cache Cache CACHE').terms).toEqual(['cache'])
    const words = Array.from({ length: 500 }, (_, index) => `word${index}`)
    expect(toQuery(words.join(' ')).terms).toEqual(words.slice(0, 100))
  })

  test('CJK is searched by pairs, a single character as a prefix', () => {
    expect(toQuery('東京都').terms).toEqual(['東京', '京都'])
    expect(toQuery('猫').terms).toEqual(['猫*'])
    expect(toQuery('iPhone的价格').terms).toEqual(['iphone', '的价', '价格'])
  })

  test('a query may be empty', () => {
    expect(isEmptyQuery(toQuery('?! "" \0'))).toBe(true)
    expect(isEmptyQuery(toQuery('a'))).toBe(false)
  })
})

describe('phrases', () => {
  test.each([
    ['straight', 'say "to be or not" please'],
    ['curly', 'say “to be or not” please'],
    ['low', 'say „to be or not“ please'],
    ['angled', 'say «to be or not» please'],
    ['corner', 'say 「to be or not」 please'],
  ])('words in %s quotes stay together, function words included', (_, text) => {
    expect(toQuery(text).phrases).toEqual([['to', 'be', 'or', 'not']])
  })

  test('a quote that is not closed is punctuation', () => {
    expect(toQuery('a 5" disk').phrases).toEqual([])
    expect(toQuery('"unclosed phrase').terms).toEqual(['unclosed', 'phrase'])
  })

  test('codes, versions and addresses stay together and are found by their parts too', () => {
    expect(toQuery('ERR_TLS_1042')).toEqual({
      terms: ['err', 'tls', '1042', 'errtls1042'],
      phrases: [['err', 'tls', '1042']],
      exact: [['errtls1042']],
    })
    expect(toQuery('a built-in "red valve"').exact).toEqual([['red', 'valve']])
    expect(toQuery('part AX-1200/7').exact).toEqual([['ax12007']])
    expect(toQuery('upgrade v1.2.3').phrases).toEqual([['v1', '2', '3']])
    expect(toQuery('mail jo.doe@example.org').phrases).toEqual([['jo', 'doe', 'example', 'org']])
  })

  test.each(['10⁶ cycles', '10^6 cycles'])('a power stays together: %s', (text) => {
    expect(toQuery(text)).toMatchObject({ terms: ['10', '6', 'cycles'], phrases: [['10', '6']] })
  })

  test('the end of a sentence does not join words', () => {
    expect(toQuery('It stopped. Now what?').phrases).toEqual([])
  })

  test('a CJK phrase may continue in the text, but its inner runs may not', () => {
    expect(toQuery('"使用Python编程"').phrases).toEqual([['使用', '用', 'python', '编程']])
    expect(toQuery('"第3章"').phrases).toEqual([['第', '3', '章*']])
  })
})

describe('numbers and codes that are written in several ways', () => {
  test.each([
    ['1.245', '1245'],
    ["1'245", '1245'],
    ['1245', '1245'],
    ['UTF-8', 'utf8'],
    ['utf8', 'utf8'],
    ['4711-AB/3', '4711ab3'],
    ['88-120-4', '881204'],
    ['88–120–4', '881204'],
    ['٠١٢٣', '0123'],
    ['０１２３', '0123'],
  ])('%s is also searched as one word', (text, word) => {
    expect(toQuery(`the ${text} file`).terms).toContain(word)
  })

  test('a literal phrase may be written in either way', () => {
    expect(toQuery('the HP-400 pump').exact).toEqual([['hp400']])
    expect(toQuery('the HP-400/12 pump').exact).toEqual([['hp40012']])
    expect(toQuery('toner 4711AB3').exact).toEqual([['4711ab3']])
    expect(toQuery('toner 4711-AB/3').exact).toEqual([['4711ab3']])
    expect(toQuery('1.245,00 or v1.2.345').exact).toEqual([['1245'], ['v1', '2', '345']])
  })
})
