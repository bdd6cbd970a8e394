import { describe, expect, it } from 'vitest'
import { shownName } from './name.js'

describe('names that others chose', () => {
  it('write out what would rearrange them', () => {
    expect(shownName('invoice_\u202efdp.exe')).toBe('invoice_[U+202E]fdp.exe')
    expect(shownName('\u2068a\u2069\u202a\u202c')).toBe('[U+2068]a[U+2069][U+202A][U+202C]')
    expect(shownName('exe\u200f.\u200fpdf \u05d0')).toBe('exe[U+200F].[U+200F]pdf \u05d0')
    expect(shownName('1\u061c.2')).toBe('1[U+061C].2')
  })

  it('keep marks of direction beside letters of right-to-left scripts', () => {
    for (const name of [
      '\u05d7\u05e9\u05d1\u05d5\u05df!\u200f',
      '\u200f(2) \u0641\u0627\u062a\u0648\u0631\u0629',
      'Ada \u{1f600} \u200d',
    ]) {
      expect(shownName(name)).toBe(name)
    }
  })
})
