import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../src/migrations/index.js'
import { migrate } from '../src/platform/db/migrate.js'
import { type DatabaseOptions, openDatabase } from '../src/platform/db/open.js'
import type { Keeper } from './keeper.js'
import { createPostgresDatabase } from './postgres.js'

/** Databases that have all migrations and no rows. */
export interface Templates {
  /** Path of the SQLite file. */
  file: string
  /** Name of the database on the PostgreSQL server; empty without one. */
  database: string
}

/**
 * Migrates one database of each engine, of which the tests take copies: to migrate hundreds of them
 * took a tenth of a run. Starts on an empty place have tests of their own.
 */
export async function createTemplates(
  keeper: Keeper,
  serverUrl: string | undefined,
): Promise<Templates> {
  const folder = await keeper.createFolder(tmpdir())
  const file = join(folder, 'botstead.db')
  await migrateAll({ file })
  let database = ''
  if (serverUrl !== undefined) {
    const url = await createPostgresDatabase(serverUrl)
    await migrateAll({ url, poolSize: 1 })
    database = new URL(url).pathname.slice(1)
  }
  return { file, database }
}

async function migrateAll(options: DatabaseOptions): Promise<void> {
  await using database = await openDatabase(options)
  await migrate(database, migrations)
}
