import { type RawBuilder, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { sqliteEngine, useDatabase } from '../../test/engines.js'

describe('SQLite', () => {
  const database = useDatabase(sqliteEngine)

  async function planOf(query: RawBuilder<unknown>): Promise<string> {
    const plan = await sql<{ detail: string }>`explain query plan ${query}`.execute(database().db)
    return plan.rows.map(({ detail }) => detail).join('\n')
  }

  // All of these once read every row of the bot.
  it.each([
    [
      'messages of a conversation, newest first',
      sql`select * from messages where bot_id = 'b' and conversation_id = 'c'
        order by created_at desc, id desc limit 20`,
      'messages_by_conversation (conversation_id=?)',
    ],
    [
      'messages of a deleted conversation',
      sql`select id from messages where conversation_id in ('c') and bot_id = 'b' limit 500`,
      'messages_by_conversation (conversation_id=?)',
    ],
    [
      'participants of a conversation',
      sql`select * from participants where bot_id = 'b' and conversation_id = 'c'`,
      'sqlite_autoindex_participants_1 (conversation_id=?)',
    ],
    [
      'users who take part in a conversation, newest first',
      sql`select users.* from (select user_id from participants where conversation_id = 'c') as members
        cross join users where users.id = members.user_id and users.bot_id = 'b'
        order by users.created_at desc, users.id desc limit 101`,
      'sqlite_autoindex_users_1 (id=?)',
    ],
    [
      'tags of a deleted object',
      sql`select * from tag_index where object_id in ('o') and bot_id = 'b'`,
      'sqlite_autoindex_tag_index_1 (object_id=?)',
    ],
    [
      'tags of a file',
      sql`select * from file_tags where bot_id = 'b' and file_id = 'f'`,
      'sqlite_autoindex_file_tags_1 (file_id=?)',
    ],
    [
      'passages of a file',
      sql`select * from passages where bot_id = 'b' and file_id = 'f' and generation = 1 limit 500`,
      'passages_by_place (file_id=? AND generation=?)',
    ],
    [
      'files with an id or a key, oldest first',
      sql`select * from files where bot_id = 'b' and (expires_at is null or expires_at > 'now')
        and (id = 'k' or key = 'k') order by created_at, id`,
      'sqlite_autoindex_files_2 (bot_id=? AND key=?)',
    ],
    [
      'the files of a copy',
      sql`select id from files where id = 'f' or (bot_id = 'b' and key_space = '' and key = 'k')
        order by id`,
      'sqlite_autoindex_files_2 (bot_id=? AND key=? AND key_space=?)',
    ],
    [
      'finished deliveries to a receiver, newest first',
      sql`select (created_at || '/' || id) from deliveries where bot_id = 'b' and integration = 'i'
        and status = 'failed' and status <> 'pending' and (created_at || '/' || id) < 'p'
        order by (created_at || '/' || id) desc limit 20`,
      'COVERING INDEX deliveries_finished (bot_id=? AND integration=? AND status=? AND <expr><?)',
    ],
    [
      'parked deliveries to a receiver',
      sql`select id from deliveries where bot_id = 'b' and integration = 'i' and set_aside = 1
        limit 500`,
      'deliveries_set_aside (bot_id=? AND integration=?)',
    ],
  ])('finds %s by their own index', async (_, query, index) => {
    expect(await planOf(query)).toContain(index)
  })

  it('has statistics for each index of a table that has any', async () => {
    const { rows } = await sql<{ name: string }>`
      select indexes.name from sqlite_schema as indexes
      where indexes.type = 'index'
        and indexes.tbl_name in (select tbl from sqlite_stat1)
        and indexes.name not in (select idx from sqlite_stat1)
    `.execute(database().db)
    expect(rows).toEqual([])
  })
})
