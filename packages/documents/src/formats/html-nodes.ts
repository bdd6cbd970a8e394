import type { BlockContent, Code, Heading, List, ListItem, Paragraph, PhrasingContent } from 'mdast'
import { append } from '../document/append.js'
import { heading, plainText } from '../document/nodes.js'
import type { OmissionPlace, Omissions } from '../document/omissions.js'
import { preformatted } from './html-code.js'
import { firstNumber, labelsOf } from './html-labels.js'
import { readTable } from './html-tables.js'
import { classesOf, find, isElement, lineOf, type PageNode, textOf } from './html-tree.js'
import {
  createPhraseWriter,
  type Mark,
  maxRaised,
  type PhraseWriter,
  raise,
  toText,
} from './phrases.js'
import type { XmlElement } from './xml.js'

/** State that the elements of one page share. */
export interface PageContext {
  omissions: Omissions
  /** The chapter, in a book. */
  place?: OmissionPlace
  /** Explanations of abbreviations that were written once. */
  explained: Set<string>
  /** Whether a caption describes the picture. */
  hasCaption: boolean
}

/** Target of elements: blocks one after the other, or one line such as a heading or a cell of a table. */
interface Output {
  phrases: PhraseWriter
  /** None if everything becomes one line. */
  blocks?: BlockContent[]
  context: PageContext
}

export function createPageContext(omissions: Omissions, place?: OmissionPlace): PageContext {
  return { omissions, explained: new Set(), hasCaption: false, ...(place && { place }) }
}

/** The blocks of a part of a page that `main-content` has cleaned. */
export function toBlocks(
  nodes: readonly PageNode[],
  context: PageContext,
  marks: readonly Mark[] = [],
): BlockContent[] {
  const blocks: BlockContent[] = []
  const output = { phrases: createPhraseWriter(marks), blocks, context }
  addAll(nodes, output)
  boundary(output)
  return blocks
}

/** The same in one line; breaks separate the parts that a browser shows apart. */
export function toLine(
  nodes: readonly PageNode[],
  context: PageContext,
  marks: readonly Mark[] = [],
): PhrasingContent[] {
  const [only] = nodes
  // Most cells of large tables.
  if (nodes.length < 2 && typeof only === 'string' && marks.length === 0) return toText(only)
  const phrases = createPhraseWriter(marks)
  addAll(nodes, { phrases, context })
  return phrases.take()
}

/** The same as plain text. */
function toPlainLine(nodes: readonly PageNode[], context: PageContext): string {
  const text = toLine(nodes, context).map(plainText).join('')
  return text.replace(/\s+/g, ' ').trim()
}

/** Ends a paragraph or a line. */
function boundary({ phrases, blocks }: Output): void {
  if (blocks === undefined) {
    phrases.separate()
    return
  }
  const children = phrases.take()
  if (children.length > 0) blocks.push({ type: 'paragraph', children } satisfies Paragraph)
}

function addAll(nodes: readonly PageNode[], output: Output): void {
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at]
    if (node === undefined) continue
    if (typeof node === 'string') output.phrases.text(node)
    else if (node.name !== 'sup' && node.name !== 'sub') addElement(node, output)
    else at += addRaised(nodes, at, output)
  }
}

type Handler = (element: XmlElement, output: Output) => void

const inline: Handler = ({ children }, output) => addAll(children, output)

const block: Handler = ({ children }, output) => {
  boundary(output)
  addAll(children, output)
  boundary(output)
}

/** A block that lays out its children side by side, without contact between them. */
const sideBySide: Handler = ({ children }, output) => {
  boundary(output)
  for (const child of children) {
    output.phrases.gap()
    addAll([child], output)
  }
  boundary(output)
}

/** Has space around it although it stands in a line: a button, a label, an element that only styles explain. */
const apart: Handler = ({ children }, output) => {
  output.phrases.gap()
  addAll(children, output)
  output.phrases.gap()
}

const nothing: Handler = () => {}

