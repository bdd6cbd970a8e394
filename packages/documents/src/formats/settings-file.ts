import type { RootContent } from 'mdast'
import { append } from '../document/append.js'
import type { Extraction, Source } from '../document/extraction.js'
import { requireLines, requireReadable } from '../document/limits.js'
import { heading } from '../document/nodes.js'
import { toParagraphs } from '../document/text-blocks.js'
import { decodeSource } from './decode.js'

/** Maximum ratio of the length of a file to its text: blank lines and indentation. */
const maxMarkupRatio = 2
/** Characters of the longest line that names a section. */
const maxNameLine = 300
const sectionPattern = /^\s*\[{1,2}\s*([^[\],]{1,200}?)\s*\]{1,2}\s*(?:[#;].*)?$/

/** Reads settings: their sections are headings, everything else stays as it is written, comments too. */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = requireReadable(decodeSource(source), source, maxMarkupRatio)
  requireLines(decoded)
  const text = /\.properties$/i.test(source.key) ? withoutEscapes(decoded) : decoded
  const children: RootContent[] = []
  let open: string[] = []
  const close = () => {
    append(children, toParagraphs(open.join('\n')))
    open = []
  }
  let isInside = false
  for (const line of text.split('\n')) {
    const isName = !isInside && line.length <= maxNameLine
    const section = isName ? sectionPattern.exec(line)?.[1] : undefined
    // Texts of several lines, and lists, may contain lines that look like sections.
    if ((line.match(/"""|'''/g)?.length ?? 0) % 2 === 1) isInside = !isInside
    if (section === undefined) open.push(line)
    else {
      close()
      children.push(heading(section.split('.').length, section))
    }
  }
  close()
  return { root: { type: 'root', children } }
}

/** Java writes letters beyond ASCII as their codes. */
function withoutEscapes(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}
