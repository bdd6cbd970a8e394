import { cutText } from '../text.js'
import type { Quote } from './print.js'

/** What of a found passage is shown. */
interface FoundPassage {
  content: string
  score: number
  file: { key: string }
  context?: readonly { type: string; text: string }[]
}

const longestQuote = 280
const heading = /^#{1,6}\s+(.*)$/

/** A passage as a person reads it: the headings it stands under, then the beginning of its text. */
export function toQuote({ content, score, file, context = [] }: FoundPassage): Quote {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const above = context.filter(({ type }) => type === 'breadcrumb').map(({ text }) => text)
  const own = lines.flatMap((line) => heading.exec(line)?.[1] ?? [])
  const text = lines.filter((line) => !heading.test(line)).join(' ')
  return {
    score,
    place: [file.key, ...above, ...own.filter((each) => !above.includes(each)).slice(0, 1)],
    text: cutText(text.replaceAll(/\s+/g, ' ').trim(), longestQuote),
  }
}
