import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Contents know their bot, blobs are counted by their uses, and lists have an index per order. */
export const sharedContents: Migration = {
  name: '0011-shared-contents',
  up: async (db) => {
    await db.schema
      .alterTable('file_contents')
      .addColumn('bot_id', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    await sql`
      update file_contents set bot_id =
        coalesce((select bot_id from files where files.id = file_contents.file_id), '')
    `.execute(db)

    await db.schema
      .createTable('file_blobs')
      .addColumn('blob_key', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('sha256', 'text', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('uses', 'integer', (column) => column.notNull())
      .addUniqueConstraint('file_blobs_by_hash', ['bot_id', 'sha256'])
      .execute()
    // Until now each content had a blob of its own, also where a bot had the same bytes before. One
    // blob stays for all of them.
    await sql`
      insert into file_blobs (blob_key, bot_id, sha256, size, uses)
      select min(blob_key), bot_id, sha256, max(size), count(*)
      from file_contents
      where blob_key is not null and sha256 is not null
      group by bot_id, sha256
    `.execute(db)
    await sql`
      insert into discarded_blobs (blob_key)
      select blob_key from file_contents
      where blob_key is not null and sha256 is not null
        and blob_key not in (select blob_key from file_blobs)
        and blob_key not in (select blob_key from discarded_blobs)
    `.execute(db)
    await sql`
      update file_contents set blob_key = (
        select file_blobs.blob_key from file_blobs
        where file_blobs.bot_id = file_contents.bot_id and file_blobs.sha256 = file_contents.sha256
      )
      where blob_key is not null and sha256 is not null
    `.execute(db)

    for (const column of ['size', 'status']) {
      await db.schema
        .createIndex(`files_by_${column}`)
        .on('files')
        .columns(['bot_id', column, 'id'])
        .execute()
    }
  },
}
