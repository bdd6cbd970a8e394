import fc from 'fast-check'
import { expect, test } from 'vitest'
import '../property-tests.js'
import { docx, odt, part, pptx, shape } from '../office.js'
import { blocksOf } from '../outline.js'

/** The separators of two words of a paragraph. The word after `note` is that of a note. */
const separators = ['space', 'tab', 'line', 'page', 'raised', 'formula', 'link', 'note'] as const
type Separator = (typeof separators)[number]

/** A paragraph: a word, and each further one with the separator before it. */
type Line = Separator[]
type Block =
  | { type: 'paragraph' | 'heading'; line: Line }
  | { type: 'list'; items: { level: number; ordered: boolean; line: Line }[] }
  | { type: 'table'; rows: Row[] }
interface Row {
  cells: Cell[]
  /** Whether the first cell goes on in the row below, so that this has none of its own there. */
  isTall: boolean
}
/** A cell of so many columns. */
interface Cell {
  span: number
  blocks: Block[]
}

const line = fc.array(fc.constantFrom(...separators), { maxLength: 4 })
const { block } = fc.letrec<{ block: Block; table: Block; simple: Block }>((tie) => ({
  simple: fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constant('paragraph' as const), line }) },
    fc.record({ type: fc.constant('heading' as const), line }),
    fc.record({
      type: fc.constant('list' as const),
      items: fc.array(fc.record({ level: fc.nat(3), ordered: fc.boolean(), line }), {
        minLength: 1,
        maxLength: 6,
      }),
    }),
  ),
  table: fc.record({
    type: fc.constant('table' as const),
    rows: fc.array(
      fc.record({
        isTall: fc.boolean(),
        cells: fc.array(
          fc.record({
            span: fc.integer({ min: 1, max: 3 }),
            blocks: fc.array(tie('block'), { maxLength: 3 }),
          }),
          { minLength: 2, maxLength: 4 },
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  block: fc.oneof({ maxDepth: 2, depthSize: 'small' }, tie('simple'), tie('table')),
}))
/** A document, which has some text at least. */
const tree = fc
  .array(block, { maxLength: 7 })
  .map((blocks): Block[] => [{ type: 'paragraph', line: [] }, ...blocks])

/** The writer of a format for the parts of a document. */
interface Writing {
  word(text: string, before: Separator | undefined): string
  paragraph(words: string): string
  heading(words: string): string
  item(words: string, level: number, ordered: boolean): string
  table(rows: string[]): string
  row(cells: string[]): string
  /** @param down whether it begins a merged cell of two rows, or is the rest of one */
  cell(blocks: string[], span: number, down?: 'begin' | 'rest'): string
}

/** Writes a document, and returns it with its words in order, those of notes by themselves. */
function write(
  blocks: readonly Block[],
  how: Writing,
): { content: string; words: string[]; notes: string[] } {
  const words: string[] = []
  const notes: string[] = []
  const writeLine = (separators: Line): string =>
    [undefined, ...separators]
      .map((before) => {
        const list = before === 'note' ? notes : words
        const word = before === 'note' ? `note${notes.length}z` : `word${words.length}z`
        list.push(word)
        return how.word(word, before)
      })
      .join('')
  const writeRows = (rows: readonly Row[]) => {
    let isRest = false
    return rows.map(({ cells, isTall }, at) => {
      const isBegin: boolean = isTall && !isRest && at < rows.length - 1
      const written = cells.map(({ blocks, span }, column) => {
        if (column > 0) return how.cell(blocks.map(writeBlock), span)
        if (isRest) return how.cell([], 1, 'rest')
        return how.cell(blocks.map(writeBlock), isBegin ? 1 : span, isBegin ? 'begin' : undefined)
      })
      isRest = isBegin
      return how.row(written)
    })
  }
  const writeBlock = (each: Block): string => {
    switch (each.type) {
      case 'paragraph':
        return how.paragraph(writeLine(each.line))
      case 'heading':
        return how.heading(writeLine(each.line))
      case 'list':
        return each.items
          .map((item) => how.item(writeLine(item.line), item.level, item.ordered))
          .join('')
      default:
        return how.table(writeRows(each.rows))
    }
  }
  const content = blocks.map(writeBlock).join('')
  return { content, words, notes }
}

/** The words that were read, each where it stands first: merged cells repeat theirs. */
async function readWords(
  key: string,
  content: Buffer,
): Promise<{ words: string[]; notes: string[] }> {
  const text = (await blocksOf(key, content)).join('\n\n')
  const found = [...new Set(text.match(/[\p{L}\p{N}]*(?:word|note)[\p{L}\p{N}]*/gu))]
  const isNote = (word: string) => word.startsWith('note')
  return { words: found.filter((word) => !isNote(word)), notes: found.filter(isNote) }
}

const wordRun = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
const wordMarks: Readonly<Record<Separator, (text: string) => string>> = {
  space: (text) => wordRun(` ${text}`),
  tab: (text) => `<w:r><w:tab/></w:r>${wordRun(text)}`,
  line: (text) => `<w:r><w:cr/></w:r>${wordRun(text)}`,
  page: (text) => `<w:r><w:br w:type="page"/></w:r>${wordRun(text)}`,
  raised: (text) => wordRun(text, '<w:vertAlign w:val="superscript"/>') + wordRun('.'),
  formula: (text) =>
    `<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>${text}</m:t></m:r></m:den></m:f></m:oMath>`,
  link: (text) => `${wordRun(' ')}<w:hyperlink r:id="rId3">${wordRun(text)}</w:hyperlink>`,
  note: (text) => `<w:r><w:footnoteReference w:id="${10 + Number(/\d+/.exec(text)?.[0])}"/></w:r>`,
}
const wordWriting: Writing = {
  word: (text, before) => (before === undefined ? wordRun(text) : wordMarks[before](text)),
  paragraph: (words) => `<w:p>${words}</w:p>`,
  heading: (words) => `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>${words}</w:p>`,
  item: (words, level, ordered) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${ordered ? 2 : 1}"/></w:numPr></w:pPr>${words}</w:p>`,
  table: (rows) => `<w:tbl>${rows.join('')}</w:tbl>`,
  row: (cells) => `<w:tr>${cells.join('')}</w:tr>`,
  cell: (blocks, span, down) => {
    const merged =
      down === undefined ? '' : `<w:vMerge${down === 'begin' ? ' w:val="restart"' : ''}/>`
    return `<w:tc><w:tcPr><w:gridSpan w:val="${span}"/>${merged}</w:tcPr>${blocks.join('')}<w:p/></w:tc>`
  },
}
const wordNotes = (notes: readonly string[]) =>
  part(
    'w:footnotes',
    notes
      .map((word, at) => `<w:footnote w:id="${10 + at}"><w:p>${wordRun(word)}</w:p></w:footnote>`)
      .join(''),
  )
const levels = (format: string, text: (at: number) => string) =>
  Array.from(
    { length: 4 },
    (_, at) =>
      `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text(at)}"/></w:lvl>`,
  ).join('')
const wordNumbering = part(
  'w:numbering',
  `<w:abstractNum w:abstractNumId="1">${levels('bullet', () => '•')}</w:abstractNum><w:abstractNum w:abstractNumId="2">${levels('decimal', (at) => `%1.%${at + 1}`)}</w:abstractNum>` +
    '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>',
)

const textMarks: Readonly<Record<Separator, (text: string) => string>> = {
  space: (text) => ` ${text}`,
  tab: (text) => `<text:tab/>${text}`,
  line: (text) => `<text:line-break/>${text}`,
  page: (text) => `<text:line-break/><text:soft-page-break/>${text}`,
  raised: (text) => `<text:span text:style-name="Up">${text}</text:span>.`,
  formula: (text) =>
    `<draw:frame><draw:object><math><mfrac><mn>1</mn><mi>${text}</mi></mfrac></math></draw:object></draw:frame>`,
  link: (text) => `<text:s/><text:a xlink:href="https://pumps.example">${text}</text:a>`,
  note: (text) =>
    `<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>${text}</text:p></text:note-body></text:note>`,
}
const textWriting: Writing = {
  word: (text, before) => (before === undefined ? text : textMarks[before](text)),
  paragraph: (words) => `<text:p>${words}</text:p>`,
  heading: (words) => `<text:h text:outline-level="1">${words}</text:h>`,
  item: (words, level, ordered) =>
    `<text:list text:style-name="${ordered ? 'Numbers' : 'Bullets'}" text:continue-numbering="true">${'<text:list-item><text:list>'.repeat(level)}<text:list-item><text:p>${words}</text:p></text:list-item>${'</text:list></text:list-item>'.repeat(level)}</text:list>`,
  table: (rows) => `<table:table>${rows.join('')}</table:table>`,
  row: (cells) => `<table:table-row>${cells.join('')}</table:table-row>`,
  cell: (blocks, span, down) => {
    if (down === 'rest') return '<table:covered-table-cell/>'
    const rows = down === 'begin' ? ' table:number-rows-spanned="2"' : ''
    return `<table:table-cell table:number-columns-spanned="${span}"${rows}>${blocks.join('')}</table:table-cell>${'<table:covered-table-cell/>'.repeat(span - 1)}`
  },
}
const textStyles =
  '<style:style style:name="Up"><style:text-properties style:text-position="super 58%"/></style:style>' +
  `<text:list-style style:name="Numbers">${[1, 2, 3, 4].map((at) => `<text:list-level-style-number text:level="${at}" style:num-format="1" text:display-levels="${at}"/>`).join('')}</text:list-style>`

const slideRun = (text: string, properties = '') =>
  `<a:r><a:rPr ${properties}/><a:t>${text}</a:t></a:r>`
const slideMarks: Readonly<Record<Separator, (text: string) => string>> = {
  space: (text) => slideRun(` ${text}`),
  tab: (text) => slideRun(`\t${text}`),
  line: (text) => `<a:br/>${slideRun(text)}`,
  page: (text) => `<a:br/><a:br/>${slideRun(text)}`,
  raised: (text) => slideRun(text, 'baseline="30000"') + slideRun('.'),
  formula: (text) => `<a14:m>${wordMarks.formula(text)}</a14:m>`,
  link: (text) => slideRun(` ${text}`, 'b="1"'),
  note: (text) => slideRun(` ${text}`, 'i="1"'),
}
/** Slides have only paragraphs in cells, and headings as titles. */
const slideWriting: Writing = {
  word: (text, before) => (before === undefined ? slideRun(text) : slideMarks[before](text)),
  paragraph: (words) => `<a:p>${words}</a:p>`,
  heading: (words) => `<a:p>${words}</a:p>`,
  item: (words, level, ordered) =>
    `<a:p><a:pPr lvl="${level}">${ordered ? '<a:buAutoNum type="romanUcPeriod"/>' : '<a:buChar char="•"/>'}</a:pPr>${words}</a:p>`,
  table: (rows) =>
    `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows.join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`,
  row: (cells) => `<a:tr>${cells.join('')}</a:tr>`,
  cell: (blocks, span, down) => {
    const rows = { begin: 'rowSpan="2"', rest: 'vMerge="1"', none: '' }[down ?? 'none']
    return `<a:tc gridSpan="${span}" ${rows}><a:txBody>${blocks.join('')}</a:txBody></a:tc>${'<a:tc hMerge="1"/>'.repeat(span - 1)}`
  },
}

/** A block with the blocks of tables in cells in place of those tables. */
function withoutInnerTables(block: Block): Block {
  const inner = (each: Block): Block[] =>
    each.type === 'table'
      ? each.rows.flatMap(({ cells }) => cells.flatMap(({ blocks }) => blocks.flatMap(inner)))
      : [each]
  if (block.type !== 'table') return block
  const rows = block.rows.map((row) => ({
    ...row,
    cells: row.cells.map((cell) => ({ ...cell, blocks: cell.blocks.flatMap(inner) })),
  }))
  return { ...block, rows }
}

test('no word of a Word document is lost, moved or glued', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (blocks) => {
      const { content, ...written } = write(blocks, wordWriting)
      const parts = {
        'word/numbering.xml': wordNumbering,
        'word/footnotes.xml': wordNotes(written.notes),
      }
      expect(await readWords('a.docx', docx(content, parts))).toEqual(written)
    }),
    { numRuns: 50 },
  )
})

test('no word of an OpenDocument text is lost, moved or glued', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (blocks) => {
      const { content, ...written } = write(blocks, textWriting)
      expect(await readWords('a.odt', odt(content, '', textStyles))).toEqual(written)
    }),
    { numRuns: 50 },
  )
})

test('no word of a presentation is lost, moved or glued', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (blocks) => {
      // A slide shows its title first, so each block has a slide of its own.
      const slides: string[] = []
      const written: { words: string[]; notes: string[] } = { words: [], notes: [] }
      for (const each of blocks) {
        const one = write([withoutInnerTables(each)], slideWriting)
        const renamed = (text: string) =>
          text.replace(/(word|note)(\d+)z/g, `$1${slides.length}x$2z`)
        const text = shape(each.type === 'heading' ? 'type="title"' : '', one.content)
        written.words.push(...one.words.map(renamed))
        written.notes.push(...one.notes.map(renamed))
        slides.push(renamed(each.type === 'table' ? one.content : text))
      }
      expect(await readWords('a.pptx', pptx(slides))).toEqual(written)
    }),
    { numRuns: 50 },
  )
})
