import { germanSigns, type ListedWord, reverse } from '@botstead/documents/text'
import { sql } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'

/** The parts of a vocabulary to search. */
export interface Neighbourhood {
  /** Beginnings of words. */
  prefixes: readonly string[]
  /** Ends of words. */
  suffixes: readonly string[]
  /** Whole words. */
  words: readonly string[]
}

/** Most selects that are joined in one statement: SQLite limits their number. */
const selectsAtOnce = 250
/** Most words per prefix or suffix. */
const maximumOfRange = 5000

/**
 * Locks the vocabulary of a bot until the transaction ends, so that no words are added. Must be called before
 * searching for words that no passage has: a passage that is being written has words that are not visible yet.
 */
export async function holdWords(tx: Tx, botId: string): Promise<void> {
  await dialectOf(tx).holdName(tx, listName(botId))
}

function listName(botId: string): string {
  return `words ${botId}`
}

/** Adds words to the vocabulary of a bot; existing ones are ignored. */
export async function insertWords(
  tx: Tx,
  botId: string,
  words: readonly ListedWord[],
): Promise<void> {
  await dialectOf(tx).shareName(tx, listName(botId))
  if (words.length === 0) return
  // In order, so that two transactions on PostgreSQL do not deadlock.
  const rows = words.toSorted((a, b) => (a.word < b.word ? -1 : 1))
  const json = sql<string>`${JSON.stringify(rows)}`
  const given = dialectOf(tx).jsonRecords<ListedWord>(json, { word: 'text', reversed: 'text' })
  await tx
    .insertInto('bot_words')
    .columns(['bot_id', 'word', 'reversed'])
    .expression(
      tx
        .selectFrom(given)
        .select([sql<string>`${botId}`.as('bot_id'), 'given.word', 'given.reversed'])
        // Without a condition SQLite would parse the next clause as part of a join.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The distinct words of a bot in a neighbourhood. */
export async function findWords(db: Db, botId: string, near: Neighbourhood): Promise<string[]> {
  const range = (column: 'word' | 'reversed', beginning: string) =>
    sql<{ word: string }>`select word from (
      select word from bot_words
      where bot_id = ${botId} and ${sql.ref(column)} >= ${beginning}
        and ${sql.ref(column)} < ${`${beginning}\u{10ffff}`}
      limit ${maximumOfRange}
    ) as near`
  const parts = [
    ...near.prefixes.map((prefix) => range('word', prefix)),
    ...near.suffixes.map((suffix) => range('reversed', reverse(suffix))),
    ...near.words.map(
      (word) => sql`select word from bot_words where bot_id = ${botId} and word = ${word}`,
    ),
  ]
  if (parts.length === 0) return []
  const found = new Set<string>()
  for (let start = 0; start < parts.length; start += selectsAtOnce) {
    const some = sql.join(parts.slice(start, start + selectsAtOnce), sql` union all `)
    const { rows } = await sql<{ word: string }>`${some}`.execute(db)
    for (const { word } of rows) found.add(word)
  }
  return [...found]
}

/** German function words that the vocabulary of a bot with German files contains. */
const minSigns = 3

const selectSigns = prepared<{ botId: string }>()((db, p) =>
  db
    .selectFrom('bot_words')
    .select('word')
    .where('bot_id', '=', p('botId'))
    .where('word', 'in', germanSigns)
    .limit(minSigns),
)

/** Whether the vocabulary of a bot shows that it has German files. Called by every search that may be German. */
export async function hasGermanWords(db: Db, botId: string): Promise<boolean> {
  const signs = await selectSigns(db, { botId })
  return signs.length === minSigns
}

/** The given prefixes with which any word of a bot begins. */
export async function findBeginnings(
  db: Db,
  botId: string,
  beginnings: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  for (let start = 0; start < beginnings.length; start += selectsAtOnce) {
    const parts = beginnings.slice(start, start + selectsAtOnce).map(
      (beginning) => sql`select ${beginning} as word where exists (
        select 1 from bot_words
        where bot_id = ${botId} and word >= ${beginning} and word < ${`${beginning}\u{10ffff}`}
      )`,
    )
    const { rows } = await sql<{ word: string }>`${sql.join(parts, sql` union all `)}`.execute(db)
    for (const { word } of rows) found.add(word)
  }
  return found
}

/** Deletes some words of a bot. */
export async function deleteWords(tx: Tx, botId: string, words: readonly string[]): Promise<void> {
  if (words.length === 0) return
  await tx.deleteFrom('bot_words').where('bot_id', '=', botId).where('word', 'in', words).execute()
}

/** Deletes at most `limit` words of a bot, and returns how many. */
export async function deleteWordsOfBot(tx: Tx, botId: string, limit: number): Promise<number> {
  const doomed = tx.selectFrom('bot_words').select('word').where('bot_id', '=', botId).limit(limit)
  const result = await tx
    .deleteFrom('bot_words')
    .where('bot_id', '=', botId)
    .where('word', 'in', doomed)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
