import { charsetOf, decodeText } from './decode.js'
import type { Extraction, Source } from './extractor.js'
import { requireReadable } from './requirements.js'
import { toTextBlocks, toTextLines } from './text-blocks.js'

/** Blank lines and indentation. */
const MARKUP = 2

/**
 * Reads plain text: blank lines separate paragraphs; lines that are underlined, numbered as sections, in
 * capitals or further left than the text below them are headings; everything else stays as it is written.
 */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeText(source.bytes, charsetOf(source.contentType))
  const text = requireReadable(decoded, source, MARKUP)
  return { root: { type: 'root', children: toTextBlocks(toTextLines(text)) } }
}
