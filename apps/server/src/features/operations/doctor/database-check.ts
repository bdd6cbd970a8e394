import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseInfo } from '../../../platform/db/database-info.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import { DatabaseHistoryError } from '../../../platform/db/errors.js'
import { pendingMigrationsOf } from '../../../platform/db/migrate.js'
import { openInspection } from '../../../platform/db/open.js'
import type { Db } from '../../../platform/db/schema.js'
import { checkStructure } from '../../../platform/db/sqlite-check.js'
import { fileSize, hasErrorCode } from '../../../platform/disk/files.js'
import { sizeText } from '../../../platform/size-text.js'
import {
  type ClockReading,
  type DoctorDeps,
  type Finding,
  failed,
  ok,
  reasonOf,
  warning,
} from './finding.js'
import { lastMigrationTime, readPostgresState } from './store.js'

/** The oldest major version of PostgreSQL that works. */
const minPostgres = 15
/** An unusual size of the log of SQLite in bytes: the server moves it into the database file from 32 MB on. */
const largeLogBytes = 128e6
/** Share of the connections of PostgreSQL from which on new ones are likely to fail. */
const fullShare = 0.9

/** An open database, and what was found while it was opened. */
export interface InspectedDatabase {
  findings: Finding[]
  /** For further reads; undefined if its tables are not those of this release. */
  db: Db | undefined
  readings: ClockReading[]
}

/** Opens the database without migrating or changing it. It stays open until the process ends. */
export async function inspectDatabase(
  deps: DoctorDeps,
  signal: AbortSignal,
): Promise<InspectedDatabase> {
  const { databaseUrl: url, dataDir } = deps.config
  const file = join(dataDir, 'botstead.db')
  if (url === undefined && (await isMissing(file))) {
    const finding = warning(
      `There is no database ${file}.`,
      'If a server has run with these settings, set BOTSTEAD_DATA_DIR to its data folder or restore a backup; otherwise start the server.',
    )
    return { findings: [finding], db: undefined, readings: [] }
  }
  try {
    const { db } = await openInspection(url === undefined ? { file } : { url })
    return url === undefined
      ? await inspectSqlite(deps, db, file, signal)
      : await inspectPostgres(deps, db)
  } catch (error) {
    const finding = unusable(error, url === undefined ? file : undefined)
    return { findings: [finding], db: undefined, readings: [] }
  }
}

async function inspectSqlite(
  deps: DoctorDeps,
  db: Db,
  file: string,
  signal: AbortSignal,
): Promise<InspectedDatabase> {
  const { version, usedBytes } = await databaseInfo(db)
  const { findings, isCurrent } = await checkSchema(deps, db, file)
  const structure = await checkStructure(file, signal)
  if (structure.fault !== undefined) {
    findings.push(
      failed(
        `The database ${file} is damaged: ${structure.fault}`,
        'Stop the server, keep a copy of the file, check the disk, and restore the last backup.',
      ),
    )
  }
  const logBytes = await fileSize(`${file}-wal`)
  if (logBytes > largeLogBytes) {
    findings.push(
      warning(
        `The log ${file}-wal has ${sizeText(logBytes)}: something keeps SQLite from moving it into the database.`,
        'End other programs that have the database open, or restart the server.',
      ),
    )
  }
  const extent = structure.isComplete
    ? 'its structure is whole'
    : 'no fault in what was checked of it'
  const text = `SQLite ${version}, ${sizeText(usedBytes)} with a log of ${sizeText(logBytes)}; ${extent}`
  return await finish(db, findings, isCurrent, text, [])
}

