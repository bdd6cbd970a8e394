import { germanSigns, type ListedWord, reverse } from '@botstead/documents/text'
import { sql } from 'kysely'
import { decodeJson } from '../../platform/db/columns.js'
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

/** Maximum number of words per prefix or suffix. */
const maxOfRange = 5000

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

/** Texts in one parameter, as JSON, so that a query for any number of them is prepared once. */
interface TextsOfBot {
  botId: string
  texts: string
}

/** A text with this appended sorts behind all words that begin with the text. */
const afterAll = '\u{10ffff}'

/** For each of some texts a JSON array of the words that begin with it; of reversed words, those that end with it. */
const selectRanges = (column: 'word' | 'reversed') =>
  prepared<TextsOfBot>()((db, p, dialect) =>
    db.selectFrom(dialect.jsonTexts(p('texts'))).select((eb) => {
      const beginning = eb.ref('given.value')
      const range = eb
        .selectFrom('bot_words')
        .select('word')
        .where('bot_id', '=', p('botId'))
        .where(column, '>=', beginning)
        .where(column, '<', sql<string>`${beginning} || ${afterAll}`)
        .limit(maxOfRange)
      return sql<string>`(
        select ${dialect.jsonArrayOf(sql.ref('word'))} from (${range}) as near
      )`.as('words')
    }),
  )

const selectByBeginning = selectRanges('word')
const selectByEnd = selectRanges('reversed')

const selectListed = prepared<TextsOfBot>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('texts')))
    .crossJoin('bot_words')
    .select('word')
    .where('bot_id', '=', p('botId'))
    .whereRef('word', '=', 'given.value'),
)

/** The distinct words of a bot in a neighbourhood. */
export async function findWords(db: Db, botId: string, near: Neighbourhood): Promise<string[]> {
  const listOf = (texts: readonly string[]) => ({ botId, texts: JSON.stringify(texts) })
  const ranges = [
    ...(await selectByBeginning(db, listOf(near.prefixes))),
    ...(await selectByEnd(db, listOf(near.suffixes.map(reverse)))),
  ]
  const found = new Set<string>()
  for (const { words } of ranges) {
    // Most ends of words occur nowhere.
    if (words === '[]') continue
    for (const word of decodeJson<string[]>(words)) found.add(word)
  }
  for (const { word } of await selectListed(db, listOf(near.words))) found.add(word)
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

const selectBeginnings = prepared<TextsOfBot>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('texts')))
    .select('given.value as word')
    .where(({ exists, ref, selectFrom }) =>
      exists(
        selectFrom('bot_words')
          .select('word')
          .where('bot_id', '=', p('botId'))
          .where('word', '>=', ref('given.value'))
          .where('word', '<', sql<string>`${ref('given.value')} || ${afterAll}`),
      ),
    ),
)

/** The given prefixes with which any word of a bot begins. */
export async function findBeginnings(
  db: Db,
  botId: string,
  beginnings: readonly string[],
): Promise<Set<string>> {
  const found = await selectBeginnings(db, { botId, texts: JSON.stringify(beginnings) })
  return new Set(found.map(({ word }) => word))
}

/** Deletes some words of a bot. */
export async function deleteWords(tx: Tx, botId: string, words: readonly string[]): Promise<void> {
  if (words.length === 0) return
  await tx.deleteFrom('bot_words').where('bot_id', '=', botId).where('word', 'in', words).execute()
}

/** Deletes at most `limit` words of a bot, and returns their number. */
export async function deleteWordsOfBot(tx: Tx, botId: string, limit: number): Promise<number> {
  const doomed = tx.selectFrom('bot_words').select('word').where('bot_id', '=', botId).limit(limit)
  const result = await tx
    .deleteFrom('bot_words')
    .where('bot_id', '=', botId)
    .where('word', 'in', doomed)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
