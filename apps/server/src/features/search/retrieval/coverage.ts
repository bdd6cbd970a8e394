import type { Clue } from './clues.js'
import { isForm, leastAlike, likelyBeginning, toGrams } from './word-likeness.js'

/** What a clue is worth in a text that has spaces around it, from 0 to 1. */
type Judge = (text: string) => number

/**
 * How much of a question stands in each of some texts, from 0 to 1: the weights of its clues that are
 * there, where a word that is only like the one asked for counts as far as it is like it.
 *
 * @param texts in the form of `toIndexText`
 */
export function coverages(
  clues: readonly Clue[],
  texts: ReadonlyMap<number, string>,
): Map<number, number> {
  const judges = clues.map((clue) => ({ weight: clue.weight, worthIn: toJudge(clue) }))
  return new Map(
    [...texts].map(([number, text]) => {
      const spaced = ` ${text} `
      const covered = judges.reduce((sum, { weight, worthIn }) => sum + weight * worthIn(spaced), 0)
      return [number, Math.min(1, covered)]
    }),
  )
}

/** Whether tokens stand next to each other in a text; a star lets the last one go on. */
export function hasPhrase(text: string, tokens: readonly string[]): boolean {
  return ` ${text} `.includes(toPattern(tokens))
}

function toPattern(tokens: readonly string[]): string {
  const phrase = ` ${tokens.join(' ')}`
  return phrase.endsWith('*') ? phrase.slice(0, -1) : `${phrase} `
}

const hasDigit = /\p{N}/u

function toJudge({ tokens, instead }: Clue): Judge {
  const pattern = toPattern(tokens)
  const [term = ''] = tokens
  // Numbers and codes that are alike mean different things.
  if (tokens.length > 1 || term.endsWith('*') || hasDigit.test(term)) {
    return (text) => Number(text.includes(pattern))
  }
  const isThere = formFinder(term)
  const substitutes = [...instead].sort(([, a], [, b]) => b - a)
  const alikeIn = likenessFinder(term)
  return (text) => {
    if (text.includes(pattern) || isThere(text)) return 1
    const [, worth = 0] = substitutes.find(([word]) => text.includes(` ${word} `)) ?? []
    return Math.max(worth, alikeIn(text))
  }
}

/** Looks for forms of a word. Most texts have no word with its beginning, so few words are looked at. */
function formFinder(term: string): (text: string) => boolean {
  const beginning = ` ${likelyBeginning(term)}`
  return (text) => {
    let at = text.indexOf(beginning)
    while (at >= 0) {
      const end = text.indexOf(' ', at + 1)
      if (isForm(term, text.slice(at + 1, end))) return true
      at = text.indexOf(beginning, end)
    }
    return false
  }
}

/** Looks for the word that has most runs of letters of a term; answers their share, or 0 if it is small. */
function likenessFinder(term: string): Judge {
  const grams = toGrams(term)
  const shareIn = (text: string) =>
    grams.filter((gram) => text.includes(gram)).length / grams.length
  return (text) => {
    // What the text does not have, no word of it has.
    if (grams.length === 0 || shareIn(text) < leastAlike) return 0
    const most = text.split(' ').reduce((best, word) => Math.max(best, shareIn(` ${word} `)), 0)
    return most < leastAlike ? 0 : most
  }
}
