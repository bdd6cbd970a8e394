import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toIndexText } from '../../src/text/index-text.js'

describe('toIndexText', () => {
  test.each([
    ['case and punctuation go', 'Hello, World! (again)', 'hello world again'],
    ['Markdown marks are no words', '## **Bold** `code` | cell |', 'bold code cell'],
    [
      'codes become their parts in order',
      'ERR_HANDSHAKE_1042 in v1.2.3',
      'err handshake 1042 in v1 2 3',
    ],
    [
      'a number is also one word',
      '1.245,00 € or 12,500,000',
      '1 245 00 or 12 500 000 1245 12500000',
    ],
    ['so are letters and a number', 'UTF-8 (ISO-9001)', 'utf 8 iso 9001 utf8 iso9001'],
    [
      'and numbers of parts and orders',
      '4711-AB/3, 88-120-4, 300_7001, AX-1200/7, 4711–ab',
      '4711 ab 3 88 120 4 300 7001 ax 1200 7 4711 ab ax1200 4711ab3 881204 3007001 ax12007 4711ab',
    ],
    [
      'and codes with points',
      'XK9.2.4, 4711.AB.3, 28.11.2026',
      'xk9 2 4 4711 ab 3 28 11 2026 xk924 4711ab3 28112026',
    ],
    [
      'versions, chapters, measures and decimal numbers are not',
      '1.2.3 v1.2.3 A1.2 3.5mm 3.14159',
      '1 2 3 v1 2 3 a1 2 3 5mm 3 14159',
    ],
    [
      'telephone numbers of other countries also have their national form',
      '+41 44 668 18 00, +41446681800',
      '41 44 668 18 00 41446681800 41446681800 tel0446681800',
    ],
    [
      'digits after a telephone number are not part of it',
      '044/668.18.00 8–17 h',
      '044 668 18 00 8 17 h 0446681800',
    ],
    [
      'and neither are words after an account',
      'CH93 0076 2011 6238 5295 7 bei der Bank',
      'ch93 0076 2011 6238 5295 7 bei der bank ch9300762011623852957',
    ],
    [
      'other numbers are not',
      '1.2.345 12.34 E-Mail 10-20 1999-2004 24-hour read/write https://a.b/c-1/22-333',
      '1 2 345 12 34 e mail 10 20 1999 2004 24 hour read write https a b c 1 22 333 c1',
    ],
    ['digits of every script are the same', '٠١٢٣, ۴۵ ４７１１ ४२ ๓', '0123 45 4711 42 3'],
    ['so are their separators', '١٬٢٣٤٫٥', '1 234 5 1234'],
    ['addresses become their parts', 'jo.doe@mail.example.org', 'jo doe mail example org'],
    ['accents of Latin and Greek go', 'Crème brûlée, Malmö, Ελλάδα', 'creme brulee malmoe ελλαδα'],
    ['letters that only look accented stay', 'йод и ёлка', 'йод и ёлка'],
    ['compatibility forms are unified', 'ﬁle Ｗｉｄｅ ①', 'file wide 1'],
    [
      'powers, indexes and fractions stay apart',
      '10⁶ 10⁻⁶ m² 1½ CO₂ 10₂',
      '10 6 10 6 m2 1 1 2 co2 10 2',
    ],
    ['a sharp s is two letters', 'Straße STRASSE', 'strasse strasse'],
    ['soft hyphens are not there', 'data\u00adbase', 'database'],
    ['CJK becomes pairs and a closing single', '東京都', '東京 京都 都'],
    ['Hangul too', '한국어', '한국 국어 어'],
    ['one character stays alone', '猫', '猫'],
    ['half-width kana are widened', 'ｶﾀｶﾅ', 'カタ タカ カナ ナ'],
    ['Latin words between CJK are kept whole', '用Python编程', '用 python 编程 程'],
    ['a wrapped CJK line goes on', '東京\n都', '東京 京都 都'],
    ['a wrapped Latin line is two words', 'new\nline', 'new line'],
    ['nothing remains of punctuation', '?!… \0', ''],
  ])('%s', (_, text, expected) => {
    expect(toIndexText(text)).toBe(expected)
  })

  test('a long text without spaces becomes the words that it has when it is short', () => {
    const sentence = 'ภาษาไทยเป็นภาษาที่มีผู้พูดมากมาย'
    const words = toIndexText(sentence)
    expect(words.split(' ').length).toBeGreaterThan(4)
    const ofLong = toIndexText(sentence.repeat(200)).split(' ')
    expect(new Set(ofLong)).toEqual(new Set(words.split(' ')))
    expect(ofLong).toHaveLength(200 * words.split(' ').length)
  })

  test('the words of 400,000 characters without a space are found in a moment', () => {
    for (const text of ['ကခ', 'ภาษาไทย', 'ភាសាខ្មែរ', 'ກຂ']) {
      const words = toIndexText(text.repeat(400_000 / text.length)).split(' ')
      expect(words.length).toBeGreaterThan(1000)
    }
  })

  test('a word beyond 64 characters is cut, also inside of surrogate pairs', () => {
    expect(toIndexText('a'.repeat(1000))).toBe('a'.repeat(64))
    expect(toIndexText('𝒳'.normalize('NFD').repeat(3))).toBe('xxx')
    expect(toIndexText('𐐨'.repeat(100))).toBe('𐐨'.repeat(64))
  })

  test('holds words and single spaces only', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const indexed = toIndexText(text)
        expect(indexed).toMatch(/^(?:[\p{L}\p{N}\p{M}]+(?: [\p{L}\p{N}\p{M}]+)*)?$/u)
      }),
    )
  })
})
