import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toIndexText } from '../../src/text/index-text.js'
import { locateKeyTokens, locateTokens } from '../../src/text/locate.js'

const found = (text: string) =>
  locateTokens(text).map(({ token, start, end }) => [token, text.slice(start, end)])

describe('the place of a token', () => {
  test.each([
    [
      'a word',
      'The Pump!',
      [
        ['the', 'The'],
        ['pump', 'Pump'],
      ],
    ],
    ['a word with accents', 'Größe', [['groesse', 'Größe']]],
    [
      'a word with marks of its own',
      'Cafe\u0301 au',
      [
        ['cafe', 'Cafe\u0301'],
        ['au', 'au'],
      ],
    ],
    [
      'a word with a soft hyphen',
      'data\u00adbase x',
      [
        ['database', 'data\u00adbase'],
        ['x', 'x'],
      ],
    ],
    [
      'a ligature',
      'a ﬁle',
      [
        ['a', 'a'],
        ['file', 'ﬁle'],
      ],
    ],
    [
      'a power',
      'at 10⁶ Hz',
      [
        ['at', 'at'],
        ['10', '10⁶'],
        ['6', '10⁶'],
        ['hz', 'Hz'],
      ],
    ],
    [
      'a Greek word',
      'ΟΔΟΣ Α',
      [
        ['οδος', 'ΟΔΟΣ'],
        ['α', 'Α'],
      ],
    ],
    [
      'pairs of characters',
      '東京\n都',
      [
        ['東京', '東京'],
        ['京都', '京\n都'],
        ['都', '都'],
      ],
    ],
    [
      'a number without separators',
      '1.245 €',
      [
        ['1', '1'],
        ['245', '245'],
        ['1245', '1.245'],
      ],
    ],
    [
      'a part number without separators',
      'No. 4711-AB/3',
      [
        ['no', 'No'],
        ['4711', '4711'],
        ['ab', 'AB'],
        ['3', '3'],
        ['4711ab3', '4711-AB/3'],
      ],
    ],
    [
      'digits of another script',
      'رقم ٠١٢٣',
      [
        ['رقم', 'رقم'],
        ['0123', '٠١٢٣'],
      ],
    ],
    [
      'a word beyond the longest',
      `ä${'a'.repeat(99)}`,
      [[`ae${'a'.repeat(62)}`, `ä${'a'.repeat(99)}`]],
    ],
  ])('is that of %s', (_, text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  test('in a key is also that of words in camel case', () => {
    const key = 'a/pumpWiring.pdf'
    const places = locateKeyTokens(key).map(({ token, start, end }) => [
      token,
      key.slice(start, end),
    ])
    expect(places).toContainEqual(['pumpwiring', 'pumpWiring'])
    expect(places).toContainEqual(['wiring', 'Wiring'])
  })

  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc
      .array(
        fc.constantFrom(
          'ä',
          'ß',
          '東',
          '\n',
          ' ',
          '1.245',
          'UTF-8',
          '88-120-4',
          '٣',
          'ภาษา',
          'Σ',
          'é',
          'x',
        ),
      )
      .map((parts) => parts.join('')),
  )

  test('exists for every token of the index, in its order and inside of the text', () => {
    fc.assert(
      fc.property(text, (text) => {
        const tokens = locateTokens(text)
        const indexed = toIndexText(text)
        const distinct = [...new Set(tokens.map(({ token }) => token))]
        expect(new Set(indexed.split(' ').filter((token) => token !== ''))).toEqual(
          new Set(distinct),
        )
        for (const { start, end } of tokens) {
          expect(start).toBeGreaterThanOrEqual(0)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(text.length)
        }
      }),
      { numRuns: 300 },
    )
  })
})
