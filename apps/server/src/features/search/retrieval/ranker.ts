import { isStopword, toIndexText } from '@botstead/documents/text'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import type { FileScope, TagCondition } from '../../files/index.js'
import { createKeywordIndex, type Frequencies, type KeywordHit } from '../keywords/keyword-index.js'
import { type Query, toQuery } from '../text/query.js'
import { toSubject } from '../text/subject.js'
import { type CandidateTexts, readTexts } from './candidate-text-store.js'
import { type Clue, type Substitutes, toClues } from './clues.js'
import { coverages, hasPhrase } from './coverage.js'
import { type Leg, legWeights, type Weights } from './fusion.js'
import { scoreGrams } from './grams.js'
import { findByWords } from './keyword-retriever.js'
import { type Candidate, score } from './score.js'
import { createSemanticLeg, type SemanticQuestion } from './semantic-retriever.js'

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

interface Ranking {
  /** Best first. */
  passages: RankedPassage[]
  /**
   * What could not be asked; empty when the ranking is whole. `semantic-unavailable`: the database
   * cannot compare vectors. `semantic-pending`: the first vectors of the bot are being made.
   * `embeddings-unavailable`: the endpoint gave no vector for the question.
   */
  degraded: string[]
}

/** Turns a question into ranked passages. */
export interface Ranker {
  rank(db: Db, request: RankRequest): Promise<Ranking>
}

export interface RankerOptions {
  dialect: Dialect
  /** Which legs are asked, and how much each weighs: for measuring what each adds. */
  weights?: Weights
}

/** Passages that each of the legs which search the whole index may propose. */
const proposals = 100

/** Needs nothing but the handle it is given, so that it works on any thread with its own connection. */
export function createRanker({ dialect, weights = legWeights }: RankerOptions): Ranker {
  const keywords = createKeywordIndex(dialect)
  const semantics = createSemanticLeg(dialect)

  return {
    async rank(db, request) {
      const query = toQuery(request.query)
      const limit = Math.max(proposals, request.limit)
      const isAsked = (leg: Leg) => (weights[leg] ?? 0) > 0
      const words = isAsked('keyword')
        ? await findByWords(keywords, db, query, { ...request, limit })
        : undefined
      const { question, degraded } = isAsked('semantic')
        ? await semantics.ask(db, request, limit)
        : {}
      const candidates = await gather(words?.hits ?? [], question)
      let isVague = false
      if (candidates.size > 0) {
        const texts = await readTexts(db, [...candidates.keys()])
        const frequencies =
          words?.frequencies ?? (await keywords.frequencies(db, request.scope.botId, query))
        const substitutes = words?.substitutes ?? new Map()
        const said = toClues(query, toSubject(request.query), frequencies, substitutes)
        isVague = said.isVague
        addTexts(
          candidates,
          texts,
          query,
          toSpelt(meaningful(request.query), substitutes, frequencies),
          said.clues,
        )
      }
      return {
        passages: score([...candidates.values()], {
          weights,
          confidence: question?.confidence ?? 0,
          isVague,
          limit: request.limit,
          minScore: request.minScore ?? 0,
        }),
        degraded: degraded === undefined ? [] : [degraded],
      }
    },
  }
}

/** Everything that a leg proposed, with what the semantic leg knows of all of it. */
async function gather(
  hits: readonly KeywordHit[],
  question: SemanticQuestion | undefined,
): Promise<Map<number, Candidate>> {
  const candidates = new Map<number, Candidate>()
  for (const { number, rank, score } of hits) candidates.set(number, { number, rank, word: score })
  if (question === undefined) return candidates
  const near = new Map(question.nearest.map((each) => [each.number, each.likeness]))
  const unknown = hits.flatMap(({ number }) => (near.has(number) ? [] : [number]))
  for (const each of await question.likenesses(unknown)) near.set(each.number, each.likeness)
  for (const [number, likeness] of near) {
    if (likeness === 0 && !candidates.has(number)) continue
    candidates.set(number, { ...candidates.get(number), number, likeness })
  }
  return candidates
}

function addTexts(
  candidates: ReadonlyMap<number, Candidate>,
  { texts, names }: CandidateTexts,
  query: Query,
  words: string,
  clues: readonly Clue[],
): void {
  const letters = scoreGrams(words, texts)
  const found = coverages(clues, texts)
  const named = coverages(clues, names)
  for (const [number, text] of texts) {
    const candidate = candidates.get(number)
    if (candidate === undefined) continue
    candidate.found = found.get(number) ?? 0
    candidate.named = named.get(number) ?? 0
    const grams = letters.get(number)
    if (grams !== undefined) {
      candidate.grams = grams.score
      candidate.coverage = grams.coverage
    }
    if (query.exact.length > 0) {
      const stands = query.exact.filter((phrase) => hasPhrase(text, phrase))
      candidate.literal = stands.length / query.exact.length
    }
  }
}

/** The words of a question that say something; all of them if none does. */
function meaningful(query: string): string {
  const words = toIndexText(query)
  const kept = words.split(' ').filter((word) => !isStopword(word))
  return kept.length > 0 ? kept.join(' ') : words
}

/** From this worth on a word is taken to be the one that was meant. */
const surelyMeant = 0.85

/** The words of a question as the passages spell them. */
function toSpelt(words: string, substitutes: Substitutes, { counts }: Frequencies): string {
  if (substitutes.size === 0) return words
  const spelt = words.split(' ').map((word) => {
    if (counts.get(word) !== 0) return word
    const near = [...(substitutes.get(word) ?? [])].sort(([, a], [, b]) => b - a)
    const [[other, worth] = [word, 0]] = near
    return worth >= surelyMeant ? other : word
  })
  return spelt.join(' ')
}
