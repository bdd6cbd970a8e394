import type { RootContent, Text } from 'mdast'
import { append } from '../document/append.js'
import { createLineJoiner, type LineJoiner } from '../document/join-lines.js'
import {
  buildList,
  type FlatListItem,
  heading,
  onPage,
  paragraph,
  table,
} from '../document/nodes.js'
import { type Outline, readTypography, type Typography } from './headings.js'
import { isContentsEntry, type Line } from './lines.js'
import { toColumns } from './listing.js'
import type { Extent } from './measures.js'
import { createParagraphRules, listMarker, type ParagraphRules } from './paragraphs.js'
import {
  continuesRow,
  createTableSearch,
  type TableInLines,
  type TableSearch,
  tableAt,
} from './tables.js'

/** Lines of a heading; more lines are text in large type. */
const maxHeadingLines = 4

/** The link sign after headings in printed web documentation. */
const linkToItself = /\s*¶$/u

/** Characters of the longest line of code; fewer are more likely part of a formula. */
const minCodeLength = 3
/** Distance of lines of one piece of code, in multiples of the font size. */
const maxCodeGap = 2

/** The block that further lines may continue. */
interface OpenBlock {
  kind: 'text' | 'item' | 'code'
  lines: Line[]
}

/** The part of a table that was added last, which the next page may continue. */
interface OpenTable {
  rows: string[][]
  columns: readonly Extent[]
  /** Its first page and its last one so far. */
  begin: number
  page: number
}

/** The blocks of a document so far, and those that the next line may continue. */
interface Builder {
  lines: readonly Line[]
  typography: Typography
  rules: ParagraphRules
  joiner: LineJoiner
  search: TableSearch
  blocks: RootContent[]
  open: OpenBlock | undefined
  /** Items of the open list. */
  items: FlatListItem[]
  /** End of a text in large type, whose last lines are not a heading either. */
  largeTextEnd: number
  lastTable: OpenTable | undefined
  /** Lines whose notes have been added. */
  noted: number
}

/** Builds the blocks of a document from its lines, each with the page on which it begins. */
export function toBlocks(pages: readonly (readonly Line[])[], outline: Outline): RootContent[] {
  const lines = pages.flat()
  const builder: Builder = {
    lines,
    typography: readTypography(pages, outline),
    rules: createParagraphRules(pages),
    joiner: createLineJoiner(() => lines.map((line) => line.text)),
    search: createTableSearch(lines.at(-1)?.page ?? 0),
    blocks: [],
    open: undefined,
    items: [],
    largeTextEnd: 0,
    lastTable: undefined,
    noted: 0,
  }
  for (let at = 0; at < lines.length; ) at = addFrom(builder, at)
  closeAll(builder)
  addNotes(builder, lines.length)
  return builder.blocks
}

/** Adds the block that begins at a line, or the line to the open one. Returns the number of the next line. */
function addFrom(builder: Builder, at: number): number {
  const { lines } = builder
  const line = lines[at]
  if (line === undefined) return lines.length
  // Text in another direction is neither a heading of the next lines nor continued by them.
  const isTurned = line.turned !== undefined
  const wasTurned = lines[at - 1]?.turned !== undefined
  if (line.isApart === true || isTurned !== wasTurned) closeAll(builder)
  if (isContentsEntry(line)) {
    closeBlock(builder)
    return at + 1
  }
  return (
    addTableAt(builder, line, at) ??
    (isTurned ? undefined : addHeadingAt(builder, line, at)) ??
    addText(builder, line, at)
  )
}

function addTableAt(builder: Builder, line: Line, at: number): number | undefined {
  const { lines, joiner, open, search } = builder
  if (line.table !== undefined) {
    const { rows, columns } = line.table
    closeAll(builder)
    addNotes(builder, at)
    addTable(builder, { rows: rows.map((row) => row.map(joiner.join)), columns }, line.page)
    return at + 1
  }
  if (line.segments.length < 2) return undefined
  const above = open?.kind === 'text' ? open.lines.length : 0
  const found = tableAt(lines, at, { above, join: joiner.join, search })
  if (found === undefined || isInListing(lines, at, found.end)) return undefined
  if (found.begin < at) open?.lines.splice(found.begin - at)
  closeAll(builder)
  addNotes(builder, found.begin)
  addTable(builder, found, line.page)
  return found.end
}

