import { countTerms, type LsaModel, termWeight } from './model.js'
import { type SparseMatrix, truncatedSvd } from './truncated-svd.js'

export interface FitOptions {
  /** Maximum number of numbers of a vector. */
  dimensions: number
  /** Maximum number of terms of the model; the most common ones are used. */
  maxTerms: number
}

interface Counted {
  /** Terms of each text as rows of `terms`, with their frequencies. */
  texts: Array<Map<number, number>>
  rows: Map<string, number>
  /** The number of texts with each term. */
  frequency: Float32Array
}

/**
 * Fits a model to texts. The same texts in the same order give the same model.
 *
 * @param texts in the form of `toIndexText`
 */
export function fitLsa(texts: Iterable<string>, options: FitOptions): LsaModel {
  const counted = countAll(texts, options.maxTerms)
  const amount = counted.texts.length
  const rarity = counted.frequency.map((frequency) => Math.log((amount + 1) / (frequency + 0.5)))
  // With as many directions as texts, no texts would be brought together.
  const dimensions = Math.max(1, Math.min(options.dimensions, Math.floor(amount / 2)))
  const { right } = truncatedSvd(toMatrix(counted, rarity), dimensions)
  return {
    dimensions: right.width,
    rows: counted.rows,
    rarity,
    directions: right.values,
  }
}

function countAll(texts: Iterable<string>, maxTerms: number): Counted {
  const all = new Map<string, number>()
  const found: number[] = []
  const counts: Array<Map<number, number>> = []
  for (const text of texts) {
    const own = new Map<number, number>()
    for (const [term, count] of countTerms(text)) {
      const row = all.get(term) ?? all.size
      all.set(term, row)
      found[row] = (found[row] ?? 0) + 1
      own.set(row, count)
    }
    counts.push(own)
  }
  return keepCommon(all, found, counts, maxTerms)
}

/** A term of a single text connects it with nothing. */
function keepCommon(
  all: ReadonlyMap<string, number>,
  found: readonly number[],
  counts: ReadonlyArray<Map<number, number>>,
  maxTerms: number,
): Counted {
  const kept = [...all]
    .filter(([, row]) => (found[row] ?? 0) > 1)
    .sort(([, a], [, b]) => (found[b] ?? 0) - (found[a] ?? 0) || a - b)
    .slice(0, maxTerms)
  const rowOf = new Map(kept.map(([, row], at) => [row, at]))
  return {
    rows: new Map(kept.map(([term], at) => [term, at])),
    frequency: Float32Array.from(kept, ([, row]) => found[row] ?? 0),
    texts: counts.map((own) => {
      const rows = new Map<number, number>()
      for (const [row, count] of own) {
        const at = rowOf.get(row)
        if (at !== undefined) rows.set(at, count)
      }
      return rows
    }),
  }
}

/** One row per text, of length 1, so that long texts do not outweigh short ones. */
function toMatrix({ texts, rows }: Counted, rarity: Float32Array): SparseMatrix {
  const entries = texts.reduce((sum, text) => sum + text.size, 0)
  const starts = new Uint32Array(texts.length + 1)
  const indices = new Uint32Array(entries)
  const values = new Float32Array(entries)
  let at = 0
  for (const [row, text] of texts.entries()) {
    const weights = [...text].map(([term, count]) => termWeight(count) * (rarity[term] ?? 0))
    const length = Math.hypot(...weights) || 1
    for (const [index, term] of [...text.keys()].entries()) {
      indices[at] = term
      values[at] = (weights[index] ?? 0) / length
      at += 1
    }
    starts[row + 1] = at
  }
  return { rows: texts.length, columns: rows.size, starts, indices, values }
}
