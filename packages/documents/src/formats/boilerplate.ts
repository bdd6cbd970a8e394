import type { Element, Nodes } from 'hast'

/** Elements that hold no text of the document, or only text for operating the page. */
const NEVER_CONTENT: ReadonlySet<string> = new Set(
  `audio button canvas datalist dialog embed head iframe input link map meta nav noscript object
   option rp rt script select style svg template textarea title`.split(/\s+/),
)
const PAGE_ROLES: ReadonlySet<string> = new Set(
  'navigation banner contentinfo search complementary menu menubar toolbar'.split(' '),
)
/** Belongs to the page when it stands there, and to the article when it stands inside one. */
const PAGE_PARTS: ReadonlySet<string> = new Set(['header', 'footer', 'aside'])
const NAVIGATION_NAME =
  /^(?:(?:site|page|main|global|left|right|top|side)?-?(?:nav|navbar|navigation|menu|sidebar|header|footer)|breadcrumbs?|toc|table-of-contents|pagination|pager|share|social|related|skip-link|navheader|navfooter|cookies?|cookie-.*)$/
/** Above this share of linked text, an element that is named like navigation is navigation. */
const NAVIGATION_LINKS = 0.5
const WAYS: ReadonlySet<string> = new Set(
  'next prev previous up start first last contents index top'.split(' '),
)
/** The words that say which way it is are beside the links. */
const WAYS_LINKS = 0.25

/**
 * Whether an element belongs to the page around the document rather than to the document.
 * Hidden elements count as content: answers of a FAQ are often folded in.
 *
 * @param inContent whether the element stands inside `main` or `article`
 */
export function isBoilerplate(element: Element, inContent: boolean): boolean {
  if (NEVER_CONTENT.has(element.tagName)) return true
  if (isPermalink(element) || isWayThroughPages(element)) return true
  if (inContent) return element.tagName === 'footer'
  if (PAGE_PARTS.has(element.tagName)) return true
  if (PAGE_ROLES.has(String(element.properties.role ?? ''))) return true
  return hasNavigationName(element) && linkDensity(element) > NAVIGATION_LINKS
}

/** The text of a node and everything in it, as written. */
export function textOf(node: Nodes): string {
  if (node.type === 'text') return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}

/** The mark beside a heading by which it links to itself. */
function isPermalink(element: Element): boolean {
  if (element.tagName !== 'a') return false
  const { href, ariaHidden } = element.properties
  const local = typeof href === 'string' && href.startsWith('#')
  return local && (ariaHidden === 'true' || !/[\p{L}\p{N}]/u.test(textOf(element)))
}

/** Links to the next page, the one before and the one above, as manuals in many pages have them. */
function isWayThroughPages(element: Element): boolean {
  if (element.tagName !== 'p' && element.tagName !== 'div') return false
  const links = element.children.filter(isLink)
  const isWay = ({ properties: { rel } }: Element) =>
    Array.isArray(rel) && rel.some((name) => WAYS.has(String(name).toLowerCase()))
  return links.length > 0 && links.every(isWay) && linkDensity(element) > WAYS_LINKS
}

function isLink(node: Nodes): node is Element {
  return node.type === 'element' && node.tagName === 'a'
}

function hasNavigationName(element: Element): boolean {
  const { id, className } = element.properties
  const names = [id, ...(Array.isArray(className) ? className : [])]
  return names.some((name) => NAVIGATION_NAME.test(String(name ?? '').toLowerCase()))
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