function addTable(
  builder: Builder,
  added: Pick<TableInLines, 'rows' | 'columns'>,
  page: number,
): void {
  const { blocks, joiner, lastTable: before } = builder
  const isContinued =
    before !== undefined &&
    before.page === page - 1 &&
    blocks.at(-1)?.type === 'table' &&
    isSameGrid(before.columns, added.columns)
  const [first = [], ...below] = added.rows
  const header = isContinued ? (before.rows[0] ?? first) : first
  const rest = header.join('|') === first.join('|') ? below : [...added.rows]
  if (isContinued && continuesRow(before.rows.slice(1), rest[0])) {
    const more = rest.shift() ?? []
    const whole = (before.rows.pop() ?? []).map((cell, at) =>
      joiner.join([cell, more[at] ?? ''].filter((text) => text !== '')),
    )
    before.rows.push(whole)
    before.page = page
    blocks.pop()
    blocks.push(onPage(table(before.rows), before.begin))
  }
  // The page had only the rest of the last row.
  if (isContinued && rest.length === 0) return
  const rows = [header, ...rest]
  builder.lastTable = { rows, columns: added.columns, begin: page, page }
  blocks.push(onPage(table(rows), page))
}

function addHeadingAt(builder: Builder, line: Line, at: number): number | undefined {
  const { lines, typography, joiner, blocks } = builder
  if (at < builder.largeTextEnd) return undefined
  const level = typography.levelOf(line, lines[at - 1])
  if (level === undefined) return undefined
  const end = headingEnd(lines, at, typography)
  if (end - at > maxHeadingLines) {
    builder.largeTextEnd = end
    return undefined
  }
  closeAll(builder)
  addNotes(builder, at)
  const text = joiner.join(textsOf(lines.slice(at, end))).replace(linkToItself, '')
  blocks.push(onPage(heading(level, text), line.page))
  return end
}

function headingEnd(lines: readonly Line[], start: number, typography: Typography): number {
  const first = lines[start]
  let end = start + 1
  for (; first !== undefined && end < lines.length; end += 1) {
    const [line, before] = [lines[end], lines[end - 1]]
    if (line === undefined || before === undefined || line.page !== first.page) break
    const gap = line.y - before.y
    const isSame = line.font === first.font && Math.abs(line.size - first.size) < 0.5
    const isNear = gap > 0 && gap <= first.size * 1.6
    if (!isSame || !isNear || line.isApart === true) break
    if (line.table !== undefined || line.segments.length > 1) break
    // Another entry of the outline is another heading.
    if (typography.levelOf(line, before) !== typography.levelOf(first, lines[start - 1])) {
      if (first.size <= typography.size * 1.1) break
    }
  }
  return end
}

/** Adds a line to the open block, or opens one with it. */
function addText(builder: Builder, line: Line, at: number): number {
  const { lines, rules, open } = builder
  const previous = lines[at - 1]
  const kind = kindOf(line, open)
  const isNew =
    open === undefined || previous === undefined || open.kind !== kind
      ? true
      : kind !== 'code' && rules.begins(line, previous, open.lines.at(-2))
  if (isNew) closeBlock(builder)
  // Text below a list that does not continue an item ends the list.
  if (isNew && kind !== 'item') {
    closeList(builder)
    addNotes(builder, at)
  }
  if (open === undefined || isNew) builder.open = { kind: startKind(line, kind), lines: [line] }
  else open.lines.push(line)
  return at + 1
}

/** Adds the notes beside the lines before one. */
function addNotes(builder: Builder, end: number): void {
  for (; builder.noted < end; builder.noted += 1) {
    const line = builder.lines[builder.noted]
    for (const note of line?.notes ?? []) {
      builder.blocks.push(onPage(paragraph(note), line?.page ?? 1))
    }
  }
}

function closeAll(builder: Builder): void {
  closeBlock(builder)
  closeList(builder)
}

function closeList(builder: Builder): void {
  append(builder.blocks, buildList(builder.items))
  builder.items = []
}

