import { countTerms } from './terms.js'

/** What makes vectors of texts: a direction for each term, already scaled by how much it says. */
export interface LsaModel {
  dimensions: number
  /** Row of each term in `directions`. */
  rows: ReadonlyMap<string, number>
  /** How rare each term is, from 0. */
  rarity: Float32Array
  /** One row of `dimensions` numbers per term, of length 1 over each column. */
  directions: Float32Array
}

export interface LsaVector {
  /** Of length 1, or all 0 if the model knows none of the words. */
  values: Float32Array
  /** Share of the weight of the text that the model can express, from 0 to 1; words it never saw count as rare. */
  known: number
}

/**
 * The place of a text among the passages that the model was made of. This is what became of those
 * passages too, so that new ones and questions are comparable with them.
 *
 * @param text in the form of `toIndexText`
 */
export function toLsaVector(model: LsaModel, text: string): LsaVector {
  const { dimensions, rows, rarity, directions } = model
  const values = new Float32Array(dimensions)
  const rarest = rarity.reduce((most, value) => Math.max(most, value), 0)
  let total = 0
  for (const [term, count] of countTerms(text)) {
    const row = rows.get(term)
    const weight = termWeight(count) * (row === undefined ? rarest : (rarity[row] ?? 0))
    total += weight ** 2
    // Nobody knows what it means, which is what `known` is to tell.
    if (row === undefined) continue
    for (let at = 0; at < dimensions; at++) {
      values[at] = (values[at] ?? 0) + weight * (directions[row * dimensions + at] ?? 0)
    }
  }
  const length = Math.hypot(...values)
  if (length === 0) return { values, known: 0 }
  for (let at = 0; at < dimensions; at++) values[at] = (values[at] ?? 0) / length
  return { values, known: Math.min(1, length / Math.sqrt(total)) }
}

/** The second occurrence of a term says less than the first. */
export function termWeight(count: number): number {
  return 1 + Math.log(count)
}
