import type { IndexFields } from '@botstead/documents/text'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { TagCondition } from '../../files/index.js'
import type { FileScope } from '../../files/lookup/index.js'
import type { Query } from '../query.js'

/** The words of a passage and the number of its row. */
export interface IndexEntry {
  number: number
  fields: IndexFields
}

/** A passage that has some of the words. */
export interface KeywordHit {
  number: number
  /** The rank of the engine, above 0, higher is better: it selects the candidates, which are then ranked by their texts. */
  rank: number
  /**
   * From 0 to 1, higher is better: `r / (r + c)` for the rank `r` of the engine, where `c` is the rank
   * of a fair match. Comparable between queries and bots, not between engines.
   */
  score: number
}

/** A search in the entries of one bot. */
export interface KeywordSearch {
  query: Query
  /** The files to search, of the bot of the reader. */
  scope: FileScope
  tags: readonly TagCondition[]
  /** Maximum number of hits, from 1. */
  limit: number
}

/**
 * Full text search of one engine; it hides all differences between the engines.
 * Headings weigh 3, the name of the file 2, the body 1, and folders a half. Entries are removed with
 * their passages.
 */
export interface KeywordIndex {
  add(tx: Tx, botId: string, entries: readonly IndexEntry[]): Promise<void>
  /** Adds entries and replaces those of the same passages, also those of an earlier release. */
  replace(tx: Tx, botId: string, entries: readonly IndexEntry[]): Promise<void>
  /** The given words that no passage of a bot contains in any form. */
  missing(tx: Tx, botId: string, words: readonly string[]): Promise<string[]>
  /** Prepares to read the entries of a bot, for one search. */
  reader(db: Db, botId: string): Promise<KeywordReader>
}

/** Reads the entries of one bot. */
export interface KeywordReader {
  /** The best passages that have any of the words, best first; ties have a stable order. */
  search(search: KeywordSearch): Promise<KeywordHit[]>
  /** The number of passages that contain each term and each literal phrase of a query. */
  frequencies(query: Query): Promise<Frequencies>
}

/** Numbers of passages of a bot that have each word; on SQLite estimated for very common words. */
export interface Frequencies {
  /** All passages of the bot. */
  passages: number
  /** Passages by term, or by phrase as its tokens with spaces between them. */
  counts: ReadonlyMap<string, number>
}

/** A passage with the rank of the engine. */
export interface RankedRow {
  number: number
  rank: number
}

/** The words that some selects return, joined in one statement. */
export async function listWords(tx: Tx, parts: readonly RawBuilder<unknown>[]): Promise<string[]> {
  if (parts.length === 0) return []
  const { rows } = await sql<{ word: string }>`${sql.join(parts, sql` union all `)}`.execute(tx)
  return rows.map(({ word }) => word)
}

/** The number of passages that contain a part of a query; the part 0 stands for all passages. */
export interface CountRow {
  part: number
  count: number
}

/** Converts the counts of the parts of a query to frequencies. */
export function toFrequencies(parts: readonly Query[], rows: readonly CountRow[]): Frequencies {
  const counts = new Map(rows.map(({ part, count }) => [part, count]))
  const keys = parts.map(({ terms, phrases }) => [...terms, ...phrases.flat()].join(' '))
  return {
    passages: counts.get(0) ?? 0,
    counts: new Map(keys.map((key, at) => [key, counts.get(at + 1) ?? 0])),
  }
}

/** Each word and phrase of a query as a query of its own. */
export function toParts(query: Query): Query[] {
  return [
    ...query.terms.map((term) => ({ terms: [term], phrases: [], exact: [] })),
    ...query.phrases.map((phrase) => ({ terms: [], phrases: [phrase], exact: [] })),
  ]
}

/** A word that identifies a bot; punctuation would split it. */
export function scopeWord(botId: string): string {
  return `bot${botId.replaceAll('-', '')}`
}

/** BM25 of a fair match. */
export const fairBm25 = 5

/** Maps a rank to the range from 0 to 1, with a fair one in the middle. */
export function bounded(rank: number, fair: number): number {
  return rank > 0 ? rank / (rank + fair) : 0
}

/** A token of a query without the mark of a prefix. */
export function withoutStar(token: string): string {
  return token.endsWith('*') ? token.slice(0, -1) : token
}
