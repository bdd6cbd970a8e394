import { extname } from 'node:path'
import type { RootContent } from 'mdast'
import { append } from '../document/append.js'
import type { Extraction, Source } from '../document/extraction.js'
import { requireLines, requireReadable } from '../document/limits.js'
import { firstHeading, heading, toTitle } from '../document/nodes.js'
import { toParagraphs } from '../document/text-blocks.js'
import { decodeSource } from './decode.js'
import { type MarkedLine, takeUntil } from './marked-lines.js'
import { readTex } from './tex.js'

/** Maximum ratio of the length of a file to its text: markup, blank lines and indentation. */
const maxMarkupRatio = 4

/** Characters of the longest line that is markup; longer ones are text, so that no line takes long. */
const maxMarkupLine = 500

/** Reads a text in Org, reStructuredText, AsciiDoc or TeX: headings, code, and paragraphs as they are written. */
export async function extract(source: Source): Promise<Extraction> {
  const text = requireReadable(decodeSource(source), source, maxMarkupRatio)
  requireLines(text)
  const lines = readerOf(source)(text.split('\n'))
  const root = { type: 'root' as const, children: toNodes(lines) }
  const stated = lines.find((line) => line.kind === 'title')
  const title = toTitle(stated?.text) ?? firstHeading(root)
  return title === undefined ? { root } : { root, title }
}

function readerOf({ key, contentType }: Source): (lines: readonly string[]) => MarkedLine[] {
  const extension = extname(key).toLowerCase()
  if (extension === '.org' || /\borg\b/.test(contentType)) return readOrg
  if (/^\.(?:adoc|asciidoc|asc)$/.test(extension) || /asciidoc/.test(contentType))
    return readAsciiDoc
  if (/^\.(?:tex|latex|ltx)$/.test(extension) || /tex$/.test(contentType)) return readTex
  return readRestructured
}

function toNodes(lines: readonly MarkedLine[]): RootContent[] {
  const nodes: RootContent[] = []
  let open: string[] = []
  const close = () => {
    append(nodes, toParagraphs(open.join('\n')))
    open = []
  }
  for (const line of lines) {
    if (line.kind === 'text') {
      open.push(line.text)
      continue
    }
    close()
    if (line.kind === 'code') {
      const value = line.lines.join('\n').trimEnd()
      if (value.trim() !== '') nodes.push({ type: 'code', lang: line.language, value })
    } else nodes.push(heading(line.kind === 'title' ? 1 : line.level, line.text))
  }
  close()
  return nodes
}

/** A line that may be markup, else nothing. */
function markupAt(lines: readonly string[], at: number): string {
  const line = lines[at] ?? ''
  return line.length > maxMarkupLine ? '' : line
}

/** Headings with stars, `#+title:` and blocks of source. */
function readOrg(lines: readonly string[]): MarkedLine[] {
  const read: MarkedLine[] = []
  for (let at = 0; at < lines.length; ) {
    const line = markupAt(lines, at)
    at += 1
    const [, stars, name] = /^(\*{1,12})\s+(\S.*)$/.exec(line) ?? []
    const title = /^#\+title:\s*(\S.*)$/i.exec(line)?.[1]
    const block = /^\s*#\+begin_(?:src|example)(?:\s+(\S+))?/i.exec(line)
    if (stars !== undefined && name !== undefined) {
      read.push({ kind: 'heading', level: stars.length, text: name.trim() })
    } else if (title !== undefined) read.push({ kind: 'title', text: title.trim() })
    else if (block !== null) {
      const { taken, next } = takeUntil(lines, at, (each) =>
        /^\s*#\+end_(?:src|example)/i.test(each),
      )
      read.push({ kind: 'code', language: block[1] ?? '', lines: taken })
      at = next
    } else read.push({ kind: 'text', text: lines[at - 1] ?? '' })
  }
  return read
}

