import type { Code, List, ListItem, Nodes, PhrasingContent, Table, TableRow } from 'mdast'
import { longestRun, renderInline, renderLine } from './render-inline.js'
import type { Writer } from './writer.js'

/** Writes a block as Markdown, with a seam wherever it may be cut, and the pages that it goes over. */
export function renderBlock(writer: Writer, node: Nodes): void {
  writer.page(node.data?.pageNumber)
  switch (node.type) {
    case 'heading':
      writer.write(`${'#'.repeat(node.depth)} ${renderLine(node.children)}`)
      break
    case 'paragraph':
      renderParagraph(writer, node.children)
      break
    case 'blockquote':
      writer.indent('> ', '> ', () => renderBlocks(writer, node.children, 1))
      break
    case 'list':
      renderList(writer, node)
      break
    case 'table':
      writer.page(node.children[0]?.data?.pageNumber)
      writer.write(renderTableHead(node))
      renderRows(writer, node.children.slice(1))
      break
    case 'code':
      renderCode(writer, node)
      break
    case 'footnoteDefinition':
      writer.indent(`[^${node.identifier}]: `, '', () => renderBlocks(writer, node.children, 1))
      break
    default:
      renderOther(writer, node)
  }
}

/** The header of a table, which every part of it must have to be a table. */
export function renderTableHead(table: Table): string {
  const columns = Math.max(1, ...table.children.slice(0, 1).map((row) => row.children.length))
  const head = table.children[0]
  const names = head === undefined ? [] : cells(head)
  return `${toRow(names)}\n|${' --- |'.repeat(columns)}`
}

/** The opening fence of a code block, which is longer than any fence inside it. */
export function openingFence(code: Code): string {
  return `${fence(code)}${code.lang ?? ''}`
}

/** The closing fence of a code block. */
export function fence(code: Code): string {
  return '`'.repeat(Math.max(3, longestRun(code.value, /`+/g) + 1))
}

/** Whether writing a block would give no text at all. */
export function isBlank(node: Nodes): boolean {
  if (node.type === 'image') return false
  if ('value' in node) return node.type === 'html' || node.value.trim() === ''
  return !('children' in node) || node.children.every(isBlank)
}

function renderBlocks(writer: Writer, nodes: readonly Nodes[], blank: number): void {
  nodes
    .filter((node) => !isBlank(node))
    .forEach((node, index) => {
      if (index > 0) {
        writer.startLine(blank)
        writer.seam()
      }
      renderBlock(writer, node)
    })
}

/** Phrases one by one, because each may be on another page. */
function renderParagraph(writer: Writer, phrases: readonly PhrasingContent[]): void {
  const texts = phrases.map((phrase) => renderInline([phrase]))
  const whole = texts.join('')
  const end = whole.trimEnd().length
  let from = Math.min(end, whole.length - whole.trimStart().length)
  let length = 0
  texts.forEach((text, at) => {
    length += text.length
    const to = Math.min(length, end)
    if (to <= from) return
    writer.page(phrases[at]?.data?.pageNumber)
    writer.write(whole.slice(from, to))
    from = to
  })
}

function renderList(writer: Writer, list: List): void {
  const blank = list.spread === true ? 1 : 0
  list.children
    .filter((item) => !isBlank(item))
    .forEach((item, index) => {
      if (index > 0) {
        writer.startLine(blank)
        writer.seam()
      }
      writer.page(item.data?.pageNumber)
      const marker = list.ordered === true ? `${(list.start ?? 1) + index}. ` : '- '
      const box = checkbox(item)
      const indentation = ' '.repeat(marker.length)
      writer.indent(`${marker}${box}`, indentation, () =>
        renderBlocks(writer, item.children, blank),
      )
    })
}

function checkbox(item: ListItem): string {
  if (typeof item.checked !== 'boolean') return ''
  return item.checked ? '[x] ' : '[ ] '
}

function renderRows(writer: Writer, rows: readonly TableRow[]): void {
  for (const row of rows) {
    const texts = cells(row)
    if (texts.every((text) => text === '')) continue
    writer.startLine(0)
    writer.seam()
    writer.page(row.data?.pageNumber)
    writer.write(toRow(texts))
  }
}

function cells(row: TableRow): string[] {
  return row.children.map((cell) => renderLine(cell.children).replaceAll('|', String.raw`\|`))
}

function toRow(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`
}

function renderCode(writer: Writer, code: Code): void {
  const pages = new Map(code.data?.pageBreaks?.map(({ line, page }) => [line, page]))
  writer.write(openingFence(code))
  code.value.split('\n').forEach((line, index) => {
    writer.startLine(0)
    if (index > 0) writer.seam()
    writer.page(pages.get(index))
    writer.write(line)
  })
  writer.startLine(0)
  writer.write(fence(code))
}

function renderOther(writer: Writer, node: Nodes): void {
  if (node.type === 'thematicBreak' || node.type === 'definition' || node.type === 'html') return
  if ('children' in node) writer.write(renderInline([node]).trim())
  else if ('value' in node) writer.write(node.value.trim())
}
