import { beforeAll, describe, expect, it } from 'vitest'
import { createKnownWords, type KnownWords, loadKnownWords } from './known-words.js'

describe('the words of languages', () => {
  let known: KnownWords
  beforeAll(async () => {
    known = await loadKnownWords()
  })

  it.each(['bread', 'bake', 'love', 'receipts', 'submitted', 'Brot', 'gewechselt', 'schoen'])(
    '%s is one',
    (word) => {
      expect(known.has(word.toLowerCase())).toBe(true)
    },
  )

  it.each(['recieve', 'adress', 'seperate', 'definately', 'fread', 'umwaelzpmupe', '4711ab3', ''])(
    '%s is none',
    (word) => {
      expect(known.has(word)).toBe(false)
    },
  )

  it('tell more about a subject the rarer they are', () => {
    const informations = ['make', 'money', 'kitchen', 'strikethrough'].map(known.informationIn)
    expect(informations).toEqual(informations.toSorted((a, b) => a - b))
    expect(informations[0]).toBeLessThan(0.7)
    expect(informations.at(-1)).toBe(1)
  })
})

it('the rank in any list counts, and regular forms count as their word', () => {
  const known = createKnownWords([
    ['the', 'change'],
    ['Größe', 'the'],
  ])
  expect(known.has('groesse')).toBe(true)
  for (const form of ['changes', 'changed', 'changing']) {
    expect(known.informationIn(form)).toBe(known.informationIn('change'))
  }
  expect(known.has('chang')).toBe(false)
})
