import { extname } from 'node:path'
import type { Code } from 'mdast'
import type { Extraction, Source } from '../document/extraction.js'
import { requireLines, requireReadable } from '../document/limits.js'
import { decodeSource } from './decode.js'

/** Maximum ratio of the length of a program to its text: indentation. */
const maxMarkupRatio = 3
/** Characters of parts that are kept together, so that short functions do not become blocks of their own. */
const joinedLength = 700

/** Reads a program or a script as code: blank lines before unindented ones separate its parts. */
export async function extract(source: Source): Promise<Extraction> {
  const text = requireReadable(decodeSource(source), source, maxMarkupRatio)
  requireLines(text)
  const language = extname(source.key).slice(1).toLowerCase()
  return { root: { type: 'root', children: toCode(text, language) } }
}

/** Blocks of code of about a passage each. */
export function toCode(text: string, language: string): Code[] {
  const blocks: string[] = []
  for (const part of toParts(text)) {
    const last = blocks.at(-1)
    if (last !== undefined && last.length + part.length < joinedLength) {
      blocks[blocks.length - 1] = `${last}\n\n${part}`
    } else blocks.push(part)
  }
  return blocks.map((value): Code => ({ type: 'code', lang: language, value }))
}

/** Lines between blank ones, up to a line that is neither indented nor the end of a block. */
function toParts(text: string): string[] {
  const parts: string[][] = []
  let wasBlank = true
  for (const line of text.split('\n')) {
    const isBlank = line.trim() === ''
    const isStart = wasBlank && !isBlank && /^[^\s)}\]]/.test(line)
    if (isStart || parts.length === 0) parts.push([])
    parts.at(-1)?.push(line)
    wasBlank = isBlank
  }
  return parts.map((lines) => withoutBlankEdges(lines).join('\n')).filter((part) => part !== '')
}

function withoutBlankEdges(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return first === -1 ? [] : lines.slice(first, last + 1)
}
