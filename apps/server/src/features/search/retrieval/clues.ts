import type { Frequencies } from '../keywords/keyword-index.js'
import type { Query } from '../text/query.js'
import type { Subject } from '../text/subject.js'

/** A word of a question or a phrase that is meant literally, and how much of the question it is. */
export interface Clue {
  /** Tokens that stand next to each other, mostly one; the last may end with `*`. */
  tokens: readonly string[]
  /** Share of what the question says, from 0 to 1; those of all clues add up to 1. */
  weight: number
  /** Words that may be meant instead, and what finding one of them is worth, from 0 to 1. */
  instead: ReadonlyMap<string, number>
}

/** Words that may be meant instead of words of a question, each with its worth. */
export type Substitutes = ReadonlyMap<string, ReadonlyMap<string, number>>

/**
 * Passages that a bot is taken to have besides its own: a word is not common because one of two passages
 * has it.
 */
const imagined = 10

/** A question says nothing if all of it says less than one word that half of the passages have. */
const leastInformation = Math.LN2

/**
 * Weighs the parts of a question by how rare they are among the passages of the bot. What no passage has
 * weighs most, so that a question about something else is not answered by the few words of it that are there.
 *
 * @returns also whether the question is vague: made of words alone that stand everywhere
 */
export function toClues(
  query: Query,
  subject: Subject,
  { passages, counts }: Frequencies,
  substitutes: Substitutes,
): { clues: Clue[]; isVague: boolean } {
  const named = query.terms.filter((term) => subject.terms.has(term))
  const terms = named.length > 0 ? named : query.terms
  const phrases = query.exact.filter(({ length }) => length > 1)
  const parts = [...terms.map((term) => [term]), ...phrases]
  const weights = parts.map((tokens) =>
    rarity(passages + imagined, Math.min(passages, counts.get(tokens.join(' ')) ?? 0)),
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const clues = parts.map((tokens, at) => ({
    tokens,
    weight: (weights[at] ?? 0) / sum,
    instead: substitutes.get(tokens.join(' ')) ?? new Map(),
  }))
  return { clues, isVague: phrases.length === 0 && (subject.isGrammar || sum < leastInformation) }
}

/** As BM25 has it: how much it says that a passage has what `having` of `all` have; above 0. */
function rarity(all: number, having: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5))
}
