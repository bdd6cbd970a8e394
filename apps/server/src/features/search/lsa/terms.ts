import { isStopword } from '../text/stopwords.js'

/** Letters of a word that count; what follows is mostly its form. */
const stemLength = 6
/** Longer words are looked at by their beginning, single ASCII characters not at all. */
const shortest = 2
const hasDigit = /\p{N}/u

/**
 * The terms of a text and how often each occurs. Words that begin alike are one term: a stemmer for
 * every language that is spelt with letters.
 *
 * @param text in the form of `toIndexText`
 */
export function countTerms(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const token of text.split(' ')) {
    const term = toTerm(token)
    if (term !== undefined) counts.set(term, (counts.get(term) ?? 0) + 1)
  }
  return counts
}

function toTerm(token: string): string | undefined {
  if (token === '' || isStopword(token)) return undefined
  const isAscii = token.charCodeAt(0) < 128
  if (isAscii && token.length < shortest) return undefined
  // Numbers and codes that begin alike mean different things.
  return token.length > stemLength && !hasDigit.test(token) ? token.slice(0, stemLength) : token
}
