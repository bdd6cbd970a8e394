import type { Element, ElementContent, Root, RootContent } from 'hast'
import { isBoilerplate, textOf } from './boilerplate.js'

/** A `main` or `article` with a smaller share of the page's text is not what the page is about. */
const MAIN_SHARE = 0.3
/** Spans are written out as empty cells; more of those per cell are a mistake or an attack. */
const LARGEST_AREA = 20
const HEADINGS: ReadonlySet<string> = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'])
const TABLE_PARTS: ReadonlySet<string> = new Set(
  'table thead tbody tfoot tr td th colgroup col'.split(' '),
)

/**
 * The part of a page that is its subject, without navigation, page header and footer, scripts,
 * styles and controls. Tables are made fit for Markdown on the way.
 */
export function mainContent(page: Root): Root {
  const cleaned: Root = { type: 'root', children: cleanAll(page.children, false) }
  const total = textOf(cleaned).length
  const main = find(cleaned, (element) => isMain(element))
  const articles = findAll(cleaned, (element) => element.tagName === 'article')
  const candidates = [main, articles.length === 1 ? articles[0] : undefined]
  const content = candidates.find(
    (element) => element !== undefined && textOf(element).length >= total * MAIN_SHARE,
  )
  return content === undefined ? cleaned : { type: 'root', children: content.children }
}

/** Removes what is not text of a fragment; unlike a page, it has no navigation around it. */
export function cleanFragment(fragment: Root): Root {
  return { type: 'root', children: cleanAll(fragment.children, true) }
}

function isMain(element: Element): boolean {
  return element.tagName === 'main' || element.properties.role === 'main'
}

function cleanAll(nodes: readonly RootContent[], inContent: boolean): ElementContent[] {
  return nodes.flatMap((node) => {
    if (node.type === 'text') return [node]
    return node.type === 'element' ? clean(node, inContent) : []
  })
}

function clean(element: Element, inContent: boolean): ElementContent[] {
  if (isBoilerplate(element, inContent)) {
    // Many pages put their only level 1 heading into the page header.
    return element.tagName === 'header' ? findAll(element, (child) => child.tagName === 'h1') : []
  }
  const inside = inContent || isMain(element) || element.tagName === 'article'
  const cleaned: Element = { ...element, children: cleanAll(element.children, inside) }
  return element.tagName === 'table' ? cleanTable(cleaned) : [cleaned]
}

/** A caption becomes a paragraph before its table; a table made for layout becomes what it holds. */
function cleanTable(table: Element): ElementContent[] {
  const caption = find(table, (element) => element.tagName === 'caption')
  const children = table.children.filter((child) => child !== caption)
  const data: Element = { ...table, children }
  const described: ElementContent[] =
    caption === undefined ? [] : [{ ...caption, tagName: 'p', properties: {} }]
  if (isLayout(data)) return [...described, withoutTable(data)]
  return [...described, area(data) > LARGEST_AREA ? withoutSpans(data) : data]
}

function isLayout(table: Element): boolean {
  const { role } = table.properties
  if (role === 'presentation' || role === 'none') return true
  const columns = findAll(table, (element) => element.tagName === 'tr').map(
    (row) => row.children.filter((cell) => cell.type === 'element').length,
  )
  return (
    columns.every((count) => count < 2) ||
    table.children.some((part) =>
      find(part, (element) => element.tagName === 'table' || HEADINGS.has(element.tagName)),
    )
  )
}

function withoutTable(element: Element): Element {
  const children = element.children.map((child) =>
    child.type === 'element' && TABLE_PARTS.has(child.tagName) ? withoutTable(child) : child,
  )
  return { ...element, tagName: 'div', children }
}

/** How many cells a table has when its spans are written out, for each that it states. */
function area(table: Element): number {
  const cells = findAll(table, (element) => element.tagName === 'td' || element.tagName === 'th')
  const areas = cells.map(({ properties }) => span(properties.colSpan) * span(properties.rowSpan))
  return areas.reduce((sum, count) => sum + count, 0) / Math.max(1, cells.length)
}

function span(value: Element['properties'][string]): number {
  return Math.max(1, Math.trunc(Number(value)) || 1)
}

function withoutSpans(element: Element): Element {
  const { colSpan, rowSpan, ...properties } = element.properties
  const children = element.children.map((child) =>
    child.type === 'element' ? withoutSpans(child) : child,
  )
  return { ...element, properties, children }
}

/** The first element of a tree, in document order, that matches. */
export function find(
  node: Root | RootContent,
  matches: (element: Element) => boolean,
): Element | undefined {
  if (node.type === 'element' && matches(node)) return node
  if (!('children' in node)) return undefined
  for (const child of node.children) {
    const found = find(child, matches)
    if (found !== undefined) return found
  }
  return undefined
}

/** The outermost elements of a tree that match. */
function findAll(node: Root | RootContent, matches: (element: Element) => boolean): Element[] {
  if (node.type === 'element' && matches(node)) return [node]
  return 'children' in node ? node.children.flatMap((child) => findAll(child, matches)) : []
}
