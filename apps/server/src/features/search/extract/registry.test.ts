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
    ['application/pdf', 'a', 'PDF'],
    ['application/octet-stream', 'report.PDF', 'PDF'],
    ['application/zip', 'offer.docx', 'Word (.docx)'],
    ['application/vnd.ms-excel', 'prices.csv', 'CSV and TSV'],
    ['application/problem+json', 'a', 'JSON and YAML'],
    ['text/plain', 'page.mdx', 'MDX'],
    ['text/yaml', 'settings', 'JSON and YAML'],
    ['application/epub+zip', 'book', 'EPUB'],
    ['message/rfc822', 'mail', 'e-mail (.eml)'],
  ])('%s %s is read as %s', (contentType, key, name) => {
    expect(formatOf(contentType, key).name).toBe(name)
  })

  test.each([
    ['application/msword', 'a.doc', 'save the document as .docx'],
    ['application/vnd.ms-excel', 'a.xls', 'Save the workbook as .xlsx'],
    ['application/octet-stream', 'a.ppt', 'save the slides as .pptx'],
    ['image/png', 'a.png', 'text recognition'],
    ['application/octet-stream', 'scan.JPG', 'text recognition'],
    ['text/rtf', 'a.rtf', 'Save the document as .docx or PDF'],
    ['application/zip', 'all.zip', 'Unpack the archive'],
    ['video/mp4', 'a', 'transcript'],
    ['application/xml', 'a.xml', 'to JSON or CSV'],
  ])('%s %s is refused with what would help', (contentType, key, advice) => {
    expect(() => formatOf(contentType, key)).toThrow(ExtractionError)
    expect(() => formatOf(contentType, key)).toThrow(advice)
  })

  test('what nobody has heard of is refused with what can be read', () => {
    expect(() => formatOf('application/x-cad', 'a.cad')).toThrow(
      /x-cad \(\.cad\) cannot be indexed, only Markdown, .* and plain text\. Convert/,
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
