import type {
  BlockContent,
  Heading,
  List,
  ListItem,
  Nodes,
  Paragraph,
  PhrasingContent,
  Root,
  RootContent,
  Table,
  TableCell,
  TableRow,
} from 'mdast'

/** Titles that programs write when nobody chose one. */
const meaninglessTitle =
  /^(untitled|powerpoint[ -]pr|presentation\d*$|document\d*$|microsoft |slide \d)/i

/** Depths of lists; deeper levels are put on the deepest. */
const maxListDepth = 12
const headingDepths = [1, 2, 3, 4, 5, 6] as const

/** A heading. Levels beyond the sixth become the sixth. */
export function heading(level: number, children: string | PhrasingContent[]): Heading {
  const depth = headingDepths[Math.min(Math.max(Math.trunc(level), 1), 6) - 1] ?? 6
  return { type: 'heading', depth, children: asPhrasing(children) }
}

export function paragraph(children: string | PhrasingContent[]): Paragraph {
  return { type: 'paragraph', children: asPhrasing(children) }
}

/** Cells of a table, empty ones included, up to which shorter rows are filled up. */
const maxFilledCells = 1_000_000

/** A table whose first row is its header. Shorter rows are filled up with empty cells. */
export function table(rows: readonly (readonly (string | PhrasingContent[])[])[]): Table {
  const longest = rows.reduce((most, row) => Math.max(most, row.length), 0)
  // One long row would make cells of all others: rows are left as they are.
  const columns = longest * rows.length <= maxFilledCells ? longest : 0
  const children = rows.map((row): TableRow => {
    const cells: TableCell[] = []
    for (let at = 0; at < Math.max(columns, row.length); at += 1) {
      cells.push({ type: 'tableCell', children: asPhrasing(row[at] ?? []) })
    }
    return { type: 'tableRow', children: cells }
  })
  return { type: 'table', children }
}

/** The number of cells in the tables among some blocks. */
export function cellsIn(blocks: readonly RootContent[]): number {
  return blocks
    .flatMap((block) => (block.type === 'table' ? block.children : []))
    .reduce((sum, row) => sum + row.children.length, 0)
}

/** The text of a comment with its author; an unknown author is an empty text. */
export function commentText(author: string, text: string): string {
  return author === '' ? `Comment: ${text}` : `Comment (${author}): ${text}`
}

/** Marks a node with the page on which it begins. */
export function onPage<Node extends RootContent | BlockContent>(node: Node, page: number): Node {
  node.data = { ...node.data, pageNumber: page }
  return node
}

function asPhrasing(children: string | PhrasingContent[]): PhrasingContent[] {
  if (typeof children !== 'string') return children
  return children === '' ? [] : [{ type: 'text', value: children }]
}

/** The text of a node without markup. */
export function plainText(node: Nodes): string {
  if (node.type === 'break') return '\n'
  if ('value' in node) return node.type === 'html' ? '' : node.value
  if ('alt' in node) return node.alt ?? ''
  return 'children' in node ? node.children.map(plainText).join('') : ''
}

/** The text of the first level 1 heading, in one line. */
export function firstHeading(root: Root): string | undefined {
  const heading = root.children.find((node) => node.type === 'heading' && node.depth === 1)
  const text = heading === undefined ? '' : plainText(heading).replace(/\s+/g, ' ').trim()
  return text === '' ? undefined : text
}

/**
 * Marks the first heading as the title of the whole document if the document states the same title elsewhere, so that
 * other headings of the first level are its sections.
 *
 * @returns the stated title, or else the first heading of the first level
 */
export function markTitle(root: Root, stated: string | undefined): string | undefined {
  const first = root.children.find((node) => node.type === 'heading')
  if (stated !== undefined && first?.depth === 1 && isSameTitle(plainText(first), stated)) {
    first.data = { ...first.data, isTitle: true }
  }
  return stated ?? firstHeading(root)
}

function isSameTitle(one: string, other: string): boolean {
  return lettersOf(one) !== '' && lettersOf(one) === lettersOf(other)
}

