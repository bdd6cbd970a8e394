import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type BlobStore, putAndClose } from '../../../platform/blobs/blob-store.js'
import { findStoredFile } from '../../../platform/blobs/disk.js'
import type { Migration } from '../../../platform/db/migrate.js'
import type { Tx } from '../../../platform/db/schema.js'
import { syncFolder } from '../../../platform/disk/files.js'
import { restoreMarker } from '../../../platform/disk/restore-marker.js'
import { replaceSecretFile } from '../../../platform/security/secrets.js'
import { readIndex } from './content-index.js'
import { BackupError, damagedBackup } from './errors.js'
import type { ContentEntry, Manifest, SecretFiles } from './manifest.js'
import { readStream } from './pieces.js'
import {
  moveSmallContents,
  moveSmallContentsOf,
  type ReadOptions,
  requireEmptyPostgres,
  restorePostgres,
  restoreSqlite,
} from './restore-database.js'
import type { BackupTarget } from './target.js'

/** The destination of a restore. */
export interface RestoreDestination {
  dataDir: string
  /** Undefined for SQLite in the data folder. */
  databaseUrl: string | undefined
  /** The secret of the configuration, if it has one. */
  secret: string | undefined
  /**
   * An object where contents would be stored in an object store; undefined if there is none. It is asked for before the
   * store is opened, which takes possession of it.
   */
  findObject(): Promise<string | undefined>
  /**
   * Opens the store of contents.
   * @param secret of the backup, which makes the store that of its server
   */
  openBlobs(secret: string): Promise<BlobStore>
  /** Whether contents are in an object store, which keeps small ones too. */
  hasObjectStore: boolean
}

/**
 * Refuses a backup that this program or this configuration cannot use, before anything is written.
 * @returns the migrations that its database has
 * @throws BackupError
 */
function requireUsable(
  manifest: Manifest,
  migrations: readonly Migration[],
  databaseUrl: string | undefined,
): readonly Migration[] {
  const { id, schema, version, engine } = manifest
  const known = migrations.slice(0, schema.length)
  if (schema.length === 0 || known.some(({ name }, index) => name !== schema[index])) {
    throw new BackupError(
      'unusable',
      `The backup ${id} was made by Botstead ${version}, whose database this version does not know: use that version, or a later one.`,
    )
  }
  if (known.length < schema.length) {
    throw new BackupError(
      'unusable',
      `The backup ${id} was made by Botstead ${version}, which has a newer database: use that version, or a later one.`,
    )
  }
  if (engine === 'sqlite' && databaseUrl !== undefined) {
    throw new BackupError(
      'unusable',
      `The backup ${id} is of a SQLite database: it is restored without DATABASE_URL.`,
    )
  }
  if (engine === 'postgres' && databaseUrl === undefined) {
    throw new BackupError(
      'unusable',
      `The backup ${id} is of a PostgreSQL database: set DATABASE_URL to an empty one.`,
    )
  }
  return known
}

/** Reads the secrets of a backup. */
async function readSecrets(
  target: BackupTarget,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<SecretFiles> {
  if (manifest.secrets.bytes > 64 * 1024) throw damagedSecrets()
  const chunks: Buffer[] = []
  for await (const chunk of readStream(target, manifest.secrets, signal)) chunks.push(chunk)
  const { secret, adminToken } = readObject(Buffer.concat(chunks).toString('utf8'))
  if (typeof secret !== 'string' || !['string', 'undefined'].includes(typeof adminToken))
    throw damagedSecrets()
  return { secret, ...(typeof adminToken === 'string' && { adminToken }) }
}

function readObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch (cause) {
    throw damagedSecrets(cause)
  }
}

function damagedSecrets(cause?: unknown): BackupError {
  return damagedBackup('The secrets of the backup are damaged.', { cause })
}

/**
 * Restores a backup to an empty destination, compares what is there with the backup, and only then lets servers use it.
 * If it is interrupted, the same restore begins again where contents are concerned.
 * @throws BackupError
 */