async function inspectPostgres(deps: DoctorDeps, db: Db): Promise<InspectedDatabase> {
  const { version, usedBytes } = await databaseInfo(db)
  const before = Date.now()
  const state = await readPostgresState(db)
  const after = Date.now()
  const { findings, isCurrent } = await checkSchema(deps, db, undefined)
  if (Number.parseInt(version, 10) < minPostgres) {
    findings.push(
      failed(
        `The database is PostgreSQL ${version}; the server needs ${minPostgres} or newer.`,
        'Upgrade PostgreSQL, or name another server in DATABASE_URL.',
      ),
    )
  }
  if (state.isStandby) {
    findings.push(
      failed(
        'The database is a standby, which cannot be written to.',
        'Promote it, or name the primary server in DATABASE_URL.',
      ),
    )
  }
  if (state.connections > fullShare * state.maxConnections) {
    findings.push(
      warning(
        `${state.connections} of ${state.maxConnections} connections of PostgreSQL are in use: new ones will fail soon.`,
        'Raise max_connections, or end the programs that hold them.',
      ),
    )
  }
  const reading = {
    of: 'the database',
    aheadMs: state.now - (before + after) / 2,
    toleranceMs: (after - before) / 2,
  }
  const text = `PostgreSQL ${version}, ${sizeText(usedBytes)}, ${state.connections} of ${state.maxConnections} connections in use`
  return await finish(db, findings, isCurrent, text, [reading])
}

async function finish(
  db: Db,
  findings: Finding[],
  isCurrent: boolean,
  text: string,
  readings: ClockReading[],
): Promise<InspectedDatabase> {
  const hasFailed = findings.some(({ status }) => status === 'failed')
  return {
    findings: hasFailed ? findings : [ok(text), ...findings],
    db: isCurrent ? db : undefined,
    readings: isCurrent ? [...readings, ...(await readingOfHistory(db))] : readings,
  }
}

/** The last migration cannot have been applied in the future: if it was, a clock is wrong. */
async function readingOfHistory(db: Db): Promise<ClockReading[]> {
  const at = await lastMigrationTime(db)
  if (at === undefined || at <= Date.now()) return []
  return [{ of: 'the last upgrade of the database', aheadMs: at - Date.now(), toleranceMs: 1000 }]
}

async function checkSchema(
  { migrations }: DoctorDeps,
  db: Db,
  file: string | undefined,
): Promise<{ findings: Finding[]; isCurrent: boolean }> {
  try {
    const pending = await pendingMigrationsOf({ db, dialect: dialectOf(db), file }, migrations)
    if (pending.length === 0) return { findings: [], isCurrent: true }
    const finding =
      pending.length === migrations.length
        ? warning('The database has no tables yet.', 'Start the server, which makes them.')
        : warning(
            `The database is of an earlier release: it lacks ${pending[0]?.name}${pending.length === 1 ? '' : ` and ${pending.length - 1} more migrations`}. Jobs, deliveries and backups were not checked.`,
            'Make a backup with that release; the start of this one then migrates the database.',
          )
    return { findings: [finding], isCurrent: false }
  } catch (error) {
    if (!(error instanceof DatabaseHistoryError)) throw error
    return { findings: [failed(error.message)], isCurrent: false }
  }
}

/** Messages of SQLite that mean that the file itself is damaged. */
const damagePattern = /malformed|not a database|disk image|encrypted/i

function unusable(error: unknown, file: string | undefined): Finding {
  const reason = reasonOf(error)
  if (file === undefined) {
    return failed(
      reason,
      'Check that PostgreSQL runs, that this machine reaches it, and user, password and name in DATABASE_URL.',
    )
  }
  if (damagePattern.test(reason)) {
    return failed(
      `The database ${file} is damaged: ${reason}`,
      'Stop the server, keep a copy of the file, check the disk, and restore the last backup.',
    )
  }
  return failed(
    `The database ${file} cannot be read: ${reason}`,
    'Run this as the user of the server, and check the permissions of the data folder.',
  )
}

/** Whether there is no file, or an empty one that SQLite has made. One that may not be read is there. */
async function isMissing(file: string): Promise<boolean> {
  try {
    return (await stat(file)).size === 0
  } catch (error) {
    return hasErrorCode(error, 'ENOENT', 'ENOTDIR')
  }
}
