import { describe, expect, test } from 'vitest'
import { ExtractionError } from './extraction-error.js'
import { extract, formatOf } from './registry.js'

describe('formatOf', () => {
  test.each([
    ['text/markdown', 'notes', 'Markdown'],
    ['text/markdown; charset=utf-8', 'notes.txt', 'Markdown'],
    ['TEXT/HTML', 'page', 'HTML'],
    ['application/octet-stream', 'guide.MD', 'Markdown'],
    ['text/plain', 'guide.md', 'Markdown'],
    ['text/plain', 'dir.html/notes', 'plain text'],
    ['application/octet-stream', 'README', 'plain text'],
    ['', 'page.htm', 'HTML'],
    ['text/x-python', 'tool.py', 'plain text'],
  ])('%s %s is read as %s', (contentType, key, name) => {
    expect(formatOf(contentType, key).name).toBe(name)
  })

  test.each([
    ['application/pdf', 'a.pdf'],
    ['image/png', 'a.png'],
    ['text/rtf', 'a.rtf'],
    ['application/json', 'a'],
  ])('%s is refused with what would work', (contentType, key) => {
    expect(() => formatOf(contentType, key)).toThrow(ExtractionError)
    expect(() => formatOf(contentType, key)).toThrow(
      /cannot be indexed, only Markdown, HTML and plain text\. Convert/,
    )
  })
})

describe('extract', () => {
  test.each([
    ['no bytes', 'text/plain', ''],
    ['only blanks', 'text/markdown', ' \n\n\t'],
    ['only front matter', 'text/markdown', '---\nauthor: me\n---\n'],
    ['only markup', 'text/html', '<main><script>run()</script><div> </div></main>'],
  ])('%s is an empty document', async (_, contentType, content) => {
    const source = { bytes: Buffer.from(content), contentType, key: 'file' }
    await expect(extract(source)).rejects.toMatchObject({ failure: 'empty' })
  })

  test.each([
    ['quotes', 'text/markdown', '> '.repeat(100_000)],
    ['lists', 'text/markdown', '- '.repeat(100_000)],
    ['emphasis', 'text/markdown', `${'*a '.repeat(5000)}${' b*'.repeat(5000)}`],
    ['elements', 'text/html', '<div>'.repeat(100_000)],
    ['elements in Markdown', 'text/markdown', '<div>'.repeat(100_000)],
  ])('%s nested without end are refused', async (_, contentType, content) => {
    const source = { bytes: Buffer.from(`${content}x`), contentType, key: 'file' }
    await expect(extract(source)).rejects.toMatchObject({ failure: 'too_deep' })
  })
})
