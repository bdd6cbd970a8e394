import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidPageTokenError } from './errors.js'
import { createPager, type PageQuery } from './pager.js'

const pager = createPager(randomBytes(32))

const list: PageQuery<string> = {
  operation: 'listNotes',
  scope: 'ws_1',
  filter: { tags: { a: '1', b: '2' }, dev: false },
  sort: 'created_at',
  direction: 'desc',
}

const position = fc.record({
  value: fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.double({ noNaN: true })),
  id: fc.string({ unit: 'grapheme' }),
})
const token = position.map((at) => pager.page(list).tokenAfter(at))

const open = (nextToken: string, query = list, by = pager) => by.page({ ...query, nextToken }).after

describe('a page token', () => {
  it('brings back the position it was made of', () => {
    fc.assert(
      fc.property(position, (at) => {
        const expected = JSON.parse(JSON.stringify(at))
        expect(open(pager.page(list).tokenAfter(at))).toEqual(expected)
      }),
    )
  })

  it('fits into an address as it is', () => {
    fc.assert(
      fc.property(token, (text) => {
        expect(encodeURIComponent(text)).toBe(text)
      }),
    )
  })

  it('is refused if a single character is changed, added or taken away', () => {
    const change = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom('replace', 'insert', 'remove'),
      by: fc.oneof(fc.constantFrom('A', '_', '=', ' ', '+'), fc.string({ maxLength: 1 })),
    })
    fc.assert(
      fc.property(token, change, (text, { at, kind, by }) => {
        const index = at % (text.length + 1)
        const tampered =
          text.slice(0, index) +
          (kind === 'remove' ? '' : by) +
          text.slice(kind === 'insert' ? index : index + 1)
        fc.pre(tampered !== text)
        expect(() => open(tampered)).toThrow(InvalidPageTokenError)
      }),
    )
  })

  it('is refused if it is any other text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        expect(() => open(text)).toThrow(InvalidPageTokenError)
      }),
    )
  })

  it('that is empty asks for the first page', () => {
    expect(open('')).toBeUndefined()
  })

  it.each([
    ['operation', { ...list, operation: 'listBots' }],
    ['scope', { ...list, scope: 'ws_2' }],
    ['sort', { ...list, sort: 'updated_at' }],
    ['direction', { ...list, direction: 'asc' as const }],
    ['filter', { ...list, filter: { tags: { a: '1', b: '3' }, dev: false } }],
    ['presence of a filter', { ...list, filter: undefined }],
  ])('is refused for another %s', (_part, other) => {
    const text = pager.page(list).tokenAfter({ value: 'x', id: 'y' })
    expect(() => open(text, other)).toThrow(InvalidPageTokenError)
  })

  it('is refused by a server with another key', () => {
    const text = pager.page(list).tokenAfter({ value: 'x', id: 'y' })
    expect(() => open(text, list, createPager(randomBytes(32)))).toThrow(InvalidPageTokenError)
  })

  it('does not depend on the order of filters, nor on the size of the page', () => {
    const text = pager.page(list).tokenAfter({ value: 'x', id: 'y' })
    const filter = { absent: undefined, dev: false, tags: { b: '2', a: '1' } }
    expect(open(text, { ...list, filter, pageSize: 7 })).toEqual({ value: 'x', id: 'y' })
  })
})

describe('the size of a page', () => {
  it.each([
    [undefined, 20],
    [1, 1],
    [100, 100],
    [101, 100],
    [0, 1],
    [-5, 1],
  ])('for %j is %i', (pageSize, size) => {
    expect(pager.page({ ...list, pageSize }).size).toBe(size)
  })
})