function marked(type: 'strong' | 'emphasis' | 'delete'): Handler {
  return ({ children }, output) => within({ type }, children, output)
}

function within(mark: Mark, children: readonly PageNode[], output: Output): void {
  output.phrases.open(mark)
  addAll(children, output)
  output.phrases.close()
}

const handlers: Readonly<Record<string, Handler>> = {
  ...named(
    `address article aside body caption center dd details dialog div dt fieldset
     figcaption footer form header hgroup html legend li main nav optgroup option p search section
     summary tbody tfoot thead tr`,
    block,
  ),
  ...named('button label input meter output progress td th canvas', apart),
  ...named('wbr rp', nothing),
  ...named('b strong', marked('strong')),
  ...named('em i mark u', marked('emphasis')),
  ...named('del s strike', marked('delete')),
  ...named('code kbd samp tt var', addInlineCode),
  ...named('h1 h2 h3 h4 h5 h6', addHeading),
  ...named('ul ol menu dir', addList),
  ...named('pre listing plaintext xmp', addCode),
  ...named('audio embed iframe video', addEmbedded),
  a: addLink,
  abbr: addAbbreviation,
  area: addArea,
  blockquote: addQuote,
  br: (_, { phrases }) => phrases.lineBreak(),
  dl: addDefinitions,
  figure: addFigure,
  hr: addRule,
  img: addPicture,
  object: addObject,
  q: (element, output) => {
    addAll(['"', ...element.children, '"'], output)
  },
  ruby: addRuby,
  table: addTable,
}

function named(names: string, handler: Handler): Record<string, Handler> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, handler]))
}

const sideBySideDisplay = /display\s*:\s*(?:flex|grid)\b/i
const blockDisplay = /display\s*:\s*(?:block|table|list-item|flow-root)\b/i
const inlineDisplay = /display\s*:\s*inline\b(?!-)/i
const apartDisplay = /display\s*:\s*(?:inline-\w+|table-cell)/i

function addElement(element: XmlElement, output: Output): void {
  const handler = Object.hasOwn(handlers, element.name) ? handlers[element.name] : undefined
  const isPlain = handler === undefined || handler === block
  // Elements of the page's own are mostly laid out as blocks.
  const usual = handler ?? (element.name.includes('-') ? apart : inline)
  const chosen = isPlain ? (styled(element) ?? usual) : usual
  chosen(element, output)
}

/** The handler for the layout that an element's own style states. */
function styled({ attributes: { style } }: XmlElement): Handler | undefined {
  if (style === undefined) return undefined
  if (sideBySideDisplay.test(style)) return sideBySide
  if (blockDisplay.test(style)) return block
  if (inlineDisplay.test(style)) return inline
  return apartDisplay.test(style) ? apart : undefined
}

function addHeading(element: XmlElement, output: Output): void {
  boundary(output)
  if (output.blocks === undefined) addAll(element.children, output)
  else {
    const children = toLine(element.children, output.context, output.phrases.marks())
    const level = Number(element.name.charAt(1))
    if (children.length > 0) output.blocks.push(heading(level, children) satisfies Heading)
  }
  boundary(output)
}

function addQuote(element: XmlElement, output: Output): void {
  if (output.blocks === undefined) {
    block(element, output)
    return
  }
  boundary(output)
  const children = toBlocks(element.children, output.context, output.phrases.marks())
  if (children.length > 0) output.blocks.push({ type: 'blockquote', children })
}

function addRule(_: XmlElement, output: Output): void {
  boundary(output)
  output.blocks?.push({ type: 'thematicBreak' })
}

function addCode(element: XmlElement, output: Output): void {
  boundary(output)
  const value = preformatted(element)
  if (value.trim() !== '') {
    if (output.blocks === undefined) addLines(value, output)
    else output.blocks.push({ type: 'code', lang: languageOf(element), value } satisfies Code)
  }
  boundary(output)
}

