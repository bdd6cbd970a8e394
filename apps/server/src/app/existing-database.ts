import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.js'
import { migrations } from '../migrations/index.js'
import { pendingMigrationsOf } from '../platform/db/migrate.js'
import type { Database } from '../platform/db/open.js'
import { hasErrorCode } from '../platform/disk/files.js'

// For commands that work on what a server has stored. Only its start makes a database, or migrates one: a command may
// run in the wrong folder, or be of a later release than the server that is running.

/** @throws Error with what to do when there is no SQLite database in the data folder */
export async function requireDatabase({ dataDir, databaseUrl }: Config): Promise<void> {
  if (databaseUrl !== undefined) return
  const file = join(dataDir, 'botstead.db')
  if (await hasBytes(file)) return
  throw new Error(
    `There is no database ${file}: run this in the folder of the server, or set BOTSTEAD_DATA_DIR to its data folder, or DATABASE_URL.`,
  )
}

/** @throws Error with what to do when the tables are not those of this release */
export async function requireSchema(database: Database): Promise<void> {
  const pending = await pendingMigrationsOf(database, migrations)
  if (pending.length === 0) return
  throw new Error(
    pending.length === migrations.length
      ? 'The database has no tables: no server has started with these settings.'
      : 'The database is of an earlier release: use the command of that release, or start this release first.',
  )
}

/** Whether a file is there; SQLite leaves an empty one where a start was interrupted at once. */
export async function hasBytes(path: string): Promise<boolean> {
  try {
    return (await stat(path)).size > 0
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}
