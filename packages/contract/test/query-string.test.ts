import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeQuery } from '../src/client.js'

describe('the query encoder', () => {
  it.each([
    [{}, ''],
    [{ a: 'x y' }, 'a=x%20y'],
    [{ a: undefined, b: null, c: '' }, 'c='],
    [{ ids: ['a', 'b'] }, 'ids=a&ids=b'],
    [{ ids: [] }, ''],
    [{ dev: false, limit: 5 }, 'dev=false&limit=5'],
    [{ tags: { color: 'red' } }, 'tags.color=red'],
    [{ tags: { 'slack:id': 'C42' } }, 'tags.slack%3Aid=C42'],
    [{ tags: { a: ['x', 'y'] } }, 'tags.a=x&tags.a=y'],
    [{ tags: { a: { not: ['x', 'y'] } } }, 'tags.a.not=x&tags.a.not=y'],
    [{ tags: { a: { exists: false } } }, 'tags.a.exists=false'],
    [{ tags: { 'a.not': 'x' } }, 'tags.a%2Enot=x'],
  ])('writes %j', (members, text) => {
    expect(encodeQuery(members)).toBe(text)
  })

  it('keeps every entry of a map, with any names and values', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(fc.dictionary(text, text, { noNullPrototype: true }), (tags) => {
        const members = encodeQuery({ tags }).split('&').filter(Boolean)
        const decoded = members.map((member) => {
          const [name = '', value = ''] = member.split('=')
          const [root, key = ''] = name.split('.').map(decodeURIComponent)
          expect(root).toBe('tags')
          return [key, decodeURIComponent(value)]
        })
        expect(Object.fromEntries(decoded)).toEqual(tags)
      }),
    )
  })
})
