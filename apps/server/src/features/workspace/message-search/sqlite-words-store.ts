import { sql } from 'kysely'
import { type PhraseQuery, scopeWord } from './query.js'
import type { FoundMessage, WordIndex } from './word-index.js'

/** FTS5: the words of all messages are in one table, with a word that names the bot. */
export const sqliteWords: WordIndex = {
  async add(tx, entries) {
    if (entries.length === 0) return
    const rows = await tx
      .insertInto('message_words')
      .values(entries.map(({ message_id, conversation_id }) => ({ message_id, conversation_id })))
      .onConflict((conflict) => conflict.columns(['conversation_id', 'message_id']).doNothing())
      .returning(['number', 'message_id'])
      .execute()
    if (rows.length === 0) return
    const byId = new Map(entries.map((entry) => [entry.message_id, entry]))
    const values = rows.map(({ number, message_id: id }) => {
      const { bot_id: botId = '', words = '' } = byId.get(id) ?? {}
      return sql`(${number}, ${scopeWord(botId)}, ${words})`
    })
    await sql`insert into message_word_index (rowid, scope, words) values ${sql.join(values)}`.execute(
      tx,
    )
  },

  async remove(tx, messages) {
    for (const { conversation_id, message_id } of messages) {
      const row = await tx
        .deleteFrom('message_words')
        .where('conversation_id', '=', conversation_id)
        .where('message_id', '=', message_id)
        .returning('number')
        .executeTakeFirst()
      if (row === undefined) continue
      await sql`delete from message_word_index where rowid = ${row.number}`.execute(tx)
    }
  },

  async find(db, botIds, query, limit) {
    const scope = botIds.map((id) => `"${scopeWord(id)}"`).join(' OR ')
    const match = `scope : (${scope}) AND ${toMatch(query)}`
    const { rows } = await sql<FoundMessage>`
      select message_id, conversation_id
      from (select rowid as number from message_word_index
        where message_word_index match ${match} limit ${limit}) as found
      cross join message_words on message_words.number = found.number
    `.execute(db)
    return rows
  },
}

/** Every token is quoted, so that no input is read as syntax. */
function toMatch(query: PhraseQuery): string {
  const phrases = query.map((tokens) => {
    const isPrefix = tokens.at(-1)?.endsWith('*') === true
    const words = tokens.map((token) => token.replace('*', '')).join(' ')
    return `"${words}"${isPrefix ? ' *' : ''}`
  })
  return `words : (${phrases.join(' AND ')})`
}