/** The words of a title without case and punctuation, by which titles are compared. */
export function lettersOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** A title in one line; undefined if it is empty or was filled in by a program. */
export function toTitle(text: string | undefined): string | undefined {
  const title = (text ?? '').replace(/\s+/g, ' ').trim()
  return title === '' || meaninglessTitle.test(title) ? undefined : title
}

/** A stretch of text in one format, a "run". Office programs often break a word into several. */
export interface Span {
  text: string
  bold?: boolean
  italic?: boolean
  /** Target of the link that the text belongs to. */
  url?: string
  /** A node that stands in place of the text, such as a break or an image. */
  node?: PhrasingContent
}

/** Inline nodes for spans. Adjacent spans of one format are joined. */
export function toPhrasing(spans: readonly Span[]): PhrasingContent[] {
  const joined: Span[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last !== undefined && isSameFormat(last, span)) last.text += span.text
    else if (span.node !== undefined || span.text !== '') joined.push({ ...span })
  }
  return joined.map(toNode)
}

/** The text of spans in one line. */
export function spanText(spans: readonly Span[]): string {
  return spans
    .map((span) => (span.node === undefined ? span.text : ' '))
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
}

function isSameFormat(a: Span, b: Span): boolean {
  if (a.node !== undefined || b.node !== undefined || a.url !== b.url) return false
  // Spaces between bold words are often not bold themselves.
  if (b.text.trim() === '') return true
  return a.bold === b.bold && a.italic === b.italic
}

function toNode(span: Span): PhrasingContent {
  if (span.node !== undefined) return span.node
  let node: PhrasingContent = { type: 'text', value: span.text }
  if (span.italic === true) node = { type: 'emphasis', children: [node] }
  if (span.bold === true) node = { type: 'strong', children: [node] }
  return span.url === undefined ? node : { type: 'link', url: span.url, children: [node] }
}

/** An item of a list as Office formats and PDF have it: with a level instead of a parent. */
export interface FlatListItem {
  /** From 0. */
  level: number
  ordered: boolean
  /** Number of the first item of an ordered list, 1 by default. */
  start?: number
  /** Number of this item in an ordered list: another one than the next begins a list. */
  number?: number
  content: Paragraph
  /** The blocks of the item below its first paragraph. */
  more?: BlockContent[]
}

/** Builds nested lists from flat items. Adjacent items of one level and kind share a list. */
export function buildList(items: readonly FlatListItem[]): BlockContent[] {
  const roots: BlockContent[] = []
  const path: List[] = []
  /** The levels of the lists in `path` as their items state them, of which some may be left out. */
  const levels: number[] = []
  for (const flat of items) {
    const depth = Math.min(depthOf(levels, flat.level), maxListDepth)
    levels.length = depth
    levels.push(flat.level)
    path.length = Math.min(path.length, depth + 1)
    let list = path[depth]
    if (list === undefined || !continues(list, flat)) {
      list = { type: 'list', ordered: flat.ordered, spread: false, children: [] }
      const start = flat.number ?? flat.start
      if (flat.ordered && start !== undefined) list.start = start
      const parent: ListItem | undefined = path[depth - 1]?.children.at(-1)
      if (parent === undefined) roots.push(list)
      else parent.children.push(list)
      path[depth] = list
    }
    const { content } = flat
    const page = content.data?.pageNumber
    const children = [content, ...(flat.more ?? [])]
    const item: ListItem = { type: 'listItem', spread: false, children }
    list.children.push(page === undefined ? item : onPage(item, page))
  }
  return roots
}

/** The depth of an item below the open lists, which is that of the items of its own level. */
function depthOf(levels: readonly number[], level: number): number {
  const above = levels.findLastIndex((other) => other < level)
  return above + 1
}

function continues(list: List, { ordered, number }: FlatListItem): boolean {
  if (list.ordered !== ordered) return false
  return !ordered || number === undefined || number === (list.start ?? 1) + list.children.length
}
