import { describe, expect, test } from 'vitest'
import { ExtractionError } from '../src/document/extraction.js'
import { extract, formatOf } from '../src/read-document.js'
import { docx, pptx, shape, wordParagraph } from './office.js'

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
    ['text/x-python', 'tool.py', 'source code'],
    ['text/x-notes', 'tool.xyz', 'plain text'],
  ])('%s %s is read as %s', (contentType, key, name) => {
    expect(formatOf(contentType, key).name).toBe(name)
  })

  test.each([
    ['application/pdf', 'a', 'PDF'],
    ['application/octet-stream', 'report.PDF', 'PDF'],
    ['application/zip', 'offer.docx', 'Word (.docx)'],
    ['application/vnd.ms-excel', 'prices.csv', 'CSV and TSV'],
    ['application/problem+json', 'a', 'JSON and YAML'],
    ['application/xml', 'a.xml', 'XML'],
    ['application/rss+xml', 'news', 'XML'],
    ['image/svg+xml', 'plan.svg', 'HTML'],
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
    ['application/octet-stream', 'a.fods', 'Save the document as .odt, .ods'],
    ['application/zip', 'all.zip', 'Unpack the archive'],
    ['video/mp4', 'a', 'transcript'],
  ])('%s %s is refused with what would help', (contentType, key, advice) => {
    expect(() => formatOf(contentType, key)).toThrow(ExtractionError)
    expect(() => formatOf(contentType, key)).toThrow(advice)
  })

  test.each([
    ['video/mp2t', 'pump.ts', 'source code'],
    ['application/x-sql', 'parts.sql', 'source code'],
    ['application/x-subrip', 'talk.srt', 'subtitles'],
    ['application/toml', 'server.toml', 'settings (.ini, .toml)'],
    ['application/vnd.lotus-organizer', 'notes.org', 'Org, reStructuredText, AsciiDoc and TeX'],
    ['application/x-sh', 'start.sh', 'source code'],
    ['application/x-tex', 'manual.tex', 'Org, reStructuredText, AsciiDoc and TeX'],
    ['application/vnd.apple.keynote', 'server.key', 'plain text'],
    ['application/x-cad', 'a.cad', 'plain text'],
    ['application/mbox', 'all.mbox', 'e-mail (.eml)'],
    ['text/calendar', 'a.ics', 'calendar (.ics)'],
  ])('%s %s, whose type is a guess by its extension, is read as %s', (contentType, key, name) => {
    expect(formatOf(contentType, key).name).toBe(name)
  })

  test.each([
    [
      'application/x-cad',
      'a.cad',
      /x-cad \(\.cad\) cannot be indexed, only Markdown, .* and plain text\. Convert/,
    ],
    ['application/vnd.apple.keynote', 'talk.key', /Export the document as PDF/],
    ['video/mp2t', 'film.m2ts', /Upload a transcript/],
    ['video/mp2t', 'film.ts', /Upload a transcript/],
  ])('%s %s is refused if its content is binary', async (contentType, key, reason) => {
    const bytes = Buffer.from(Array.from({ length: 2048 }, (_, at) => (at * 167 + 13) % 256))
    await expect(extract({ bytes, contentType, key })).rejects.toMatchObject({
      failure: 'unsupported',
      message: expect.stringMatching(reason),
    })
    const text = { bytes: Buffer.from('The gasket fits.'), contentType, key }
    expect((await extract(text)).root.children).toHaveLength(1)
  })
})

/** The beginning of an archive that states its type, as OpenDocument and EPUB have it. */
const stored = (type: string) => `PK\x03\x04${'\0'.repeat(26)}mimetype${type}PK\x03\x04`

describe('a file of another format than its name says is refused with its format', () => {
  const refused = async (key: string, content: string | Buffer, contentType = '') => {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content
    const source = { bytes, contentType, key }
    const error = await extract(source).catch((reason: unknown) => reason)
    return error instanceof ExtractionError ? error.message : undefined
  }

  test.each([
    ['a.docx', '%PDF-1.7\n%âãÏÓ', 'Its content is a PDF, not Word (.docx): upload it as .pdf.'],
    ['a.md', '%PDF-1.7\n%âãÏÓ', 'Its content is a PDF, not Markdown: upload it as .pdf.'],
    ['a.pdf', '{"price": 3}', 'Its content is JSON, not PDF: upload it as .json.'],
    [
      'a.xlsx',
      'name;price\nA;3',
      'Its content is plain text, not Excel (.xlsx): upload it as .txt.',
    ],
    [
      'a.json',
      '<!DOCTYPE html><p>No',
      'Its content is a web page, not JSON and YAML: upload it as .html.',
    ],
    [
      'a.pdf',
      '\x89PNG\r\n\x1a\n\0\0',
      /^Its content is a PNG image, not PDF\. The text in pictures is not read/,
    ],
  ])('%s with %j', async (key, content, reason) => {
    expect(await refused(key, content)).toMatch(reason)
  })

  test.each([
    ['a.xlsx', docx(wordParagraph('Pump')), 'Word (.docx), not Excel (.xlsx): upload it as .docx.'],
    ['a.docx', pptx([shape('title', 'Pump')]), 'PowerPoint (.pptx), not Word (.docx)'],
    ['a.docx', stored('application/vnd.oasis.opendocument.text'), 'OpenDocument text (.odt), not'],
    ['a.pdf', stored('application/epub+zip'), 'EPUB, not PDF: upload it as .epub.'],
  ])('%s with a packed document of another program', async (key, content, reason) => {
    expect(await refused(key, content)).toContain(`Its content is ${reason}`)
  })

  test('if only the content type is wrong, the error names the right one', async () => {
    const reason = await refused('a.pdf', '%PDF-1.7\n', 'text/html')
    expect(reason).toBe(
      'Its content is a PDF, not HTML: upload it with the content type application/pdf.',
    )
  })

  test('a damaged file of the stated format, and broken JSON, keep their errors', async () => {
    expect(await refused('a.pdf', '%PDF-1.7\nnothing')).toContain('cannot be read as a PDF')
    expect(await refused('a.docx', 'PK\x03\x04\x14\0')).toContain('cannot be read as a Word')
    expect(await refused('a.json', '{"price": ')).not.toContain('Its content is')
    expect(await refused('a.pdf', '')).not.toContain('Its content is')
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
