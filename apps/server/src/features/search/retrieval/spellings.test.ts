import { describe, expect, it } from 'vitest'
import { toOtherEnglish } from './spellings.js'

describe('the other spelling of an English word', () => {
  it.each([
    ['licence', 'license'],
    ['licences', 'licenses'],
    ['licensing', 'licencing'],
    ['colour', 'color'],
    ['coloured', 'colored'],
    ['behaviour', 'behavior'],
    ['neighbourhood', 'neighborhood'],
    ['organise', 'organize'],
    ['organisations', 'organizations'],
    ['analysed', 'analyzed'],
    ['centre', 'center'],
    ['centred', 'centered'],
    ['metres', 'meters'],
    ['catalogue', 'catalog'],
    ['travelling', 'traveling'],
    ['cancelled', 'canceled'],
    ['fulfil', 'fulfill'],
    ['defence', 'defense'],
    ['grey', 'gray'],
    ['practises', 'practices'],
    ['haemoglobin', 'hemoglobin'],
    ['programmes', 'programs'],
  ])('%s is %s, and the other way round', (british, american) => {
    expect(toOtherEnglish(british)).toContain(american)
    expect(toOtherEnglish(american)).toContain(british)
  })

  it.each(['four', 'hour', 'prise', 'prize', 'size', 'error', 'colorado', 'oel', 'rise'])(
    'a word such as %s has none with another meaning',
    (word) => {
      const words = ['for', 'hor', 'prize', 'prise', 'colourado', 'errour', 'el', 'rize']
      expect(toOtherEnglish(word).filter((other) => words.includes(other))).toEqual([])
    },
  )

  it.each(['für', 'größe', '东京', 'v2', 'a', 'x'.repeat(64)])('%s has none', (word) => {
    expect(toOtherEnglish(word)).toEqual([])
  })
})
