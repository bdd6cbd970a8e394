import { append } from '../document/append.js'
import { findTabs, isOperating, type Tabs } from './html-controls.js'
import {
  classesOf,
  find,
  findAll,
  isElement,
  lengthOf,
  lineOf,
  type PageNode,
  parseHtml,
  textOf,
} from './html-tree.js'
import { isFormulaPreview, readFormula } from './mathml.js'
import type { XmlElement } from './xml.js'

/** A `main` or `article` with a smaller share of the text of the page is not its subject. */
const mainShare = 0.3
/** Nesting depth of frames that are read. */
const maxFrames = 2

/** Properties of the elements around an element. */
interface Surroundings {
  /** In `main` or `article`, or in a chapter of a book: nothing belongs to the page around it. */
  isContent: boolean
  /** In a quotation or a figure, whose footer names its source. */
  isQuoted: boolean
  /** In a form, where buttons send it. */
  isForm: boolean
  /** In a heading or a name of a section. */
  isName: boolean
  /** In preformatted text. */
  isCode: boolean
  /** In a button or the name of a section: an element that is hidden from screen readers is a sign. */
  isControl: boolean
  tabs: Tabs
  /** Classes by which the styles of the page raise or lower a text. */
  raised: RaisedClasses
  /** Number of pages around this one. */
  frames: number
}

/**
 * The main content of a page, without navigation, page header and footer, scripts, styles, and elements that only
 * operate the page.
 */
export function mainContent(page: XmlElement, frames = 0): PageNode[] {
  const cleaned: XmlElement = { ...page, children: cleanAll(page.children, around(page, frames)) }
  const total = lengthOf(cleaned)
  const main = find(cleaned, isMain)
  const articles = findAll(cleaned, ({ name }) => name === 'article')
  const candidates = [main, articles.length === 1 ? articles[0] : undefined]
  const content = candidates.find(
    (element) => element !== undefined && lengthOf(element) >= total * mainShare,
  )
  return (content ?? cleaned).children
}

/**
 * All content of a fragment or of a chapter of a book, which unlike a page has no navigation around it.
 *
 * @param styled classes that style sheets outside of the page raise or lower
 */
export function wholeContent(page: XmlElement, styled?: RaisedClasses): PageNode[] {
  const { raised, ...surroundings } = around(page, 0)
  const all = styled === undefined ? raised : new Map([...styled, ...raised])
  return cleanAll(page.children, {
    ...surroundings,
    raised: all,
    isContent: true,
    isQuoted: true,
  })
}

function around(page: XmlElement, frames: number): Surroundings {
  return {
    isContent: false,
    isQuoted: false,
    isForm: false,
    isName: false,
    isCode: false,
    isControl: false,
    tabs: findTabs(page),
    raised: classesOfPage(page),
    frames,
  }
}

function isMain({ name, attributes }: XmlElement): boolean {
  return name === 'main' || attributes.role === 'main'
}

function cleanAll(nodes: readonly PageNode[], outside: Surroundings): PageNode[] {
  const cleaned: PageNode[] = []
  nodes.forEach((node, at) => {
    if (typeof node === 'string') cleaned.push(node)
    else append(cleaned, clean(node, outside, [nodes[at - 1], nodes[at + 1]]))
  })
  return cleaned
}

type Neighbours = readonly [before: PageNode | undefined, after: PageNode | undefined]

function clean(element: XmlElement, outside: Surroundings, beside: Neighbours): PageNode[] {
  const special = cleanSpecial(element, outside, beside)
  if (special !== undefined) return special
  if (isBoilerplate(element, outside)) {
    // The page header often has the only level 1 heading.
    if (element.name !== 'header') return []
    return findAll(element, ({ name }) => name === 'h1').flatMap((each) => {
      return clean(each, outside, [undefined, undefined])
    })
  }
  const inside = insideOf(element, outside)
  const children = cleanAll(element.children, inside)
  const tab = outside.tabs.names.get(element)
  if (tab !== undefined && !lineOf(element).startsWith(tab)) {
    children.unshift({ name: 'p', attributes: {}, children: [tab] })
  }
  const name = isElement(element, 'span', 'small') ? raisedName(element, outside) : undefined
  return [{ ...element, name: name ?? nameOf(element), children }]
}

