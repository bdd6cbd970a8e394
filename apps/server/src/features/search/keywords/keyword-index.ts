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
 * Headings weigh 3, the name of the file 2, the body 1, and folders a half. Entries go by themselves when
 * their passages go.
 */
export interface KeywordIndex {
  add(tx: Tx, botId: string, entries: readonly IndexEntry[]): Promise<void>
  /** Adds entries in place of those of the same passages, also of entries that an earlier release made. */
  replace(tx: Tx, botId: string, entries: readonly IndexEntry[]): Promise<void>
  /** The best passages that have any of the words, best first; equal ones always in the same order. */
  search(db: Db, search: KeywordSearch): Promise<KeywordHit[]>
  /** In how many passages of a bot each term of a query stands, and each phrase that is meant literally. */
  frequencies(db: Db, botId: string, query: Query): Promise<Frequencies>
  /** Those of the words that no passage of a bot has in any form. */
  missing(tx: Tx, botId: string, words: readonly string[]): Promise<string[]>
}

/** How common words are in the passages of a bot; on SQLite estimated for words of thousands of them. */
export interface Frequencies {
  /** All passages of the bot. */
  passages: number
  /** Those that have a term, or a phrase as its tokens with spaces between them. */
  counts: ReadonlyMap<string, number>
}

/** A passage and the engine's own rank of it. */
export interface RankedRow {
  number: number
  rank: number
}

/** The words that selects return, joined in one statement. */
export async function listWords(tx: Tx, parts: readonly RawBuilder<unknown>[]): Promise<string[]> {
  if (parts.length === 0) return []
  const { rows } = await sql<{ word: string }>`${sql.join(parts, sql` union all `)}`.execute(tx)
  return rows.map(({ word }) => word)
}

/** Passages with a part of a query; all of them under the number 0. */
export interface CountRow {
  part: number
  count: number
}

/** How common the parts of a query are, from how many passages have each. */
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

/** A word that stands for a bot and for nothing else; punctuation would cut it. */
export function scopeWord(botId: string): string {
  return `bot${botId.replaceAll('-', '')}`
}

/** A rank between 0 and 1, where a fair one is in the middle. */
export function bounded(rank: number, fair: number): number {
  return rank > 0 ? rank / (rank + fair) : 0
}
