import { assert, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentDisposition, fileNameOf } from './content-response.js'

describe('the Content-Disposition of a content', () => {
  it.each([
    ['image/png', 'inline'],
    ['text/plain; charset=utf-8', 'inline'],
    ['application/pdf', 'inline'],
    ['video/mp4', 'inline'],
    ['text/html', 'attachment'],
    ['TEXT/HTML', 'attachment'],
    ['image/svg+xml', 'attachment'],
    ['application/xhtml+xml', 'attachment'],
    ['text/xml', 'attachment'],
    ['text/javascript', 'attachment'],
    ['application/octet-stream', 'attachment'],
    ['image/png, text/html', 'attachment'],
  ])('of %s is %s', (contentType, kind) => {
    expect(contentDisposition('a', contentType)).toMatch(new RegExp(`^${kind};`))
  })

  it('names the file after the last segment of its key, in both notations', () => {
    expect(contentDisposition('docs/Grüße "1".txt', 'text/plain')).toBe(
      `inline; filename="Gr__e _1_.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%221%22.txt`,
    )
  })

  it.each([
    ['a/b/c.txt', 'c.txt'],
    ['a\\b.txt', 'b.txt'],
    ['a/..', 'file'],
    ['a/', 'file'],
    ['', 'file'],
    ['line\r\nbreak.txt', 'linebreak.txt'],
    ['.env', '.env'],
  ])('%j is saved as %j', (key, name) => {
    expect(fileNameOf(key)).toBe(name)
  })

  it('is one header of printable characters that preserves the name of any key', () => {
    assert(
      property(string({ unit: 'binary' }), (key) => {
        const header = contentDisposition(key, 'text/plain')
        const parts =
          /^inline; filename="([ !#-[\]-~]*)"; filename\*=UTF-8''([!#$&+.^_`|~0-9A-Za-z%-]+)$/.exec(
            header,
          )
        expect(parts, header).not.toBeNull()
        expect(decodeURIComponent(parts?.[2] ?? '')).toBe(fileNameOf(key))
      }),
    )
  })
})
