import { quantile } from './measures.js'

/** How well scores tell questions that the documents answer from those about something else. */
export interface Separation {
  /** Chance that a question with an answer has the higher score of the two; 0.5 is guessing. */
  chance: number
  /** Best scores of questions with an answer: the middle one, and the one that nine tenths exceed. */
  answered: { median: number; low: number }
  /** Best scores of questions about something else: the middle one, and the one that a tenth exceeds. */
  offTopic: { median: number; high: number }
}

/** @param answered best score of each question, 0 where nothing was found; so for `offTopic` */
export function separate(answered: readonly number[], offTopic: readonly number[]): Separation {
  const won = answered.reduce(
    (sum, own) =>
      sum + offTopic.reduce((wins, other) => wins + (Math.sign(own - other) + 1) / 2, 0),
    0,
  )
  return {
    chance: won / Math.max(1, answered.length * offTopic.length),
    answered: { median: quantile(answered, 0.5), low: quantile(answered, 0.1) },
    offTopic: { median: quantile(offTopic, 0.5), high: quantile(offTopic, 0.9) },
  }
}

/** As a person reads it, line by line. */
export function describeSeparation({ chance, answered, offTopic }: Separation): string[] {
  return [
    `separation ${chance.toFixed(4)}`,
    `  answered   best scores: median ${answered.median.toFixed(2)}, lowest tenth up to ${answered.low.toFixed(2)}`,
    `  off topic  best scores: median ${offTopic.median.toFixed(2)}, highest tenth from ${offTopic.high.toFixed(2)}`,
  ]
}
