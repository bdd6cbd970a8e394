import { describe, expect, it } from 'vitest'
import { escapeJson, escapeLine, escapeParsedJson, escapeText, printable } from './terminal-text.js'

const acting = [
  '\u0000',
  '\u0007',
  '\u001b',
  '\u007f',
  '\u0085',
  '\u009b',
  '\u061c',
  '\u200b',
  '\u200e',
  '\u200f',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
  '\ufeff',
  '\ud800',
  '\udc00',
]
const harmless = 'Größe "1" \\ 大小 👩‍👩‍👧 🏴 می‌خواهم é'

describe('a text for a terminal', () => {
  it.each(acting.map((each) => [each.charCodeAt(0).toString(16).padStart(4, '0'), each]))(
    'shows U+%s as an escape, and leaves it out of texts for reading',
    (code, character) => {
      const text = `a${character}b\tc\nd`
      expect(escapeLine(text)).toBe(`a\\u${code}b\\tc\\nd`)
      expect(escapeText(text)).toBe(`a\\u${code}b\tc\nd`)
      expect(printable(text)).toBe('ab\tc\nd')
    },
  )

  it('shows tags beyond the first plane as both halves', () => {
    expect(escapeLine('a\u{e0041}')).toBe('a\\udb40\\udc41')
  })

  it('has no end of a line but the line feed', () => {
    expect(escapeLine('a\rb\r\nc')).toBe('a\\rb\\r\\nc')
    expect(escapeText('a\rb\r\nc')).toBe('a\\rb\nc')
    expect(printable('a\rb\r\nc')).toBe('a\nb\nc')
  })

  it('keeps all that people write, and what is escaped already', () => {
    for (const show of [escapeLine, escapeText, printable]) {
      expect(show(harmless)).toBe(harmless)
      expect(show(escapeLine(acting.join('')))).toBe(escapeLine(acting.join('')))
    }
  })
})

describe('JSON for a terminal', () => {
  const value = { [`a${acting.join('')}`]: [acting.join(' '), harmless, '\\u001b', '\\', '\n\t'] }

  it.each([undefined, 2])(
    'has the same values and no control characters, with an indent of %s',
    (indent) => {
      const json = escapeJson(JSON.stringify(value, undefined, indent))
      expect(JSON.parse(json)).toEqual(value)
      expect(escapeText(json)).toBe(json)
    },
  )

  it('still shows escapes after a printer has parsed it', () => {
    const text = `\u001b[2J \\u001b \\\u009b \r ${harmless}\n\t`
    const parsed: { a: string } = JSON.parse(escapeParsedJson(JSON.stringify({ a: text })))
    expect(parsed.a).toBe(`\\u001b[2J \\u001b \\\\u009b \\r ${harmless}\n\t`)
  })
})
