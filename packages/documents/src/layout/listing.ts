import type { Heading, Paragraph } from 'mdast'
import type { TextLine } from '../document/text-blocks.js'
import { toTextBlocks } from '../document/text-blocks.js'
import type { Line } from './lines.js'
import { SENTENCE_END } from './paragraphs.js'

/** What is further to the right is drawn there. */
const MOST_COLUMN = 160
/** Width of a letter, in sizes of its font. */
const LETTER = 0.6
/** Share of a document in letters of one width above which it was written by a machine. */
const TYPED = 0.95
/** Headings that make a text of what would be a listing. */
const LEAST_HEADINGS = 2
/** Lines further apart than others by this factor have an empty one between them. */
const LARGER_SPACE = 1.5
/** Lines nearer to each other are one, in sizes of the font. */
const LEAST_PITCH = 0.8
/** Share of the distances that may be smaller by accident. */
const SMALLEST = 0.05

/** Lines in letters of one width, as they were typed: their parts stay in their columns. */
export function toColumns(lines: readonly Line[]): string[] {
  const left = lines.reduce((least, { x0 }) => Math.min(least, x0), Number.POSITIVE_INFINITY)
  return lines.map(({ segments, size }) =>
    segments.reduce((text, { x0, text: own }) => {
      const place = Math.round((x0 - left) / (size * LETTER))
      const column = Math.min(MOST_COLUMN, Math.max(0, place))
      return text.padEnd(text === '' ? column : Math.max(column, text.length + 1)) + own.trim()
    }, ''),
  )
}

/**
 * The blocks of a document that is a printed text, such as a manual page or an RFC; undefined if it is
 * set by other means, or a listing without headings, which is code.
 */
export function toTypedBlocks(
  pages: readonly (readonly Line[])[],
): (Heading | Paragraph)[] | undefined {
  const lines = pages.flat()
  let [typed, all] = [0, 0]
  for (const { text, monospace, table } of lines) {
    // Nobody types a table that is known as such.
    if (table !== undefined) return undefined
    all += text.length
    if (monospace) typed += text.length
  }
  if (typed < all * TYPED) return undefined
  const blocks = toTextBlocks(toTextLines(lines))
  const headings = blocks.filter((block) => block.type === 'heading').length
  return headings < LEAST_HEADINGS ? undefined : blocks
}

/** Empty lines are not drawn: they are where the space is larger. */
function toTextLines(lines: readonly Line[]): TextLine[] {
  const texts = toColumns(lines)
  const pitch = pitchOf(lines) * LARGER_SPACE
  return lines.flatMap((line, at) => {
    const [text = '', previous = ''] = [texts[at], texts[at - 1]]
    const before = lines[at - 1]
    const typed = { text, page: line.page }
    if (before === undefined) return [typed]
    const isElsewhere = before.page !== line.page || line.y < before.y
    const isApart = isElsewhere
      ? SENTENCE_END.test(previous) || indentOf(previous) !== indentOf(text)
      : line.y - before.y > line.size * pitch
    return isApart ? [{ text: '', page: line.page }, typed] : [typed]
  })
}

/**
 * From line to line, in sizes of the font: nearly the smallest there is, because in a text of short
 * paragraphs most lines stand alone.
 */
function pitchOf(lines: readonly Line[]): number {
  const pitches = lines.flatMap((line, at) => {
    const before = lines[at - 1]
    if (before === undefined || before.page !== line.page) return []
    const pitch = (line.y - before.y) / line.size
    return pitch > LEAST_PITCH ? [pitch] : []
  })
  return pitches.sort((a, b) => a - b)[Math.floor(pitches.length * SMALLEST)] ?? 1
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}
