import { describe, expect, it } from 'vitest'
import { nearest } from './nearest.js'

describe('the nearest word', () => {
  const words = ['PORT', 'BOTSTEAD_SECRET', 'BOTSTEAD_CHAT_SECRET', 'BOTSTEAD_DATA_DIR']

  it.each([
    ['BOTSTEAD_SECRETS', 'BOTSTEAD_SECRET'],
    ['BOTSTEAD_SERCET', 'BOTSTEAD_SECRET'],
    ['BOTSTEAD_CHATSECRET', 'BOTSTEAD_CHAT_SECRET'],
    ['BOTSTEAD_DATA', 'BOTSTEAD_DATA_DIR'],
    ['PROT', undefined],
    ['POT', undefined],
    ['POORT', 'PORT'],
    ['BOTSTEAD_COFFEE_MACHINE', undefined],
    ['', undefined],
  ])('to %s is %s', (word, expected) => {
    expect(nearest(word, words)).toBe(expected)
  })
})
