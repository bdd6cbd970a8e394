import { mean } from './measures.js'

/** Two runs over the same questions. */
export interface Comparison {
  /** Questions that both runs have. */
  questions: number
  /** Mean of the differences, the newer run minus the older. */
  difference: number
  /** How often chance alone makes a difference as large, from 0 to 1. */
  pValue: number
}

const rounds = 10_000

/**
 * A paired randomisation test: if the runs were alike, each difference could as well have the other sign.
 * The same input always gives the same answer.
 *
 * @param older value by question
 * @param newer value by question
 */
export function compareRuns(
  older: ReadonlyMap<string, number>,
  newer: ReadonlyMap<string, number>,
): Comparison {
  const differences = [...newer].flatMap(([id, value]) => {
    const before = older.get(id)
    return before === undefined ? [] : [value - before]
  })
  const difference = mean(differences)
  const effective = differences.filter((value) => value !== 0)
  const sum = Math.abs(effective.reduce((total, value) => total + value, 0))
  const nextBit = createBits(differences.length)
  let asLarge = 0
  for (let round = 0; round < rounds; round++) {
    let total = 0
    for (const value of effective) total += nextBit() ? value : -value
    if (Math.abs(total) >= sum - 1e-12) asLarge += 1
  }
  return { questions: differences.length, difference, pValue: (asLarge + 1) / (rounds + 1) }
}

/** Coins that fall the same way in every run, by xorshift. */
function createBits(seed: number): () => boolean {
  let state = (seed ^ 0x9e3779b9) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state & 0x10000) !== 0
  }
}