function insideOf(element: XmlElement, outside: Surroundings): Surroundings {
  const { name, attributes } = element
  const isContent = isMain(element) || name === 'article'
  const isName = namedElements.has(name) || attributes.role === 'heading'
  const isControl =
    name === 'button' || name === 'summary' || /^(?:button|tab)$/.test(attributes.role ?? '')
  if (!isContent && !isName && !isControl && !contexts.has(name)) return outside
  return {
    ...outside,
    isContent: outside.isContent || isContent,
    isName: outside.isName || isName,
    isControl: outside.isControl || isControl,
    isQuoted: outside.isQuoted || name === 'blockquote' || name === 'figure',
    isForm: outside.isForm || name === 'form',
    isCode: outside.isCode || name === 'pre',
  }
}

const namedElements: ReadonlySet<string> = new Set(
  'h1 h2 h3 h4 h5 h6 summary dt th legend'.split(' '),
)
const contexts: ReadonlySet<string> = new Set('blockquote figure form pre'.split(' '))

/** Classes whose text is raised or lowered; office programs write such classes in place of `<sup>`. */
export type RaisedClasses = ReadonlyMap<string, 'sup' | 'sub'>

/** Reads them from the rules of a style sheet. */
export function raisedClasses(css: string): RaisedClasses {
  const classes = new Map<string, 'sup' | 'sub'>()
  for (const rule of css.split('}')) {
    const [selectors = '', body = ''] = rule.split('{').slice(-2)
    const how = /vertical-align\s{0,9}:\s{0,9}(super|sub)\b/.exec(body)?.[1]
    if (how === undefined) continue
    for (const selector of selectors.split(',')) {
      const name = /\.([\w-]{1,60})$/.exec(selector.trim())?.[1]
      if (name !== undefined) classes.set(name, how === 'sub' ? 'sub' : 'sup')
    }
  }
  return classes
}

function classesOfPage(page: XmlElement): RaisedClasses {
  const styles = findAll(page, ({ name }) => name === 'style')
  return raisedClasses(styles.map(textOf).join('\n'))
}

function raisedName(element: XmlElement, { raised }: Surroundings): 'sup' | 'sub' | undefined {
  const how = /vertical-align\s*:\s*(super|sub)\b/.exec(element.attributes.style ?? '')?.[1]
  if (how !== undefined) return how === 'sub' ? 'sub' : 'sup'
  if (raised.size === 0) return undefined
  const name = classesOf(element).find((each) => raised.has(each))
  return name === undefined ? undefined : raised.get(name)
}

/** Parts of tables and lists that a page states by roles. */
const roleNames: Readonly<Record<string, string>> = {
  table: 'table',
  grid: 'table',
  rowgroup: 'tbody',
  row: 'tr',
  cell: 'td',
  gridcell: 'td',
  columnheader: 'th',
  rowheader: 'th',
  list: 'ul',
  listitem: 'li',
}

function nameOf({ name, attributes }: XmlElement): string {
  const { role } = attributes
  if (role === undefined) return name
  if (role === 'heading' && !/^h\d$/.test(name)) {
    const level = Math.trunc(Number(attributes['aria-level'] ?? 2)) || 2
    return `h${Math.min(6, Math.max(1, level))}`
  }
  if (name === 'div' || name === 'span') {
    if (role === 'button' || role === 'tab') return name === 'span' ? 'button' : name
    return Object.hasOwn(roleNames, role) ? (roleNames[role] ?? name) : name
  }
  return name
}

