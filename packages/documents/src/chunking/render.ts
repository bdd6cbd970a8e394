import type { Code, Image, List, ListItem, Nodes, PhrasingContent, Table, TableRow } from 'mdast'
import type { Writer } from './writer.js'

/** Writes a block as Markdown, with a seam wherever it may be cut, and with its pages. */
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

/** The header of a table, which every part of a cut table needs. */
export function renderTableHead(table: Table): string {
  const columns = Math.max(1, ...table.children.slice(0, 1).map((row) => row.children.length))
  const head = table.children[0]
  const names = head === undefined ? [] : cells(head)
  return `${toRow(names)}\n|${' --- |'.repeat(columns)}`
}

/** The opening fence of a code block. */
export function openingFence(code: Code): string {
  return `${fence(code)}${code.lang ?? ''}`
}

/** The closing fence of a code block, which is longer than any fence inside it. */
export function fence(code: Code): string {
  return '`'.repeat(Math.max(3, longestRun(code.value, /`+/g) + 1))
}

/** Whether a block has no text. */
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

/** Writes inline nodes one by one, because each may be on another page. */
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
  return row.children.map((cell) => {
    const line = renderLine(cell.children)
    return line.includes('|') ? line.replaceAll('|', String.raw`\|`) : line
  })
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

/**
 * Renders inline nodes as Markdown for prompts and screens. Formatting and links are kept, but nothing is
 * escaped, so that `ERR_TLS_1042` stays the text that people search for.
 */
function renderInline(nodes: readonly Nodes[]): string {
  return nodes.map(renderPhrase).join('')
}

/** White space that is not one space. */
const unusualBlank = /[^\S ]| {2}/

/** Renders inline nodes in one line, for headings and cells of tables. */
function renderLine(nodes: readonly Nodes[]): string {
  const [first] = nodes
  const text = nodes.length === 1 && first?.type === 'text' ? first.value : renderInline(nodes)
  return (unusualBlank.test(text) ? text.replace(/\s+/g, ' ') : text).trim()
}

/** Whether a paragraph consists of images only, linked or not. */
export function isImagesOnly(nodes: readonly PhrasingContent[]): boolean {
  let images = 0
  const onlyImages = (node: PhrasingContent): boolean => {
    if (node.type === 'image') images += 1
    if (node.type === 'link') return node.children.every(onlyImages)
    return node.type === 'image' || node.type === 'break' || isBlankText(node)
  }
  return nodes.every(onlyImages) && images > 0
}

function renderPhrase(node: Nodes): string {
  switch (node.type) {
    case 'text':
      return node.value
    case 'inlineCode':
      return renderInlineCode(node.value)
    case 'break':
      return '\n'
    case 'emphasis':
      return surround('*', renderInline(node.children))
    case 'strong':
      return surround('**', renderInline(node.children))
    case 'delete':
      return surround('~~', renderInline(node.children))
    case 'link':
      return renderLink(node.url, renderInline(node.children))
    case 'image':
      return renderImage(node)
    case 'footnoteReference':
      return `[^${node.identifier}]`
    case 'html':
      return ''
    default:
      return renderOtherPhrase(node)
  }
}

/** Blocks that HTML allows where Markdown has inline content, such as a list in a cell of a table. */
function renderOtherPhrase(node: Nodes): string {
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(renderPhrase).join(' ') : ''
}

function renderInlineCode(value: string): string {
  const fence = '`'.repeat(longestRun(value, /`+/g) + 1)
  const padding = value.startsWith('`') || value.endsWith('`') ? ' ' : ''
  return `${fence}${padding}${value}${padding}${fence}`
}

/** Spaces are moved outside of the marks: `** bold**` would not be bold. */
function surround(mark: string, inner: string): string {
  const text = inner.trim()
  if (text === '') return inner
  const start = inner.indexOf(text)
  return `${inner.slice(0, start)}${mark}${text}${mark}${inner.slice(start + text.length)}`
}

function renderLink(url: string, text: string): string {
  if (text.trim() === '' || text === url || url === `mailto:${text}`) return text
  // A link within the document has no target in a passage.
  return url === '' || url.startsWith('#') || isEmbedded(url) ? text : `[${text}](${url})`
}

function renderImage(image: Image): string {
  return `![${image.alt ?? ''}](${isEmbedded(image.url) ? '' : image.url})`
}

/** Whether an address is embedded content or a script, which is of no use to readers. */
function isEmbedded(url: string): boolean {
  return /^\s*(?:data|javascript|vbscript|blob):/i.test(url)
}

/** Length of the longest match. */
function longestRun(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((longest, [run]) => Math.max(longest, run.length), 0)
}

function isBlankText(node: PhrasingContent): boolean {
  return node.type === 'text' && node.value.trim() === ''
}
