import type { Line } from './lines.js'
import { median } from './lines.js'

/** An item of a list, with its mark. */
export const MARKED = /^(?:([•▪■‣◦●○–·∙*-])|\(?(\d{1,3}|[a-z])[.)])\s+(?=\S)/
/** Space between two paragraphs is larger than between two lines by this factor. */
const LARGER_SPACE = 1.3
/** A first line may be set in by so much, in sizes of the font. */
const LEAST_INDENT = 0.8
/** A line that leaves this share of its column empty was the last of its paragraph. */
const SHORT_LINE = 0.2
/** ... whatever it ends with. */
const VERY_SHORT_LINE = 0.45
/** In a narrower column, every line is full, in sizes of the font. */
const NARROW_COLUMN = 20
export const SENTENCE_END = /[.!?:;…。！？"”»)\]]$/

/** Says where paragraphs end. */
interface ParagraphRules {
  /**
   * Whether a line begins another paragraph than the one before it.
   * @param earlier the line before that one in its paragraph
   */
  begins(line: Line, previous: Line, earlier?: Line): boolean
}

/** Measures how far apart the lines of the text are. */
export function createParagraphRules(pages: readonly (readonly Line[])[]): ParagraphRules {
  const pitches: number[] = []
  for (const lines of pages) {
    for (let at = 1; at < lines.length; at += 1) {
      const [line, previous] = [lines[at], lines[at - 1]]
      if (line === undefined || previous === undefined) continue
      const pitch = (line.y - previous.y) / line.size
      const isText = line.segments.length === 1 && previous.segments.length === 1
      if (isText && pitch > 0.9 && pitch < 3 && isAlike(line, previous)) pitches.push(pitch)
    }
  }
  // The lower part of them: a document of one-line paragraphs has more spaces than lines.
  const pitch = pitches.length === 0 ? 1.2 : Math.min(median(pitches), lowest(pitches) * 1.25)

  return {
    begins(line, previous, earlier) {
      if (!isAlike(line, previous)) return true
      if (MARKED.test(line.text) && !isInSentence(previous)) return true
      const isElsewhere = line.page !== previous.page || line.opensColumn || line.y < previous.y
      if (isElsewhere) return SENTENCE_END.test(previous.text) || /^\p{Lu}/u.test(line.text)
      if (line.y - previous.y > line.size * pitch * LARGER_SPACE) return true
      // What was said of a term is set in, and the next term is not.
      const wasSetIn = earlier !== undefined && Math.abs(earlier.x0 - previous.x0) < 1
      if (wasSetIn && line.x0 < previous.x0 - line.size * LEAST_INDENT) return true
      if (MARKED.test(previous.text) && line.x0 > previous.x0 + 1) return false
      const isIndented = line.x0 > previous.x0 + line.size * LEAST_INDENT
      const wasFirst = line.x0 < previous.x0 - line.size * LEAST_INDENT
      if (isIndented && !wasFirst && previous.x0 <= previous.left + line.size * LEAST_INDENT) {
        return SENTENCE_END.test(previous.text)
      }
      const empty = (previous.right - previous.x1) / (previous.right - previous.left)
      if (/^\p{Ll}/u.test(line.text) || /[\u00ad\u2010-]$/.test(previous.text)) return false
      return empty > VERY_SHORT_LINE || (empty > SHORT_LINE && SENTENCE_END.test(previous.text))
    },
  }
}

/** A number at the begin of a line may be a part of the sentence, such as a year with a full stop. */
function isInSentence(previous: Line): boolean {
  const { text, right, left, size, x1 } = previous
  const isFull = right - left > size * NARROW_COLUMN && x1 > right - size * 4
  return isFull && /\p{Ll}$/u.test(text) && !MARKED.test(text)
}

function isAlike(line: Line, previous: Line): boolean {
  return Math.abs(line.size - previous.size) <= previous.size * 0.12
}

/** Low, but not the single lowest. */
function lowest(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.2)] ?? 1.2
}
