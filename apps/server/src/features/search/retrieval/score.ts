import { fuse, type Weights } from './fusion.js'
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
  /** Share of the question that its words cover, from 0 to 1. */
  found?: number
  /** Share of the question that the name of its file covers, from 0 to 1. */
  named?: number
  /** How alike its meaning is, from 0 to 1. */
  likeness?: number
  /** Share of the phrases meant literally that it has; undefined if the question has none. */
  literal?: number
}

export interface ScoreOptions {
  weights: Weights
  /** How far likenesses can be believed, from 0 to 1. */
  confidence: number
  /** Whether the question is made of words alone that stand everywhere. */
  isVague: boolean
  limit: number
  minScore: number
}

/** Passages with a lower score are no answers. */
export const noiseFloor = 0.1

/**
 * Where even the best passage has less evidence, the question is about something else and nothing is
 * answered. How well this tells questions apart is said in `docs/decisions/0023-scores-and-like-words.md`.
 */
const leastEvidence = 0.2

/** The highest score of a question made of words that stand everywhere: they prove nothing. */
const mostForVague = 0.2

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
    {
      ...weights,
      grams: (weights.grams ?? 0) * lettersConfidence(candidates),
      semantic: (weights.semantic ?? 0) * confidence,
    },
  )
  const placeOf = toPlace(candidates, order)
  const best = Math.max(0, ...candidates.map((each) => evidence(each, confidence)))
  if (best < leastEvidence) return []
  const height = options.isVague ? best * mostForVague : best
  const least = Math.max(noiseFloor, options.minScore)
  return candidates
    .map((each) => ({
      number: each.number,
      score: Math.min(1, literally(placeOf(each), each.literal) * height),
      legs: legsOf(each),
    }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, limit)
}

/** What a file is worth whose name has all of the question, beside 1 for what its passage says. */
const nameWeight = 0.5

/**
 * Who names a file, or what it is about, means that file: the indexes know the words of names, but a word that
 * repeats is worth little more there, so that others of the question outweigh it.
 */
function toPlace(candidates: readonly Candidate[], order: ReadonlyMap<number, number>) {
  const most = Math.max(0, ...candidates.map(({ named = 0 }) => named))
  return ({ number, named = 0 }: Candidate) =>
    ((order.get(number) ?? 0) + nameWeight * named) / (1 + nameWeight * most)
}

/** The part of a question that the letters of a passage must cover for letters to count in full. */
const fullyCovered = 0.5

/**
 * How far letters can be believed, from 0 to 1: where even the best passage has few runs of the question,
 * these are there by chance, and the best of chance is not to be stretched to the best of all.
 */
function lettersConfidence(candidates: readonly Candidate[]): number {
  return Math.min(1, Math.max(0, ...candidates.map(({ coverage = 0 }) => coverage)) / fullyCovered)
}

/** Passages that have what was meant literally come before all that have not. */
function literally(place: number, literal: number | undefined): number {
  if (literal === undefined) return place
  return literal > 0 ? 0.5 + 0.5 * (0.5 * literal + 0.5 * place) : 0.5 * place
}

/** What finding all that was meant literally proves by itself. */
const literalProof = 0.5

/**
 * How likely a passage has to do with the question at all. Its words and letters say so, its meaning, or
 * that it has what was meant literally: independent witnesses, of whom one is enough.
 */
function evidence(candidate: Candidate, confidence: number): number {
  // A question of a character or two has no runs of letters.
  const { found = 0, coverage = found, likeness = 0, literal = 0 } = candidate
  const written = (found + coverage) / 2
  return 1 - (1 - written) * (1 - likeness * confidence) * (1 - literal * literalProof)
}

function legsOf({ word, coverage, likeness }: Candidate): RankedPassage['legs'] {
  return {
    ...(word !== undefined && { keyword: word }),
    ...(coverage !== undefined && { grams: coverage }),
    ...(likeness !== undefined && { semantic: likeness }),
  }
}
