import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../../platform/db/dialect.js'
import type { Db, Tx } from '../../schema.js'
import type { TagCondition } from '../files/index.js'
import { type FileScope, searchableFiles } from '../files/reading.js'
import type { IndexFields } from './chunk/index-fields.js'
import type { Query } from './text/query.js'
import { toFts5Match, toTsquery } from './text/render-query.js'

/** The words of a passage and the number of its row. */
interface IndexEntry {
  number: number
  fields: IndexFields
}

/** A passage that has some of the words. */
export interface KeywordHit {
  number: number
  /** The engine's own rank, above 0, higher is better; it grows with the number of words found. */
  rank: number
  /**
   * From 0 up to 1, higher is better: `r / (r + c)` of the engine's rank `r`, where `c` is the rank
   * of a fair match. Comparable between queries and bots, not between engines.
   */
  score: number
}

interface KeywordSearch {
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
  /** In how many passages of a bot each term of a query stands, and each phrase that is meant literally. */
  frequencies(db: Db, botId: string, query: Query): Promise<Frequencies>
  /** Which of some words no passage of a bot has in any form. */
  missing(tx: Tx, botId: string, words: readonly string[]): Promise<string[]>
}

/** How common words are in the passages of a bot; on SQLite estimated for words of thousands of them. */
export interface Frequencies {
  /** All passages of the bot. */
  passages: number
  /** Those that have a term, or a phrase as its tokens with spaces between them. */
  counts: ReadonlyMap<string, number>
}

/** Passages that are counted at most: how rare a word is grows with the logarithm. */
const mostPassages = 20_000
const mostWithWord = 2000

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

const fairWeight = 0.3

/**
 * A `tsvector` per passage; headings have the weight A, the body D. The engine's own ranks know nothing
 * of how rare a word is, which costs much: each word is ranked alone and weighted by its rarity.
 */
const postgresIndex: KeywordIndex = {
  async add(tx, botId, entries) {
    if (entries.length === 0) return
    const rows = entries.map(
      ({ number, fields }) =>
        sql`(${number}::bigint, array_to_tsvector(array[${scopeLexeme(botId)}]) || ${weighted(fields.headings, 'A')} || ${weighted(fields.body, 'D')})`,
    )
    await sql`insert into passage_words (number, words) values ${sql.join(rows)}`.execute(tx)
  },

  async search(db, { query, scope, tags, limit }) {
    const words = toParts(query).flatMap((part) => toTsquery(part) ?? [])
    if (words.length === 0) return []
    // Nothing here may depend on statistics: after many uploads they are wrong for a while, and a plan
    // that runs one part anew for each row of another takes minutes. Hence every part is materialized,
    // the bot is a lexeme like any other, and `is true` keeps the files a hash instead of a join.
    // Weights of D, C, B, A. The logarithm keeps long passages from winning by their length.
    const { rows } = await sql<RankedRow>`
      with
        wanted as materialized (
          select word, to_tsquery('botstead_words', word) as query
          from unnest(${words}::text[]) as word
        ),
        matches as materialized (
          select
            wanted.word,
            passage_words.number,
            ts_rank('{0.333, 0, 0, 1}', passage_words.words, wanted.query)
              / ln(2 + length(passage_words.words)) as frequency
          from wanted
          join passage_words on passage_words.words
            @@ (wanted.query && quote_literal(${scopeLexeme(scope.botId)})::tsquery)
        ),
        size as materialized (
          select count(*)::float as passages from passages where bot_id = ${scope.botId}
        ),
        rarity as materialized (
          select word, ln(1 + (max(size.passages) - count(*) + 0.5) / (count(*) + 0.5)) as weight
          from matches cross join size
          group by word
        ),
        ranked as materialized (
          select matches.number, sum(rarity.weight * matches.frequency) as rank
          from matches join rarity on rarity.word = matches.word
          group by matches.number
        )
      select passages.number, ranked.rank
      from ranked
      join passages on passages.number = ranked.number
      where ((passages.file_id, passages.generation) in (${searchableFiles(db, scope, tags)})) is true
      order by ranked.rank desc, passages.number
      limit ${limit}
    `.execute(db)
    return rows.map(({ number, rank }) => ({ number, rank, score: bounded(rank, fairWeight) }))
  },

  async frequencies(db, botId, query) {
    const parts = toParts(query)
    const counts = parts.map(
      (part, at) => sql`select ${at + 1}::integer, count(*)::integer from passage_words where words
        @@ (to_tsquery('botstead_words', ${toTsquery(part)}::text)
          && quote_literal(${scopeLexeme(botId)})::tsquery)`,
    )
    const passages = sql`select 0 as part, count(*)::integer as count from passages
      where bot_id = ${botId}`
    const { rows } = await sql<CountRow>`
      ${sql.join([passages, ...counts], sql` union all `)}
    `.execute(db)
    return toFrequencies(parts, rows)
  },

  async missing(tx, botId, words) {
    const parts = words.map(
      (word) => sql`select ${word}::text as word where not exists (
        select from passage_words where passage_words.words
          @@ (plainto_tsquery('botstead_words', ${word}::text)
            && quote_literal(${scopeLexeme(botId)})::tsquery)
      )`,
    )
    return await listWords(tx, parts)
  },
}

async function listWords(tx: Tx, parts: readonly RawBuilder<unknown>[]): Promise<string[]> {
  if (parts.length === 0) return []
  const { rows } = await sql<{ word: string }>`${sql.join(parts, sql` union all `)}`.execute(tx)
  return rows.map(({ word }) => word)
}

/** Passages with a part of a query; all of them under the number 0. */
interface CountRow {
  part: number
  count: number
}

function toFrequencies(parts: readonly Query[], rows: readonly CountRow[]): Frequencies {
  const counts = new Map(rows.map(({ part, count }) => [part, count]))
  const keys = parts.map(({ terms, phrases }) => [...terms, ...phrases.flat()].join(' '))
  return {
    passages: counts.get(0) ?? 0,
    counts: new Map(keys.map((key, at) => [key, counts.get(at + 1) ?? 0])),
  }
}

/** Each word and phrase of a query as a query of its own. */
function toParts(query: Query): Query[] {
  return [
    ...query.terms.map((term) => ({ terms: [term], phrases: [], exact: [] })),
    ...query.phrases.map((phrase) => ({ terms: [], phrases: [phrase], exact: [] })),
  ]
}

function weighted(text: string, weight: 'A' | 'D'): RawBuilder<unknown> {
  return sql`setweight(to_tsvector('botstead_words', ${text}), ${sql.lit(weight)})`
}

/** A word that stands for a bot and for nothing else; punctuation would cut it. */
function scopeWord(botId: string): string {
  return `bot${botId.replaceAll('-', '')}`
}

/** As {@link scopeWord}, with a sign that no word of a text has. */
function scopeLexeme(botId: string): string {
  return `@${scopeWord(botId)}`
}

function bounded(rank: number, fair: number): number {
  return rank > 0 ? rank / (rank + fair) : 0
}
