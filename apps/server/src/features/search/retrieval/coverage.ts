import type { Frequencies } from '../keywords/index.js'
import type { Query, Subject } from '../query.js'
import { isForm, leastAlike, likelyBeginning, toGrams } from './word-likeness.js'

/** A word of a question or a phrase that is meant literally, and how much of the question it is. */
export interface QueryPart {
  /** Tokens that stand next to each other, mostly one; the last may end with `*`. */
  tokens: readonly string[]
  /** Share of the meaning of the question, from 0 to 1; those of all parts add up to 1. */
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

/** A question is vague if all of it means less than one word that half of the passages have. */
const leastInformation = Math.LN2

/**
 * Weighs the parts of a question by how rare they are among the passages of the bot. What no passage has
 * weighs most, so that a question about something else has low scores in spite of the few words of it that are there.
 *
 * @returns also whether the question is vague: made of words alone that stand everywhere
 */
export function toQueryParts(
  query: Query,
  subject: Subject,
  { passages, counts }: Frequencies,
  substitutes: Substitutes,
): { parts: QueryPart[]; isVague: boolean } {
  const named = query.terms.filter((term) => subject.terms.has(term))
  const terms = named.length > 0 ? named : query.terms
  const phrases = query.exact.filter(({ length }) => length > 1)
  const all = [...terms.map((term) => [term]), ...phrases]
  const weights = all.map((tokens) =>
    rarity(passages + imagined, Math.min(passages, counts.get(tokens.join(' ')) ?? 0)),
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const parts = all.map((tokens, at) => ({
    tokens,
    weight: (weights[at] ?? 0) / sum,
    instead: substitutes.get(tokens.join(' ')) ?? new Map(),
  }))
  return { parts, isVague: phrases.length === 0 && (subject.isGrammar || sum < leastInformation) }
}

/** As in BM25: how much it means that a passage has what `having` of `all` have; above 0. */
function rarity(all: number, having: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5))
}

/** What a part is worth in a text that has spaces around it, from 0 to 1. */
type Judge = (text: string) => number

/**
 * How much of a question each text has, from 0 to 1: the weights of its parts that are
 * there, where a word that is only like the one asked for counts as far as it is like it.
 *
 * @param texts in the form of `toIndexText`
 */
export function coverages(
  parts: readonly QueryPart[],
  texts: ReadonlyMap<number, string>,
): Map<number, number> {
  const judges = parts.map((part) => ({ weight: part.weight, worthIn: toJudge(part) }))
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

function toJudge({ tokens, instead }: QueryPart): Judge {
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

/** Looks for the word that has most runs of letters of a term; returns their share, or 0 if it is small. */
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
