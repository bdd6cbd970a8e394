import { gramLength, type HashedText, hashAt, indexOf, nextHash, tableSize } from './gram-hash.js'

/** The similarity of a question and a passage by letters. */
export interface GramScore {
  /** Ranks passages of one question: rare grams count more, repetition and length a little. */
  score: number
  /** Share of the question that occurs in the passage, by weight, from 0 to 1. */
  coverage: number
}

/** The different grams of a question in a hash table with open addressing. */
interface QueryGrams {
  count: number
  /** The number of the gram in each entry, from 1; 0 in a free entry. */
  table: Int32Array
  /** The hash of the gram in each entry. */
  hashes: Int32Array
}

/**
 * Compares a question with passages by runs of four characters, which finds forms of words, parts of
 * compounds and misspelt words in any language. The rarity of a gram is counted among the passages.
 *
 * @param query words in the form of `toIndexText`
 * @param texts by the number that each has in the result
 */
export function scoreGrams(
  query: string,
  texts: ReadonlyMap<number, HashedText>,
): Map<number, GramScore> {
  const grams = toQueryGrams(query)
  if (grams.count === 0) return new Map()
  const found = [...texts].map(([number, hashed]) => ({ number, ...countGrams(grams, hashed) }))
  const frequency = new Uint32Array(grams.count)
  for (const { counts } of found) {
    for (let gram = 0; gram < grams.count; gram++) {
      if (counts[gram] !== 0) frequency[gram] = (frequency[gram] ?? 0) + 1
    }
  }
  // Assumes some more texts: the given ones were selected for their similarity.
  const rarity = Float64Array.from(frequency, (n) => Math.log(1 + (found.length + 10) / (n + 0.5)))
  const all = rarity.reduce((sum, value) => sum + value, 0)
  const mean = found.reduce((sum, { length }) => sum + length, 0) / Math.max(1, found.length)
  return new Map(
    found.map(({ number, counts, length }) => {
      let score = 0
      let covered = 0
      for (let gram = 0; gram < grams.count; gram++) {
        const count = counts[gram] ?? 0
        if (count === 0) continue
        const weight = rarity[gram] ?? 0
        covered += weight
        score += weight * saturate(count, length / mean)
      }
      return [number, { score: score / all, coverage: covered / all }]
    }),
  )
}

/** As in BM25, with k1 1.2 and b .75: the tenth occurrence counts little, in a long text less. */
function saturate(count: number, relativeLength: number): number {
  return (count * 2.2) / (count + 1.2 * (0.25 + 0.75 * relativeLength))
}

function toQueryGrams(query: string): QueryGrams {
  const table = new Int32Array(tableSize)
  const hashes = new Int32Array(tableSize)
  const padded = ` ${query} `
  let count = 0
  let hash = 0
  for (let at = 0; at < padded.length; at++) {
    hash = nextHash(hash, padded.charCodeAt(at))
    // Half full is enough: no question has thousands of different grams.
    if (at + 1 < gramLength || count >= tableSize / 2) continue
    const entry = findEntry(table, hashes, hash)
    if (table[entry] !== 0) continue
    count += 1
    table[entry] = count
    hashes[entry] = hash
  }
  return { count, table, hashes }
}

/** Counts of each gram of a question in a text, within words and across the spaces between them. */
function countGrams({ count, table, hashes }: QueryGrams, { text, indices }: HashedText) {
  const counts = new Uint16Array(count)
  for (let at = gramLength - 2; at < indices.length; at++) {
    if (table[indices[at] ?? 0] === 0) continue
    const gram = table[findEntry(table, hashes, hashAt(text, at))] ?? 0
    if (gram > 0) counts[gram - 1] = (counts[gram - 1] ?? 0) + 1
  }
  return { counts, length: text.length }
}

/** The entry with a hash, or the free entry for it. */
function findEntry(table: Int32Array, hashes: Int32Array, hash: number): number {
  let entry = indexOf(hash)
  while (table[entry] !== 0 && hashes[entry] !== hash) entry = (entry + 1) & (tableSize - 1)
  return entry
}
