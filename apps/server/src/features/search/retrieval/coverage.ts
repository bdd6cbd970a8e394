import type { Frequencies } from '../keywords/index.js'
import type { Query, Subject } from '../query.js'
import { nextHash, slotOf, slots, space } from './gram-hash.js'
import { countBits, isForm, letterSet, minAlike, shortestForm, toGrams } from './word-likeness.js'

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

/**
 * Returns a function that determines the share of a question that a text covers, from 0 to 1: the sum of the
 * weights of its parts that occur, where a similar word counts in proportion to its similarity.
 *
 * The function expects a text in the form of `toIndexText`.
 */
export function coverageOf(parts: readonly QueryPart[]): (text: string) => number {
  const literal = parts.filter(isLiteral).map(({ tokens, weight }) => ({
    pattern: toPattern(tokens),
    weight,
  }))
  const worded = parts.filter((part) => !isLiteral(part))
  const eachRelated = relatedWords(worded)
  // The candidates of a question have many words in common.
  const worthsOf = remembered(worthsOfWords(worded))
  return (text) => {
    const padded = ` ${text} `
    let covered = 0
    for (const { pattern, weight } of literal) if (padded.includes(pattern)) covered += weight
    const best = new Float64Array(worded.length)
    eachRelated(text, (word) => {
      for (const { at, worth } of worthsOf(word)) {
        if (worth > (best[at] ?? 0)) best[at] = worth
      }
    })
    for (const [at, { weight }] of worded.entries()) covered += weight * (best[at] ?? 0)
    return Math.min(1, covered)
  }
}

/** Calls a function once per text. */
export function remembered<T>(work: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>()
  return (text) => {
    const known = results.get(text)
    if (known !== undefined) return known
    const result = work(text)
    results.set(text, result)
    return result
  }
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

/** Whether a part must occur as it is: similar numbers and codes have different meanings. */
function isLiteral({ tokens }: QueryPart): boolean {
  const [term = ''] = tokens
  return tokens.length > 1 || term.endsWith('*') || hasDigit.test(term)
}

const isBeginning = 1
const isGram = 2

/**
 * Returns a function that visits the words of a text that may be related to the words of a question: those with
 * the beginning of one, or with some of its grams. Most words of a text are neither, and are not even cut out.
 */
function relatedWords(
  parts: readonly QueryPart[],
): (text: string, visit: (word: string) => void) => void {
  const table = new Uint8Array(slots)
  const mark = (gram: string, sign: number) => {
    let hash = 0
    for (let at = 0; at < gram.length; at++) hash = nextHash(hash, gram.charCodeAt(at))
    const slot = slotOf(hash)
    table[slot] = (table[slot] ?? 0) | sign
  }
  let least = Number.POSITIVE_INFINITY
  for (const { tokens, instead } of parts) {
    const [term = ''] = tokens
    for (const word of [term, ...instead.keys()])
      mark(` ${word.slice(0, shortestForm)}`, isBeginning)
    const grams = toGrams(term)
    for (const gram of grams) mark(gram, isGram)
    if (grams.length > 0) least = Math.min(least, minAlike * grams.length)
  }
  return (text, visit) => {
    let hash = space
    let start = 0
    let hits = 0
    let begins = false
    for (let at = 0; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : space
      hash = nextHash(hash, code)
      const length = at - start
      const signs = length < 2 ? 0 : (table[slotOf(hash)] ?? 0)
      if (signs !== 0) {
        if (length === 2) begins = (signs & isBeginning) !== 0
        if ((signs & isGram) !== 0) hits += 1
      }
      if (code !== space) continue
      if (length > 0 && (length < shortestForm || begins || hits >= least)) {
        visit(text.slice(start, at))
      }
      start = at + 1
      hits = 0
      begins = false
    }
  }
}

/** What a word of a text is worth as a word of the question. */
interface Worth {
  /** Position of the part. */
  at: number
  /** From 0 to 1. */
  worth: number
}

/** Returns a function that compares a word of a text with the words of a question: few are alike. */
function worthsOfWords(parts: readonly QueryPart[]): (word: string) => readonly Worth[] {
  const given = new Map<string, Worth[]>()
  const byBeginning = new Map<string, { term: string; at: number }[]>()
  for (const [at, { tokens, instead }] of parts.entries()) {
    const [term = ''] = tokens
    const worths = [...instead, [term, 1] as const]
    for (const [word, worth] of worths) given.set(word, [...(given.get(word) ?? []), { at, worth }])
    const beginning = term.slice(0, shortestForm)
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), { term, at }])
  }
  const finders = parts.flatMap(({ tokens: [term = ''] }, at) => {
    const alikeness = likenessTo(term)
    return alikeness === undefined ? [] : [{ at, alikeness }]
  })
  return (word) => {
    const found = [...(given.get(word) ?? [])]
    for (const { term, at } of byBeginning.get(word.slice(0, shortestForm)) ?? []) {
      if (isForm(term, word)) found.push({ at, worth: 1 })
    }
    const letters = letterSet(word)
    for (const { at, alikeness } of finders) {
      const worth = alikeness(word, letters)
      if (worth > 0) found.push({ at, worth })
    }
    return found
  }
}

/**
 * Returns a function that determines the share of the grams of a term that a word has, or 0 if it is small;
 * undefined for a term that is too short.
 */
function likenessTo(term: string): ((word: string, letters: number) => number) | undefined {
  const grams = toGrams(term)
  if (grams.length === 0) return undefined
  const own = letterSet(term)
  const least = minAlike * grams.length
  // The word lacks at least one gram more than letters.
  const mostMissing = grams.length - least - 1
  return (word, letters) => {
    if (countBits(own & ~letters) > mostMissing) return 0
    const padded = ` ${word} `
    let count = 0
    for (const gram of grams) if (padded.includes(gram)) count += 1
    return count < least ? 0 : count / grams.length
  }
}
