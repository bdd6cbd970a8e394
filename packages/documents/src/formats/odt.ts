import type { Paragraph, Root } from 'mdast'
import { type Extraction, readingAs, type Source } from '../document/extraction.js'
import { firstHeading, paragraph, type Span } from '../document/nodes.js'
import { createOmissions, type Omissions } from '../document/omissions.js'
import { headerOrFooterText } from './headers-footers.js'
import { createOdtBody } from './odt-body.js'
import { readObjects } from './odt-objects.js'
import { openOpenDocument, statedTitle, styleElements } from './odt-package.js'
import { createOdtStyles, type OdtStyles } from './odt-styles.js'
import { createInlineReader, type InlineReader } from './odt-text.js'
import { attribute, elements, findElements, readXml, type XmlElement } from './xml.js'

const formatName = 'an OpenDocument text (.odt)'

/** Elements that are read as a whole. `tracked-changes` and indexes are among them to be skipped. */
const wholeElements: ReadonlySet<string> = new Set([
  ...styleElements,
  ...'p h list table frame g custom-shape rect ellipse circle tracked-changes table-of-content alphabetical-index illustration-index table-index object-index user-index bibliography forms'.split(
    ' ',
  ),
])

/**
 * Reads an OpenDocument text as it is shown: headings, clauses and lists with their numbers, tables, notes, comments,
 * text boxes, formulas, charts, and headers and footers once; tracked changes as accepted.
 */
export function extract(source: Source): Promise<Extraction> {
  return readingAs(formatName, async () => {
    const archive = await openOpenDocument(source, formatName)
    const omissions = createOmissions()
    const styles = createOdtStyles()
    const headersAndFooters = archive.has('styles.xml')
      ? readStyles(await archive.read('styles.xml'), styles, omissions)
      : []
    const objects = await readObjects(archive, omissions)
    const body = createOdtBody({ styles, objects, omissions })
    readXml(await archive.read('content.xml'), {
      wanted: wholeElements,
      visit(element) {
        if (styleElements.includes(element.name)) styles.add(element)
        else body.add(element)
      },
    })
    const root: Root = { type: 'root', children: [...headersAndFooters, ...body.end()] }
    const title = firstHeading(root) ?? (await statedTitle(archive))
    return { root, ...(title !== undefined && { title }), omissions: omissions.list() }
  })
}

/** Adds the named styles, and returns the headers and footers that pages show, each text once. */
function readStyles(bytes: Uint8Array, styles: OdtStyles, omissions: Omissions): Paragraph[] {
  const headersAndFooters = new Set<string>()
  const place = { part: 'styles.xml' }
  const inline = createInlineReader({
    styles,
    objects: new Map(),
    omissions,
    place,
    isHeaderOrFooter: true,
  })
  readXml(bytes, {
    wanted: new Set([...styleElements, 'master-page']),
    visit(element) {
      if (element.name !== 'master-page') styles.add(element)
      else for (const text of headersAndFootersOf(element, inline)) headersAndFooters.add(text)
    },
  })
  return [...headersAndFooters].map((text) => paragraph(text))
}

function headersAndFootersOf(page: XmlElement, inline: InlineReader): string[] {
  return elements(page).flatMap((element) => {
    const kind = /^(header|footer)(?:-left|-first)?$/.exec(element.name)?.[1]
    if (kind === undefined || attribute(element, 'display') === 'false') return []
    const text = headerOrFooterLines(element, inline).join('\n')
    return text === '' ? [] : [`${kind === 'header' ? 'Header' : 'Footer'}: ${text}`]
  })
}

function headerOrFooterLines(parent: XmlElement, inline: InlineReader): string[] {
  return ['p', 'h']
    .flatMap((name) => findElements(parent, name))
    .flatMap((element) => {
      const { spans, attachments } = inline.read(element)
      const line = headerOrFooterText(spans.map(lineOf).join(''))
      const boxed = attachments.flatMap((each) =>
        each.type === 'box' ? headerOrFooterLines(each.content, inline) : [],
      )
      return line === '' ? boxed : [line, ...boxed]
    })
}

function lineOf(span: Span): string {
  return span.node === undefined ? span.text : '\n'
}