function addLines(value: string, output: Output): void {
  for (const line of value.split('\n')) {
    output.phrases.text(line)
    output.phrases.separate()
  }
}

function languageOf(element: XmlElement): string | null {
  const code = find(element, (each) => classesOf(each).some((name) => /^language-/.test(name)))
  const named = code && classesOf(code).find((name) => name.startsWith('language-'))
  return named?.slice('language-'.length) || null
}

function addList(element: XmlElement, output: Output): void {
  if (output.blocks === undefined) {
    block(element, output)
    return
  }
  boundary(output)
  const list = toList(element, output)
  if (list !== undefined) output.blocks.push(list)
}

function toList(element: XmlElement, output: Output): List | undefined {
  const items: ListItem[] = []
  const labels = labelsOf(element)
  let counted = 0
  const addItems = (nodes: readonly PageNode[]) => {
    for (const node of nodes) {
      if (typeof node === 'string' && node.trim() === '') continue
      if (isElement(node, 'ul', 'ol', 'menu', 'dir') && items.length > 0) {
        const nested = toList(node, output)
        if (nested !== undefined) items.at(-1)?.children.push(nested)
      } else if (isElement(node, 'li')) {
        items.push(toItem(node, labels?.[counted], output))
        counted += 1
      }
      // Elements of the page's own may stand around the items.
      else if (isElement(node) && node.children.some((child) => isElement(child, 'li'))) {
        addItems(node.children)
      } else {
        const children = toBlocks([node], output.context, output.phrases.marks())
        if (children.length > 0) items.push({ type: 'listItem', spread: false, children })
      }
    }
  }
  addItems(element.children)
  if (items.length === 0) return undefined
  const ordered = element.name === 'ol' && labels === undefined
  return {
    type: 'list',
    ordered,
    spread: items.some((item) => item.spread === true),
    ...(ordered && { start: firstNumber(element) }),
    children: items,
  }
}

function toItem(element: XmlElement, label: string | undefined, output: Output): ListItem {
  const named = label === undefined ? element.children : [`${label} `, ...element.children]
  const children = toBlocks(named, output.context, output.phrases.marks())
  const spread = children.filter(({ type }) => type === 'paragraph').length > 1
  const box = element.children.find((node) => isElement(node) || node.trim() !== '')
  const isTask = isElement(box, 'input') && box.attributes.type === 'checkbox'
  const checked = isTask ? { checked: box.attributes.checked !== undefined } : {}
  return { type: 'listItem', spread, children, ...checked }
}

/** An item for each term, with its explanations. */
function addDefinitions(element: XmlElement, output: Output): void {
  if (output.blocks === undefined) {
    block(element, output)
    return
  }
  boundary(output)
  const items: ListItem[] = []
  let isOpen = false
  const addPart = (node: PageNode) => {
    if (isElement(node, 'div')) {
      isOpen = false
      node.children.forEach(addPart)
      isOpen = false
      return
    }
    const children = toBlocks([node], output.context, output.phrases.marks())
    if (children.length === 0) return
    const isTerm = isElement(node, 'dt')
    const last = items.at(-1)
    if (last === undefined || (isTerm && !isOpen)) {
      items.push({ type: 'listItem', spread: false, children })
    } else append(last.children, children)
    // Several terms may share an explanation.
    isOpen = isTerm
  }
  element.children.forEach(addPart)
  if (items.length === 0) return
  output.blocks.push({ type: 'list', ordered: false, spread: false, children: items })
}

function addTable(element: XmlElement, output: Output): void {
  boundary(output)
  if (output.blocks === undefined) addAll(element.children, output)
  else {
    const marks = output.phrases.marks()
    const { context } = output
    output.blocks.push(
      ...readTable(element, {
        line: (nodes) => toLine(nodes, context, marks),
        blocks: (nodes) => toBlocks(nodes, context, marks),
      }),
    )
  }
  boundary(output)
}

