import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Files tell the hash of their content, so that nobody need send what is there already. */
export const fileHashes: Migration = {
  name: '0014-file-hashes',
  up: async (db) => {
    await db.schema.alterTable('files').addColumn('sha256', 'text').execute()
    await sql`
      update files set sha256 =
        (select sha256 from file_contents
         where file_contents.file_id = files.id
         and file_contents.generation = files.generation)
      where size >= 0
    `.execute(db)
  },
}
