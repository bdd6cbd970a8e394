import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { migrations as allMigrations } from '../src/migrations/index.js'
import { type Migration, migrate } from '../src/platform/db/migrate.js'
import { type Database, type DatabaseOptions, openDatabase } from '../src/platform/db/open.js'
import { part } from './part.js'
import { createPostgresDatabase, dropPostgresDatabase } from './postgres.js'

/** A place for one database, without rows at first; it may be opened often, and by several processes. */
export interface DatabasePlace {
  readonly options: DatabaseOptions
  /** Removes the place with everything in it; close the databases first. */
  remove(): Promise<void>
}

export interface TestEngine {
  readonly name: 'sqlite' | 'postgres'
  /** @param migrated whether the database has all migrations; otherwise it is empty */
  createPlace(migrated?: boolean): Promise<DatabasePlace>
}

/** Milliseconds. By default, others wait less for a lock than it may be held on a busy machine. */
const busyTimeout = 30_000

export const sqliteEngine: TestEngine = {
  name: 'sqlite',
  async createPlace(migrated) {
    const folder = await mkdtemp(join(tmpdir(), 'botstead-sqlite-'))
    const file = join(folder, 'botstead.db')
    if (migrated) await copyFile(inject('migratedFile'), file)
    return {
      options: { file, guardNesting: true, busyTimeout },
      remove: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

const postgres: TestEngine = {
  name: 'postgres',
  async createPlace(migrated) {
    const server = inject('postgresUrl')
    const template = migrated ? inject('migratedDatabase') : undefined
    const url = await createPostgresDatabase(server, template)
    return {
      options: { url, poolSize: 4, busyTimeout },
      remove: () => dropPostgresDatabase(server, url),
    }
  },
}

/** The engines that storage is tested on: both, unless PostgreSQL could not be started. */
export const engines: readonly TestEngine[] = inject('postgresUrl')
  ? [sqliteEngine, postgres]
  : [sqliteEngine]

/** Defines the same tests once per engine. */
export function describeEachEngine(name: string, define: (engine: TestEngine) => void): void {
  for (const engine of engines) describe(`${name} on ${engine.name}`, () => define(engine))
}

/**
 * The same for tests that take long: the usual run has them on SQLite, and the long one on PostgreSQL, if that could be
 * started.
 */
export function describeSlow(name: string, define: (engine: TestEngine) => void): void {
  const isInRun = (engine: TestEngine) => (engine === sqliteEngine) === (part !== 'long')
  const chosen = part === 'all' ? engines : engines.filter(isInRun)
  for (const engine of chosen) describe(`${name} on ${engine.name}`, () => define(engine))
  if (chosen.length === 0) it.skip(`${name} on postgres`, () => {})
}

/** Defines tests that take long and have no engine, in a file that has others: for the usual run alone. */
export function describeInUsual(name: string, define: () => void): void {
  if (part !== 'long') describe(name, define)
}

/** The same for tests that only the long run has. */
export function describeInLong(name: string, define: () => void): void {
  if (part !== 'usual') describe(name, define)
}

/** An open database of a test, and where it is, so that it can be opened once more. */
export interface TestDatabase extends Database {
  readonly options: DatabaseOptions
}

/**
 * Opens a fresh database for the tests of the surrounding `describe` and removes it after them.
 * Call the returned function inside a test to get the database.
 */
export function useDatabase(
  engine: TestEngine,
  migrations: readonly Migration[] = allMigrations,
): () => TestDatabase {
  let place: DatabasePlace | undefined
  let database: TestDatabase | undefined
  beforeAll(async () => {
    place = await engine.createPlace(migrations === allMigrations)
    database = { ...(await openDatabase(place.options)), options: place.options }
    await migrate(database, migrations)
  })
  afterAll(async () => {
    await database?.close()
    await place?.remove()
  })
  return () => {
    if (!database) throw new Error('The database is there only while a test runs')
    return database
  }
}
