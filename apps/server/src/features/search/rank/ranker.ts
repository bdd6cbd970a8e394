import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db } from '../../../schema.js'
import type { FileScope, TagCondition } from '../../files/index.js'
import { createKeywordIndex } from '../keyword-index.js'
import { toQuery } from '../text/query.js'

export interface RankRequest {
  /** What was asked, as it was typed. */
  query: string
  /** Whose files, and which of them. */
  scope: FileScope
  tags: readonly TagCondition[]
  /** Passages at most, from 1. */
  limit: number
  /** The question as a vector of the embeddings endpoint; without one, meaning is what LSA knows. */
  queryVector?: Float32Array
  /** Passages with a lower score are left out; from 0 to 1. */
  minScore?: number
  /** Compares the question with every vector, however many there are. */
  exact?: boolean
}

/** How well a passage answers, and what each way of looking said about it. */
export interface RankedPassage {
  number: number
  /** From 0 to 1, comparable between questions. */
  score: number
  /** Evidence of each leg that found the passage, from 0 to 1. */
  legs: { keyword?: number; grams?: number; semantic?: number }
}

export interface Ranking {
  /** Best first. */
  passages: RankedPassage[]
  /** What could not be asked, as short names; empty when the ranking is whole. */
  degraded: string[]
}

/** Turns a question into ranked passages. */
export interface Ranker {
  rank(db: Db, request: RankRequest): Promise<Ranking>
}

/** Needs nothing but the handle it is given, so that it works on any thread with its own connection. */
export function createRanker({ dialect }: { dialect: Dialect }): Ranker {
  const keywords = createKeywordIndex(dialect)
  return {
    async rank(db, { query, scope, tags, limit, minScore = 0 }) {
      const hits = await keywords.search(db, { query: toQuery(query), scope, tags, limit })
      const passages = hits
        .filter(({ score }) => score >= minScore)
        .map(({ number, score }) => ({ number, score, legs: { keyword: score } }))
      return { passages, degraded: [] }
    },
  }
}
