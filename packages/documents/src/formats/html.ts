import type { Root as HtmlRoot } from 'hast'
import { toMdast } from 'hast-util-to-mdast'
import type { Root, RootContent } from 'mdast'
import { textOf } from './boilerplate.js'
import { charsetOf, decodeText, latin1 } from './decode.js'
import type { Extraction, Source } from './extractor.js'
import { parseHtml, parseHtmlFragment } from './html-tree.js'
import { cleanFragment, find, mainContent } from './main-content.js'
import { requireReadable } from './requirements.js'
import { firstHeading } from './tree.js'

/** Tags, attributes and scripts. */
const MARKUP = 8
/** Where browsers look for a charset declaration. */
const HEAD_BYTES = 1024
const META_CHARSET = /<(?:meta\s[^>]*charset|\?xml\s[^>]*encoding)\s*=\s*["']?\s*([\w.:-]+)/i

/** Reads an HTML page: its main content, and `<title>`, else the first heading, as title. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeText(source.bytes, declaredCharset(source))
  const page = parseHtml(requireReadable(text, source, MARKUP))
  const root = toRoot(page)
  const title = statedTitle(page) ?? firstHeading(root)
  return title === undefined ? { root } : { root, title }
}

/** The characters of a page inside another document, which has no media type of its own. */
export function decodePage(bytes: Uint8Array): string {
  return decodeText(bytes, META_CHARSET.exec(latin1(bytes.subarray(0, HEAD_BYTES)))?.[1])
}

/** The main content of a page that is a part of another document. */
export function pageToMdast(html: string): Root {
  return toRoot(parseHtml(html))
}

/** The content of a piece of HTML as Markdown nodes: for HTML inside other formats. */
export function fragmentToMdast(html: string): RootContent[] {
  const fragment = cleanFragment(parseHtmlFragment(html))
  return toDocument(toMdast(fragment, { document: true })).children
}

/** Only the head's title counts: drawings inside the page have titles too. */
function statedTitle(page: HtmlRoot): string | undefined {
  const head = find(page, (element) => element.tagName === 'head')
  const title = head && find(head, (element) => element.tagName === 'title')
  const text = title === undefined ? '' : textOf(title).replace(/\s+/g, ' ').trim()
  return text === '' ? undefined : text
}

function declaredCharset(source: Source): string | undefined {
  const head = latin1(source.bytes.subarray(0, HEAD_BYTES))
  return charsetOf(source.contentType) ?? META_CHARSET.exec(head)?.[1]
}

function toRoot(page: HtmlRoot): Root {
  return toDocument(toMdast(mainContent(page), { document: true }))
}

function toDocument(tree: ReturnType<typeof toMdast>): Root {
  return tree.type === 'root' ? tree : { type: 'root', children: [] }
}
