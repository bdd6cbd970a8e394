import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackupLocation } from '../config/backup-settings.js'
import type { Config } from '../config/config.js'
import {
  BackupError,
  type BackupOptions,
  type BackupResult,
  type BackupSource,
  type Backups,
  createBackups,
  type Manifest,
  makeBackup,
  type OnProgress,
  openTarget,
  readPassphrase,
  readSecretFiles,
  restoreBackup,
  timeOf,
  verifyBackup,
} from '../features/operations/backup/index.js'
import { migrations } from '../migrations/index.js'
import type { BlobStore } from '../platform/blobs/blob-store.js'
import { openDiskBlobStore } from '../platform/blobs/disk.js'
import { systemClock, systemTimers } from '../platform/clock.js'
import { openDatabase } from '../platform/db/open.js'
import { prepareDataFolder } from '../platform/disk/data-folder.js'
import { requireRestored } from '../platform/disk/restore-marker.js'
import { createIds } from '../platform/ids.js'
import { installationOf } from '../platform/security/secrets.js'
import { createLog } from '../platform/telemetry/log.js'
import { version } from '../version.js'
import type { Context } from './context.js'
import { requireDatabase, requireSchema } from './existing-database.js'

export { readPassphrase }

const day = 24 * 60 * 60 * 1000

/** Options with which a command observes and aborts a long task. */
interface TaskOptions {
  signal: AbortSignal
  onProgress: OnProgress
}

/** The backups of a running server. */
export function createBackupsOf(context: Context, blobs: BlobStore): Backups {
  const { config, database, keys } = context
  const source: BackupSource = {
    database,
    dataDir: config.dataDir,
    blobs,
    installation: keys.installation,
    secrets: () => readSecretFiles(config.dataDir, config.secret),
    version,
  }
  return createBackups({ ...context, source, config: config.backup })
}

/** Makes a backup for a command, whether or not a server runs on the data. */
export async function backUp(
  config: Config,
  options: BackupOptions,
  { signal, onProgress }: TaskOptions,
): Promise<BackupResult> {
  const { dataDir, databaseUrl } = config
  await requireRestored(dataDir)
  await requireDatabase(config)
  const log = await createLog({ level: 'warn', pretty: true, destination: process.stderr })
  const { secret } = await readSecretFiles(dataDir, config.secret)
  const installation = installationOf(Buffer.from(secret))
  await using database = await openDatabase({
    ...(databaseUrl === undefined ? { file: join(dataDir, 'botstead.db') } : { url: databaseUrl }),
    log,
  })
  await requireSchema(database)
  const source: BackupSource = {
    database,
    dataDir,
    blobs: await openContents(config, installation),
    installation,
    secrets: () => readSecretFiles(dataDir, config.secret),
    version,
  }
  const clock = systemClock
  const deps = { ...database, clock, timers: systemTimers, ids: createIds(clock), log, source }
  return await makeBackup(deps, options, signal, onProgress)
}

/** The backups at a location, oldest first; for one that cannot be read, the reason. */
export async function listBackups(
  location: BackupLocation,
  passphrase: string | undefined,
): Promise<{ id: string; manifest: Manifest | undefined; problem: string | undefined }[]> {
  const target = await openTarget(location, { passphrase })
  const found: Awaited<ReturnType<typeof listBackups>> = []
  for (const id of await target.listIds()) {
    try {
      found.push({ id, manifest: await target.readManifest(id), problem: undefined })
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      found.push({ id, manifest: undefined, problem: error.message })
    }
  }
  return found
}

/** Selects a backup to read. */
export interface BackupSelection {
  location: BackupLocation
  passphrase: string | undefined
  /** Undefined for the newest. */
  id: string | undefined
}

async function openBackup({ location, passphrase, id }: BackupSelection) {
  const target = await openTarget(location, { passphrase })
  const newest = (await target.listIds()).at(-1)
  const chosen = id ?? newest
  if (chosen === undefined) {
    throw new BackupError(
      'missing',
      `There are no backups in ${target.label}: make one with "npx botstead backup".`,
    )
  }
  // Of a clock that was ahead: others may be newer, and nobody would notice.
  if (id === undefined && timeOf(chosen) > Date.now() + day) {
    throw new BackupError(
      'unusable',
      `By its name, the newest backup ${chosen} is from the future: a clock was or is wrong. See all with "npx botstead backup list", and choose one with --backup.`,
    )
  }
  return { target, manifest: await target.readManifest(chosen) }
}

/**
 * Restores a backup to a temporary destination, and compares it.
 * @param databaseUrl an empty PostgreSQL database to use; by default, a new one on the server of DATABASE_URL
 */
export async function verify(
  config: Config,
  selection: BackupSelection,
  databaseUrl: string | undefined,
  task: TaskOptions,
): Promise<{ manifest: Manifest; tables: number; rows: number; contents: number }> {
  const { target, manifest } = await openBackup(selection)
  const options = { ...task, migrations }
  const folder = await mkdtemp(join(tmpdir(), 'botstead-verify-'))
  try {
    const given = databaseUrl ?? config.databaseUrl
    const check = (url: string | undefined) =>
      verifyBackup(target, manifest, { folder, databaseUrl: url }, options)
    if (manifest.engine === 'sqlite') return { manifest, ...(await check(undefined)) }
    if (given === undefined) {
      throw new BackupError(
        'unusable',
        `The backup ${manifest.id} is of a PostgreSQL database: name an empty one with --database, or set DATABASE_URL to one of a server on which a temporary one can be created.`,
      )
    }
    if (databaseUrl !== undefined) return { manifest, ...(await check(databaseUrl)) }
    const { withTemporaryDatabase } = await import('../platform/db/postgres-load.js')
    return { manifest, ...(await withTemporaryDatabase(given, check)) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Restores a backup to the empty destination that the configuration names. */
export async function restore(
  config: Config,
  selection: BackupSelection,
  task: TaskOptions,
): Promise<Manifest> {
  const { target, manifest } = await openBackup(selection)
  const { dataDir, databaseUrl, secret } = config
  await prepareDataFolder(dataDir)
  const lock = await lockForRestore(dataDir)
  try {
    await restoreBackup(
      target,
      manifest,
      {
        dataDir,
        databaseUrl,
        secret,
        findObject: () => findObject(config),
        openBlobs: (restored) => openContents(config, installationOf(Buffer.from(restored))),
        hasObjectStore: config.objectStore !== undefined,
      },
      { ...task, migrations },
    )
  } finally {
    lock.release()
  }
  return manifest
}

/** Keeps servers and other restores off the folder. */
async function lockForRestore(dataDir: string) {
  const { holdFolder } = await import('../platform/db/sqlite-files.js')
  return holdFolder(dataDir)
}

async function openContents(config: Config, owner: string): Promise<BlobStore> {
  if (config.objectStore === undefined)
    return await openDiskBlobStore(join(config.dataDir, 'blobs'))
  const { openS3BlobStore } = await import('../platform/blobs/s3.js')
  return await openS3BlobStore(config.objectStore, { owner })
}

async function findObject({ objectStore }: Config): Promise<string | undefined> {
  if (objectStore === undefined) return undefined
  const { findS3Object } = await import('../platform/blobs/s3.js')
  return await findS3Object(objectStore)
}
