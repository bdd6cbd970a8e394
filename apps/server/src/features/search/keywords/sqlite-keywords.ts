import { sql } from 'kysely'
import type { Db } from '../../../schema.js'
import { searchableFiles } from '../../files/reading.js'
import { toFts5Match } from '../text/render-query.js'
import type { KeywordIndex } from './keyword-index.js'
import {
  bounded,
  type CountRow,
  listWords,
  type RankedRow,
  scopeWord,
  toFrequencies,
  toParts,
} from './parts.js'

/** Passages that are counted at most: how rare a word is grows with the logarithm. */
const mostPassages = 20_000
const mostWithWord = 2000

const fairBm25 = 5

/** FTS5: the words of all bots lie in one table, and a word that stands for the bot confines a query. */
export const sqliteKeywords: KeywordIndex = {
  async add(tx, botId, entries) {
    if (entries.length === 0) return
    const rows = entries.map(
      ({ number, fields }) =>
        sql`(${number}, ${scopeWord(botId)}, ${fields.headings}, ${fields.body})`,
    )
    await sql`insert into passage_words (rowid, scope, headings, body) values ${sql.join(rows)}`.execute(
      tx,
    )
  },

  async search(db, { query, scope, tags, limit }) {
    const words = toFts5Match(query)
    if (words === undefined) return []
    const match = `scope : "${scopeWord(scope.botId)}" AND {headings body} : (${words})`
    // The joins are written so that FTS5 comes first and answers by rank: then only as many rows are
    // looked at as are wanted, and not all that match.
    const { rows } = await sql<RankedRow>`
      select passages.number, passage_words.rank
      from passage_words
      cross join passages on passages.number = passage_words.rowid
      cross join (${searchableFiles(db, scope, tags)}) as found
        on found.file_id = passages.file_id and found.generation = passages.generation
      where passage_words match ${match}
      order by passage_words.rank
      limit ${limit}
    `.execute(db)
    return rows.map((row) => ({
      number: row.number,
      rank: -row.rank,
      score: bounded(-row.rank, fairBm25),
    }))
  },

  async frequencies(db, botId, query) {
    const parts = toParts(query)
    const counts = parts.map((part, at) => {
      const match = `scope : "${scopeWord(botId)}" AND {headings body} : (${toFts5Match(part)})`
      return sql`select ${at + 1} as part, count(*) as count, max(rowid) as last from (
        select rowid from passage_words where passage_words match ${match} limit ${mostWithWord}
      )`
    })
    const passages = sql`select 0 as part, count(*) as count, null as last from (
      select 1 from passages where bot_id = ${botId} limit ${mostPassages}
    )`
    const { rows } = await sql<CountRow & { last: number | null }>`
      ${sql.join([passages, ...counts], sql` union all `)}
    `.execute(db)
    return toFrequencies(parts, await estimateCommon(db, botId, rows))
  },

  async missing(tx, botId, words) {
    const parts = words.map((word) => {
      const match = `scope : "${scopeWord(botId)}" AND {headings body} : "${word}"`
      return sql`select ${word} as word where not exists (
        select 1 from passage_words where passage_words match ${match}
      )`
    })
    return await listWords(tx, parts)
  },
}

/**
 * Goes on from where the counting of common words ended: they are taken to be as common in the rest as in
 * the passages up to the last one that was counted, for FTS5 answers in the order of passages.
 */
async function estimateCommon(
  db: Db,
  botId: string,
  rows: readonly (CountRow & { last: number | null })[],
): Promise<CountRow[]> {
  const common = rows.filter(({ part, count }) => part > 0 && count === mostWithWord)
  if (common.length === 0) return [...rows]
  const spans = common.map(
    ({ part, last }) => sql`select ${part} as part, count(*) as count from (
      select 1 from passages where bot_id = ${botId} and number <= ${last} limit ${mostPassages}
    )`,
  )
  const { rows: found } = await sql<CountRow>`${sql.join(spans, sql` union all `)}`.execute(db)
  const upTo = new Map(found.map(({ part, count }) => [part, count]))
  const all = rows.find(({ part }) => part === 0)?.count ?? 0
  return rows.map(({ part, count }) => {
    const looked = upTo.get(part)
    return { part, count: looked ? Math.round((all * count) / looked) : count }
  })
}
