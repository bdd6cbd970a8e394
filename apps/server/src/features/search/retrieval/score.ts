import {
  defaultWeights,
  type Retriever,
  type RetrieverWeights,
} from '../../../domain/retriever-weights.js'

/** A passage that a retriever proposed, with the evidence of all retrievers. */
export interface Candidate {
  number: number
  /** Rank of the keyword index, above 0. */
  rank?: number
  /** The same rank scaled to 0 to 1. */
  word?: number
  /** Score of its grams, from 0. */
  grams?: number
  /** Share of the question that its grams cover, from 0 to 1. */
  coverage?: number
  /** Share of the question that its words cover, from 0 to 1. */
  found?: number
  /** Whether it has the requested kind of answer, such as a time for `when`. */
  isAsked?: boolean
  /** Whether a word of the question occurs in any form; undefined if its text was not compared. */
  isSure?: boolean
  /** Share of the question that the name of its file covers, from 0 to 1. */
  named?: number
  /** Share of the question that another passage below the same heading covers and this one does not, from 0 to 1. */
  beside?: number
  /** Share of its heading that the question covers, from 0 to 1. */
  titled?: number
  /** Similarity of its meaning, from 0 to 1. */
  likeness?: number
  /** Share of the literal phrases that it contains; undefined if the question has none. */
  literal?: number
}

/** A passage with its score and the evidence of each retriever. */
export interface RankedPassage {
  number: number
  /** From 0 to 1, comparable between questions. */
  score: number
  /** Evidence of each retriever that found the passage, from 0 to 1. */
  explanation: { keyword?: number; grams?: number; semantic?: number }
}

/** The parameters of the scores of candidates. */
export interface ScoreOptions {
  weights: RetrieverWeights
  /** Reliability of the similarities, from 0 to 1. */
  confidence: number
  /**
   * Whether the model of the similarities was learned from the passages of the bot: it knows no more than their words, so it
   * orders passages, and says nothing about whether any of them answers.
   */
  isLearned: boolean
  /** Words of the question. */
  terms: number
  /** The rank of a passage that repeats all words of the question, above 0. */
  maxRank: number
  /** Whether the question consists only of words that occur everywhere. */
  isVague: boolean
  /** Maximum number of passages. */
  limit: number
  /** Lowest score of a passage, from 0 to 1; never below `noiseFloor`. */
  minScore: number
}

/** Passages with a lower score do not answer the question. */
export const noiseFloor = 0.05

/**
 * Minimum evidence of the best passage. With less, the question is about something else and nothing is
 * found. See `docs/decisions/0023-scores-and-like-words.md` for how well this separates questions.
 */
const minEvidence = 0.2
/** From this level on, little evidence does not matter: the question is probably answered. */
const sufficientLevel = 0.4

/** The highest score for a question of words that occur everywhere, which are no evidence. */
const maxForVague = 0.2

/**
 * Scores the candidates of one question: their order is that of the combined retrievers, and their level is the
 * evidence for the best candidate, so that a question without an answer has low scores throughout.
 */
export function score(candidates: readonly Candidate[], options: ScoreOptions): RankedPassage[] {
  const { isEnough, minScore, scoreOf } = toScoring(candidates, options)
  if (!isEnough) return []
  return candidates
    .map((candidate) => ({ candidate, number: candidate.number, score: scoreOf(candidate) }))
    .filter(({ score }) => score >= minScore)
    .sort(byScore)
    .slice(0, options.limit)
    .map(({ candidate, number, score }) => ({ number, score, explanation: explain(candidate) }))
}

/** The order of results. */
export function byScore(
  a: Pick<RankedPassage, 'number' | 'score'>,
  b: Pick<RankedPassage, 'number' | 'score'>,
): number {
  return b.score - a.score || a.number - b.number
}

/** The scores of the candidates of one question. */
export interface Scoring {
  /** Weights of the retrievers in this question. */
  weights: RetrieverWeights
  /** The highest relevance of a candidate, by which all are divided. */
  maxRelevance: number
  /** The largest share of the question that words of a candidate cover, from 0 to 1. */
  maxFound: number
  /** The evidence in the best candidate, from 0 to 1. */
  evidence: number
  /** Whether that is enough to find anything. */
  isEnough: boolean
  /** Factor of all scores, from 0 to 1. */
  level: number
  /** The lowest score that is found. */
  minScore: number
  scoreOf(candidate: Candidate): number
}

