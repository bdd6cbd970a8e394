import type { Frequencies } from '../keywords/index.js'
import type { Query, Subject } from '../query.js'
import { isForm, likelyBeginning, minAlike, toGrams } from './word-likeness.js'

/** A word or a literal phrase of a question, with its share of the question. */
export interface QueryPart {
  /** Adjacent tokens, mostly one; the last may end with `*`. */
  tokens: readonly string[]
  /** Share of the meaning of the question, from 0 to 1; the shares of all parts add up to 1. */
  weight: number
  /** Substitutes for the word with their worth, from 0 to 1. */
  instead: ReadonlyMap<string, number>
}

/** Substitutes for words of a question, each with its worth. */
export type Substitutes = ReadonlyMap<string, ReadonlyMap<string, number>>

/**
 * Number of passages that a bot is assumed to have in addition: a word is not common because one of two
 * passages contains it.
 */
const assumedPassages = 10

/** A question is vague if all of it carries less information than one word that half of the passages contain. */
const minInformation = Math.LN2

/**
 * Weights the parts of a question by how rare they are among the passages of the bot. A part that no passage
 * has weighs most, so that a question about something else has low scores in spite of the few words that occur.
 *
 * @returns also whether the question is vague: made only of words that occur everywhere
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
    rarity(passages + assumedPassages, Math.min(passages, counts.get(tokens.join(' ')) ?? 0)),
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const parts = all.map((tokens, at) => ({
    tokens,
    weight: (weights[at] ?? 0) / sum,
    instead: substitutes.get(tokens.join(' ')) ?? new Map(),
  }))
  return { parts, isVague: phrases.length === 0 && (subject.isGrammar || sum < minInformation) }
}

/** As in BM25: the information in a part that `having` of `all` passages contain; above 0. */
function rarity(all: number, having: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5))
}

/** A text of which many parts of a question are sought. */
interface Sought {
  /** With spaces around it. */
  text: string
  words: ReadonlySet<string>
}

/** Returns the worth of a part in a text, from 0 to 1. */
type Judge = (sought: Sought) => number

/**
 * The share of a question that each text covers, from 0 to 1: the sum of the weights of its parts that
 * occur, where a similar word counts in proportion to its similarity.
 *
 * @param texts in the form of `toIndexText`
 */
export function coverages(
  parts: readonly QueryPart[],
  texts: ReadonlyMap<number, string>,
): Map<number, number> {
  const judges = parts.map((part) => ({ weight: part.weight, worthIn: toJudge(part) }))
  const found = new Map<number, number>()
  for (const [number, text] of texts) {
    const sought = { text: ` ${text} `, words: new Set(text.split(' ')) }
    let covered = 0
    for (const { weight, worthIn } of judges) covered += weight * worthIn(sought)
    found.set(number, Math.min(1, covered))
  }
  return found
}

/** Whether tokens are adjacent in a text; a star matches any continuation of the last one. */
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
  // Similar numbers and codes have different meanings.
  if (tokens.length > 1 || term.endsWith('*') || hasDigit.test(term)) {
    return ({ text }) => Number(text.includes(pattern))
  }
  const isThere = formFinder(term)
  const substitutes = [...instead].sort(([, a], [, b]) => b - a)
  const alikeIn = likenessFinder(term)
  return (sought) => {
    if (sought.words.has(term) || isThere(sought.text)) return 1
    const [, worth = 0] = substitutes.find(([word]) => sought.words.has(word)) ?? []
    return Math.max(worth, alikeIn(sought))
  }
}

/** Returns a function that looks for forms of a word. Most texts have no word with its beginning, so few words */
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

/** Returns a function that finds the word with the most grams of a term; it returns their share, or 0 if small. */
function likenessFinder(term: string): Judge {
  const grams = toGrams(term)
  /** The grams that a text has, or too few of them: it stops when the rest could not be enough. */
  const countIn = (text: string, least: number) => {
    let count = 0
    for (const [at, gram] of grams.entries()) {
      if (text.includes(gram)) count += 1
      else if (count + grams.length - at - 1 < least) return count
    }
    return count
  }
  const least = minAlike * grams.length
  return ({ text, words }) => {
    // Grams that the text lacks are in none of its words.
    if (grams.length === 0 || countIn(text, least) < least) return 0
    let most = 0
    for (const word of words) most = Math.max(most, countIn(` ${word} `, Math.max(least, most)))
    return most < least ? 0 : most / grams.length
  }
}
