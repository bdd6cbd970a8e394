/** How good one answer is, each from 0 to 1. */
export interface Measures {
  /** Gain of the first ten, discounted by their rank, against the best order there could be. */
  ndcg: number
  /** Share of the right documents that are among the first ten. */
  recall: number
  /** One divided by the rank of the first right document; 0 if none of the first ten is right. */
  mrr: number
}

/** How many of the first documents count. */
export const depth = 10

/**
 * @param ranked ids of documents, best first, each once
 * @param relevant grade by id, above 0
 */
export function measure(
  ranked: readonly string[],
  relevant: ReadonlyMap<string, number>,
): Measures {
  const gains = ranked.slice(0, depth).map((id) => relevant.get(id) ?? 0)
  const best = [...relevant.values()].sort((a, b) => b - a).slice(0, depth)
  const first = gains.findIndex((gain) => gain > 0)
  return {
    ndcg: discounted(gains) / discounted(best),
    recall: gains.filter((gain) => gain > 0).length / relevant.size,
    mrr: first < 0 ? 0 : 1 / (first + 1),
  }
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, rank) => sum + (2 ** gain - 1) / Math.log2(rank + 2), 0)
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The value below which a share of all values lies, from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
