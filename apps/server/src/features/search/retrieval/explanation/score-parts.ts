import type { Retriever } from '../../../../domain/retriever-weights.js'
import {
  byScore,
  type Candidate,
  type Evidence,
  explain,
  preferLiteral,
  type RankedPassage,
  type ScoreOptions,
  toEvidence,
  toExtras,
  toScoring,
  toSpans,
} from '../score.js'

/** The findings of each retriever about a candidate. */
interface RetrieverFinding {
  /** Among the candidates, from 1; undefined if the rank is not known. */
  rank?: number
  /** From 0 to 1, as in the explanation of a search. */
  score: number
  /** The same scaled to the range of the candidates, from 0 to 1. */
  value: number
}

export type RetrieverFindings = Partial<Record<Retriever, RetrieverFinding>>

/** The contributions that add up to a score. */
interface Contributions {
  keyword: number
  grams: number
  semantic: number
  fileName: number
  literal: number
}

/** A candidate, found or not, with the parts of its score. */
export interface ScoredCandidate {
  number: number
  /** Among all candidates, from 1. */
  rank: number
  score: number
  explanation: RankedPassage['explanation']
  retrievers: RetrieverFindings
  contributions: Contributions
}

/** The scores of all candidates of a question and their factors. */
export interface ScoreParts {
  /** All candidates, best first. */
  scored: ScoredCandidate[]
  evidence: number
  isEnough: boolean
  minScore: number
  /** Share of each retriever, which add up to 1 unless nothing was found. */
  shares: Record<Retriever, number>
}

const retrievers = ['keyword', 'grams', 'semantic'] as const

/** Takes the scores of the candidates of a question apart: the scores are those of `score`. */
export function toScoreParts(candidates: readonly Candidate[], options: ScoreOptions): ScoreParts {
  const scoring = toScoring(candidates, options)
  const values = candidates.map(toEvidence)
  const spans = toSpans(values, scoring.weights)
  const total = [...spans.keys()].reduce((sum, name) => sum + (scoring.weights[name] ?? 0), 0)
  const shareOf = (name: Retriever) =>
    spans.has(name) && total > 0 ? (scoring.weights[name] ?? 0) / total : 0
  const shares = {
    keyword: shareOf('keyword'),
    grams: shareOf('grams'),
    semantic: shareOf('semantic'),
  }
  const ranks = new Map(retrievers.map((name) => [name, toRanks(values, name)]))

  function findingsOf(candidate: Candidate): RetrieverFindings {
    const evidence = toEvidence(candidate)
    const scores = explain(candidate)
    const findings = retrievers.flatMap((name): [Retriever, RetrieverFinding][] => {
      const score = scores[name]
      const raw = evidence[name]
      if (score === undefined || raw === undefined) return []
      const span = spans.get(name)
      const rank = ranks.get(name)?.get(candidate.number)
      const value = span === undefined ? 0 : span.width > 0 ? (raw - span.min) / span.width : 1
      return [[name, { ...(rank !== undefined && { rank }), score, value }]]
    })
    return Object.fromEntries(findings)
  }

  function contributionsOf(candidate: Candidate, findings: RetrieverFindings): Contributions {
    const { literal } = candidate
    const extras = toExtras(candidate, scoring)
    // The score depends linearly on the relevance.
    const base = preferLiteral(0, literal)
    const slope = (preferLiteral(1, literal) - base) / scoring.maxRelevance
    const of = (name: Retriever) =>
      scoring.level * slope * shares[name] * (findings[name]?.value ?? 0)
    return {
      keyword: of('keyword') + scoring.level * slope * extras.keyword,
      grams: of('grams'),
      semantic: of('semantic'),
      fileName: scoring.level * slope * extras.fileName,
      literal: scoring.level * base,
    }
  }

  const scored = candidates
    .map((each) => {
      const findings = findingsOf(each)
      return {
        number: each.number,
        score: scoring.scoreOf(each),
        explanation: explain(each),
        retrievers: findings,
        contributions: contributionsOf(each, findings),
      }
    })
    .sort(byScore)
    .map((each, at) => ({ ...each, rank: at + 1 }))
  const { evidence, isEnough, minScore } = scoring
  return { scored, evidence, isEnough, minScore, shares }
}

/** The ranks by one retriever, from 1. */
function toRanks(values: readonly Evidence[], name: Retriever): Map<number, number> {
  const found = values.flatMap((each) => {
    const value = each[name]
    return value === undefined ? [] : [{ number: each.number, score: value }]
  })
  return new Map(found.sort(byScore).map(({ number }, at) => [number, at + 1]))
}