/** Elements without text, or with text for programs. */
const neverContent: ReadonlySet<string> = new Set(
  `base datalist head link meta nav noembed noframes noscript param rp script search source style
   template title track`.split(/\s+/),
)
/** Fields of forms, which separate the words around them. */
const fields: ReadonlySet<string> = new Set('select textarea option optgroup'.split(' '))

/** The nodes that replace an element with a meaning of its own; undefined for all others. */
function cleanSpecial(
  element: XmlElement,
  outside: Surroundings,
  beside: Neighbours,
): PageNode[] | undefined {
  const { name, attributes } = element
  const formula = readFormula(element)
  if (formula !== undefined) {
    const [before] = beside
    // MathJax 2 leaves the source of a formula behind it.
    const isShown = name === 'script' && isElement(before) && readFormula(before) !== undefined
    if (isShown) return []
    return formula.isBlock ? [asBlock(formula.text)] : [formula.text]
  }
  if (neverContent.has(name) || isFormulaPreview(element)) return []
  if (outside.tabs.named.has(element)) return [' ']
  if (name === 'input' && isBox(element)) return [element]
  if (name === 'input' || fields.has(name)) return shownValue(element)
  if (name === 'svg') return cleanDrawing(element, outside)
  if (name === 'iframe') return cleanFrame(element, outside)
  if (name === 'audio' || name === 'video') return [{ ...element, children: [] }]
  const isSign = outside.isControl && attributes['aria-hidden'] === 'true'
  if (isSign || isIcon(element) || isPageNumber(element)) return []
  if (name === 'button' && isOperating(element, outside, beside)) return [' ']
  return undefined
}

/** The value of a field that nobody can change, such as a key to copy: it is content. Other fields are to be filled in. */
function shownValue(element: XmlElement): PageNode[] {
  const { name, attributes } = element
  const { type = 'text', value = '' } = attributes
  if (attributes.readonly === undefined && attributes.disabled === undefined) return [' ']
  if (name === 'textarea') return [{ name: 'pre', attributes: {}, children: element.children }]
  const chosen = findAll(element, (each) => each.attributes.selected !== undefined)
  const isText = /^(?:text|number|tel|email|url|date|time|datetime-local|month|week)$/i.test(type)
  const text = name === 'select' ? chosen.map(lineOf).join(', ') : isText ? value : ''
  return name === 'option' ? [' '] : [{ name: 'label', attributes: {}, children: [text] }]
}

function asBlock(text: string): XmlElement {
  return { name: 'p', attributes: {}, children: [text] }
}

function isBox({ attributes }: XmlElement): boolean {
  return attributes.type === 'checkbox'
}

/** Whether an element is an icon of an icon font, such as `expand_more`. */
function isIcon(element: XmlElement): boolean {
  if (element.name !== 'i' && element.name !== 'span') return false
  return (
    element.attributes['aria-hidden'] === 'true' &&
    classesOf(element).some((name) => /icon|symbol/i.test(name))
  )
}

/** The number of a page of the printed book, which may stand in the middle of a word. */
function isPageNumber({ attributes }: XmlElement): boolean {
  return (
    /\bpagebreak\b/.test(attributes['epub:type'] ?? '') ||
    /\bdoc-pagebreak\b/.test(attributes.role ?? '')
  )
}

/** The words in a drawing, or its name. */
function cleanDrawing(element: XmlElement, outside: Surroundings): PageNode[] {
  const { attributes } = element
  if (attributes['aria-hidden'] === 'true' || outside.isControl) return [' ']
  const texts = findAll(element, ({ name }) => name === 'text' || name === 'foreignobject')
  const words = texts.flatMap((text): PageNode[] => {
    return [
      { name: 'label', attributes: {}, children: cleanAll(text.children.map(asLine), outside) },
    ]
  })
  if (words.some((word) => lineOf(word) !== '')) {
    return [{ name: 'div', attributes: {}, children: words }]
  }
  const title = find(element, ({ name }) => name === 'title')
  const alt = attributes['aria-label'] ?? (title === undefined ? '' : lineOf(title))
  if (attributes.role !== 'img' || alt === '') return [' ']
  return [{ name: 'img', attributes: { alt, src: '' }, children: [] }]
}