function addInlineCode(element: XmlElement, output: Output): void {
  if (find(element, ({ name }) => name === 'pre') !== undefined) {
    inline(element, output)
    return
  }
  const value = toPlainLine(element.children, output.context)
  if (/^\s/.test(textOf(element))) output.phrases.gap()
  if (value !== '') output.phrases.node({ type: 'inlineCode', value })
  if (/\s$/.test(textOf(element))) output.phrases.gap()
}

function addLink(element: XmlElement, output: Output): void {
  const { href } = element.attributes
  const { before } = output.phrases
  const text = lineOf(element)
  // A number at a word that leads to another place of the page.
  const isNumber = /^#./.test(href ?? '') && /^\d{1,3}$/.test(text) && /\p{L}$/u.test(before())
  if (isNumber || isNoteReference(element)) {
    const isMarked = /^[[(*†‡§]/.test(text) || before() === ''
    output.phrases.text(isMarked ? text : `[${text}]`)
    return
  }
  if (href === undefined) {
    inline(element, output)
    return
  }
  within({ type: 'link', url: href }, element.children, output)
}

function isNoteReference({ attributes }: XmlElement): boolean {
  return (
    /\bnoteref\b/.test(attributes['epub:type'] ?? '') ||
    /\bdoc-noteref\b/.test(attributes.role ?? '')
  )
}

/** Explains an abbreviation where it occurs first: people search for either. */
function addAbbreviation(element: XmlElement, output: Output): void {
  addAll(element.children, output)
  const title = (element.attributes.title ?? '').replace(/\s+/g, ' ').trim()
  const text = lineOf(element)
  const { explained } = output.context
  if (title === '' || text === '' || explained.has(`${text}\n${title}`)) return
  explained.add(`${text}\n${title}`)
  output.phrases.text(` (${title})`)
}

/** A reading beside its characters: `漢字(かんじ)`, so that the word stays whole. */
function addRuby(element: XmlElement, output: Output): void {
  const readings: string[] = []
  const collect = (nodes: readonly PageNode[]): PageNode[] =>
    nodes.flatMap((node): PageNode[] => {
      if (!isElement(node, 'rt', 'rtc', 'rp', 'rb', 'ruby', 'rbc')) return [node]
      if (node.name === 'rt') readings.push(toPlainLine(node.children, output.context))
      if (node.name === 'rp' || node.name === 'rt') return []
      return collect(node.children)
    })
  addAll(collect(element.children), output)
  const reading = readings.filter((text) => text !== '').reduce(joinReadings, '')
  if (reading !== '') output.phrases.text(`(${reading})`)
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}]/u

function joinReadings(text: string, next: string): string {
  const isGlued = text === '' || (unspaced.test(text.slice(-1)) && unspaced.test(next.charAt(0)))
  return isGlued ? text + next : `${text} ${next}`
}

/**
 * Writes a raised or lowered text, or a fraction of both.
 *
 * @returns the number of next nodes that belong to it
 */
function addRaised(nodes: readonly PageNode[], at: number, output: Output): number {
  const element = nodes[at]
  if (!isElement(element, 'sup', 'sub')) return 0
  const { phrases, context } = output
  // By its text as written: reading a nested one twice would take exponential time.
  const isSmallPrint = lineOf(element).length > maxRaised
  if (isSmallPrint || find(element, ({ name }) => name === 'img') !== undefined) {
    apart(element, output)
    return 0
  }
  const inner = toPlainLine(element.children, context)
  const [slash, denominator] = nodes.slice(at + 1, at + 3)
  const isFraction =
    element.name === 'sup' &&
    typeof slash === 'string' &&
    /^\s*[/⁄∕]\s*$/.test(slash) &&
    isElement(denominator, 'sub')
  if (isFraction) {
    if (/\p{N}$/u.test(phrases.before())) phrases.gap()
    phrases.text(`${inner}/${toPlainLine(denominator.children, context)}`)
    return 2
  }
  const link = find(
    element,
    ({ name, attributes }) => name === 'a' && attributes.href !== undefined,
  )
  const isLinked = phrases.marks().some((mark) => mark.type === 'link' && /^#./.test(mark.url))
  const isLocal = link?.attributes.href?.startsWith('#') === true
  const isBare = /^[\p{L}\p{N},\s]{1,12}$/u.test(inner)
  const before = phrases.before()
  const isReference = isLinked || (link !== undefined && (isLocal || isNoteReference(link)))
  if (isReference && isBare && before !== '') {
    phrases.text(`[${inner}]`)
    return 0
  }
  const after = nodes[at + 1]
  const written = raise(
    element.name === 'sup' ? 'sup' : 'sub',
    inner,
    before,
    typeof after === 'string' ? after : '',
  )
  const { href } = link?.attributes ?? {}
  if (href !== undefined && !isLocal) phrases.open({ type: 'link', url: href })
  phrases.text(written)
  if (href !== undefined && !isLocal) phrases.close()
  return 0
}

function addFigure(element: XmlElement, output: Output): void {
  const caption = find(element, ({ name }) => name === 'figcaption')
  const hasCaption = caption !== undefined && lineOf(caption) !== ''
  const context = hasCaption ? { ...output.context, hasCaption } : output.context
  block(element, { ...output, context })
}

/** Smaller pictures are signs. In pixels. */
const minPicture = 40

function addPicture({ attributes }: XmlElement, output: Output): void {
  const { alt, src = '', title, role } = attributes
  const text = [alt, attributes['aria-label'], title]
    .map((each) => (each ?? '').replace(/\s+/g, ' ').trim())
    .find((each) => each !== '')
  const isSmall = [attributes.width, attributes.height].some((size) => Number(size) < minPicture)
  const isDecoration =
    alt !== undefined || isSmall || role === 'presentation' || role === 'none' || src === ''
  const url = /^\s*data:/i.test(src) ? '' : src
  if (text === undefined && !isDecoration && !output.context.hasCaption) {
    addOmission('picture_without_text', url, output)
  }
  if (text === undefined && url === '') {
    output.phrases.gap()
    return
  }
  output.phrases.node({ type: 'image', url: src, alt: text ?? '' })
}

/** A page, recording or document that is shown in the page. */
function addEmbedded({ attributes }: XmlElement, output: Output): void {
  output.phrases.gap()
  const { src = '', title } = attributes
  const isSmall = [attributes.width, attributes.height].some((size) => Number(size) < minPicture)
  const isHidden =
    attributes.hidden !== undefined || /display\s*:\s*none/.test(attributes.style ?? '')
  if (isSmall || isHidden) return
  if (src !== '' && !/^(?:about|javascript):/i.test(src)) addOmission('embedded_file', src, output)
  if (title === undefined || title.trim() === '') return
  if (src === '') output.phrases.text(title)
  else within({ type: 'link', url: src }, [title], output)
  output.phrases.gap()
}

/** A document that is shown in the page; its content is shown where the document cannot be. */
function addObject(element: XmlElement, output: Output): void {
  if (lineOf(element) !== '') {
    apart(element, output)
    return
  }
  const { data = '', ...attributes } = element.attributes
  addEmbedded({ ...element, attributes: { ...attributes, src: data } }, output)
}

/** A part of a picture that leads to a page. */
function addArea({ attributes }: XmlElement, output: Output): void {
  const { alt = '', href = '' } = attributes
  output.phrases.gap()
  if (alt.trim() !== '') within({ type: 'link', url: href }, [alt], output)
  output.phrases.gap()
}

/** Names of files are for finding the place; longer ones are data. */
const maxNameLength = 200

function addOmission(
  kind: 'picture_without_text' | 'embedded_file',
  src: string,
  { context }: Output,
): void {
  const part = src.trim().slice(0, maxNameLength)
  const place = context.place ?? (part === '' ? undefined : { part })
  context.omissions.add(kind, place)
}
