import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { storedFilter, storedTags, visibleTags } from './tags.js'

const tags = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }))
const alias = fc.stringMatching(/^[a-z][a-z0-9-]{1,20}$/)

describe('tags', () => {
  test('a bot sees what it stored', () => {
    fc.assert(
      fc.property(tags, (given) => {
        expect(visibleTags(undefined, storedTags(undefined, given))).toEqual(given)
      }),
    )
  })

  test('an integration sees what it stored, and nothing of others', () => {
    fc.assert(
      fc.property(alias, tags, tags, (own, given, ofBot) => {
        const bare = Object.fromEntries(
          Object.entries(ofBot).filter(([name]) => !name.startsWith(`${own}:`)),
        )
        const stored = { ...bare, ...storedTags(own, given) }
        expect(visibleTags(own, stored)).toEqual(given)
      }),
    )
  })

  test('a bot sees the tags of an integration under its alias', () => {
    expect(visibleTags(undefined, storedTags('mail', { subject: 'hi' }))).toEqual({
      'mail:subject': 'hi',
    })
  })

  test('an empty value is no tag when stored, but a condition in a filter', () => {
    expect(storedTags(undefined, { a: '', b: '1' })).toEqual({ b: '1' })
    expect(storedFilter('mail', { a: '' })).toEqual({ 'mail:a': '' })
  })
})
