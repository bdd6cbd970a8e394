import { describe, expect, it } from 'vitest'
import {
  contentTypeOf,
  expiryOf,
  metadataOf,
  requireIndexableKey,
  requireIndexableTags,
  requireSize,
} from './rules.js'

const now = Date.parse('2026-03-01T12:00:30.000Z')

describe('the media type of a content', () => {
  it.each([
    ['guide.md', 'text/markdown'],
    ['a/b/page.HTML', 'text/html'],
    ['notes.txt', 'text/plain'],
    ['manual.pdf', 'application/pdf'],
    ['archive.tar.gz', 'application/gzip'],
    ['README', 'application/octet-stream'],
    ['md', 'application/octet-stream'],
    ['.md', 'application/octet-stream'],
    ['a.unknown-extension', 'application/octet-stream'],
    ['dir.md/file', 'application/octet-stream'],
  ])('of %s is %s', (key, expected) => {
    expect(contentTypeOf({ key })).toBe(expected)
  })

  it('is the one that the caller gives', () => {
    const contentType = 'text/plain; charset=iso-8859-1'
    expect(contentTypeOf({ key: 'a.md', contentType })).toBe(contentType)
    expect(contentTypeOf({ key: 'a.md', contentType: ' ' })).toBe('text/markdown')
  })

  it.each(['text', 'text/', '/plain', 'text/plain\r\nx-evil: 1', 'text/plain; a=\0', 'tëxt/plain'])(
    'is not %j',
    (contentType) => {
      expect(() => contentTypeOf({ key: 'a', contentType })).toThrow('body.contentType must be')
    },
  )
})

describe('the expiry of a file', () => {
  it.each([
    ['2026-03-01T12:01:59.999Z', '2026-03-01T12:01:00.000Z'],
    ['2026-03-01T14:01:00+02:00', '2026-03-01T12:01:00.000Z'],
    ['2026-05-30T12:00:30.000Z', '2026-05-30T12:00:00.000Z'],
  ])('%s counts as %s', (given, expected) => {
    expect(expiryOf(given, now)).toBe(expected)
  })

  it('is absent without a time', () => {
    expect(expiryOf(undefined, now)).toBeNull()
  })

  it.each([
    ['2026-03-01T12:00:59.000Z', 'in the future'],
    ['2026-02-28T12:00:00.000Z', 'in the future'],
    ['2026-05-30T12:01:00.000Z', 'at most 90 days'],
    ['2026-13-01T12:01:00.000Z', 'a time that exists'],
  ])('%s is refused: %s', (given, rule) => {
    expect(() => expiryOf(given, now)).toThrow(rule)
  })
})

describe('the size of a content', () => {
  const limits = { fileBytes: 100, indexedFileBytes: 10 }

  it('is bounded, and tighter with index', () => {
    expect(() => requireSize({ size: 101 }, limits)).toThrow('at most 100')
    expect(() => requireSize({ size: 11, index: true }, limits)).toThrow('at most 10 with index')
    requireSize({ size: 100 }, limits)
    requireSize({ size: 10, index: true }, limits)
  })
})

describe('the metadata of a file', () => {
  it('contains the indexing options, unless the caller sets that name', () => {
    const indexing = { configuration: { chunking: { maximumChunkLength: 500 } } }
    expect(metadataOf({})).toEqual({})
    expect(metadataOf({ indexing, metadata: { a: [1] } })).toEqual({ indexing, a: [1] })
    expect(metadataOf({ indexing, metadata: { indexing: 'mine' } })).toEqual({ indexing: 'mine' })
  })
})

describe('keys and tags that stand in an index', () => {
  const check = (input: { key: string; tags?: Record<string, string> }) => {
    requireIndexableKey(input.key, 'body.key')
    requireIndexableTags(input.tags)
  }

  it.each([
    ['a key', { key: '庑'.repeat(683) }, 'body.key must have at most 2048 bytes of UTF-8.'],
    [
      'a tag',
      { key: 'a', tags: { ['🙂'.repeat(200)]: '🙂'.repeat(400) } },
      `body.tags.${'🙂'.repeat(200)} must have at most 2048 bytes of UTF-8 in name and value together.`,
    ],
  ])('refuse %s with too many bytes', (_, input, message) => {
    expect(() => check(input)).toThrow(message)
  })

  it('accept as many bytes as allowed', () => {
    const tags = { ['🙂'.repeat(200)]: '🙂'.repeat(312) }
    expect(() => check({ key: '🙂'.repeat(512), tags })).not.toThrow()
  })
})
