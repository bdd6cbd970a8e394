/** Quality measures of one result, each from 0 to 1. */
export interface Measures {
  /** Gain of the first ten, discounted by rank, relative to the ideal order. */
  ndcg: number
  /** Share of the relevant documents that are among the first ten. */
  recall: number
  /** One divided by the rank of the first relevant document; 0 if none of the first ten is relevant. */
  mrr: number
}

/** Number of top-ranked documents that are measured. */
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

/** A comparison of two runs over the same questions. */
export interface Comparison {
  /** Questions that both runs have. */
  questions: number
  /** Mean of the differences, the newer run minus the older. */
  difference: number
  /** Probability that chance alone causes a difference of this size, from 0 to 1. */
  pValue: number
}

const maxRounds = 10_000
/** Limits the work of one comparison: for more than 200 questions, fewer rounds are exact enough. */
const maxSteps = 2_000_000

/**
 * A paired randomization test: if the runs were equal, each difference could as well have the other sign.
 * The same input always gives the same result.
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
  const rounds = Math.min(maxRounds, Math.ceil(maxSteps / Math.max(1, effective.length)))
  let asLarge = 0
  for (let round = 0; round < rounds; round++) {
    let total = 0
    for (const value of effective) total += nextBit() ? value : -value
    if (Math.abs(total) >= sum - 1e-12) asLarge += 1
  }
  return { questions: differences.length, difference, pValue: (asLarge + 1) / (rounds + 1) }
}

/** Random bits that are the same in every run, by xorshift. */
function createBits(seed: number): () => boolean {
  let state = (seed ^ 0x9e3779b9) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state & 0x10000) !== 0
  }
}

/** The separation, by scores, of questions that the documents answer from questions about something else. */
export interface Separation {
  /** Probability that a question with an answer has the higher score of the two; 0.5 is guessing. */
  chance: number
  /** Best scores of questions with an answer: the median, and the tenth percentile. */
  answered: { median: number; low: number }
  /** Best scores of questions about something else: the median, and the ninetieth percentile. */
  offTopic: { median: number; high: number }
}

/** @param answered best score of each question, 0 without a result; likewise for `offTopic` */
export function separate(answered: readonly number[], offTopic: readonly number[]): Separation {
  const others = offTopic.toSorted((a, b) => a - b)
  // Higher scores are above at least as many others, so that both counts only grow.
  let lower = 0
  let upTo = 0
  let won = 0
  for (const own of answered.toSorted((a, b) => a - b)) {
    while ((others[lower] ?? own) < own) lower += 1
    while ((others[upTo] ?? Number.POSITIVE_INFINITY) <= own) upTo += 1
    won += (lower + upTo) / 2
  }
  return {
    chance: won / Math.max(1, answered.length * offTopic.length),
    answered: { median: quantile(answered, 0.5), low: quantile(answered, 0.1) },
    offTopic: { median: quantile(offTopic, 0.5), high: quantile(offTopic, 0.9) },
  }
}

/** The score from which the guides advise to take a result for an answer. */
export const advisedMinScore = 0.4

/** The effect of a `minScore` on the questions of a measurement. */
export interface ThresholdFigures {
  minScore: number
  /** Share of the questions with an answer that keep a result, from 0 to 1. */
  kept: number
  /** Share of the other questions that have no result, from 0 to 1. */
  refused: number
}

/**
 * The shares of questions that a threshold keeps and refuses.
 *
 * @param answered best score of each question, 0 without a result; likewise for `others`
 */
export function judgeThreshold(
  answered: readonly number[],
  others: readonly number[],
  minScore: number,
): ThresholdFigures {
  const shareOf = (scores: readonly number[]) =>
    scores.filter((score) => score > 0 && score >= minScore).length / Math.max(1, scores.length)
  return { minScore, kept: shareOf(answered), refused: 1 - shareOf(others) }
}

/** Thresholds that are compared: hundredths. */
const steps = 100

/**
 * The threshold that tells the questions with an answer best from the others: the one where the smaller of both shares is
 * largest, then their sum; of several, the one in the middle of those that are next to the advised one.
 */
export function suggestThreshold(
  answered: readonly number[],
  others: readonly number[],
): ThresholdFigures {
  const all = Array.from({ length: steps + 1 }, (_, at) =>
    judgeThreshold(answered, others, at / steps),
  )
  const worthOf = ({ kept, refused }: ThresholdFigures) =>
    Math.min(kept, refused) * 1000 + kept + refused
  const maxWorth = Math.max(...all.map(worthOf))
  const isBest = (figures: ThresholdFigures | undefined) =>
    figures !== undefined && worthOf(figures) > maxWorth - 1e-9
  const best = all.filter(isBest)
  const distance = ({ minScore }: ThresholdFigures) => Math.abs(minScore - advisedMinScore)
  const nearest = best.reduce((near, each) => (distance(each) < distance(near) ? each : near))
  // Away from the edges, where another question would be on the wrong side.
  const start = Math.round(nearest.minScore * steps)
  let [first, last] = [start, start]
  while (isBest(all[first - 1])) first--
  while (isBest(all[last + 1])) last++
  return all[Math.round((first + last) / 2)] ?? nearest
}
