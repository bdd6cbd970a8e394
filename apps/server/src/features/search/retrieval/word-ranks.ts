import type { IndexFields } from '@botstead/documents/text'
import { stemmer } from 'stemmer'
import { type Frequencies, withoutStar } from '../keywords/index.js'
import type { Query } from '../query.js'
import { memoize } from './coverage.js'

/** Weights of a word by field, as in the index of SQLite. */
const weights = { folders: 0.5, name: 2, headings: 3, body: 1 } as const
const fieldNames = ['folders', 'name', 'headings', 'body'] as const
/** Of BM25, as FTS5 has them. */
const k1 = 1.2
const b = 0.75
const leastRarity = 1e-6
/** Maximum addition of a word to a rank, relative to its rarity. */
export const mostPerWord = k1 + 1

/** The rarity of a word that `having` of all passages have, as in FTS5. */
export function bm25Rarity(passages: number, having: number): number {
  return Math.max(leastRarity, Math.log((passages - having + 0.5) / (having + 0.5)))
}

/** A word or a phrase with its rarity. */
interface Part {
  /** Adjacent stems; the last may end with a star. */
  stems: readonly string[]
  rarity: number
}

/**
 * The ranks of texts by the words of a query, as FTS5 computes them: BM25 with weights for the fields. For engines whose own
 * ranks are of another kind, so that results come in the same order on each.
 *
 * @param texts by number, in the form of the index
 * @returns ranks above 0 of the texts that have any of the words
 */
export function rankByWords(
  query: Pick<Query, 'terms' | 'phrases'>,
  { passages, counts }: Frequencies,
  texts: ReadonlyMap<number, IndexFields>,
): Map<number, number> {
  const parts = [...query.terms.map((term) => [term]), ...query.phrases].flatMap(
    (tokens): Part[] => {
      const having = counts.get(tokens.join(' ')) ?? 0
      if (having === 0) return []
      return [{ stems: tokens.map(stemOf), rarity: bm25Rarity(passages, having) }]
    },
  )
  const stemOfWord = memoize(stemOf)
  const stemmed = [...texts].map(([number, fields]) => ({
    number,
    fields: fieldNames.map((name) => ({
      weight: weights[name],
      stems: fields[name] === '' ? [] : fields[name].split(' ').map(stemOfWord),
    })),
  }))
  const lengths = stemmed.map(({ fields }) =>
    fields.reduce((sum, { stems }) => sum + stems.length, 0),
  )
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  const ranks = new Map<number, number>()
  for (const [at, { number, fields }] of stemmed.entries()) {
    const length = (lengths[at] ?? 0) / Math.max(1, mean)
    let rank = 0
    for (const { stems, rarity } of parts) {
      const count = fields.reduce(
        (sum, field) => sum + field.weight * countIn(field.stems, stems),
        0,
      )
      if (count > 0) rank += (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + b * length))
    }
    if (rank > 0) ranks.set(number, rank)
  }
  return ranks
}

/** Only words of ASCII letters have endings of English. */
function stemOf(word: string): string {
  return /^[a-z]{3,63}$/.test(word) ? stemmer(word) : word
}

function countIn(text: readonly string[], stems: readonly string[]): number {
  const [first = ''] = stems
  if (stems.length === 1 && !first.endsWith('*')) {
    let count = 0
    for (const stem of text) if (stem === first) count += 1
    return count
  }
  const isHere = (at: number) =>
    stems.every((stem, index) => {
      const found = text[at + index]
      return stem.endsWith('*') ? found?.startsWith(withoutStar(stem)) : found === stem
    })
  let count = 0
  for (let at = 0; at + stems.length <= text.length; at++) if (isHere(at)) count += 1
  return count
}
