import type { Root as HtmlRoot } from 'hast'
import { fromParse5 } from 'hast-util-from-parse5'
import { toMdast } from 'hast-util-to-mdast'
import type { Root, RootContent } from 'mdast'
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse, parseFragment } from 'parse5'
import { type Extraction, ExtractionError, type Source } from '../document/extraction.js'
import { requireReadable } from '../document/limits.js'
import { firstHeading } from '../document/nodes.js'
import { charsetOf, decodeText, latin1 } from './decode.js'
import { cleanFragment, find, mainContent, textOf } from './main-content.js'

/** How many times longer than its text a page may be: tags, attributes and scripts. */
const maxMarkupRatio = 8
/** Bytes in which browsers look for the declaration of a charset. */
const charsetHeadBytes = 1024
const metaCharset = /<(?:meta\s[^>]*charset|\?xml\s[^>]*encoding)\s*=\s*["']?\s*([\w.:-]+)/i

/** Reads an HTML page: its main content, with `<title>` or else the first heading as title. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeText(source.bytes, declaredCharset(source))
  const page = parseHtml(requireReadable(text, source, maxMarkupRatio))
  const root = toRoot(page)
  const title = statedTitle(page) ?? firstHeading(root)
  return title === undefined ? { root } : { root, title }
}

/** Decodes a page inside another document, which has no media type of its own. */
export function decodePage(bytes: Uint8Array): string {
  return decodeText(bytes, metaCharset.exec(latin1(bytes.subarray(0, charsetHeadBytes)))?.[1])
}

/** The main content of a page inside another document. */
export function pageToMdast(html: string): Root {
  return toRoot(parseHtml(html))
}

/** The content of a fragment of HTML inside a document of another format. */
export function fragmentToMdast(html: string): RootContent[] {
  const fragment = cleanFragment(parseHtmlFragment(html))
  return toDocument(toMdast(fragment, { document: true })).children
}

/** The `<title>` of the head: drawings in the page have titles too. */
function statedTitle(page: HtmlRoot): string | undefined {
  const head = find(page, (element) => element.tagName === 'head')
  const title = head && find(head, (element) => element.tagName === 'title')
  const text = title === undefined ? '' : textOf(title).replace(/\s+/g, ' ').trim()
  return text === '' ? undefined : text
}

function declaredCharset(source: Source): string | undefined {
  const head = latin1(source.bytes.subarray(0, charsetHeadBytes))
  return charsetOf(source.contentType) ?? metaCharset.exec(head)?.[1]
}

function toRoot(page: HtmlRoot): Root {
  return toDocument(toMdast(mainContent(page), { document: true }))
}

function toDocument(tree: ReturnType<typeof toMdast>): Root {
  return tree.type === 'root' ? tree : { type: 'root', children: [] }
}

/** As in browsers. The conversion of the tree is recursive and would run out of stack far deeper. */
const maxDepth = 512

/**
 * @throws ExtractionError if elements are nested deeper than any browser shows them
 */
function parseHtml(html: string): HtmlRoot {
  return toHast(parse(html, { treeAdapter: guardedAdapter(), scriptingEnabled: false }))
}

/** Parses what may be in a body, such as HTML in a Markdown document. */
function parseHtmlFragment(html: string): HtmlRoot {
  return toHast(parseFragment(html, { treeAdapter: guardedAdapter(), scriptingEnabled: false }))
}

function toHast(
  tree: DefaultTreeAdapterTypes.Document | DefaultTreeAdapterTypes.DocumentFragment,
): HtmlRoot {
  const root = fromParse5(tree)
  return root.type === 'root' ? root : { type: 'root', children: [] }
}

/** Checks the depth while parsing: the time of the parser grows with the square of the depth. */
function guardedAdapter(): typeof defaultTreeAdapter {
  return {
    ...defaultTreeAdapter,
    appendChild(parent, child) {
      defaultTreeAdapter.appendChild(parent, child)
      requireShallow(parent)
    },
  }
}

function requireShallow(node: DefaultTreeAdapterTypes.ParentNode): void {
  let depth = 0
  let ancestor: DefaultTreeAdapterTypes.ParentNode | null = node
  while (ancestor !== null) {
    depth += 1
    ancestor = 'parentNode' in ancestor ? ancestor.parentNode : null
  }
  if (depth > maxDepth) {
    throw new ExtractionError(
      'too_deep',
      `The HTML nests elements more than ${maxDepth} levels deep. Flatten it and upload it again.`,
    )
  }
}