export async function restoreBackup(
  target: BackupTarget,
  manifest: Manifest,
  destination: RestoreDestination,
  options: ReadOptions,
): Promise<void> {
  const { dataDir, databaseUrl } = destination
  const migrations = requireUsable(manifest, options.migrations, databaseUrl)
  const secrets = await readSecrets(target, manifest, options.signal)
  if (destination.secret !== undefined && destination.secret !== secrets.secret) {
    throw new BackupError(
      'occupied',
      'BOTSTEAD_SECRET is not the secret of the backup: leave it out, and the secret is restored into the data folder, or set it to that of the server.',
    )
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const isResumed = await requireEmptyFolder(dataDir, manifest.id)
  // All of it is checked before anything is written: what is refused must not look like an interrupted restore.
  if (!isResumed && databaseUrl !== undefined) await requireEmptyPostgres(databaseUrl)
  if (!isResumed) await requireNoObjects(destination)
  const blobs = await destination.openBlobs(secrets.secret)
  await restoreMarker(dataDir).write(manifest.id)

  await restoreContents(target, manifest, blobs, options)
  if (destination.secret === undefined) {
    await replaceSecretFile(join(dataDir, 'secret'), secrets.secret)
  }
  if (secrets.adminToken !== undefined) {
    await replaceSecretFile(join(dataDir, 'admin-token'), secrets.adminToken)
  }
  if (databaseUrl === undefined) {
    const draft = join(dataDir, 'botstead.db-restored')
    await restoreSqlite(target, manifest, draft, options)
    if (destination.hasObjectStore) await moveSmallContentsOf(draft, blobs)
    for (const rest of ['-wal', '-shm'])
      await rm(join(dataDir, `botstead.db${rest}`), { force: true })
    await rename(draft, join(dataDir, 'botstead.db'))
    await syncFolder(dataDir)
  } else {
    const into = { url: databaseUrl, migrations, keep: true, isResumed }
    const finish = async (tx: Tx) => {
      if (destination.hasObjectStore) await moveSmallContents(tx, (work) => work(tx), blobs)
    }
    await restorePostgres(target, manifest, { ...into, finish }, options)
  }
  await restoreMarker(dataDir).remove()
}

/**
 * Restores a backup to a temporary destination, reads every content, and compares all of it with the backup.
 * @param destination.folder an empty folder, which the caller removes afterwards
 * @param destination.databaseUrl of an empty PostgreSQL database, which stays empty; undefined for a backup of SQLite
 * @returns what was compared
 * @throws BackupError that says what is wrong
 */
export async function verifyBackup(
  target: BackupTarget,
  manifest: Manifest,
  destination: { folder: string; databaseUrl: string | undefined },
  options: ReadOptions,
): Promise<{ tables: number; rows: number; contents: number }> {
  const migrations = requireUsable(manifest, options.migrations, destination.databaseUrl)
  await readSecrets(target, manifest, options.signal)
  let compared = 0
  for await (const entry of readIndex(target, manifest.contents.index)) {
    for await (const _ of readContent(target, entry, options.signal));
    compared += 1
    options.onProgress({ phase: 'contents', done: compared, total: manifest.contents.count })
  }
  if (destination.databaseUrl === undefined) {
    await restoreSqlite(target, manifest, join(destination.folder, 'botstead.db'), options)
  } else {
    await restorePostgres(
      target,
      manifest,
      {
        url: destination.databaseUrl,
        migrations,
        keep: false,
        isResumed: false,
        finish: async () => {},
      },
      options,
    )
  }
  const { tables } = manifest.database
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return { tables: tables.length, rows, contents: compared }
}

/** Entries that a data folder may have before a restore: the lock of this command, settings, and the folder of each ext4 disk. */
const harmless = ['server.lock', '.env', 'lost+found']

/** @returns whether a restore of the same backup was interrupted there */
async function requireEmptyFolder(dataDir: string, id: string): Promise<boolean> {
  const interrupted = await restoreMarker(dataDir).read()
  if (interrupted === id) return true
  if (interrupted !== undefined) {
    throw new BackupError(
      'occupied',
      `The restore of the backup ${interrupted} to ${dataDir} was interrupted: restore that one, or empty the folder and what else belongs to it (database, bucket) first.`,
    )
  }
  const found = await findInFolder(dataDir)
  if (found === undefined) return false
  throw new BackupError(
    'occupied',
    `${dataDir} has data of a server or of something else (${found}): restore to an empty folder, or move that away first.`,
  )
}

async function findInFolder(dataDir: string): Promise<string | undefined> {
  for (const name of (await readdir(dataDir)).sort()) {
    if (harmless.includes(name)) continue
    // A restore that was refused may have made the folder of contents.
    if (name !== 'blobs') return name
    const file = await findStoredFile(join(dataDir, name))
    if (file !== undefined) return join(name, file)
  }
  return undefined
}

async function requireNoObjects(destination: RestoreDestination): Promise<void> {
  const found = await destination.findObject()
  if (found === undefined) return
  throw new BackupError(
    'occupied',
    `There are objects (${found}) where contents of files would be restored to: name an empty prefix or bucket in BOTSTEAD_BLOBS_URL.`,
  )
}

/** The bytes of a content. @throws BackupError when they are not what they should be */
function readContent(
  target: BackupTarget,
  { size, sha256, pieces }: ContentEntry,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  return readStream(target, { bytes: size, sha256, pieces }, signal)
}

/** Contents that are written at a time. */
const contentsAtOnce = 4

/** Stores the contents that are not there, and reads all of them again to compare them. */
async function restoreContents(
  target: BackupTarget,
  manifest: Manifest,
  blobs: BlobStore,
  { signal, onProgress }: ReadOptions,
): Promise<void> {
  let done = 0
  let bytes = 0

  async function restoreOne(entry: ContentEntry): Promise<void> {
    const { key, size, sha256 } = entry
    // Contents that an interrupted restore stored stay if they are complete.
    const isThere = (await blobs.head(key))?.size === size
    if (!isThere || (await hashOf(blobs, key)) !== sha256) {
      const content = Readable.from(readContent(target, entry, signal), { objectMode: false })
      await putAndClose(blobs, key, content, { maxBytes: size, signal })
      if ((await hashOf(blobs, key)) !== sha256) {
        throw new BackupError(
          'damaged',
          `The content ${key} differs from the restored one: check the disk.`,
        )
      }
    }
    done += 1
    bytes += size
    onProgress({ phase: 'contents', done, total: manifest.contents.count })
  }

  let some: ContentEntry[] = []
  const flush = async () => {
    signal.throwIfAborted()
    // All are awaited before an error ends the restore: none may still be writing then.
    const results = await Promise.allSettled(some.map(restoreOne))
    for (const result of results) if (result.status === 'rejected') throw result.reason
    some = []
  }
  for await (const entry of readIndex(target, manifest.contents.index)) {
    some.push(entry)
    if (some.length === contentsAtOnce) await flush()
  }
  await flush()
  if (done === manifest.contents.count && bytes === manifest.contents.bytes) return
  throw damagedBackup(
    `The backup lists ${done} contents of ${bytes} bytes, but was made with ${manifest.contents.count} of ${manifest.contents.bytes}.`,
  )
}

async function hashOf(blobs: Pick<BlobStore, 'get'>, key: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of await blobs.get(key)) hash.update(chunk)
  return hash.digest('hex')
}
