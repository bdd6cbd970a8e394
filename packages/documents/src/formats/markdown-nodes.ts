import type { Token } from 'markdown-it'
import type {
  BlockContent,
  Heading,
  List,
  ListItem,
  PhrasingContent,
  RootContent,
  Table,
  TableCell,
  TableRow,
} from 'mdast'

/** Turns a fragment of HTML into nodes. */
export type HtmlReader = (html: string) => RootContent[]

/** A position in the flat list of tokens with which the parser describes the tree. */
interface Cursor {
  tokens: readonly Token[]
  index: number
  readHtml: HtmlReader
}

/** Builds the tree from a list of block tokens. */
export function toBlocks(tokens: readonly Token[], readHtml: HtmlReader): BlockContent[] {
  return readBlocks({ tokens, index: 0, readHtml })
}

/** Reads up to and including the end of the container that the cursor is in. */
function readBlocks(cursor: Cursor): BlockContent[] {
  const blocks: BlockContent[] = []
  for (let token = next(cursor); token !== undefined; token = next(cursor)) {
    if (token.nesting === -1) break
    blocks.push(...readBlock(token, cursor))
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
      return cursor.readHtml(token.content).flatMap(toBlock)
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
    if (token.type === 'inline') children.push(...toInlineNodes(token.children ?? []))
  }
  return children
}

function next(cursor: Cursor): Token | undefined {
  const token = cursor.tokens[cursor.index]
  cursor.index += 1
  return token
}

/** HTML yields blocks only, although the type of a root allows other nodes too. */
function toBlock(node: RootContent): BlockContent[] {
  switch (node.type) {
    case 'blockquote':
    case 'code':
    case 'heading':
    case 'list':
    case 'paragraph':
    case 'table':
    case 'thematicBreak':
      return [node]
    default:
      return []
  }
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
}

/** Builds inline nodes from a list of inline tokens. HTML tags are dropped, their content is kept. */
function toInlineNodes(tokens: readonly Token[]): PhrasingContent[] {
  return readPhrasing({ tokens, index: 0 })
}

function readPhrasing(cursor: InlineCursor): PhrasingContent[] {
  const nodes: PhrasingContent[] = []
  while (cursor.index < cursor.tokens.length) {
    const token = cursor.tokens[cursor.index]
    cursor.index += 1
    if (token === undefined || token.nesting === -1) break
    nodes.push(...readPhrase(token, cursor))
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
      return [{ type: 'image', url: String(attribute(token, 'src') ?? ''), alt: token.content }]
    case 'html_inline':
      return fromTag(token.content)
    default:
      if (token.nesting === 1) return readPhrasing(cursor)
      return token.content === '' ? [] : [{ type: 'text', value: token.content }]
  }
}

/** `<br>` and `<img>` are the two inline tags with content of their own. */
function fromTag(tag: string): PhrasingContent[] {
  if (/^<br[\s/>]/i.test(tag)) return [{ type: 'break' }]
  if (!/^<img\s/i.test(tag)) return []
  const alt = /\salt\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag)
  const src = /\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag)
  return [
    { type: 'image', url: src?.slice(1).find(Boolean) ?? '', alt: alt?.[1] ?? alt?.[2] ?? '' },
  ]
}
