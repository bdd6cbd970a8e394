import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileQueryReader } from './query.js'

const read = compileQueryReader({
  properties: {
    limit: { type: 'integer' },
    ids: { type: 'array' },
    tags: { type: 'object' },
  },
})

describe('the query reader', () => {
  it.each([
    ['limit=5', { limit: '5' }],
    ['ids=a', { ids: ['a'] }],
    ['ids=a&ids=b', { ids: ['a', 'b'] }],
    ['ids[]=a&ids[1]=b', { ids: ['a', 'b'] }],
    ['tags.color=red', { tags: { color: 'red' } }],
    ['tags.a=x&tags.a=y', { tags: { a: ['x', 'y'] } }],
    ['tags.slack%3Aid=C42', { tags: { 'slack:id': 'C42' } }],
    ['tags.a.b=1', { tags: { 'a.b': '1' } }],
    ['tags.a.b.not=1', { tags: { 'a.b': { not: '1' } } }],
    ['tags.a.in=x&tags.a.in=y', { tags: { a: { in: ['x', 'y'] } } }],
    ['tags.a.exists=true', { tags: { a: { exists: 'true' } } }],
    ['tags.not=x', { tags: { not: 'x' } }],
    ['tags[color]=red', { tags: { color: 'red' } }],
    ['tags%5Bcolor%5D=red', { tags: { color: 'red' } }],
    ['tags.list%5B0%5D=x', { tags: { 'list[0]': 'x' } }],
    ['tags[a.b]=x', { tags: { 'a.b': 'x' } }],
    ['tags[a][0]=x&tags[a][1]=y', { tags: { a: ['x', 'y'] } }],
    ['tags[a][not]=y', { tags: { a: { not: 'y' } } }],
    ['tags[a][not][0]=y&tags[a][not][1]=z', { tags: { a: { not: ['y', 'z'] } } }],
    ['tags=%7B%22a%22%3A%7B%22not%22%3A%22x%22%7D%7D', { tags: { a: { not: 'x' } } }],
    ['tags=plain', { tags: 'plain' }],
    ['limit=1&limit=2', { limit: ['1', '2'] }],
    ['unknown=1&limit=3', { limit: '3' }],
    ['tags.q=a+b%20c', { tags: { q: 'a b c' } }],
    ['tags.q=%E0%A4%A', { tags: { q: '%E0%A4%A' } }],
    ['', {}],
  ])('reads %s', (raw, expected) => {
    expect(JSON.parse(JSON.stringify(read(raw)))).toEqual(expected)
  })

  it('never fails and never touches a prototype, whatever the input', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (raw) => {
        read(`tags.${raw}&tags[${raw}]&${raw}`)
        read(
          'tags[__proto__][polluted]=1&tags.__proto__.polluted=1&tags={"__proto__":{"polluted":1}}',
        )
        expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
      }),
    )
  })

  it('decodes every tag that a client encodes with dots', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_:#/ é[\]-]{1,20}$/)
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: 'grapheme', maxLength: 30 })), (tags) => {
        const raw = Object.entries(tags)
          .map(([key, value]) => `tags.${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
          .join('&')
        expect({ ...(read(raw).tags as object) }).toEqual(tags)
      }),
    )
  })
})
