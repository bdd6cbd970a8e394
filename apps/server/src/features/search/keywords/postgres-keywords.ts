import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { searchableFiles } from '../../files/lookup/index.js'
import { isEmptyQuery, type Query } from '../query.js'
import {
  bounded,
  type CountRow,
  type Frequencies,
  type IndexEntry,
  type KeywordHit,
  type KeywordIndex,
  type KeywordSearch,
  listWords,
  type RankedRow,
  scopeWord,
  toFrequencies,
  toParts,
  withoutStar,
} from './keyword-index.js'

const fairWeight = 0.3

/**
 * A `tsvector` per passage; headings have the weight A, the file name B, folders C, the body D. The ranks of the
 * engine ignore how rare a word is, so each word is ranked separately and weighted by its rarity.
 */
export const postgresKeywords: KeywordIndex = {
  async add(tx, botId, entries) {
    await write(tx, botId, entries)
  },

  async replace(tx, botId, entries) {
    await write(tx, botId, entries)
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

  async reader(db, botId) {
    return {
      search: (wanted) => search(db, wanted),
      frequencies: (query) => countWords(db, botId, query),
    }
  },
}

async function search(db: Db, { query, scope, tags, limit }: KeywordSearch): Promise<KeywordHit[]> {
  const words = toParts(query).flatMap((part) => toTsquery(part) ?? [])
  if (words.length === 0) return []
  // Nothing here may depend on statistics: after many uploads they are wrong for a while, and a plan
  // that runs one part again for each row of another takes minutes. Hence every part is materialized,
  // the bot is a lexeme like any other, and `is true` makes the files a hash instead of a join.
  // Weights of D, C, B, A as on SQLite, scaled so that 3 is 1. The logarithm limits the advantage of long passages.
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
          ts_rank('{0.333, 0.167, 0.667, 1}', passage_words.words, wanted.query)
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
}

async function countWords(db: Db, botId: string, query: Query): Promise<Frequencies> {
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
}

/**
 * Renders a query as the argument of PostgreSQL's `to_tsquery`, for any text search configuration.
 *
 * @returns undefined for an empty query
 */
export function toTsquery(query: Query): string | undefined {
  if (isEmptyQuery(query)) return undefined
  const phrases = query.phrases.map((phrase) => `(${phrase.map(toLexeme).join(' <-> ')})`)
  return [...query.terms.map(toLexeme), ...phrases].join(' | ')
}

function toLexeme(token: string): string {
  return `'${withoutStar(token)}'${token.endsWith('*') ? ':*' : ''}`
}

async function write(tx: Tx, botId: string, entries: readonly IndexEntry[]): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map(({ number, fields }) => {
    const words = [
      weighted(fields.headings, 'A'),
      weighted(fields.name, 'B'),
      weighted(fields.folders, 'C'),
      weighted(fields.body, 'D'),
    ]
    return sql`(${number}::bigint, array_to_tsvector(array[${scopeLexeme(botId)}]) || ${sql.join(words, sql` || `)})`
  })
  await sql`
    insert into passage_words (number, words) values ${sql.join(rows)}
    on conflict (number) do update set words = excluded.words
  `.execute(tx)
}

function weighted(text: string, weight: 'A' | 'B' | 'C' | 'D'): RawBuilder<unknown> {
  return sql`setweight(to_tsvector('botstead_words', ${text}), ${sql.lit(weight)})`
}

/** Like `scopeWord`, with a character that no word of a text has. */
function scopeLexeme(botId: string): string {
  return `@${scopeWord(botId)}`
}
