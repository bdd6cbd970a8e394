import type { Db } from '../../../schema.js'
import type { Frequencies, KeywordHit, KeywordIndex } from '../keywords/keyword-index.js'
import type { Query } from '../text/query.js'
import { toSpellings } from '../text/spellings.js'
import { findWords } from '../vocabulary-store.js'
import type { Substitutes } from './clues.js'
import type { RankRequest } from './ranker.js'
import { neighbourhood, toSubstitutes, toWideWords } from './widen.js'

/** What a hit by a word that is only like the one that was asked for is worth. */
const substituteWorth = 0.7

/** What words find. */
export interface WordFindings {
  /** Best first. */
  hits: KeywordHit[]
  /** How common the words of the question are. */
  frequencies: Frequencies
  /** Words that were looked for besides those of the question. */
  substitutes: Substitutes
}

/** Passages that have words of a question, or words like those that no passage has. */
export async function findByWords(
  keywords: KeywordIndex,
  db: Db,
  query: Query,
  search: Pick<RankRequest, 'scope' | 'tags' | 'limit' | 'query'>,
): Promise<WordFindings> {
  const { botId } = search.scope
  const frequencies = await keywords.frequencies(db, botId, query)
  const hits = await keywords.search(db, { ...search, query })
  const isFull = hits.length >= search.limit
  const spellings = toSpellings(search.query)
  const wide = toWideWords(
    query.terms
      .map((word) => ({
        word,
        spellings: spellings.get(word) ?? [],
        isMissing: frequencies.counts.get(word) === 0,
      }))
      // With as many hits as are looked at, compounds of a word add nothing.
      .filter(({ isMissing }) => isMissing || !isFull),
  )
  if (wide.length === 0) return { hits, frequencies, substitutes: new Map() }
  const substitutes = toSubstitutes(wide, await findWords(db, botId, neighbourhood(wide)))
  const terms = [...new Set([...substitutes.values()].flatMap((near) => [...near.keys()]))]
  if (terms.length === 0) return { hits, frequencies, substitutes }
  const others = await keywords.search(db, { ...search, query: { terms, phrases: [], exact: [] } })
  return { hits: merge(hits, others, search.limit), frequencies, substitutes }
}

/** Hits of words and of others that count less, together. */
function merge(
  hits: readonly KeywordHit[],
  others: readonly KeywordHit[],
  limit: number,
): KeywordHit[] {
  const all = new Map(hits.map((hit) => [hit.number, hit]))
  for (const { number, rank, score } of others) {
    const hit = all.get(number) ?? { number, rank: 0, score: 0 }
    all.set(number, {
      number,
      rank: hit.rank + rank * substituteWorth,
      score: Math.max(hit.score, score * substituteWorth),
    })
  }
  return [...all.values()].sort((a, b) => b.rank - a.rank || a.number - b.number).slice(0, limit)
}
