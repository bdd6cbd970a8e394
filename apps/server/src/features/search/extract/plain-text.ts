import type { Paragraph, Root } from 'mdast'
import { charsetOf, decodeText } from './decode.js'
import type { Extraction, Source } from './extractor.js'

/** Reads plain text: blank lines separate paragraphs, everything else stays as it is written. */
export async function extract(source: Source): Promise<Extraction> {
  const text = decodeText(source.bytes, charsetOf(source.contentType))
  const root: Root = { type: 'root', children: text.split(/\n(?:[ \t]*\n)+/).flatMap(toParagraph) }
  return { root }
}

function toParagraph(text: string): Paragraph[] {
  if (text.trim() === '') return []
  return [{ type: 'paragraph', children: [{ type: 'text', value: text.trimEnd() }] }]
}
