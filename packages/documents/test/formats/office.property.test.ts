import fc from 'fast-check'
import { expect, test } from 'vitest'
import '../property-tests.js'
import { docx, odt, part, pptx, shape } from '../office.js'
import { blocksOf } from '../outline.js'

/** What stands between two words of a paragraph. */
const separators = ['space', 'tab', 'line', 'page', 'raised', 'formula', 'link'] as const
type Separator = (typeof separators)[number]

/** A paragraph: a word, and for each further one what stands before it. */
type Line = Separator[]
type Block =
  | { type: 'paragraph'; line: Line }
  | { type: 'heading'; line: Line }
  | { type: 'list'; items: { level: number; ordered: boolean; line: Line }[] }
  | { type: 'table'; rows: Cell[][] }
/** A cell of so many columns. */
interface Cell {
  span: number
  lines: Line[]
}

const line = fc.array(fc.constantFrom(...separators), { maxLength: 4 })
const cell = fc.record({
  span: fc.integer({ min: 1, max: 3 }),
  lines: fc.array(line, { maxLength: 3 }),
})
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant('paragraph' as const), line }),
  fc.record({ type: fc.constant('heading' as const), line }),
  fc.record({
    type: fc.constant('list' as const),
    items: fc.array(fc.record({ level: fc.nat(3), ordered: fc.boolean(), line }), {
      minLength: 1,
      maxLength: 6,
    }),
  }),
  fc.record({
    type: fc.constant('table' as const),
    rows: fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
  }),
)
const tree = fc.array(block, { minLength: 1, maxLength: 8 })

/** How a format writes the parts of a document. */
interface Writing {
  word(text: string, before: Separator | undefined): string
  paragraph(words: string): string
  heading(words: string): string
  item(words: string, level: number, ordered: boolean): string
  table(rows: string[]): string
  row(cells: string[]): string
  cell(paragraphs: string[], span: number): string
}

/** Writes a document, and returns it with its words in order. */
function write(blocks: readonly Block[], how: Writing): { content: string; words: string[] } {
  const words: string[] = []
  const write = (separators: Line): string =>
    [undefined, ...separators]
      .map((before) => {
        const word = `word${words.length}z`
        words.push(word)
        return how.word(word, before)
      })
      .join('')
  const content = blocks.map((each): string => {
    switch (each.type) {
      case 'paragraph':
        return how.paragraph(write(each.line))
      case 'heading':
        return how.heading(write(each.line))
      case 'list':
        return each.items
          .map((item) => how.item(write(item.line), item.level, item.ordered))
          .join('')
      default:
        return how.table(
          each.rows.map((row) =>
            how.row(
              row.map(({ lines, span }) =>
                how.cell(
                  lines.map((one) => how.paragraph(write(one))),
                  span,
                ),
              ),
            ),
          ),
        )
    }
  })
  return { content: content.join(''), words }
}

/** The words that were read, each where it stands first: merged cells repeat theirs. */
async function readWords(key: string, content: Buffer): Promise<string[]> {
  const text = (await blocksOf(key, content)).join('\n\n')
  return [...new Set(text.match(/[\p{L}\p{N}]*word[\p{L}\p{N}]*/gu))]
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
}
const wordWriting: Writing = {
  word: (text, before) => (before === undefined ? wordRun(text) : wordMarks[before](text)),
  paragraph: (words) => `<w:p>${words}</w:p>`,
  heading: (words) => `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>${words}</w:p>`,
  item: (words, level, ordered) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${ordered ? 2 : 1}"/></w:numPr></w:pPr>${words}</w:p>`,
  table: (rows) => `<w:tbl>${rows.join('')}</w:tbl>`,
  row: (cells) => `<w:tr>${cells.join('')}</w:tr>`,
  cell: (paragraphs, span) =>
    `<w:tc><w:tcPr><w:gridSpan w:val="${span}"/></w:tcPr>${paragraphs.join('')}</w:tc>`,
}
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
}
const textWriting: Writing = {
  word: (text, before) => (before === undefined ? text : textMarks[before](text)),
  paragraph: (words) => `<text:p>${words}</text:p>`,
  heading: (words) => `<text:h text:outline-level="1">${words}</text:h>`,
  item: (words, level, ordered) =>
    `<text:list text:style-name="${ordered ? 'Numbers' : 'Bullets'}" text:continue-numbering="true">${'<text:list-item><text:list>'.repeat(level)}<text:list-item><text:p>${words}</text:p></text:list-item>${'</text:list></text:list-item>'.repeat(level)}</text:list>`,
  table: (rows) => `<table:table>${rows.join('')}</table:table>`,
  row: (cells) => `<table:table-row>${cells.join('')}</table:table-row>`,
  cell: (paragraphs, span) =>
    `<table:table-cell table:number-columns-spanned="${span}">${paragraphs.join('')}</table:table-cell>${'<table:covered-table-cell/>'.repeat(span - 1)}`,
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
}
const slideWriting: Writing = {
  word: (text, before) => (before === undefined ? slideRun(text) : slideMarks[before](text)),
  paragraph: (words) => `<a:p>${words}</a:p>`,
  heading: (words) => shape('type="title"', `<a:p>${words}</a:p>`),
  item: (words, level, ordered) =>
    shape(
      '',
      `<a:p><a:pPr lvl="${level}">${ordered ? '<a:buAutoNum type="romanUcPeriod"/>' : '<a:buChar char="•"/>'}</a:pPr>${words}</a:p>`,
    ),
  table: (rows) =>
    `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows.join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`,
  row: (cells) => `<a:tr>${cells.join('')}</a:tr>`,
  cell: (paragraphs, span) =>
    `<a:tc gridSpan="${span}"><a:txBody>${paragraphs.join('')}</a:txBody></a:tc>${'<a:tc hMerge="1"/>'.repeat(span - 1)}`,
}

test('no word of a Word document is lost, moved or glued', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (blocks) => {
      const { content, words } = write(blocks, wordWriting)
      const file = docx(content, { 'word/numbering.xml': wordNumbering })
      expect(await readWords('a.docx', file)).toEqual(words)
    }),
  )
})

test('no word of an OpenDocument text is lost, moved or glued', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (blocks) => {
      const { content, words } = write(blocks, textWriting)
      expect(await readWords('a.odt', odt(content, '', textStyles))).toEqual(words)
    }),
  )
})

test('no word of a presentation is lost, moved or glued', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (blocks) => {
      // A slide shows its title first, so each block has a slide of its own.
      const slides: string[] = []
      const words: string[] = []
      for (const each of blocks) {
        const one = write([each], {
          ...slideWriting,
          paragraph: (text) =>
            each.type === 'table' ? `<a:p>${text}</a:p>` : shape('', `<a:p>${text}</a:p>`),
        })
        const renamed = (text: string) => text.replace(/word(\d+)z/g, `word${slides.length}x$1z`)
        words.push(...one.words.map(renamed))
        slides.push(renamed(one.content))
      }
      expect(await readWords('a.pptx', pptx(slides))).toEqual(words)
    }),
  )
})
