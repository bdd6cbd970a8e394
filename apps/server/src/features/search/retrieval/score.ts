import {
  defaultWeights,
  type Retriever,
  type RetrieverWeights,
} from '../../../domain/retriever-weights.js'

/** A passage that a retriever proposed, and what all retrievers found out about it. */
export interface Candidate {
  number: number
  /** Rank of the keyword index, above 0. */
  rank?: number
  /** The same from 0 to 1. */
  word?: number
  /** Score of its grams, from 0. */
  grams?: number
  /** Share of the question that its grams cover, from 0 to 1. */
  coverage?: number
  /** Share of the question that its words cover, from 0 to 1. */
  found?: number
  /** Share of the question that the name of its file covers, from 0 to 1. */
  named?: number
  /** How alike its meaning is, from 0 to 1. */
  likeness?: number
  /** Share of the phrases meant literally that it has; undefined if the question has none. */
  literal?: number
}

/** How well a passage answers, and what each retriever found out about it. */
export interface RankedPassage {
  number: number
  /** From 0 to 1, comparable between questions. */
  score: number
  /** Evidence of each retriever that found the passage, from 0 to 1. */
  explanation: { keyword?: number; grams?: number; semantic?: number }
}

export interface ScoreOptions {
  weights: RetrieverWeights
  /** How far likenesses can be believed, from 0 to 1. */
  confidence: number
  /** Whether the question is made of words alone that stand everywhere. */
  isVague: boolean
  limit: number
  minScore: number
}

/** Passages with a lower score do not answer the question. */
export const noiseFloor = 0.1

/**
 * Where even the best passage has less evidence, the question is about something else and nothing is
 * found. How well this separates questions is in `docs/decisions/0023-scores-and-like-words.md`.
 */
const leastEvidence = 0.2

/** The highest score of a question made of words that stand everywhere: they prove nothing. */
const mostForVague = 0.2

/**
 * Scores of one question: their order is that of the retrievers together, and their height is the evidence
 * for the best of the candidates, so that a question without an answer has low scores throughout.
 */
export function score(candidates: readonly Candidate[], options: ScoreOptions): RankedPassage[] {
  const { weights, confidence, limit } = options
  const fused = fuse(
    candidates.map(({ number, rank, grams, likeness }) => ({
      number,
      ...(rank !== undefined && { keyword: rank }),
      ...(grams !== undefined && { grams }),
      ...(likeness !== undefined && { semantic: likeness }),
    })),
    {
      ...weights,
      grams: (weights.grams ?? 0) * gramsConfidence(candidates),
      semantic: (weights.semantic ?? 0) * confidence,
    },
  )
  const relevanceOf = withNames(candidates, fused)
  const best = Math.max(0, ...candidates.map((each) => evidence(each, confidence)))
  if (best < leastEvidence) return []
  const height = options.isVague ? best * mostForVague : best
  const least = Math.max(noiseFloor, options.minScore)
  return candidates
    .map((each) => ({
      number: each.number,
      score: Math.min(1, preferLiteral(relevanceOf(each), each.literal) * height),
      explanation: explain(each),
    }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, limit)
}

/** What each retriever found out about one candidate; what it did not look at is missing. */
interface Evidence {
  number: number
  /** Rank of the keyword index, from 0. */
  keyword?: number
  /** Score of the grams, from 0. */
  grams?: number
  /** How alike the meaning is, from 0 to 1. */
  semantic?: number
}

/**
 * Joins the retrievers into one number per candidate, from 0 to 1. The values of each are stretched to their
 * span among the candidates, so that values of different scales can be added; what a retriever did not find
 * is worth its lowest value.
 */
export function fuse(
  candidates: readonly Evidence[],
  weights: RetrieverWeights = defaultWeights,
): Map<number, number> {
  const spans = new Map<Retriever, { least: number; width: number }>()
  for (const retriever of ['keyword', 'grams', 'semantic'] as const) {
    const values = candidates.flatMap((each) => each[retriever] ?? [])
    if (values.length === 0 || !weights[retriever]) continue
    const least = retriever === 'semantic' ? Math.min(...values) : 0
    spans.set(retriever, { least, width: Math.max(...values) - least })
  }
  const total = [...spans.keys()].reduce((sum, retriever) => sum + (weights[retriever] ?? 0), 0)
  return new Map(
    candidates.map((each) => {
      let sum = 0
      for (const [retriever, { least, width }] of spans) {
        const value = each[retriever]
        // With a single value there is nothing to stretch: it is the best there is.
        const stretched = value === undefined ? 0 : width > 0 ? (value - least) / width : 1
        sum += (weights[retriever] ?? 0) * stretched
      }
      return [each.number, total > 0 ? sum / total : 0]
    }),
  )
}

/** What the name of a file adds that has all of the question, beside 1 for the passage. */
const nameWeight = 0.5

/**
 * Passages of a file that the question names come first. The indexes know the words of names too, but a
 * repeated word is worth little more there, so that other words of the question outweigh it.
 */
function withNames(candidates: readonly Candidate[], fused: ReadonlyMap<number, number>) {
  const most = Math.max(0, ...candidates.map(({ named = 0 }) => named))
  return ({ number, named = 0 }: Candidate) =>
    ((fused.get(number) ?? 0) + nameWeight * named) / (1 + nameWeight * most)
}

/** The part of a question that the grams of a passage must cover for grams to count in full. */
const fullyCovered = 0.5

/**
 * How reliable grams are, from 0 to 1: where even the best passage has few grams of the question, these are
 * there by chance, and the best of chance must not be stretched to the best of all.
 */
function gramsConfidence(candidates: readonly Candidate[]): number {
  return Math.min(1, Math.max(0, ...candidates.map(({ coverage = 0 }) => coverage)) / fullyCovered)
}

/** Passages that have what was meant literally come before all that have not. */
function preferLiteral(relevance: number, literal: number | undefined): number {
  if (literal === undefined) return relevance
  return literal > 0 ? 0.5 + 0.5 * (0.5 * literal + 0.5 * relevance) : 0.5 * relevance
}

/** What finding all that was meant literally proves by itself. */
const literalProof = 0.5

/**
 * How likely a passage has to do with the question at all: by its words and letters, by its meaning, or by
 * the phrases that were meant literally. These are independent, and one of them is enough.
 */
function evidence(candidate: Candidate, confidence: number): number {
  // A question of a character or two has no runs of letters.
  const { found = 0, coverage = found, likeness = 0, literal = 0 } = candidate
  const written = (found + coverage) / 2
  return 1 - (1 - written) * (1 - likeness * confidence) * (1 - literal * literalProof)
}

function explain({ word, coverage, likeness }: Candidate): RankedPassage['explanation'] {
  return {
    ...(word !== undefined && { keyword: word }),
    ...(coverage !== undefined && { grams: coverage }),
    ...(likeness !== undefined && { semantic: likeness }),
  }
}
