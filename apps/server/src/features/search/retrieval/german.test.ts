import { normalise } from '@botstead/documents/text'
import { describe, expect, it } from 'vitest'
import { germanStem, nounStem, verbalStem } from './german.js'

const stem = (word: string) => germanStem(normalise(word))

describe('the stem of a German word', () => {
  it.each([
    ['gewechselt', 'wechseln', 'Wechsel', 'wechselt', 'Wechsels'],
    ['abgeschaltet', 'abzuschalten', 'abschalten', 'abschaltet'],
    ['Öl', 'Öle', 'Ölen'],
    ['Pumpe', 'Pumpen'],
    ['Filter', 'Filtern', 'gefiltert'],
    ['reinigen', 'gereinigt', 'reinigt'],
    ['schön', 'schöne', 'schönes', 'schönen'],
    ['Gerät', 'Geräte', 'Gerätes'],
    ['Ventil', 'Ventile', 'Ventils'],
    ['laufend', 'laufen', 'laufende'],
    ['Straße', 'Strassen'],
  ])('is the same for %s and %s', (...words) => {
    expect([...new Set(words.map(stem))]).toHaveLength(1)
  })

  it.each([
    ['schön', 'schon'],
    ['Druck', 'drücken'],
    ['Zeit', 'Zeitung'],
    ['Wechsel', 'Wachs'],
    ['abschalten', 'einschalten'],
    ['Rad', 'Rat'],
  ])('differs between %s and %s', (one, other) => {
    expect(stem(one)).not.toBe(stem(other))
  })

  it.each([
    ['Wartung', 'warten'],
    ['Reinigung', 'reinigen'],
    ['Prüfung', 'prüfen'],
    ['Dichtung', 'dichten'],
  ])('leads from %s to %s', (noun, verb) => {
    expect(verbalStem(stem(noun))).toBe(stem(verb))
  })

  it('includes that of a noun where a word only looks like a participle', () => {
    expect(nounStem(normalise('Geräten'))).toBe(nounStem(normalise('Gerät')))
  })

  it('is never empty', () => {
    for (const word of ['es', 'ge', 'zu', 'nnnn', 'eeee', 'tttttt', 'gesten', 'abgen', 'a']) {
      expect(stem(word)).not.toBe('')
    }
  })
})
