import type { Token } from 'markdown-it'
import type {
  BlockContent,
  Heading,
  List,
  ListItem,
  PhrasingContent,
  Table,
  TableCell,
  TableRow,
} from 'mdast'
import { append } from '../document/append.js'
import type { Omissions } from '../document/omissions.js'
import { withoutBreakMarks } from './phrases.js'

/** A formula in lines of its own. */
export const formulaToken = 'formula_block'
/** Characters of an address that tell which picture it is. */
const maxNameLength = 200

/** Reads the HTML in a document. */
export interface HtmlReader {
  blocks(html: string): BlockContent[]
  phrases(html: string): PhrasingContent[]
}

/** Everything that reading tokens needs besides them. */
export interface MarkdownContext {
  html: HtmlReader
  /** The HTML of tokens that HTML encloses, such as Markdown in the cell of a table. */
  render(tokens: readonly Token[]): string
  renderInline(tokens: readonly Token[]): string
  omissions: Omissions
}

/** A position in the flat list of tokens with which the parser describes the tree. */
interface Cursor {
  tokens: readonly Token[]
  index: number
  context: MarkdownContext
  /** Whether a table of HTML is known not to end: searching again each time would take quadratic time. */
  isUnended?: boolean
}

/** Builds the tree from a list of block tokens. */
export function toBlocks(tokens: readonly Token[], context: MarkdownContext): BlockContent[] {
  return readBlocks({ tokens, index: 0, context })
}

/** Reads up to and including the end of the container that the cursor is in. */
function readBlocks(cursor: Cursor): BlockContent[] {
  const blocks: BlockContent[] = []
  for (let token = next(cursor); token !== undefined; token = next(cursor)) {
    if (token.nesting === -1) break
    append(blocks, readBlock(token, cursor))
  }
  return blocks
}

function readBlock(token: Token, cursor: Cursor): BlockContent[] {
  switch (token.type) {
    case 'paragraph_open':
      return [{ type: 'paragraph', children: readInline(cursor) }]
    case 'heading_open':
      return [{ type: 'heading', depth: headingDepth(token.tag), children: readInline(cursor) }]
    case 'blockquote_open':
      return [{ type: 'blockquote', children: readBlocks(cursor) }]
    case 'bullet_list_open':
      return [toList({ ordered: false }, cursor)]
    case 'ordered_list_open':
      return [toList({ ordered: true, start: Number(attribute(token, 'start') ?? 1) }, cursor)]
    case 'table_open':
      return [readTable(cursor)]
    case 'fence':
      return [{ type: 'code', lang: token.info.trim() || null, value: withoutLastBreak(token) }]
    case 'code_block':
      return [{ type: 'code', value: withoutLastBreak(token) }]
    case 'html_block':
      return readHtmlBlock(token, cursor)
    case formulaToken:
      return [{ type: 'paragraph', children: [{ type: 'text', value: token.content }] }]
    case 'hr':
      return [{ type: 'thematicBreak' }]
    default:
      return token.nesting === 1 ? readBlocks(cursor) : []
  }
}

function toList(list: Pick<List, 'ordered' | 'start'>, cursor: Cursor): List {
  const children: ListItem[] = []
  let spread = false
  for (let token = next(cursor); token?.nesting === 1; token = next(cursor)) {
    // The parser marks the paragraphs of a list without blank lines between its items as hidden.
    const first = cursor.tokens[cursor.index]
    spread ||= first?.type === 'paragraph_open' && !first.hidden
    children.push({ type: 'listItem', children: readBlocks(cursor) })
  }
  return { type: 'list', ...list, spread, children }
}

function readTable(cursor: Cursor): Table {
  const rows: TableRow[] = []
  for (let token = next(cursor); token !== undefined; token = next(cursor)) {
    if (token.type === 'table_close') break
    if (token.type === 'tr_open') rows.push({ type: 'tableRow', children: readCells(cursor) })
  }
  return { type: 'table', children: rows }
}

function readCells(cursor: Cursor): TableCell[] {
  const cells: TableCell[] = []
  for (let token = next(cursor); token?.nesting === 1; token = next(cursor)) {
    cells.push({ type: 'tableCell', children: readInline(cursor) })
  }
  return cells
}

/** The inline content of a block that has no other content, up to and including its end. */
function readInline(cursor: Cursor): PhrasingContent[] {
  const children: PhrasingContent[] = []
  for (let token = next(cursor); token !== undefined; token = next(cursor)) {
    if (token.nesting === -1) break
    if (token.type === 'inline')
      append(children, toInlineNodes(token.children ?? [], cursor.context))
  }
  return children
}

function next(cursor: Cursor): Token | undefined {
  const token = cursor.tokens[cursor.index]
  cursor.index += 1
  return token
}

