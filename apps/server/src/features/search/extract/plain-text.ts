import type { Paragraph } from 'mdast'
import { charsetOf, decodeText } from './decode.js'
import type { Extraction, Source } from './extractor.js'
import { requireReadable } from './requirements.js'

/** Blank lines and indentation. */
const MARKUP = 2

/** Reads plain text: blank lines separate paragraphs, everything else stays as it is written. */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeText(source.bytes, charsetOf(source.contentType))
  const text = requireReadable(decoded, source, MARKUP)
  return { root: { type: 'root', children: toParagraphs(text) } }
}

/** Text between blank lines, each piece a paragraph. */
export function toParagraphs(text: string): Paragraph[] {
  const paragraphs: Paragraph[] = []
  let lines: string[] = []
  const close = () => {
    const value = lines.join('\n')
    if (value !== '') paragraphs.push({ type: 'paragraph', children: [{ type: 'text', value }] })
    lines = []
  }
  for (const line of text.split('\n')) {
    if (line.trim() === '') close()
    else lines.push(line.trimEnd())
  }
  close()
  return paragraphs
}
