import type { Line } from './lines.js'

const ENTRY = /(?:\.[ ]?){4,}\s*[\divxlc]+$/

/** Whether a line is of a table of contents, which repeats the headings. */
export function isContentsEntry({ text }: Line): boolean {
  return ENTRY.test(text)
}
