import { type Expression, sql } from 'kysely'
import { prepared, rawSelect } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import {
  type ScopeExpressions,
  searchableFiles,
  type TagCondition,
} from '../../files/lookup/index.js'
import { isEmptyQuery, type Query } from '../query.js'
import {
  bounded,
  type CountRow,
  type Frequencies,
  fairBm25,
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

/** Maximum number of passages that are counted: the rarity of a word depends on the logarithm only. */
const maxPassages = 20_000
const maxWithWord = 2000

/** A table of FTS5 and the columns to search. */
interface Table {
  name: string
  columns: string
}

const indexed: Table = { name: 'passage_index', columns: '{folders name headings body}' }
/** The table of an earlier release, without file names; a job moves its entries to the other one. */
const former: Table = { name: 'passage_words', columns: '{headings body}' }

/** FTS5: the words of all bots are in one table, and a word that identifies the bot restricts a query. */
export const sqliteKeywords: KeywordIndex = {
  add: insert,

  async replace(tx, botId, entries) {
    const numbers = sql.join(entries.map(({ number }) => number))
    for (const { name } of [former, indexed]) {
      await sql`delete from ${sql.table(name)} where rowid in (${numbers})`.execute(tx)
    }
    await insert(tx, botId, entries)
  },

  async missing(tx, botId, words) {
    const tables = await tablesOf(tx)
    const parts = words.map((word) => {
      const isNowhere = tables.map((each) => {
        const match = toMatch(each, botId, `"${word}"`)
        const table = sql.table(each.name)
        return sql`not exists (select 1 from ${table} where ${table} match ${match})`
      })
      return sql`select ${word} as word where ${sql.join(isNowhere, sql` and `)}`
    })
    return await listWords(tx, parts)
  },

  async reader(db, botId) {
    const extent = await readExtent(db, botId)
    return {
      search: (wanted) => search(db, extent, wanted),
      frequencies: (query) => countWords(db, extent, query),
    }
  },
}

/** Statistics of the entries of a bot that a search needs beforehand. */
interface Extent {
  botId: string
  /** The tables that have entries. */
  tables: Table[]
  /** Passages of the bot, up to `maxPassages`. */
  own: number
  /** Passages of all other bots together, exact up to `own`. */
  others: number
}

/** Counts the passages of a bot, or those of the bots before or after it, up to a limit. */
const selectCount = (comparison: '=' | '<' | '>') =>
  prepared<{ botId: string; limit: number }>()((db, p) =>
    db
      .selectFrom(
        db
          .selectFrom('passages')
          .select('bot_id')
          .where('bot_id', comparison, p('botId'))
          .limit(p('limit'))
          .as('some'),
      )
      .select((eb) => eb.fn.countAll<number>().as('count')),
  )

const selectOwn = selectCount('=')
const selectBefore = selectCount('<')
const selectAfter = selectCount('>')

async function readExtent(db: Db, botId: string): Promise<Extent> {
  const own = (await selectOwn.first(db, { botId, limit: maxPassages }))?.count ?? 0
  // It only matters whether there are any, and whether there are more.
  const limit = Math.min(maxPassages, own + 1)
  const before = await selectBefore.first(db, { botId, limit })
  const after = await selectAfter.first(db, { botId, limit })
  return {
    botId,
    tables: await tablesOf(db),
    own,
    others: Math.min(maxPassages, (before?.count ?? 0) + (after?.count ?? 0)),
  }
}

/** The tables that have entries: usually one, both until all former entries are replaced. */
async function tablesOf(db: Db | Tx): Promise<Table[]> {
  const entry = await selectFormer.first(db, {})
  return entry === undefined ? [indexed] : [indexed, former]
}

const selectFormer = prepared<Record<never, never>>()((db) =>
  rawSelect(db, sql<{ rowid: number }>`select rowid from passage_words limit 1`),
)

/**
 * Renders a search of one table. The joins are written so that FTS5 comes first and returns rows by rank: then only
 * as many rows are read as are requested, and not all matches.
 */
function ranked(
  db: Db,
  { name }: Table,
  match: string | Expression<string>,
  {
    scope,
    tags,
    limit,
  }: { scope: ScopeExpressions; tags: readonly TagCondition[]; limit: number | Expression<number> },
) {
  const table = sql.table(name)
  return sql<RankedRow>`
    select passages.number, ${table}.rank
    from ${table}
    cross join passages on passages.number = ${table}.rowid
    cross join (${searchableFiles(db, scope, tags)}) as found
      on found.file_id = passages.file_id and found.generation = passages.generation
    where ${table} match ${match}
    order by ${table}.rank
    limit ${limit}
  `
}

/** For searches in all files of a bot, which is the usual case. */
const selectRanked = (table: Table) =>
  prepared<{ botId: string; now: string; match: string; limit: number }>()((db, p) => {
    const scope = { botId: p('botId'), integrationId: undefined, now: p('now') }
    return rawSelect(db, ranked(db, table, p('match'), { scope, tags: [], limit: p('limit') }))
  })

const selectRankedOf = new Map([indexed, former].map((table) => [table, selectRanked(table)]))

async function findRanked(
  db: Db,
  table: Table,
  match: string,
  search: Omit<KeywordSearch, 'query'>,
): Promise<RankedRow[]> {
  const { scope, tags, limit } = search
  const selectOf = selectRankedOf.get(table)
  if (selectOf !== undefined && tags.length === 0 && scope.integrationId === undefined) {
    return await selectOf(db, { botId: scope.botId, now: scope.now, match, limit })
  }
  return (await ranked(db, table, match, search).execute(db)).rows
}

async function search(
  db: Db,
  extent: Extent,
  { query, ...bounds }: KeywordSearch,
): Promise<KeywordHit[]> {
  const words = toFts5Match(query)
  if (words === undefined) return []
  const found: RankedRow[] = []
  // FTS5 counts each word before it ranks, also the word that identifies the bot, whose column weighs nothing.
  // For a bot with most of the passages this takes longer than to rank those of the other bots as well, which
  // the joins leave out.
  const hasMost = extent.others < maxPassages && extent.others <= extent.own
  for (const each of extent.tables) {
    const match = toMatch(each, hasMost ? undefined : extent.botId, words)
    found.push(...(await findRanked(db, each, match, bounds)))
  }
  if (extent.tables.length > 1) found.sort((a, b) => a.rank - b.rank).splice(bounds.limit)
  return found.map((row) => ({
    number: row.number,
    rank: -row.rank,
    score: bounded(-row.rank, fairBm25),
  }))
}

/** A count that ended at a passage. */
interface CountedRow extends CountRow {
  /** Null without a passage. */
  last: number | null
}

/** Counts the passages that match each of some expressions. */
const selectCounts = ({ name }: Table) =>
  prepared<{ matches: string }>()((db, p) => {
    const table = sql.table(name)
    const found = sql`
      select rowid from ${table} where ${table} match wanted.value limit ${sql.lit(maxWithWord)}
    `
    return rawSelect(
      db,
      sql<CountedRow>`
        select part, counts ->> 0 as count, counts ->> 1 as last from (
          select wanted.key + 1 as part, (
            select json_array(count(*), max(rowid)) from (${found})
          ) as counts
          from json_each(${p('matches')}) as wanted
        )
      `,
    )
  })

const selectCountsOf = new Map([indexed, former].map((table) => [table, selectCounts(table)]))

async function countWords(db: Db, extent: Extent, query: Query): Promise<Frequencies> {
  const parts = toParts(query)
  // Without the word of the bot, passages of all bots are counted.
  const scopedTo = extent.others > 0 ? extent.botId : undefined
  const rows: CountedRow[] = []
  for (const each of extent.tables) {
    const matches = parts.map((part) => toMatch(each, scopedTo, toFts5Match(part)))
    rows.push(
      ...((await selectCountsOf.get(each)?.(db, { matches: JSON.stringify(matches) })) ?? []),
    )
  }
  const counted = addUp(await estimateCommon(db, extent, rows))
  return toFrequencies(parts, [{ part: 0, count: extent.own }, ...counted])
}

/**
 * Renders a query as the right side of FTS5's `match`: any term or phrase suffices, more rank higher.
 * Every token is quoted, so no input is read as query syntax.
 *
 * @returns undefined for an empty query; FTS5 has no expression for it
 */
export function toFts5Match(query: Query): string | undefined {
  if (isEmptyQuery(query)) return undefined
  return [...query.terms.map((term) => [term]), ...query.phrases].map(toFts5Phrase).join(' OR ')
}

function toFts5Phrase(tokens: string[]): string {
  const prefix = tokens.at(-1)?.endsWith('*') === true
  return `"${tokens.map(withoutStar).join(' ')}"${prefix ? ' *' : ''}`
}

/** @param botId the bot whose entries are read; undefined to read those of all */
function toMatch({ columns }: Table, botId: string | undefined, words: string | undefined): string {
  const match = `${columns} : (${words})`
  return botId === undefined ? match : `scope : "${scopeWord(botId)}" AND ${match}`
}

async function insert(tx: Tx, botId: string, entries: readonly IndexEntry[]): Promise<void> {
  if (entries.length === 0) return
  const scope = scopeWord(botId)
  const rows = entries.map(
    ({ number, fields: { folders, name, headings, body } }) =>
      sql`(${number}, ${scope}, ${folders}, ${name}, ${headings}, ${body})`,
  )
  await sql`
    insert into passage_index (rowid, scope, folders, name, headings, body) values ${sql.join(rows)}
  `.execute(tx)
}

/** Adds up the counts of several tables. */
function addUp(rows: readonly CountRow[]): CountRow[] {
  const counts = new Map<number, number>()
  for (const { part, count } of rows) counts.set(part, (counts.get(part) ?? 0) + count)
  return [...counts].map(([part, count]) => ({ part, count }))
}

/**
 * Estimates the rest after the counting of common words stopped: they are assumed to be as common in the rest
 * as in the passages up to the last counted one, since FTS5 returns rows in the order of passages.
 */
async function estimateCommon(
  db: Db,
  { botId, own }: Extent,
  rows: readonly CountedRow[],
): Promise<CountRow[]> {
  const common = rows.filter(({ count }) => count === maxWithWord)
  if (common.length === 0) return [...rows]
  const spans = common.map(
    ({ part, last }) => sql`select ${part} as part, count(*) as count from (
      select 1 from passages where bot_id = ${botId} and number <= ${last} limit ${maxPassages}
    )`,
  )
  const { rows: found } = await sql<CountRow>`${sql.join(spans, sql` union all `)}`.execute(db)
  const upTo = new Map(found.map(({ part, count }) => [part, count]))
  return rows.map(({ part, count }) => {
    const looked = upTo.get(part)
    return { part, count: looked ? Math.round((own * count) / looked) : count }
  })
}
