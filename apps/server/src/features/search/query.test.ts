import { toIndexText } from '@botstead/documents/text'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isEmptyQuery, toNotations, toQuery, toSubject } from './query.js'
import { hasPhrase } from './retrieval/coverage.js'

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
    expect(toQuery('order 0417 or 881204 of 12 in 2026, 10000 km').exact).toEqual([
      ['0417'],
      ['881204'],
    ])
    expect(toQuery('1.245,00 or v1.2.345').exact).toEqual([['1245'], ['v1', '2', '345']])
  })
})

/** Whether a text has the only code of a question in any notation. */
function hasCode(question: string, text: string): boolean {
  const query = toQuery(question)
  const [code = [], ...others] = query.exact
  expect(others).toEqual([])
  const notations = toNotations(question, query).get(code.join(' ')) ?? []
  const indexed = toIndexText(text)
  return [code, ...notations.map((each) => each.split(' '))].some((way) => hasPhrase(indexed, way))
}

const digits = (length: number) => fc.stringMatching(new RegExp(`^[1-9][0-9]{${length - 1}}$`, 'u'))

describe('every notation of a code finds every other one, and no other code', () => {
  // Each run compares dozens of notations with each other.
  const numRuns = 20
  const around = (code: string) => `Order ${code}, please.`

  function expectEach(of: readonly string[], other: readonly string[]) {
    for (const asked of of) {
      for (const written of of)
        expect([asked, written, hasCode(asked, around(written))]).toContain(true)
      for (const written of other) {
        expect([asked, written, hasCode(asked, around(written))]).toContain(false)
      }
    }
  }

  test('part numbers', () => {
    const code = fc.tuple(
      fc.stringMatching(/^[A-HJ-NP-Z]{2}[1-9]$/u),
      digits(2),
      fc.oneof(digits(1), fc.stringMatching(/^[A-HJ-NP-Z][0-9]$/u)),
    )
    const notations = (parts: readonly string[]) =>
      ['', '-', '/', '.', '\u2011'].map((sign) => parts.join(sign))
    fc.assert(
      fc.property(code, code, (one, other) => {
        fc.pre(one.join('') !== other.join(''))
        expectEach(notations(one), notations(other))
      }),
      { numRuns },
    )
  })

  test('accounts', () => {
    const account = fc.tuple(fc.stringMatching(/^[A-Z]{2}$/u), digits(16))
    const notations = ([country = '', rest = '']: readonly string[]) => {
      const asDigits = [...country].map((letter) => Number.parseInt(letter, 36)).join('')
      const check = 98n - (BigInt(`${rest}${asDigits}00`) % 97n)
      const whole = `${country}${String(check).padStart(2, '0')}${rest}`
      const groups = whole.match(/.{1,4}/g) ?? []
      return [whole, groups.join(' '), groups.join('\u00a0'), groups.join('-')]
    }
    fc.assert(
      fc.property(account, account, (one, other) => {
        fc.pre(one.join('') !== other.join(''))
        expectEach(notations(one), notations(other))
      }),
      { numRuns },
    )
  })

  test('telephone numbers', () => {
    const number = fc.tuple(
      fc.constantFrom('41', '49', '44', '31', '61', '212', '358'),
      fc.tuple(digits(2), digits(3), digits(2), digits(2)),
    )
    const abroad = (country: string, groups: readonly string[]) => [
      `+${country} ${groups.join(' ')}`,
      `+${country}${groups.join('')}`,
      `00${country} ${groups.join(' ')}`,
      `00${country}${groups.join('')}`,
      `+${country} (0)${groups.join(' ')}`,
      `+${country}-${groups.join('-')}`,
    ]
    const within = ([area, ...groups]: readonly string[]) => [
      `0${area} ${groups.join(' ')}`,
      `(0${area}) ${groups.join(' ')}`,
      `0${area}/${groups.join('.')}`,
      `0${area}-${groups.join('-')}`,
    ]
    fc.assert(
      fc.property(number, number, ([country, groups], [otherCountry, otherGroups]) => {
        fc.pre(groups.join('') !== otherGroups.join('') && country !== otherCountry)
        const all = [...abroad(country, groups), ...within(groups)]
        expectEach(all, [...abroad(otherCountry, otherGroups), ...within(otherGroups)])
        expectEach(abroad(country, groups), abroad(otherCountry, groups))
      }),
      { numRuns },
    )
  })

  test('a version, a chapter and a measure are not the number of their digits', () => {
    for (const text of ['1.2.3', 'v1.2.3', 'A1.2', '3.5mm']) {
      const joined = text.replaceAll('.', '')
      expect(toIndexText(text).split(' ')).not.toContain(joined)
    }
  })
})

describe('words that only ask for an amount', () => {
  test.each([
    ['How much does a ticket cost?', 'ticket'],
    ['How long does delivery take?', 'delivery'],
    ['Was kostet das Ticket?', 'ticket'],
    ['Wie viel kostet das Ticket?', 'ticket'],
    ['Wie lange dauert die Lieferung?', 'lieferung'],
    ['Combien coûte le billet ?', 'billet'],
    ['¿Cuánto cuesta el billete?', 'billete'],
    ['Quanto costa il biglietto?', 'biglietto'],
    ['Quanto custa o bilhete?', 'bilhete'],
    ['Hoeveel kost een kaartje?', 'kaartje'],
    ['Hur mycket kostar biljetten?', 'biljetten'],
    ['Hvad koster billetten?', 'billetten'],
    ['Ile kosztuje bilet?', 'bilet'],
    ['Jak długo trwa podróż?', 'podroz'],
    ['Bilet ne kadar tutar?', 'bilet'],
    ['Сколько стоит билет?', 'билет'],
    ['كم يكلف التذكرة؟', 'التذكره'],
    ['टिकट कितने का है', 'टिकट'],
    ['ตั๋วราคาเท่าไหร่', 'ตั๋ว'],
    ['門票要多少錢', '門票'],
    ['チケット は いくら ですか', 'チケ ケッ ット'],
    ['표 얼마인가요', '표*'],
  ])('%s is about: %s', (question, subject) => {
    expect([...toSubject(question).terms].join(' ')).toBe(subject)
  })

  test('are the subject if nothing else is', () => {
    expect([...toSubject('Ile kosztuje?').terms]).toEqual(['kosztuje'])
  })

  test('a question without one is about its costs', () => {
    expect([...toSubject('What are the costs of delivery?').terms]).toEqual(['costs', 'delivery'])
  })
})
