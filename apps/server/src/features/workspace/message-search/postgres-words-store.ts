import { sql } from 'kysely'
import { type PhraseQuery, scopeWord } from './query.js'
import type { FoundMessage, WordEntry, WordIndex } from './word-index.js'

/** A `tsvector` per message, with a lexeme that names the bot. */
export const postgresWords: WordIndex = {
  async add(tx, entries) {
    if (entries.length === 0) return
    const rows = entries.map(
      (entry) =>
        sql`(${entry.message_id}, ${entry.conversation_id}, ${toTsvector(entry)}::tsvector)`,
    )
    await sql`
      insert into message_words (message_id, conversation_id, words) values ${sql.join(rows)}
      on conflict (conversation_id, message_id) do nothing
    `.execute(tx)
  },

  async remove(tx, messages) {
    for (const { conversation_id, message_id } of messages) {
      await tx
        .deleteFrom('message_words')
        .where('conversation_id', '=', conversation_id)
        .where('message_id', '=', message_id)
        .execute()
    }
  },

  async find(db, botIds, query, limit) {
    const scope = botIds.map((id) => `'${scopeLexeme(id)}'`).join(' | ')
    const { rows } = await sql<FoundMessage>`
      select message_id, conversation_id from message_words
      where words @@ (${toTsquery(query)}::tsquery && ${scope}::tsquery)
      limit ${limit}
    `.execute(db)
    return rows
  },
}

/** The greatest position that PostgreSQL stores. */
const lastPosition = 16_383

/** Written out, because the parser of PostgreSQL would divide some words otherwise. */
function toTsvector({ bot_id: botId, words }: WordEntry): string {
  const lexemes = words
    .split(' ')
    .filter((word) => word !== '')
    .map((word, at) => `'${word}':${Math.min(at + 1, lastPosition)}`)
  return [`'${scopeLexeme(botId)}'`, ...lexemes].join(' ')
}

/** Every token is quoted, so that no input is read as syntax. */
function toTsquery(query: PhraseQuery): string {
  const phrases = query.map((tokens) => `(${tokens.map(toLexeme).join(' <-> ')})`)
  return phrases.join(' & ')
}

function toLexeme(token: string): string {
  return token.endsWith('*') ? `'${token.slice(0, -1)}':*` : `'${token}'`
}

/** With a character that no word of a text has. */
function scopeLexeme(botId: string): string {
  return `@${scopeWord(botId)}`
}
