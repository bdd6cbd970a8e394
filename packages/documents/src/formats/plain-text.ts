import type { Extraction, Source } from '../document/extraction.js'
import { createLineJoiner } from '../document/join-lines.js'
import { requireLines, requireReadable } from '../document/limits.js'
import { toTextBlocks, toTextLines } from '../document/text-blocks.js'
import { decodeSource } from './decode.js'

/** Characters from the beginning of a text in which hyphenated words are looked up. */
const lookupCharacters = 4 * 1024 * 1024

/** Two lines with more characters together are not joined, so that no text takes long. */
const maxLength = 1000

/** Maximum ratio of the length of a file to its text: blank lines and indentation. */
const maxMarkupRatio = 2

/**
 * Reads plain text. Blank lines separate paragraphs. Lines that are underlined, numbered as sections, in
 * capitals or further left than the text below them are headings. Hyphenated words are joined again, as in
 * manual pages. Everything else stays as it is written.
 */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeSource(source)
  const text = requireReadable(decoded, source, maxMarkupRatio)
  requireLines(text)
  return { root: { type: 'root', children: toTextBlocks(toTextLines(joinHyphenatedWords(text))) } }
}

/**
 * Joins words that were hyphenated at the end of a line by U+2010 or U+00AD. A line that ends with `-`
 * stays: it may as well end with an option or a range.
 */
function joinHyphenatedWords(text: string): string {
  if (!/[\u00ad\u2010]$/m.test(text)) return text
  const joiner = createLineJoiner(() => text.slice(0, lookupCharacters).split('\n'))
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const head = lines.at(-1) ?? ''
    const tail = /^(\s*)(\p{L}\S*)/u.exec(line)
    if (
      tail === null ||
      head.length + line.length > maxLength ||
      !/\p{L}[\u00ad\u2010]$/u.test(head)
    ) {
      lines.push(line)
      continue
    }
    const [start, margin = '', word = ''] = tail
    lines[lines.length - 1] = joiner.join([head, word])
    const rest = line.slice(start.length).trim()
    if (rest !== '') lines.push(margin + rest)
  }
  return lines.join('\n')
}
