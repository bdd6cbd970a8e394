import type { wordRelations } from '@botstead/contract'
import { editDistance } from '../../../../platform/nearest.js'
import { germanStem, nounStem } from '../german.js'
import { toOtherEnglish, withoutMarks } from '../spellings.js'
import { isForm } from '../word-likeness.js'

/** The relation of a word of a text to the word of a question that it matches. */
export type Relation = (typeof wordRelations)[number]

/** Longer words may have two typing errors. */
const longWord = 8
/** Shorter words have too many others within a typing error. */
const shortestMistyped = 4
const shortestPart = 3
const hasDigit = /\p{N}/u

/**
 * Names the relation of a word to one that it matches. The ranking itself stores the worth of a match, not
 * why; the reasons are tried in the order in which a reader would give them.
 *
 * @param term word of the question, normalised
 * @param word word of a text or of the vocabulary, normalised
 */
export function relationOf(term: string, word: string): Relation {
  if (term === word) return 'exact'
  if (hasDigit.test(term) || term === word.replaceAll(' ', '')) return 'spelling'
  if (toOtherEnglish(term).includes(word) || withoutMarks(term) === withoutMarks(word)) {
    return 'spelling'
  }
  if (isForm(term, word)) return isMistyped(term, word) ? 'typo' : 'form'
  if (germanStem(term) === germanStem(word) || nounStem(term) === nounStem(word)) return 'form'
  if (isMistyped(term, word)) return 'typo'
  if (contains(word, term)) return 'compound'
  if (contains(term, word)) return 'part'
  return 'related'
}

/** Whether two words differ by typing errors and not only at their ends. */
function isMistyped(term: string, word: string): boolean {
  if (term.length < shortestMistyped) return false
  const isPrefix = term.startsWith(word) || word.startsWith(term)
  const limit = term.length >= longWord ? 2 : 1
  return (
    !isPrefix &&
    hasDifferentStart(term, word) &&
    editDistance(term, word, { limit, swap: 1 }) <= limit
  )
}

/** Letters at the end of a word in which its forms differ. */
const maxEnding = 2

function hasDifferentStart(term: string, word: string): boolean {
  const length = Math.max(1, Math.min(term.length, word.length) - maxEnding)
  return term.slice(0, length) !== word.slice(0, length)
}

/** Whether a word contains another one, or the stem of one. */
function contains(longer: string, shorter: string): boolean {
  const stem = germanStem(shorter)
  return [shorter, stem].some((each) => each.length >= shortestPart && longer.includes(each))
}