export function toScoring(candidates: readonly Candidate[], options: ScoreOptions): Scoring {
  const { confidence, isVague } = options
  const weights = {
    ...options.weights,
    grams: (options.weights.grams ?? 0) * gramsConfidence(candidates),
    semantic: (options.weights.semantic ?? 0) * confidence,
  }
  const fused = fuse(candidates.map(toEvidence), weights)
  const maxFound = Math.max(0, ...candidates.map(({ found = 0 }) => found))
  const sumOf = (each: Candidate) => {
    const { fileName, keyword } = toExtras(each, { maxFound })
    return (fused.get(each.number) ?? 0) + fileName + keyword
  }
  const maxRelevance = Math.max(Number.MIN_VALUE, ...candidates.map(sumOf))
  const evidence = Math.max(0, ...candidates.map((each) => plainEvidence(each, confidence)))
  const proof = Math.max(0, ...candidates.map((each) => calibrated(each, options)))
  // A model that was learned from the passages does not know words that none of them has, so it is no evidence for one.
  const isGuessed = candidates.every(
    ({ isSure, likeness = 0 }) => isSure === false && (options.isLearned || likeness === 0),
  )
  const usual = minLevel + (1 - minLevel) * proof
  const level = isVague
    ? evidence * maxForVague
    : isGuessed
      ? Math.min(maxForGuesses, usual)
      : usual
  return {
    weights,
    maxRelevance,
    maxFound,
    evidence,
    isEnough: evidence >= minEvidence || level >= sufficientLevel,
    level,
    minScore: Math.max(noiseFloor, options.minScore),
    scoreOf: (each) => Math.min(1, preferLiteral(sumOf(each) / maxRelevance, each.literal) * level),
  }
}

/** The values that are combined. */
export function toEvidence({ number, rank, grams, likeness }: Candidate): Evidence {
  return {
    number,
    ...(rank !== undefined && { keyword: rank }),
    ...(grams !== undefined && { grams }),
    ...(likeness !== undefined && { semantic: likeness }),
  }
}

/** The evidence of each retriever for one candidate; missing where a retriever did not examine it. */
export interface Evidence {
  number: number
  /** Rank of the keyword index, from 0. */
  keyword?: number
  /** Score of the grams, from 0. */
  grams?: number
  /** Similarity of meaning, from 0 to 1. */
  semantic?: number
}

/**
 * Combines the retrievers into one number per candidate, from 0 to 1. The values of each retriever are scaled to
 * their range among the candidates, so that values of different scales can be added; a candidate that a retriever
 * did not find has its lowest value.
 */
export function fuse(
  candidates: readonly Evidence[],
  weights: RetrieverWeights = defaultWeights,
): Map<number, number> {
  const spans = toSpans(candidates, weights)
  const total = [...spans.keys()].reduce((sum, retriever) => sum + (weights[retriever] ?? 0), 0)
  return new Map(
    candidates.map((each) => {
      let sum = 0
      for (const [retriever, { min, width }] of spans) {
        const value = each[retriever]
        // A single value has no range to scale: it is the best.
        const stretched = value === undefined ? 0 : width > 0 ? (value - min) / width : 1
        sum += (weights[retriever] ?? 0) * stretched
      }
      return [each.number, total > 0 ? sum / total : 0]
    }),
  )
}

/** The range of the values of each retriever that is used and found something. */
export function toSpans(
  candidates: readonly Evidence[],
  weights: RetrieverWeights,
): Map<Retriever, { min: number; width: number }> {
  const spans = new Map<Retriever, { min: number; width: number }>()
  for (const retriever of ['keyword', 'grams', 'semantic'] as const) {
    const values = candidates.flatMap((each) => each[retriever] ?? [])
    if (values.length === 0 || !weights[retriever]) continue
    const min = retriever === 'semantic' ? Math.min(...values) : 0
    spans.set(retriever, { min, width: Math.max(...values) - min })
  }
  return spans
}

