// The cost of each retriever of a search by itself.

import { toIndexText } from '@botstead/documents/text'
import { sql } from 'kysely'
import { createKeywordIndex } from '#server/features/search/keywords/index.js'
import { toQuery } from '#server/features/search/query.js'
import { createCandidateReader } from '#server/features/search/retrieval/candidate-texts.js'
import { scoreGrams } from '#server/features/search/retrieval/grams.js'
import { createRanker } from '#server/features/search/retrieval/ranker.js'
import { createSemanticRetriever } from '#server/features/search/retrieval/semantic-retriever.js'
import { sqliteDialect } from '#server/platform/db/dialect.js'

/** As many as each retriever proposes in a search. */
const limit = 100

/**
 * Functions that search like each retriever alone, by name, like all together, and by FTS5 alone. They return what
 * they found.
 */
export function retrieversOf(reads, botId) {
  const keywords = createKeywordIndex(sqliteDialect)
  const meaning = createSemanticRetriever(sqliteDialect)
  const ranker = createRanker({ dialect: sqliteDialect })
  const scope = { botId, integrationId: undefined, now: new Date().toISOString() }
  const request = (query) => ({ query, scope, tags: [], limit: 20 })
  const readCandidates = createCandidateReader()
  const candidates = new Map()

  const words = async (db, query) => {
    const reader = await keywords.reader(db, botId)
    return await reader.search({ query: toQuery(query), scope, tags: [], limit })
  }
  const nearest = async (db, query) => (await meaning.search(db, request(query), limit)).question
  /** Found before the measurement, because other retrievers find them. */
  const candidatesOf = async (db, query) => {
    if (!candidates.has(query)) {
      const near = (await nearest(db, query))?.nearest ?? []
      const found = [...(await words(db, query)), ...near].map(({ number }) => number)
      candidates.set(query, [...new Set(found)])
    }
    return candidates.get(query)
  }

  const retrievers = {
    'FTS5 alone': (db, query) =>
      sql`
        select rowid from passage_index where passage_index match ${query.split(' ').join(' OR ')}
        order by rank limit ${limit}
      `.execute(db),
    words,
    meaning: nearest,
    letters: async (db, query) =>
      scoreGrams(toIndexText(query), await readCandidates(db, await candidatesOf(db, query))),
    'all three': (db, query) => ranker.rank(db, request(query)),
  }
  return Object.fromEntries(
    Object.entries(retrievers).map(([name, search]) => [
      name,
      (query) => reads.snapshot((db) => search(db, query)),
    ]),
  )
}
