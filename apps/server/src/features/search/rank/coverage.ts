import type { Clue } from './clues.js'
import { alikeness, isForm } from './word-likeness.js'

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
  const judges = clues.map(toJudge)
  // Texts of one collection share most of their words.
  const known = new Map<string, Float64Array>()
  const judge = (word: string) => {
    const worths = known.get(word) ?? Float64Array.from(judges, (worthOf) => worthOf(word))
    known.set(word, worths)
    return worths
  }
  return new Map(
    [...texts].map(([number, text]) => {
      const best = new Float64Array(clues.length)
      for (const word of new Set(text.split(' '))) {
        for (const [at, worth] of judge(word).entries()) {
          if (worth > (best[at] ?? 0)) best[at] = worth
        }
      }
      const covered = clues.reduce((sum, { tokens, weight }, at) => {
        const share = tokens.length > 1 ? Number(hasPhrase(text, tokens)) : (best[at] ?? 0)
        return sum + weight * share
      }, 0)
      return [number, Math.min(1, covered)]
    }),
  )
}

/** Whether tokens stand next to each other in a text; a star lets the last one go on. */
export function hasPhrase(text: string, tokens: readonly string[]): boolean {
  const phrase = ` ${tokens.join(' ')}`
  return ` ${text} `.includes(phrase.endsWith('*') ? phrase.slice(0, -1) : `${phrase} `)
}

const hasDigit = /\p{N}/u

/** What finding a word is worth for a clue, from 0 to 1. */
function toJudge({ tokens, instead }: Clue): (word: string) => number {
  const [term = ''] = tokens
  if (tokens.length > 1) return () => 0
  if (term.endsWith('*')) {
    const beginning = term.slice(0, -1)
    return (word) => Number(word.startsWith(beginning))
  }
  // Numbers and codes that are alike mean different things.
  if (hasDigit.test(term)) return (word) => Number(word === term)
  const alike = alikeness(term)
  return (word) => (isForm(term, word) ? 1 : Math.max(instead.get(word) ?? 0, alike(word)))
}
