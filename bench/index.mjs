// The cost of indexing a file of each format, against the bare parser of the format.
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { chunkDocument, extract } from '@botstead/documents'
import { toIndexFields } from '@botstead/documents/text'
import { tsImport } from 'tsx/esm/api'
import { sized } from './size.mjs'

const ofDocuments = createRequire(new URL('../packages/documents/package.json', import.meta.url))
const options = { maxLength: 1200, minParagraphLength: 200, maxPassages: 50_000 }
const rounds = sized(5, 1)
/** Sections of a manual, pages of a PDF, and records of a table. */
const sections = sized(120, 6)
const pages = sized(200, 5)
const recordCount = sized(12_000, 100)
const words =
  'The station runs at a pressure of about four bar and must be serviced once a year by trained staff with the tools that are described below while no water may enter'.split(
    ' ',
  )

/** Text that is the same in every run and does not repeat itself. */
function createProse() {
  let state = 1
  const next = (limit) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
  const sentence = () => {
    const chosen = Array.from({ length: 9 + next(9) }, () => words[next(words.length)])
    return `Pump ${next(10_000)} ${chosen.join(' ')}.`
  }
  return (sentences) => Array.from({ length: sentences }, sentence).join(' ')
}

/** A manual of sections with paragraphs and tables, in the syntax of each format. */
function manual(write, length) {
  const prose = createProse()
  const parts = []
  for (let section = 1; section <= length; section++) {
    parts.push(write.heading(`Section ${section}`))
    for (let i = 0; i < 6; i++) parts.push(write.paragraph(prose(5)))
    const rows = Array.from({ length: 10 }, (_, row) => [
      `P-${section}-${row}`,
      prose(1),
      `${row}.50`,
    ])
    parts.push(write.table([['Code', 'Use', 'Price'], ...rows]))
  }
  return parts.join('\n')
}

const markdown = {
  heading: (text) => `## ${text}\n`,
  paragraph: (text) => `${text}\n`,
  table: (rows) => {
    const lines = rows.map((row) => `| ${row.join(' | ')} |`)
    return [lines[0], '| --- | --- | --- |', ...lines.slice(1), ''].join('\n')
  },
}
const html = {
  heading: (text) => `<h2>${text}</h2>`,
  paragraph: (text) => `<p>${text}</p>`,
  table: (rows) =>
    `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`,
}

async function samples() {
  const office = await tsImport('../packages/documents/test/office.ts', import.meta.url)
  const prose = createProse()
  const word = {
    heading: (text) => office.wordParagraph(text, '<w:pStyle w:val="berschrift1"/>'),
    paragraph: (text) => office.wordParagraph(text),
    table: (rows) => office.wordTable(rows),
  }
  const records = Array.from({ length: recordCount }, (_, at) => ({
    code: `P-${at}`,
    use: prose(1),
  }))
  const row = ({ code, use }, at) =>
    `<row r="${at + 1}"><c r="A${at + 1}" t="inlineStr"><is><t>${code}</t></is></c><c r="B${at + 1}" t="inlineStr"><is><t>${use}</t></is></c></row>`
  return {
    'text.pdf': await pdfManual(),
    'text.md': Buffer.from(manual(markdown, sections)),
    'text.html': Buffer.from(`<main>${manual(html, sections)}</main>`),
    'text.docx': office.docx(manual(word, sections)),
    'text.epub': office.epub(Array.from({ length: sections / 6 }, () => manual(html, 6))),
    'data.xlsx': office.xlsx({ Data: records.map(row).join('') }),
    'data.csv': Buffer.from(records.map(({ code, use }) => `${code};${use}`).join('\n')),
    'data.json': Buffer.from(JSON.stringify(records)),
  }
}

/** Pages with running headers, page numbers and headings. */
async function pdfManual() {
  const PDFDocument = ofDocuments('pdfkit')
  const document = new PDFDocument({ size: 'A4', margin: 60 })
  const content = buffer(Readable.from(document))
  const prose = createProse()
  for (let page = 1; page <= pages; page++) {
    if (page > 1) document.addPage()
    document.font('Helvetica').fontSize(8).text(`Manual of the station, page ${page}`, 60, 30)
    document.font('Helvetica-Bold').fontSize(15).text(`Section ${page}`, 60, 60)
    document.font('Helvetica').fontSize(10.5)
    for (let i = 0; i < 5; i++) document.text(prose(5)).moveDown()
  }
  document.end()
  return await content
}

/** The bare parser of each format: reads everything, keeps nothing. */
const bareParsers = {
  async pdf(bytes) {
    const { getDocument } = await import('unpdf/pdfjs')
    const settings = { disableFontFace: true, useSystemFonts: false, verbosity: 0 }
    const document = await getDocument({ data: new Uint8Array(bytes), ...settings }).promise
    for (let page = 1; page <= document.numPages; page++) {
      const opened = await document.getPage(page)
      await opened.getTextContent()
      opened.cleanup()
    }
  },
  async md(bytes) {
    const { default: createParser } = await import('markdown-it')
    createParser({ html: true }).parse(bytes.toString(), {})
  },
  async html(bytes) {
    const { parse } = await import('parse5')
    parse(bytes.toString())
  },
  docx: (bytes) => unpackAndParse(bytes, /document\.xml$/),
  xlsx: (bytes) => unpackAndParse(bytes, /sheet\d+\.xml$/),
  epub: (bytes) => unpackAndParse(bytes, /\.xhtml$/),
  async csv(bytes) {
    const { parse } = await import('csv-parse/sync')
    parse(bytes.toString(), { delimiter: ';' })
  },
  async json(bytes) {
    JSON.parse(bytes.toString())
  },
}

async function unpackAndParse(bytes, wanted) {
  const { fromBufferPromise } = await import('yauzl')
  const { SaxesParser } = await import('saxes')
  const zip = await fromBufferPromise(bytes, { lazyEntries: true })
  for await (const entry of zip.eachEntry()) {
    if (!wanted.test(entry.fileName)) continue
    const content = await buffer(await zip.openReadStreamPromise(entry))
    new SaxesParser({ position: false }).write(content.toString()).close()
  }
}

/** Milliseconds of processor time, the best of several runs, because others may use the machine. */
async function processorTime(work) {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    if (round > 0) best = Math.min(best, (user + system) / 1000)
  }
  return best
}

/** Rows for the table: reading and cutting against the bare parser, and the words for the index. */
export async function measureIndexing() {
  const rows = []
  for (const [key, bytes] of Object.entries(await samples())) {
    const format = key.split('.')[1]
    const source = { bytes, contentType: '', key }
    let passages = []
    const bare = await processorTime(() => bareParsers[format](bytes))
    const cut = await processorTime(async () => {
      passages = chunkDocument(await extract(source), options)
    })
    const indexed = await processorTime(async () => {
      for (const passage of passages) toIndexFields(passage, key)
    })
    const characters = passages.reduce((sum, { content }) => sum + content.length, 0)
    const perMegabyte = Math.round((cut + indexed) / (characters / 1e6))
    rows.push({
      work: `${format} to ${passages.length} passages`,
      figure: `${Math.round(cut)} ms, index words ${Math.round(indexed)} ms, ${perMegabyte} ms per MB of text`,
      against: `its parser alone, ${Math.round(bare)} ms`,
      ratio: bare / cut,
      ...(format === 'pdf' && { budget: 0.7 }),
    })
  }
  return rows
}
