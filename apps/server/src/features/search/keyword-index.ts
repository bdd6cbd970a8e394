import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../../platform/db/dialect.js'
import type { Db, Tx } from '../../schema.js'
import { type FileScope, searchableFiles, type TagCondition } from '../files/index.js'
import type { IndexFields } from './chunk/index-fields.js'
import type { Query } from './text/query.js'
import { toFts5Match, toTsquery } from './text/render-query.js'

/** The words of a passage and the number of its row. */
export interface IndexEntry {
  number: number
  fields: IndexFields
}

/** A passage that has some of the words. */
export interface KeywordHit {
  number: number
  /**
   * From 0 up to 1, higher is better: `r / (r + c)` of the engine's rank `r`, where `c` is the rank
   * of a fair match. Comparable between queries and bots, not between engines.
   */
  score: number
}

export interface KeywordSearch {
  query: Query
  /** Whose files, and which of them. */
  scope: FileScope
  tags: readonly TagCondition[]
  limit: number
}

/**
 * Full text search of one engine: all that engines do differently in search is behind this.
 * Headings weigh 3, the body 1. Entries go by themselves when their passages go.
 */
export interface KeywordIndex {
  add(tx: Tx, botId: string, entries: readonly IndexEntry[]): Promise<void>
  /** The best passages that have any of the words, best first; equal ones always in the same order. */
  search(db: Db, search: KeywordSearch): Promise<KeywordHit[]>
}

export function createKeywordIndex(dialect: Dialect): KeywordIndex {
  return dialect.name === 'sqlite' ? sqliteIndex : postgresIndex
}

interface RankedRow {
  number: number
  rank: number
}

const fairBm25 = 5

/** FTS5: the words of all bots lie in one table, and a word that stands for the bot confines a query. */
const sqliteIndex: KeywordIndex = {
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
    return rows.map(({ number, rank }) => ({ number, score: bounded(-rank, fairBm25) }))
  },
}

const fairCoverDensity = 0.2

/** A `tsvector` per passage; headings have the weight A, the body D. */
const postgresIndex: KeywordIndex = {
  async add(tx, botId, entries) {
    if (entries.length === 0) return
    const rows = entries.map(
      ({ number, fields }) =>
        sql`(${number}::bigint, ${botId}, ${weighted(fields.headings, 'A')} || ${weighted(fields.body, 'D')})`,
    )
    await sql`insert into passage_words (number, bot_id, words) values ${sql.join(rows)}`.execute(
      tx,
    )
  },

  async search(db, { query, scope, tags, limit }) {
    const words = toTsquery(query)
    if (words === undefined) return []
    // Weights of D, C, B, A; 1 divides by the logarithm of the length.
    const rank = sql`ts_rank_cd('{0.333, 0, 0, 1}', passage_words.words, query, 1)`
    const { rows } = await sql<RankedRow>`
      select passages.number, ${rank} as rank
      from to_tsquery('botstead_words', ${words}) as query
      join passage_words on passage_words.words @@ query
      join passages on passages.number = passage_words.number
      join (${searchableFiles(db, scope, tags)}) as found
        on found.file_id = passages.file_id and found.generation = passages.generation
      where passage_words.bot_id = ${scope.botId}
      order by rank desc, passages.number
      limit ${limit}
    `.execute(db)
    return rows.map(({ number, rank }) => ({ number, score: bounded(rank, fairCoverDensity) }))
  },
}

function weighted(text: string, weight: 'A' | 'D'): RawBuilder<unknown> {
  return sql`setweight(to_tsvector('botstead_words', ${text}), ${sql.lit(weight)})`
}

/** A word that stands for a bot and for nothing else; punctuation would cut it. */
function scopeWord(botId: string): string {
  return `bot${botId.replaceAll('-', '')}`
}

function bounded(rank: number, fair: number): number {
  return rank > 0 ? rank / (rank + fair) : 0
}
