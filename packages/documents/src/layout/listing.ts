import type { Heading, Paragraph } from 'mdast'
import type { TextLine } from '../document/text-blocks.js'
import { toTextBlocks } from '../document/text-blocks.js'
import type { Line } from './lines.js'
import { sentenceEnd } from './paragraphs.js'

/** Column of text beyond which alignment is not kept. */
const maxColumn = 160
/** Width of a letter, in multiples of its font size. */
const letterWidth = 0.6
/** Share of monospaced text above which a document is a printed text file. */
const minMonospaceShare = 0.95
/** Headings that distinguish a text from a listing. */
const minHeadings = 2
/** Ratio of the distance of lines with an empty line between them to the usual distance. */
const emptyLineRatio = 1.5
/** Distance below which two lines are one, in multiples of the font size. */
const minPitch = 0.8
/** Share of the distances that may be smaller by chance. */
const outlierShare = 0.05

/** Monospaced lines as they were typed: segments stay in their columns. */
export function toColumns(lines: readonly Line[]): string[] {
  const left = lines.reduce((least, { x0 }) => Math.min(least, x0), Number.POSITIVE_INFINITY)
  return lines.map(({ segments, size }) =>
    segments.reduce((text, { x0, text: own }) => {
      const position = Math.round((x0 - left) / (size * letterWidth))
      const column = Math.min(maxColumn, Math.max(0, position))
      return text.padEnd(text === '' ? column : Math.max(column, text.length + 1)) + own.trim()
    }, ''),
  )
}

/**
 * The blocks of a document that is a printed text file, such as a manual page or an RFC; undefined for
 * other documents, and for a listing without headings, which is code.
 */
export function toTypedBlocks(
  pages: readonly (readonly Line[])[],
): (Heading | Paragraph)[] | undefined {
  const lines = pages.flat()
  let [typed, all] = [0, 0]
  for (const { text, monospace, table, notes } of lines) {
    // A text file has no tagged tables, and no comments.
    if (table !== undefined || notes !== undefined) return undefined
    all += text.length
    if (monospace) typed += text.length
  }
  if (typed < all * minMonospaceShare) return undefined
  const blocks = toTextBlocks(toTextLines(lines))
  const headings = blocks.filter((block) => block.type === 'heading').length
  return headings < minHeadings ? undefined : blocks
}

/** Restores empty lines, which a PDF has only as larger space. */
function toTextLines(lines: readonly Line[]): TextLine[] {
  const texts = toColumns(lines)
  const pitch = pitchOf(lines) * emptyLineRatio
  return lines.flatMap((line, at) => {
    const [text = '', previous = ''] = [texts[at], texts[at - 1]]
    const before = lines[at - 1]
    const typed = { text, page: line.page }
    if (before === undefined) return [typed]
    const isInNewColumn = before.page !== line.page || line.y < before.y
    const isApart = isInNewColumn
      ? sentenceEnd.test(previous) || indentOf(previous) !== indentOf(text)
      : line.y - before.y > line.size * pitch
    return isApart ? [{ text: '', page: line.page }, typed] : [typed]
  })
}

/**
 * Distance of lines, in multiples of the font size. It is nearly the smallest one, because in a text of short
 * paragraphs most distances are between paragraphs.
 */
function pitchOf(lines: readonly Line[]): number {
  const pitches = lines.flatMap((line, at) => {
    const before = lines[at - 1]
    if (before === undefined || before.page !== line.page) return []
    const pitch = (line.y - before.y) / line.size
    return pitch > minPitch ? [pitch] : []
  })
  return pitches.sort((a, b) => a - b)[Math.floor(pitches.length * outlierShare)] ?? 1
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}
