import type { Paragraph } from 'mdast'
import { commentText, paragraph, spanText } from '../document/nodes.js'
import type { Omissions } from '../document/omissions.js'
import { createRunReader, type RunContext } from './docx-runs.js'
import { type CharacterStyle, toggle } from './docx-styles.js'
import { headerOrFooterText } from './headers-footers.js'
import type { OfficePackage, Relations } from './opc.js'
import { attribute, elements, findElements, readXml, type XmlElement } from './xml.js'

/** Texts beside the body of a Word document: notes, comments, headers and footers. */

interface Context {
  characters: ReadonlyMap<string, CharacterStyle>
  omissions: Omissions
}

/** The texts of footnotes or endnotes by id. */
export async function readNotes(
  office: OfficePackage,
  type: string,
  name: string,
  context: Context,
): Promise<Map<string, string>> {
  return await readStories(office, type, name, context, (text) => text)
}

/** The comments of a document by id, each with its author. */
export async function readComments(
  office: OfficePackage,
  context: Context,
): Promise<Map<string, string>> {
  return await readStories(office, 'comments', 'comment', context, (text, comment) => {
    const author = (attribute(comment, 'author') ?? '').replace(/\s+/g, ' ').trim()
    return commentText(author, text)
  })
}

async function readStories(
  office: OfficePackage,
  type: string,
  name: string,
  context: Context,
  toStory: (text: string, element: XmlElement) => string,
): Promise<Map<string, string>> {
  const stories = new Map<string, string>()
  const part = await office.related(office.main, type)
  if (part === undefined) return stories
  const relations = await office.relations(part)
  readXml(await office.archive.read(part), {
    wanted: new Set([name]),
    visit(element) {
      const text = textOf(element, { ...context, relations, parts: new Map(), place: { part } })
      if (text !== '') stories.set(attribute(element, 'id') ?? '', toStory(text, element))
    },
  })
  return stories
}

/** The paragraphs of a note, with those in its tables and boxes, in one line. */
function textOf(element: XmlElement, context: RunContext): string {
  const runs = createRunReader(context)
  const texts = findElements(element, 'p').flatMap((each) => {
    const { spans, attachments } = runs.read(each)
    const boxed = attachments.flatMap((attachment) =>
      attachment.type === 'box' ? [textOf(attachment.content, context)] : [],
    )
    return [spanText(spans), ...boxed]
  })
  return texts.filter((text) => text !== '').join(' ')
}

type HeaderOrFooter = 'header' | 'footer'

/** A document with headers and footers. */
interface HeaderSource extends Context {
  office: OfficePackage
  relations: Relations
}

/**
 * The headers and footers that pages show, each text once.
 *
 * @param sections the properties of all sections, in order
 */
export async function readHeadersAndFooters(
  { office, relations, characters, omissions }: HeaderSource,
  sections: readonly XmlElement[],
): Promise<Paragraph[]> {
  const hasEven = await differsOnEvenPages(office)
  const seen = new Set<string>()
  const headersAndFooters: Paragraph[] = []
  for (const { kind, id } of sections.flatMap((section) => referencesOf(section, hasEven))) {
    const part = relations.get(id)?.target
    if (part === undefined || seen.has(part) || !office.archive.has(part)) continue
    seen.add(part)
    const root = await office.parse(part, kind === 'header' ? 'hdr' : 'ftr')
    const lines = headerOrFooterLines(root, {
      relations: await office.relations(part),
      parts: new Map(),
      characters,
      omissions,
      place: { part },
      isHeaderOrFooter: true,
    })
    const text = lines.join('\n')
    if (text === '' || seen.has(`text ${text}`)) continue
    seen.add(`text ${text}`)
    headersAndFooters.push(paragraph(`${kind === 'header' ? 'Header' : 'Footer'}: ${text}`))
  }
  return headersAndFooters
}

async function differsOnEvenPages(office: OfficePackage): Promise<boolean> {
  const part = await office.related(office.main, 'settings')
  if (part === undefined) return false
  return toggle(await office.parse(part, 'settings'), 'evenAndOddHeaders') === true
}

/** The headers and footers of a section that are shown on some page. */
function referencesOf(
  section: XmlElement,
  hasEven: boolean,
): { kind: HeaderOrFooter; id: string }[] {
  const hasFirst = toggle(section, 'titlePg') === true
  return (['header', 'footer'] as const).flatMap((kind) =>
    elements(section, `${kind}Reference`).flatMap((reference) => {
      const type = attribute(reference, 'type') ?? 'default'
      const isShown = type === 'first' ? hasFirst : type === 'even' ? hasEven : true
      return isShown ? [{ kind, id: attribute(reference, 'id') ?? '' }] : []
    }),
  )
}

function headerOrFooterLines(root: XmlElement, context: RunContext): string[] {
  const runs = createRunReader(context)
  return findElements(root, 'p').flatMap((element) => {
    const { spans, attachments } = runs.read(element)
    const whole = spans.map((span) => (span.node === undefined ? span.text : '\n')).join('')
    const boxed = attachments.flatMap((attachment) =>
      attachment.type === 'box' ? headerOrFooterLines(attachment.content, context) : [],
    )
    const line = headerOrFooterText(whole)
    return line === '' ? boxed : [line, ...boxed]
  })
}
