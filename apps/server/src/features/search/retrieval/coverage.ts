import type { Frequencies } from '../keywords/index.js'
import type { Query, Subject } from '../query.js'
import { codeAt, type HashedText, hashAt, indexOf, spaceCode, tableSize } from './gram-hash.js'
import type { KnownWords } from './known-words.js'
import { countBits, isForm, letterSet, minAlike, minFormLength, toGrams } from './word-likeness.js'

/** A word or a literal phrase of a question, with its share of the question. */
export interface QueryPart {
  /** Adjacent tokens, mostly one; the last may end with `*`. */
  tokens: readonly string[]
  /** Share of the meaning of the question, from 0 to 1; the shares of all parts add up to 1. */
  weight: number
  /** Substitutes for the word with their worth, from 0 to 1. */
  substitutes: ReadonlyMap<string, number>
  /** Worth of a word with the same letters, relative to the share of its letters: less if the typed word exists. */
  trust?: number
}

/** Substitutes for words of a question, each with its worth; adjacent words with spaces between them. */
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
  known: KnownWords,
): { parts: QueryPart[]; isVague: boolean } {
  const named = query.terms.filter((term) => subject.terms.has(term))
  const terms = named.length > 0 ? named : query.terms
  const phrases = query.exact.filter(({ length }) => length > 1)
  const all = [...terms.map((term) => [term]), ...phrases]
  const rarities = all.map((tokens) =>
    rarity(passages + assumedPassages, Math.min(passages, counts.get(tokens.join(' ')) ?? 0)),
  )
  const information = rarities.reduce((total, each) => total + each, 0)
  const weights = all.map(
    (tokens, at) =>
      (rarities[at] ?? 0) * (tokens.length === 1 ? known.informationIn(tokens[0] ?? '') : 1),
  )
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const parts = all.map((tokens, at) => {
    const [term = ''] = tokens
    const isMeant = counts.get(term) !== 0 || known.has(term)
    return {
      tokens,
      weight: (weights[at] ?? 0) / sum,
      substitutes: substitutes.get(tokens.join(' ')) ?? new Map(),
      trust: isMeant ? trustInLettersOfWord : trustInLetters,
    }
  })
  const isVague = phrases.length === 0 && (subject.isGrammar || information < minInformation)
  return { parts, isVague }
}

/** Worth of a word with the same letters as a word that does not exist, and as one that does. */
const trustInLetters = 0.8
const trustInLettersOfWord = 0.4

/** Worth from which a word of a text is a form of the word of the question; below it, it is a guess. */
const minOfForm = 0.65
/** Factor of each further guess relative to the one before, and of guesses without a sure word. */
const furtherGuess = 0.5
const loneGuess = 0.5

/** The part of a question that a text covers. */
export interface Coverage {
  /** Share of the weight of the question, from 0 to 1. */
  share: number
  /** Whether any of its words occurs in any form: otherwise all matches are guesses. */
  isSure: boolean
  /** Its coverage of each part that occurs in any form, in the same order for each text. */
  sure: Float64Array
}

/** As in BM25: the information in a part that `having` of `all` passages contain; above 0. */
function rarity(all: number, having: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5))
}

/**
 * Returns a function that determines the part of a question that a text covers: the sum of the weights of its parts that occur, where
 * a similar word counts in proportion to its similarity. Guesses count less each, and less without a word that is sure.
 */
