import type { Line } from './lines.js'
import { median } from './measures.js'

/** The marker at the beginning of a list item; in the private range of symbol fonts, whichever it shows. */
export const listMarker =
  /^(?:([•▪■‣◦●○➢❖❑◻\uf020-\uf0ff–·∙*-])|\(?(\d{1,3}|[a-z])[.)]|[✓✔])\s+(?=\S)/
/** Ratio of the distance of paragraphs to the distance of lines. */
const paragraphSpaceRatio = 1.3
/** Indentation of a first line, in multiples of the font size. */
const minIndent = 0.8
/** A sentence that leaves this share of its column empty is the last line of its paragraph ... */
const shortLine = 0.2
/** ... and so is any line that leaves this share. */
const veryShortLine = 0.45
/** Column width below which every line is full, in multiples of the font size. */
const narrowColumn = 20
export const sentenceEnd = /[.!?:;…。！？"”»)\]]$/

/** Decides where paragraphs begin. */
export interface ParagraphRules {
  /**
   * Whether a line begins a new paragraph.
   * @param previous the line before it
   * @param earlier the line before `previous` in the same paragraph
   */
  begins(line: Line, previous: Line, earlier?: Line): boolean
}

/** Measures the usual distance of lines in the document. */
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
  // From the lower part of the distances: in a document of one-line paragraphs, most are between paragraphs.
  const pitch = pitches.length === 0 ? 1.2 : Math.min(median(pitches), lowest(pitches) * 1.25)

  return {
    begins(line, previous, earlier) {
      if (!isAlike(line, previous)) return true
      if (listMarker.test(line.text) && !isInSentence(previous)) return true
      const isInNewColumn = line.page !== previous.page || line.opensColumn || line.y < previous.y
      if (isInNewColumn) return sentenceEnd.test(previous.text) || /^\p{Lu}/u.test(line.text)
      if (line.y - previous.y > line.size * pitch * paragraphSpaceRatio) return true
      // A definition is indented, and the next term is not.
      const wasIndented = earlier !== undefined && Math.abs(earlier.x0 - previous.x0) < 1
      if (wasIndented && line.x0 < previous.x0 - line.size * minIndent) return true
      if (listMarker.test(previous.text) && line.x0 > previous.x0 + 1) return false
      const isIndented = line.x0 > previous.x0 + line.size * minIndent
      const wasFirst = line.x0 < previous.x0 - line.size * minIndent
      if (isIndented && !wasFirst && previous.x0 <= previous.left + line.size * minIndent) {
        return sentenceEnd.test(previous.text)
      }
      const empty = (previous.right - previous.x1) / (previous.right - previous.left)
      if (/^\p{Ll}/u.test(line.text) || /[\u00ad\u2010-]$/.test(previous.text)) return false
      return empty > veryShortLine || (empty > shortLine && sentenceEnd.test(previous.text))
    },
  }
}

/** Whether a line ends within a sentence: a number that follows, such as a year, is part of the sentence. */
function isInSentence(previous: Line): boolean {
  const { text, right, left, size, x1 } = previous
  const isFull = right - left > size * narrowColumn && x1 > right - size * 4
  return isFull && /\p{Ll}$/u.test(text) && !listMarker.test(text)
}

function isAlike(line: Line, previous: Line): boolean {
  return Math.abs(line.size - previous.size) <= previous.size * 0.12
}

/** The 20th percentile. */
function lowest(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.2)] ?? 1.2
}