function closeBlock(builder: Builder): void {
  const { open, joiner, blocks } = builder
  builder.open = undefined
  const first = open?.lines[0]
  // A table may have taken all lines of the open block.
  if (open === undefined || first === undefined) return
  const { kind, lines } = open
  if (kind === 'item') {
    const item = toItem(first, lines, joiner)
    if (!continuesList(builder.items, item)) closeList(builder)
    builder.items.push(item)
    return
  }
  closeList(builder)
  const isCode = kind === 'code' && lines.some(({ text }) => text.trim().length >= minCodeLength)
  const block = isCode ? toCode(lines) : paragraph(toPhrases(lines, joiner))
  blocks.push(onPage(block, first.page))
}

function kindOf(line: Line, open: OpenBlock | undefined): OpenBlock['kind'] {
  if (line.monospace) return 'code'
  return listMarker.test(line.text) || open?.kind === 'item' ? 'item' : 'text'
}

/** A line that begins a block is a list item only if it has a marker. */
function startKind(line: Line, kind: OpenBlock['kind']): OpenBlock['kind'] {
  return kind === 'item' && !listMarker.test(line.text) ? 'text' : kind
}

function toItem(line: Line, lines: readonly Line[], joiner: LineJoiner): FlatListItem {
  const mark = listMarker.exec(textOf(line))
  const number = mark?.[2]
  const ordered = number !== undefined && /\d/.test(number)
  // Markdown numbers no items by letters, so letters stay part of the text, and so do ticks, which say something.
  const isMark = mark?.[1] !== undefined || ordered
  const skipped = isMark ? (mark?.[0].length ?? 0) : 0
  return {
    level: 0,
    ordered,
    ...(ordered && { start: Number(number) }),
    content: onPage(paragraph(toPhrases(lines, joiner, skipped)), line.page),
  }
}

/** Whether the number of an item is the next one: a list counts by itself, so another number begins a new list. */
function continuesList(items: readonly FlatListItem[], { ordered, start }: FlatListItem): boolean {
  const last = items.at(-1)
  if (last?.ordered !== true || !ordered) return true
  return start === (last.start ?? 1) + 1
}

/**
 * The text of lines, one node per page.
 *
 * @param skipped characters at the beginning of the first line that are left out
 */
function toPhrases(lines: readonly Line[], { join }: LineJoiner, skipped = 0): Text[] {
  const pages: { page: number; texts: string[]; start: number }[] = []
  for (const line of lines) {
    const last = pages.at(-1)
    if (last?.page === line.page) last.texts.push(textOf(line))
    else {
      const text = textOf(line).slice(last === undefined ? skipped : 0)
      pages.push({ page: line.page, texts: [text], start: 0 })
    }
  }
  let whole = ''
  for (const each of pages) {
    const own = join(each.texts)
    // Joining may remove a hyphen at the end of the text before, but nothing of the text after it.
    whole = join([whole, own])
    each.start = whole.length - own.length
  }
  return pages.map(({ page, start }, at) => {
    const value = whole.slice(start, pages[at + 1]?.start)
    return { type: 'text', value, data: { pageNumber: page } }
  })
}

/** Whether an apparent table is part of a piece of code, such as the output of a program. */
function isInListing(lines: readonly Line[], start: number, end: number): boolean {
  if (!lines.slice(start, end).every((line) => line.monospace)) return false
  const isOneWith = (line: Line | undefined, other: Line | undefined) =>
    line?.monospace === true &&
    other !== undefined &&
    line.page === other.page &&
    Math.abs(line.y - other.y) < other.size * maxCodeGap
  return isOneWith(lines[start - 1], lines[start]) || isOneWith(lines[end], lines[end - 1])
}

/** Code keeps its lines and the columns in them. */
function toCode(lines: readonly Line[]): RootContent {
  const value = toColumns(lines)
  const pageBreaks = lines.flatMap(({ page }, line) => {
    return line > 0 && lines[line - 1]?.page !== page ? [{ line, page }] : []
  })
  return { type: 'code', value: value.join('\n'), data: { pageBreaks } }
}

function textsOf(lines: readonly Line[]): string[] {
  return lines.map(textOf)
}

function textOf(line: Line): string {
  return line.text.replace(/\s+/g, ' ').trim()
}

function isSameGrid(before: readonly Extent[], now: readonly Extent[]): boolean {
  return (
    before.length === now.length &&
    now.every((column, index) => {
      const other = before[index]
      return other !== undefined && column.x0 < other.x1 + 5 && column.x1 > other.x0 - 5
    })
  )
}
