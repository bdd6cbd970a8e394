/** What each leg said about one candidate; what it did not look at is missing. */
export interface Evidence {
  number: number
  /** Rank of the keyword index, from 0. */
  keyword?: number
  /** Score of the grams, from 0. */
  grams?: number
  /** How alike the meaning is, from 0 to 1. */
  semantic?: number
}

export type Leg = 'keyword' | 'grams' | 'semantic'

/** How much each leg weighs against the others, from 0; a leg without a weight is not asked. */
export type Weights = Readonly<Partial<Record<Leg, number>>>

/**
 * How much each leg weighs. The keyword leg leads, because a word that was asked for and is there is the
 * best sign; reasons and figures are in `docs/decisions/0015-fusion.md`.
 */
export const legWeights: Readonly<Record<Leg, number>> = {
  keyword: 0.5,
  grams: 0.25,
  semantic: 0.25,
}

/**
 * Joins the legs into one number per candidate, from 0 to 1. Each leg is stretched to the span of its own
 * values among the candidates, so that legs of different scales can be added; what a leg did not find
 * is worth its lowest value.
 */
export function fuse(
  candidates: readonly Evidence[],
  weights: Weights = legWeights,
): Map<number, number> {
  const spans = new Map<Leg, { least: number; width: number }>()
  for (const leg of ['keyword', 'grams', 'semantic'] as const) {
    const values = candidates.flatMap((each) => each[leg] ?? [])
    if (values.length === 0 || !weights[leg]) continue
    const least = leg === 'semantic' ? Math.min(...values) : 0
    spans.set(leg, { least, width: Math.max(...values) - least })
  }
  const total = [...spans.keys()].reduce((sum, leg) => sum + (weights[leg] ?? 0), 0)
  return new Map(
    candidates.map((each) => {
      let sum = 0
      for (const [leg, { least, width }] of spans) {
        const value = each[leg]
        // With a single value there is nothing to stretch: it is the best there is.
        const place = value === undefined ? 0 : width > 0 ? (value - least) / width : 1
        sum += (weights[leg] ?? 0) * place
      }
      return [each.number, total > 0 ? sum / total : 0]
    }),
  )
}
