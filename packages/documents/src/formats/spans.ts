import type { PhrasingContent } from 'mdast'

/** A stretch of text in one format; Office programs break a word into several of them. */
export interface Span {
  text: string
  bold?: boolean
  italic?: boolean
  /** Where a link leads. */
  url?: string
  /** Nodes that are no text, such as a break or an image, in place of the text. */
  node?: PhrasingContent
}

/** Inline nodes for spans, neighbours of one format joined. */
export function toPhrasing(spans: readonly Span[]): PhrasingContent[] {
  const joined: Span[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last !== undefined && isSameFormat(last, span)) last.text += span.text
    else if (span.node !== undefined || span.text !== '') joined.push({ ...span })
  }
  return joined.map(toNode)
}

/** The text of spans in one line. */
export function spanText(spans: readonly Span[]): string {
  return spans
    .map((span) => (span.node === undefined ? span.text : ' '))
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
}

function isSameFormat(a: Span, b: Span): boolean {
  if (a.node !== undefined || b.node !== undefined || a.url !== b.url) return false
  // Blanks between bold words are often not bold themselves.
  if (b.text.trim() === '') return true
  return a.bold === b.bold && a.italic === b.italic
}

function toNode(span: Span): PhrasingContent {
  if (span.node !== undefined) return span.node
  let node: PhrasingContent = { type: 'text', value: span.text }
  if (span.italic === true) node = { type: 'emphasis', children: [node] }
  if (span.bold === true) node = { type: 'strong', children: [node] }
  return span.url === undefined ? node : { type: 'link', url: span.url, children: [node] }
}
