import { fuse, type Leg } from './fusion.js'
import type { RankedPassage } from './ranker.js'

/** A passage that a leg proposed, and what all legs say about it. */
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
  /** How alike its meaning is, from 0 to 1. */
  likeness?: number
  /** Share of the phrases meant literally that it has; undefined if the question has none. */
  literal?: number
}

export interface ScoreOptions {
  weights: Readonly<Partial<Record<Leg, number>>>
  /** How far likenesses can be believed, from 0 to 1. */
  confidence: number
  limit: number
  minScore: number
}

/**
 * Below this score a passage is not an answer: it has little of the question's letters and none of its
 * meaning. Why so low is said in `docs/decisions/0015-fusion.md`.
 */
export const noiseFloor = 0.1

/**
 * Scores of one question: their order is that of the legs together, and their height is the evidence for
 * the best of the candidates, so that a question without an answer has low scores throughout.
 */
export function score(candidates: readonly Candidate[], options: ScoreOptions): RankedPassage[] {
  const { weights, confidence, limit } = options
  const order = fuse(
    candidates.map(({ number, rank, grams, likeness }) => ({
      number,
      ...(rank !== undefined && { keyword: rank }),
      ...(grams !== undefined && { grams }),
      ...(likeness !== undefined && { semantic: likeness }),
    })),
    { ...weights, semantic: (weights.semantic ?? 0) * confidence },
  )
  const height = Math.max(0, ...candidates.map((each) => evidence(each, confidence)))
  const least = Math.max(noiseFloor, options.minScore)
  return candidates
    .map((each) => ({
      number: each.number,
      score: Math.min(1, literally(order.get(each.number) ?? 0, each.literal) * height),
      legs: legsOf(each),
    }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, limit)
}

/** Passages that have what was meant literally come before all that have not. */
function literally(place: number, literal: number | undefined): number {
  if (literal === undefined) return place
  return literal > 0 ? 0.5 + 0.5 * (0.5 * literal + 0.5 * place) : 0.5 * place
}

/** How likely a passage has to do with the question at all: either its words or its meaning say so. */
function evidence({ coverage = 0, likeness = 0 }: Candidate, confidence: number): number {
  return 1 - (1 - coverage) * (1 - likeness * confidence)
}

function legsOf({ word, coverage, likeness }: Candidate): RankedPassage['legs'] {
  return {
    ...(word !== undefined && { keyword: word }),
    ...(coverage !== undefined && { grams: coverage }),
    ...(likeness !== undefined && { semantic: likeness }),
  }
}