/** Reads a block of HTML. One that begins a table is read up to the end of the table, Markdown in its cells included. */
function readHtmlBlock(token: Token, cursor: Cursor): BlockContent[] {
  const { context } = cursor
  const end = opensTable(token) > 0 ? endOfTable(token, cursor) : undefined
  if (end === undefined) return context.html.blocks(token.content)
  const rest = cursor.tokens.slice(cursor.index, end)
  cursor.index = end
  return context.html.blocks(token.content + context.render(rest))
}

/** The number of tables that a block of HTML begins and does not end. */
function opensTable({ content }: Token): number {
  return (content.match(/<table\b/gi)?.length ?? 0) - (content.match(/<\/table\s*>/gi)?.length ?? 0)
}

function endOfTable(token: Token, cursor: Cursor): number | undefined {
  if (cursor.isUnended === true) return undefined
  let open = opensTable(token)
  let depth = 0
  for (let at = cursor.index; at < cursor.tokens.length; at += 1) {
    const next = cursor.tokens[at]
    if (next === undefined) break
    depth += next.nesting
    if (depth < 0) break
    if (next.type === 'html_block') open += opensTable(next)
    if (open <= 0 && depth === 0) return at + 1
  }
  cursor.isUnended = true
  return undefined
}

function headingDepth(tag: string): Heading['depth'] {
  const depths = [1, 2, 3, 4, 5, 6] as const
  return depths.find((depth) => tag === `h${depth}`) ?? 6
}

function attribute(token: Token, name: string): string | number | undefined {
  return token.attrs?.find(([key]) => key === name)?.[1]
}

function withoutLastBreak(token: Token): string {
  return token.content.replace(/\n$/, '')
}

interface InlineCursor {
  tokens: readonly Token[]
  index: number
  context: MarkdownContext
}

/** Tags that mean the same without others around them. */
const singleTag = /^<(?:br[\s/>]|img\s|!--)/i

/** Builds inline nodes from a list of inline tokens. */
function toInlineNodes(tokens: readonly Token[], context: MarkdownContext): PhrasingContent[] {
  const hasHtml = tokens.some(
    ({ type, content }) => type === 'html_inline' && !singleTag.test(content),
  )
  if (hasHtml) return context.html.phrases(context.renderInline(tokens))
  return readPhrasing({ tokens, index: 0, context })
}

function readPhrasing(cursor: InlineCursor): PhrasingContent[] {
  const nodes: PhrasingContent[] = []
  while (cursor.index < cursor.tokens.length) {
    const token = cursor.tokens[cursor.index]
    cursor.index += 1
    if (token === undefined || token.nesting === -1) break
    append(nodes, readPhrase(token, cursor))
  }
  return nodes
}

function readPhrase(token: Token, cursor: InlineCursor): PhrasingContent[] {
  switch (token.type) {
    case 'softbreak':
      return [{ type: 'text', value: '\n' }]
    case 'hardbreak':
      return [{ type: 'break' }]
    case 'code_inline':
      return [{ type: 'inlineCode', value: token.content }]
    case 'em_open':
      return [{ type: 'emphasis', children: readPhrasing(cursor) }]
    case 'strong_open':
      return [{ type: 'strong', children: readPhrasing(cursor) }]
    case 's_open':
      return [{ type: 'delete', children: readPhrasing(cursor) }]
    case 'link_open':
      return [
        {
          type: 'link',
          url: String(attribute(token, 'href') ?? ''),
          children: readPhrasing(cursor),
        },
      ]
    case 'image':
      return [toImage(attribute(token, 'src'), token.content, attribute(token, 'title'), cursor)]
    case 'html_inline':
      return fromTag(token.content, cursor)
    default:
      if (token.nesting === 1) return readPhrasing(cursor)
      return token.content === '' ? [] : [{ type: 'text', value: withoutBreakMarks(token.content) }]
  }
}

function toImage(
  src: string | number | undefined,
  text: string,
  title: string | number | undefined,
  { context }: InlineCursor,
): PhrasingContent {
  const url = String(src ?? '')
  const alt = text.trim() === '' ? String(title ?? '') : text
  if (alt.trim() === '') {
    const part = url.slice(0, maxNameLength)
    context.omissions.add('picture_without_text', part === '' ? undefined : { part })
  }
  return { type: 'image', url, alt }
}

/** `<br>` and `<img>` are the two inline tags with content of their own. */
function fromTag(tag: string, cursor: InlineCursor): PhrasingContent[] {
  if (/^<br[\s/>]/i.test(tag)) return [{ type: 'break' }]
  return /^<img\s/i.test(tag) ? cursor.context.html.phrases(tag) : []
}