/** Headings with equals signs, listings and literal blocks. */
function readAsciiDoc(lines: readonly string[]): MarkedLine[] {
  const read: MarkedLine[] = []
  let language = ''
  for (let at = 0; at < lines.length; ) {
    const line = markupAt(lines, at)
    at += 1
    const [, signs, name] = /^(={1,6}|#{1,6})\s+(\S.*)$/.exec(line) ?? []
    const source = /^\[source(?:%\w+)?(?:\s*,\s*([\w+-]+))?.*\]\s*$/.exec(line)
    if (source !== null) language = source[1] ?? ''
    else if (signs !== undefined && name !== undefined) {
      const text = name.replace(/\s+=+\s*$/, '').trim()
      read.push({ kind: 'heading', level: signs.length, text })
    } else if (/^(?:-{4,}|\.{4,}|`{3,}\w*)\s*$/.test(line)) {
      const fence = line.trim().replace(/\w+$/, '')
      const { taken, next } = takeUntil(lines, at, (each) => each.trim() === fence)
      read.push({ kind: 'code', language, lines: taken })
      language = ''
      at = next
    } else read.push({ kind: 'text', text: lines[at - 1] ?? '' })
  }
  return read
}

const underline = /^([=\-~^"'`:.*+#<>_])\1{2,}\s*$/

/** Underlined headings, whose levels follow from the order of the signs, and blocks of code. */
function readRestructured(lines: readonly string[]): MarkedLine[] {
  const read: MarkedLine[] = []
  const styles: string[] = []
  const levelOf = (style: string) => {
    if (!styles.includes(style)) styles.push(style)
    return styles.indexOf(style) + 1
  }
  for (let at = 0; at < lines.length; ) {
    const found = headingAt(lines, at)
    const code = /^(\s*)\.\.\s+(?:code-block|code|sourcecode|highlight)::\s*(\S*)\s*$/.exec(
      markupAt(lines, at),
    )
    if (found !== undefined) {
      read.push({ kind: 'heading', level: levelOf(found.style), text: found.text })
      at = found.next
    } else if (code !== null) {
      const { taken, next } = takeIndented(lines, at + 1, code[1]?.length ?? 0)
      read.push({ kind: 'code', language: code[2] ?? '', lines: taken })
      at = next
    } else {
      read.push({ kind: 'text', text: lines[at] ?? '' })
      at += 1
    }
  }
  return read
}

/** A line with a rule below it that is at least as long, and maybe one above it. */
function headingAt(
  lines: readonly string[],
  at: number,
): { style: string; text: string; next: number } | undefined {
  const above = underline.exec(markupAt(lines, at))?.[1]
  const isOver = above !== undefined && underline.exec(markupAt(lines, at + 2))?.[1] === above
  const from = isOver ? at + 1 : at
  const text = markupAt(lines, from).trim()
  const rule = markupAt(lines, from + 1).trimEnd()
  const sign = underline.exec(rule)?.[1]
  const isStart = at === 0 || (lines[at - 1] ?? '').trim() === ''
  if (text === '' || sign === undefined || underline.test(text) || !isStart) return undefined
  // Of an ideograph, the rule has two signs.
  if (rule.length * 2 < text.length || (!isOver && /^\s/.test(lines[from] ?? ''))) return undefined
  return { style: isOver ? `${sign}${sign}` : sign, text, next: from + 2 }
}

/** The lines of an indented block, without its options such as `:linenos:` and its indentation. */
function takeIndented(
  lines: readonly string[],
  from: number,
  indent: number,
): { taken: string[]; next: number } {
  let at = from
  while (at < lines.length && isWithin(lines[at] ?? '', indent)) at += 1
  let start = from
  while (start < at && /^\s*(?::[\w-]+:.*)?$/.test(lines[start] ?? '')) start += 1
  const block = lines.slice(start, at)
  const margin = /^\s*/.exec(block[0] ?? '')?.[0].length ?? 0
  return { taken: block.map((line) => line.slice(Math.min(margin, line.search(/\S|$/)))), next: at }
}

function isWithin(line: string, indent: number): boolean {
  return line.trim() === '' || line.search(/\S/) > indent
}