export function coverageOf(parts: readonly QueryPart[]): (text: HashedText) => Coverage {
  const literals = parts.filter(isLiteral)
  const words = parts.filter((part) => !isLiteral(part))
  const patterns = literals.map(({ tokens, weight, substitutes }) => ({
    ways: [toPattern(tokens), ...[...substitutes.keys()].map(toPatternOf)],
    weight,
  }))
  const phrases = words.flatMap(({ substitutes }, at) =>
    [...substitutes].flatMap(([other, worth]) =>
      other.includes(' ') ? [{ at, worth, pattern: toPatternOf(other) }] : [],
    ),
  )
  const visitRelated = visitorOfRelatedWords(words)
  // The candidates of a question have many words in common.
  const worthsOf = memoize(worthsOfWords(words))
  return (hashed) => {
    let sure = 0
    const best = new Float64Array(words.length + patterns.length)
    if (patterns.length > 0 || phrases.length > 0) {
      const padded = ` ${hashed.text} `
      for (const { at, worth, pattern } of phrases) {
        if (worth > (best[at] ?? 0) && padded.includes(pattern)) best[at] = worth
      }
      for (const [at, { ways, weight }] of patterns.entries()) {
        if (!ways.some((pattern) => padded.includes(pattern))) continue
        sure += weight
        best[words.length + at] = weight
      }
    }
    visitRelated(hashed, (word) => {
      for (const { at, worth } of worthsOf(word)) {
        if (worth > (best[at] ?? 0)) best[at] = worth
      }
    })
    let guesses: number[] | undefined
    for (let at = 0; at < words.length; at++) {
      const worth = best[at] ?? 0
      if (worth === 0) continue
      const part = (words[at]?.weight ?? 0) * worth
      if (worth >= minOfForm) {
        sure += part
        best[at] = part
        continue
      }
      best[at] = 0
      if (guesses === undefined) guesses = [part]
      else guesses.push(part)
    }
    const isSure = sure > 0
    if (guesses === undefined) return { share: Math.min(1, sure), isSure, sure: best }
    const guessed = guesses
      .sort((a, b) => b - a)
      .reduce((sum, each, at) => sum + each * furtherGuess ** at, 0)
    const isAlone = sure === 0 && parts.length > 1
    const share = Math.min(1, sure + guessed * (isAlone ? loneGuess : 1))
    return { share, isSure, sure: best }
  }
}

/** The share of a question that a text has and another one has not, from 0 to 1. */
export function shareBesides(text: Float64Array, other: Float64Array): number {
  let sum = 0
  for (let at = 0; at < text.length; at++) {
    sum += Math.max(0, (text[at] ?? 0) - (other[at] ?? 0))
  }
  return sum
}

/** A heading of fewer words says as little as if it had more that the question does not have. */
const minWordsOfTitle = 4

/**
 * Returns a function that determines how much of a title the words of a question cover, from 0 to 1: what an answer is about besides
 * the question tells it from those to similar questions. It returns the most for any of several titles.
 */
export function titleCoverageOf(
  parts: readonly QueryPart[],
): (titles: readonly (readonly string[])[]) => number {
  const literal = new Set(parts.filter(isLiteral).flatMap(({ tokens }) => tokens))
  const worthsOf = worthsOfWords(parts.filter((part) => !isLiteral(part)))
  const worthOf = memoize((word) =>
    literal.has(word) ? 1 : Math.max(0, ...worthsOf(word).map(({ worth }) => worth)),
  )
  const shareOf = (title: readonly string[]) =>
    title.reduce((sum, word) => sum + worthOf(word), 0) / Math.max(minWordsOfTitle, title.length)
  return (titles) => (titles.length === 0 ? 0 : Math.max(...titles.map(shareOf)))
}

