import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesText, toPhraseQuery } from './query.js'

describe('a search by phrases', () => {
  it.each([
    ['all words in any order', 'order Where', 'Where is my order?', 'Where is my parcel?'],
    ['words next to each other', '"my order"', 'Where is my order?', 'Order is my hobby'],
    ['another spelling', 'schön', 'SCHOEN war es', 'schon gut'],
    ['a part of Chinese text', '京都', '東京都に住む', '大阪に住む'],
    ['one Chinese character', '山', '富士山', '富士川'],
    ['a version', 'v1.2.3', 'since v1.2.3', 'since v1.2.4'],
  ])('has %s', (_, query, text, other) => {
    expect(matchesText(text, toPhraseQuery(query))).toBe(true)
    expect(matchesText(other, toPhraseQuery(query))).toBe(false)
  })

  it('is empty for a text without letters and digits', () => {
    expect(toPhraseQuery('?! "…"')).toEqual([])
  })

  it('is found by each of its own texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), (text) => {
        const query = toPhraseQuery(text.replaceAll('"', ' '))
        expect(matchesText(text, query)).toBe(true)
      }),
    )
  })
})
