import type { Element, ElementContent, Nodes, Root, RootContent } from 'hast'

/** A `main` or `article` with a smaller share of the text of the page is not its subject. */
const mainShare = 0.3
/** Spans become empty cells; more of them per cell are a mistake or an attack. */
const maxArea = 20
const headingTags: ReadonlySet<string> = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'])
const tableParts: ReadonlySet<string> = new Set(
  'table thead tbody tfoot tr td th colgroup col'.split(' '),
)

/**
 * The part of a page that is its subject, without navigation, page header and footer, scripts,
 * styles and controls. Tables are prepared for Markdown.
 */
export function mainContent(page: Root): Root {
  const cleaned: Root = { type: 'root', children: cleanAll(page.children, false) }
  const total = textOf(cleaned).length
  const main = find(cleaned, (element) => isMain(element))
  const articles = findAll(cleaned, (element) => element.tagName === 'article')
  const candidates = [main, articles.length === 1 ? articles[0] : undefined]
  const content = candidates.find(
    (element) => element !== undefined && textOf(element).length >= total * mainShare,
  )
  return content === undefined ? cleaned : { type: 'root', children: content.children }
}

/** Removes what is not text from a fragment, which unlike a page has no navigation around it. */
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
    // The page header often has the only level 1 heading.
    return element.tagName === 'header' ? findAll(element, (child) => child.tagName === 'h1') : []
  }
  const inside = inContent || isMain(element) || element.tagName === 'article'
  const cleaned: Element = { ...element, children: cleanAll(element.children, inside) }
  return element.tagName === 'table' ? cleanTable(cleaned) : [cleaned]
}

/** A caption becomes a paragraph before its table. A table used for layout becomes its content. */
function cleanTable(table: Element): ElementContent[] {
  const caption = find(table, (element) => element.tagName === 'caption')
  const children = table.children.filter((child) => child !== caption)
  const data: Element = { ...table, children }
  const described: ElementContent[] =
    caption === undefined ? [] : [{ ...caption, tagName: 'p', properties: {} }]
  if (isLayout(data)) return [...described, withoutTable(data)]
  return [...described, area(data) > maxArea ? withoutSpans(data) : data]
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
      find(part, (element) => element.tagName === 'table' || headingTags.has(element.tagName)),
    )
  )
}

function withoutTable(element: Element): Element {
  const children = element.children.map((child) =>
    child.type === 'element' && tableParts.has(child.tagName) ? withoutTable(child) : child,
  )
  return { ...element, tagName: 'div', children }
}

/** Cells of a table with its spans written out, per cell in the source. */
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

/** The first matching element of a tree in document order. */
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

/** The outermost matching elements of a tree. */
function findAll(node: Root | RootContent, matches: (element: Element) => boolean): Element[] {
  if (node.type === 'element' && matches(node)) return [node]
  return 'children' in node ? node.children.flatMap((child) => findAll(child, matches)) : []
}

/** Elements without text of the document, or with text for operating the page only. */
const neverContent: ReadonlySet<string> = new Set(
  `audio button canvas datalist dialog embed head iframe input link map meta nav noscript object
   option rp rt script select style svg template textarea title`.split(/\s+/),
)
const pageRoles: ReadonlySet<string> = new Set(
  'navigation banner contentinfo search complementary menu menubar toolbar'.split(' '),
)
/** Elements that belong to the page, or to the article if they are inside of one. */
const pageParts: ReadonlySet<string> = new Set(['header', 'footer', 'aside'])
const navigationName =
  /^(?:(?:site|page|main|global|left|right|top|side)?-?(?:nav|navbar|navigation|menu|sidebar|header|footer)|breadcrumbs?|toc|table-of-contents|pagination|pager|share|social|related|skip-link|navheader|navfooter|cookies?|cookie-.*)$/
/** Share of linked text above which an element that is named like navigation is navigation. */
const navigationLinkShare = 0.5
/** Relations of links that lead from page to page. */
const pagingRelations: ReadonlySet<string> = new Set(
  'next prev previous up start first last contents index top'.split(' '),
)
/** The same share for links from page to page, which have words such as "Next:" beside them. */
const pagingLinkShare = 0.25

/**
 * Whether an element belongs to the page around the document rather than to the document.
 * Hidden elements count as content: the answers of a FAQ are often collapsed.
 *
 * @param inContent whether the element is inside `main` or `article`
 */
function isBoilerplate(element: Element, inContent: boolean): boolean {
  if (neverContent.has(element.tagName)) return true
  if (isPermalink(element) || isPaging(element)) return true
  if (inContent) return element.tagName === 'footer'
  if (pageParts.has(element.tagName)) return true
  if (pageRoles.has(String(element.properties.role ?? ''))) return true
  return hasNavigationName(element) && linkDensity(element) > navigationLinkShare
}

/** The text of a node and its descendants, as written. */
export function textOf(node: Nodes): string {
  if (node.type === 'text') return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}

/** The sign beside a heading that links to the heading. */
function isPermalink(element: Element): boolean {
  if (element.tagName !== 'a') return false
  const { href, ariaHidden } = element.properties
  const local = typeof href === 'string' && href.startsWith('#')
  return local && (ariaHidden === 'true' || !/[\p{L}\p{N}]/u.test(textOf(element)))
}

/** Links to the next, previous and parent page, as in manuals of many pages. */
function isPaging(element: Element): boolean {
  if (element.tagName !== 'p' && element.tagName !== 'div') return false
  const links = element.children.filter(isLink)
  const isPagingLink = ({ properties: { rel } }: Element) =>
    Array.isArray(rel) && rel.some((name) => pagingRelations.has(String(name).toLowerCase()))
  return links.length > 0 && links.every(isPagingLink) && linkDensity(element) > pagingLinkShare
}

function isLink(node: Nodes): node is Element {
  return node.type === 'element' && node.tagName === 'a'
}

function hasNavigationName(element: Element): boolean {
  const { id, className } = element.properties
  const names = [id, ...(Array.isArray(className) ? className : [])]
  return names.some((name) => navigationName.test(String(name ?? '').toLowerCase()))
}

function linkDensity(element: Element): number {
  const total = textOf(element).length
  return total === 0 ? 1 : linkedLength(element) / total
}

function linkedLength(element: Element): number {
  if (element.tagName === 'a') return textOf(element).length
  const lengths = element.children.map((child) =>
    child.type === 'element' ? linkedLength(child) : 0,
  )
  return lengths.reduce((sum, length) => sum + length, 0)
}