/** Returns a function that calls `work` once for each text, and then returns the same result. */
export function memoize<T>(work: (text: string) => T): (text: string) => T {
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

/** The text of tokens between the spaces of other words; a star at their end stands for any continuation. */
export function toPattern(tokens: readonly string[]): string {
  const phrase = ` ${tokens.join(' ')}`
  return phrase.endsWith('*') ? phrase.slice(0, -1) : `${phrase} `
}

function toPatternOf(tokens: string): string {
  return toPattern(tokens.split(' '))
}

const hasDigit = /\p{N}/u

/** Whether a part must occur as it is: similar numbers and codes have different meanings. */
export function isLiteral({ tokens }: QueryPart): boolean {
  const [term = ''] = tokens
  return tokens.length > 1 || term.endsWith('*') || hasDigit.test(term)
}

const beginningFlag = 1
const gramFlag = 2

/**
 * Returns a function that visits the words of a text that may be related to the words of a question: those that
 * begin like one or have some of its grams, and very short ones that are one. It looks up the hash at each position,
 * so that the other words, which are most, are not even cut out of the text.
 */
function visitorOfRelatedWords(
  parts: readonly QueryPart[],
): (text: HashedText, visit: (word: string) => void) => void {
  const table = new Uint8Array(tableSize)
  const mark = (gram: string, flag: number) => {
    const index = indexOf(hashAt(gram, gram.length - 1))
    table[index] = (table[index] ?? 0) | flag
  }
  const short: string[] = []
  let minGrams = Number.POSITIVE_INFINITY
  for (const { tokens, substitutes } of parts) {
    const [term = ''] = tokens
    for (const word of [term, ...substitutes.keys()]) {
      if (word.length < minFormLength) short.push(word)
      else mark(` ${word.slice(0, minFormLength)}`, beginningFlag)
    }
    const grams = toGrams(term)
    for (const gram of grams) mark(gram, gramFlag)
    if (grams.length > 0) minGrams = Math.min(minGrams, minDistinct(grams))
  }
  return ({ text, indices }, visit) => {
    if (short.length > 0) {
      const padded = ` ${text} `
      for (const word of short) if (padded.includes(` ${word} `)) visit(word)
    }
    // The last word that was looked at.
    let start = 0
    let end = -1
    let gramCount = 0
    let beginsAlike = false
    for (let at = 2; at < indices.length; at++) {
      const flags = table[indices[at] ?? 0] ?? 0
      if (flags === 0) continue
      if (at > end) {
        // Before the third character of a word, the last four include some of the word before it.
        if (codeAt(text, at - 1) === spaceCode || codeAt(text, at - 2) === spaceCode) continue
        start = text.lastIndexOf(' ', at - 1) + 1
        const space = text.indexOf(' ', at)
        end = space < 0 ? text.length : space
        gramCount = 0
        beginsAlike = false
      }
      const wasRelated = beginsAlike || gramCount >= minGrams
      if (at - start === 2 && (flags & beginningFlag) !== 0) beginsAlike = true
      if ((flags & gramFlag) !== 0) gramCount += 1
      const isRelated = beginsAlike || gramCount >= minGrams
      if (isRelated && !wasRelated) visit(text.slice(start, end))
    }
  }
}

/**
 * The fewest different grams with which a word can be similar to a term: one that the term repeats, as `bana` in
 * `banabana`, counts as often as the term has it.
 */
function minDistinct(grams: readonly string[]): number {
  const repetitions = new Map<string, number>()
  for (const gram of grams) repetitions.set(gram, (repetitions.get(gram) ?? 0) + 1)
  let count = 0
  let distinct = 0
  for (const times of [...repetitions.values()].sort((a, b) => b - a)) {
    if (count >= minAlike * grams.length) break
    count += times
    distinct += 1
  }
  return distinct
}

/** The worth of a word of a text as a word of the question. */
export interface Worth {
  /** Position of the part. */
  at: number
  /** From 0 to 1. */
  worth: number
}

/** Returns a function that compares a word of a text with the words of a question; it returns those that are alike. */
export function worthsOfWords(parts: readonly QueryPart[]): (word: string) => readonly Worth[] {
  /** The words of the question and their substitutes. */
  const listed = new Map<string, Worth[]>()
  const byBeginning = new Map<string, (Worth & { term: string })[]>()
  for (const [at, { tokens, substitutes }] of parts.entries()) {
    const [term = ''] = tokens
    for (const [word, worth] of [...substitutes, [term, 1] as const]) {
      listed.set(word, [...(listed.get(word) ?? []), { at, worth }])
      const beginning = word.slice(0, minFormLength)
      byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), { term: word, at, worth }])
    }
  }
  const comparisons = parts.flatMap(({ tokens: [term = ''], trust = 1 }, at) => {
    const likenessOf = likenessTo(term)
    return likenessOf === undefined ? [] : [{ at, trust, likenessOf }]
  })
  return (word) => {
    const found = [...(listed.get(word) ?? [])]
    for (const { term, at, worth } of byBeginning.get(word.slice(0, minFormLength)) ?? []) {
      if (isForm(term, word)) found.push({ at, worth })
    }
    const letters = letterSet(word)
    for (const { at, trust, likenessOf } of comparisons) {
      const worth = likenessOf(word, letters) * trust
      if (worth > 0) found.push({ at, worth })
    }
    return found
  }
}

/**
 * Returns a function that determines the share of the grams of a term that a word has, given the word and its
 * `letterSet`: 0 below `minAlike`, otherwise up to 1. Undefined for a term that is too short.
 */
function likenessTo(term: string): ((word: string, letters: number) => number) | undefined {
  const grams = toGrams(term)
  if (grams.length === 0) return undefined
  const lettersOfTerm = letterSet(term)
  const minCount = minAlike * grams.length
  // A word that lacks n letters of the term lacks at least n + 1 of its grams.
  const maxMissingLetters = grams.length - minCount - 1
  return (word, letters) => {
    if (countBits(lettersOfTerm & ~letters) > maxMissingLetters) return 0
    const padded = ` ${word} `
    let count = 0
    for (const gram of grams) if (padded.includes(gram)) count += 1
    return count < minCount ? 0 : count / grams.length
  }
}
