import type { IndexFields } from '@botstead/documents/text'
import { stemmer } from 'stemmer'
import { bounded, type Frequencies, fairBm25, withoutStar } from '../keywords/index.js'
import { toPattern } from './coverage.js'
import { hashWord } from './gram-hash.js'

/** The fields of a text, and the weights of a word in each, as in the index of SQLite. */
const fields = [
  { name: 'folders', weight: 0.5 },
  { name: 'name', weight: 2 },
  { name: 'headings', weight: 3 },
  { name: 'body', weight: 1 },
] as const
/** Of BM25, as FTS5 has them. */
const k1 = 1.2
const b = 0.75
/**
 * Number of passages that a bot is assumed to have in addition, as for the shares of the question: among twenty passages a
 * word of five is not common.
 */
const assumedPassages = 10
/** Maximum addition of a word to a rank, relative to its rarity. */
export const maxPerWord = k1 + 1

/** The rarity of a word that `having` of all passages have, above 0. */
export function bm25Rarity(passages: number, having: number): number {
  const others = Math.max(0, passages - having) + assumedPassages
  return Math.log(1 + (others + 0.5) / (having + 0.5))
}

/** The words of a text by their stems. */
export interface StemmedText {
  /** A hash of the stem of each word, in the order of the fields. */
  stems: Int32Array
  /** The end of each field. */
  ends: readonly number[]
}

/** Hashes the stems of a text, which takes longer than counting some of them. */
export function stemText(text: IndexFields): StemmedText {
  const words: string[] = []
  const ends: number[] = []
  for (const { name } of fields) {
    if (text[name] !== '') for (const word of text[name].split(' ')) words.push(word)
    ends.push(words.length)
  }
  return { stems: Int32Array.from(words, hashOfStem), ends }
}

/** Maximum number of words whose hashes are kept: the vocabulary of some thousand passages. */
const maxKept = 20_000
const hashes = new Map<string, number>()

function hashOfStem(word: string): number {
  const known = hashes.get(word)
  if (known !== undefined) return known
  if (hashes.size >= maxKept) hashes.clear()
  const hash = hashWord(stemOf(word)) | 0
  hashes.set(word, hash)
  return hash
}

/** Only words of ASCII letters have endings of English. */
function stemOf(word: string): string {
  return /^[a-z]{3,63}$/.test(word) ? stemmer(word) : word
}

/** A text that can be ranked. */
export interface RankableText {
  /** In the form of `toIndexText`. */
  text: string
  words: StemmedText
}

/** Words and phrases that count the same. */
export interface WordGroup {
  /** Adjacent tokens each, mostly one; the last may end with a star. */
  parts: readonly (readonly string[])[]
  /** From 0 to 1. */
  worth: number
}

/** The rank of a text by its words. */
export interface WordRank {
  /** BM25, above 0. */
  rank: number
  /** The same from 0 to 1, for the group with the highest one. */
  score: number
}

/** A word or a phrase with the hashes of its stems. */
interface Part {
  stems: readonly number[]
  /** For a part that ends with a star: its beginning in a text. */
  beginning: string | undefined
  /** Number of passages that have it; undefined if they were not counted. */
  having: number | undefined
}

/**
 * The ranks of texts by words: BM25 with weights for the fields, as FTS5 computes it. Engines only select candidates, so
 * that results come in the same order on each, and nothing depends on the passages of other bots.
 *
 * @param frequencies a part that was not counted is as common as it is among the texts
 * @returns the ranks of the texts that have any of the words
 */
export function rankByWords(
  groups: readonly WordGroup[],
  { passages, counts }: Frequencies,
  texts: ReadonlyMap<number, RankableText>,
): Map<number, WordRank> {
  const parts = groups.flatMap(({ parts }) => parts.map((tokens) => toPart(tokens, counts)))
  const found = countAll(parts, texts)
  const rarities = parts.map(({ having }, at) =>
    bm25Rarity(passages, having ?? countTextsWith(found, at, parts.length)),
  )
  let length = 0
  for (const { words } of texts.values()) length += words.stems.length
  const mean = Math.max(1, length / Math.max(1, texts.size))
  const ranks = new Map<number, WordRank>()
  let text = 0
  for (const [number, { words }] of texts) {
    const norm = k1 * (1 - b + (b * words.stems.length) / mean)
    let at = text++ * parts.length
    let part = 0
    let rank = 0
    let score = 0
    for (const { parts, worth } of groups) {
      let sum = 0
      for (let end = part + parts.length; part < end; part++, at++) {
        const count = found[at] ?? 0
        if (count > 0) sum += ((rarities[part] ?? 0) * count * (k1 + 1)) / (count + norm)
      }
      if (sum === 0) continue
      rank += sum * worth
      score = Math.max(score, bounded(sum, fairBm25) * worth)
    }
    if (rank > 0) ranks.set(number, { rank, score })
  }
  return ranks
}

function toPart(tokens: readonly string[], counts: Frequencies['counts']): Part {
  const isStarred = tokens.at(-1)?.endsWith('*') === true
  return {
    stems: tokens.map((token) => hashOfStem(withoutStar(token))),
    beginning: isStarred ? toPattern(tokens) : undefined,
    having: counts.get(tokens.join(' ')),
  }
}

function countTextsWith(found: Float64Array, part: number, parts: number): number {
  let having = 0
  for (let at = part; at < found.length; at += parts) if (found[at] !== 0) having += 1
  return having
}

/** A power of two, well above the number of parts of most queries. */
const tableSize = 4096
const tableMask = tableSize - 1

/** Counts each part in each text, each time with the weight of the field: a row per text. */
function countAll(parts: readonly Part[], texts: ReadonlyMap<number, RankableText>): Float64Array {
  const found = new Float64Array(parts.length * texts.size)
  // Most words of a text are in no part: a small table excludes them.
  const table = new Uint8Array(tableSize)
  const byFirst = new Map<number, number[]>()
  const starred: { part: number; beginning: string }[] = []
  for (const [part, { stems, beginning }] of parts.entries()) {
    const [first] = stems
    if (beginning !== undefined) starred.push({ part, beginning })
    else if (first !== undefined) {
      table[first & tableMask] = 1
      byFirst.set(first, [...(byFirst.get(first) ?? []), part])
    }
  }
  let row = 0
  for (const { text, words } of texts.values()) {
    const { stems, ends } = words
    let at = 0
    for (const [field, { weight }] of fields.entries()) {
      const end = ends[field] ?? 0
      for (; at < end; at++) {
        const stem = stems[at] ?? 0
        if (table[stem & tableMask] === 0) continue
        for (const part of byFirst.get(stem) ?? []) {
          const wanted = parts[part]?.stems ?? []
          if (isAt(stems, at, end, wanted)) found[row + part] = (found[row + part] ?? 0) + weight
        }
      }
    }
    for (const { part, beginning } of starred) {
      found[row + part] = ` ${text}`.split(beginning).length - 1
    }
    row += parts.length
  }
  return found
}

/** Whether a field that ends at `end` has the wanted stems from a position on. */
function isAt(stems: Int32Array, at: number, end: number, wanted: readonly number[]): boolean {
  if (at + wanted.length > end) return false
  for (let index = 1; index < wanted.length; index++) {
    if (stems[at + index] !== wanted[index]) return false
  }
  return true
}
