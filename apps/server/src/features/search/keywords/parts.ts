import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../../platform/db/schema.js'
import type { Query } from '../text/query.js'
import type { Frequencies } from './keyword-index.js'

/** A passage and the engine's own rank of it. */
export interface RankedRow {
  number: number
  rank: number
}

/** The words that some selects answer. */
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