/** Weight of a file name that contains all of the question, relative to 1 for the passage. */
const nameWeight = 0.5
/** Weight of a passage that covers all of the question. */
const coverageWeight = 0.15
/** Weight of a heading that the question covers as a whole: it is what the passage is about. */
const titleWeight = 0.3
/** Addition for the requested kind of answer to the passage that covers most of the question; others get less. */
const askedWeight = 0.6

/**
 * The contributions to the score of a passage besides those of its retrievers. The indexes contain the words of names and
 * headings too, but a repeated word adds little there, so that other words of the question outweigh a name, and a word in
 * a heading those in the section below it.
 *
 * @param maxFound the share of the question that is covered by the passage which covers most
 */
export function toExtras(
  { named = 0, found = 0, titled = 0, isAsked = false }: Candidate,
  { maxFound }: Pick<Scoring, 'maxFound'>,
) {
  const asked = isAsked && maxFound > 0 ? askedWeight * (found / maxFound) ** 2 : 0
  return {
    fileName: nameWeight * named,
    keyword: found * coverageWeight + titled * titleWeight + asked,
  }
}

/** The share of a question that the grams of a passage must cover for grams to count in full. */
const fullyCovered = 0.5

/**
 * The reliability of grams, from 0 to 1: where even the best passage has few grams of the question, they
 * occur by chance, and the best of these must not be scaled to the maximum.
 */
function gramsConfidence(candidates: readonly Candidate[]): number {
  return Math.min(1, Math.max(0, ...candidates.map(({ coverage = 0 }) => coverage)) / fullyCovered)
}

/** Passages with the literal phrases come before all others. */
export function preferLiteral(relevance: number, literal: number | undefined): number {
  if (literal === undefined) return relevance
  return literal > 0 ? 0.5 + 0.5 * (0.5 * literal + 0.5 * relevance) : 0.5 * relevance
}

/** The highest score where words are only similar to those of the question. */
const maxForGuesses = 0.3

/** The evidence in finding all literal phrases. */
const literalProof = 0.5

/** Factor of the words of a passage that also has the requested kind of answer. */
const factorIfAsked = 1.5

/**
 * The share of the question that a passage has: by its words and letters, by its meaning, or by the literal phrases. These
 * are independent, and one of them is enough.
 */
function plainEvidence(candidate: Candidate, confidence: number): number {
  // A question of one or two characters has no grams.
  const { found = 0, coverage = found, likeness = 0, literal = 0, isAsked = false } = candidate
  const written = (Math.min(1, isAsked ? found * factorIfAsked : found) + coverage) / 2
  return 1 - (1 - written) * (1 - likeness * confidence) * (1 - literal * literalProof)
}

/** The score of the best passage if there is only just enough evidence for any result. */
const minLevel = 0.2

/**
 * The logarithm of the odds that a passage answers the question, fitted to questions with and without an answer: see
 * `docs/decisions/0023-scores-and-like-words.md`. A share of many words proves more than the same share of few.
 */
const odds = { none: -5.05, found: 1.7, letters: 3.5, rank: 4.9, title: 3.5 }
/** Weight of a word that stands in another passage below the same heading. */
const besideWeight = 0.8
const minTerms = 4
const maxTerms = 12

/** The probability that a passage answers the question. */
function calibrated(candidate: Candidate, options: ScoreOptions): number {
  const { found = 0, coverage = found, titled = 0, beside = 0 } = candidate
  const { likeness = 0, literal = 0, rank = 0 } = candidate
  const terms = Math.min(maxTerms, Math.max(minTerms, options.terms))
  const sum =
    odds.none +
    odds.found * Math.log(1 + terms) * Math.min(1, found + besideWeight * beside) +
    odds.letters * coverage +
    odds.title * titled +
    odds.rank * Math.min(1, rank / options.maxRank)
  const written = 1 / (1 + Math.exp(-sum))
  const meant = options.isLearned ? 0 : likeness * options.confidence
  return 1 - (1 - written) * (1 - meant) * (1 - literal * literalProof)
}

export function explain({ word, coverage, likeness }: Candidate): RankedPassage['explanation'] {
  return {
    ...(word !== undefined && { keyword: word }),
    ...(coverage !== undefined && { grams: coverage }),
    ...(likeness !== undefined && { semantic: likeness }),
  }
}