/** A line of a text of a drawing that has a position of its own. */
function asLine(node: PageNode): PageNode {
  if (!isElement(node, 'tspan')) return node
  const { x, y, dy } = node.attributes
  const isPlaced = x !== undefined || y !== undefined || dy !== undefined
  return { ...node, name: isPlaced ? 'label' : 'span' }
}

/** The page in the `srcdoc` of a frame. A page that a frame loads is reported. */
function cleanFrame(element: XmlElement, outside: Surroundings): PageNode[] {
  const { srcdoc } = element.attributes
  if (srcdoc === undefined) return [{ ...element, children: [] }]
  if (outside.frames >= maxFrames) return [' ']
  const children = mainContent(parseHtml(srcdoc), outside.frames + 1)
  return [{ name: 'div', attributes: {}, children }]
}

const pageRoles: ReadonlySet<string> = new Set(
  'navigation banner contentinfo search complementary menu menubar toolbar dialog alertdialog'.split(
    ' ',
  ),
)
/** The ones of them that also occur in an article. */
const innerRoles: ReadonlySet<string> = new Set('navigation search menu menubar toolbar'.split(' '))
/** Elements that belong to the page, or to the article if they are inside of one. */
const pageParts: ReadonlySet<string> = new Set(['header', 'footer', 'aside', 'dialog'])
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
 */
function isBoilerplate(element: XmlElement, { isContent, isQuoted }: Surroundings): boolean {
  if (isPermalink(element) || isPaging(element)) return true
  const role = element.attributes.role ?? ''
  if (isContent) return (element.name === 'footer' && !isQuoted) || innerRoles.has(role)
  if (pageParts.has(element.name) && !isQuoted) return true
  if (pageRoles.has(role)) return true
  if (role === 'tablist' || !hasNavigationName(element)) return false
  return linkDensity(element) > navigationLinkShare
}

/** The sign beside a heading that links to the heading. */
function isPermalink(element: XmlElement): boolean {
  if (element.name !== 'a') return false
  const { href, 'aria-hidden': hidden } = element.attributes
  const isLocal = href?.startsWith('#') === true
  return (
    isLocal &&
    (hidden === 'true' || (!/[\p{L}\p{N}]/u.test(textOf(element)) && !hasPicture(element)))
  )
}

function hasPicture(element: XmlElement): boolean {
  return find(element, ({ name }) => name === 'img') !== undefined
}

/** Links to the next, previous and parent page, as in manuals of many pages. */
function isPaging(element: XmlElement): boolean {
  if (element.name !== 'p' && element.name !== 'div') return false
  const links = element.children.filter((child) => isElement(child, 'a'))
  const isPagingLink = ({ attributes }: XmlElement) =>
    (attributes.rel ?? '').split(/\s+/).some((name) => pagingRelations.has(name.toLowerCase()))
  return links.length > 0 && links.every(isPagingLink) && linkDensity(element) > pagingLinkShare
}

function hasNavigationName(element: XmlElement): boolean {
  const { id, class: names } = element.attributes
  if (id === undefined && names === undefined) return false
  return [id ?? '', ...classesOf(element)].some((name) => navigationName.test(name.toLowerCase()))
}

function linkDensity(element: XmlElement): number {
  const total = lengthOf(element)
  return total === 0 ? 1 : linkedLength(element) / total
}

const linkedLengths = new WeakMap<XmlElement, number>()

function linkedLength(element: XmlElement): number {
  if (element.name === 'a') return lengthOf(element)
  const known = linkedLengths.get(element)
  if (known !== undefined) return known
  let length = 0
  for (const child of element.children) {
    if (typeof child !== 'string') length += linkedLength(child)
  }
  if (element.children.length > 1) linkedLengths.set(element, length)
  return length
}
