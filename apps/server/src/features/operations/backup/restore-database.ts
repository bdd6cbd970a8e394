import { createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type BlobStore, putAndClose } from '../../../platform/blobs/blob-store.js'
import type { Migration } from '../../../platform/db/migrate.js'
import type { PostgresLoad } from '../../../platform/db/postgres-load.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { TableCount } from '../../../platform/db/snapshot.js'
import { hasErrorCode } from '../../../platform/disk/files.js'
import { listReferredContents } from '../../files/index.js'
import { openPostgresVectors } from '../../search/index.js'
import { readIndex } from './content-index.js'
import type { OnProgress } from './create.js'
import { BackupError, damagedBackup } from './errors.js'
import type { ContentEntry, Manifest } from './manifest.js'
import { readStream } from './pieces.js'
import { deleteSmallContents, listSmallContents } from './small-contents-store.js'
import type { BackupTarget } from './target.js'

/** Options of a restore and of a verification. */
export interface ReadOptions {
  signal: AbortSignal
  onProgress: OnProgress
  /** All migrations that this program has, in order. */
  migrations: readonly Migration[]
}

/** Writes the database to a file, and compares it with the backup. */
export async function restoreSqlite(
  target: BackupTarget,
  manifest: Manifest,
  file: string,
  { signal, onProgress }: ReadOptions,
): Promise<void> {
  const { readSqliteFacts, sqlitePart } = await import('../../../platform/db/sqlite-snapshot.js')
  const [part] = manifest.database.parts
  if (part?.name !== sqlitePart) {
    throw damagedBackup(`The backup ${manifest.id} has no database.`)
  }
  await rm(file, { force: true })
  async function* counted() {
    let done = 0
    if (part === undefined) return
    for await (const chunk of readStream(target, part, signal)) {
      yield chunk
      done += chunk.length
      onProgress({ phase: 'database', done, total: part.bytes })
    }
  }
  try {
    await pipeline(counted(), createWriteStream(file, { mode: 0o600, flags: 'wx' }))
  } catch (cause) {
    if (!hasErrorCode(cause, 'ENOSPC', 'EDQUOT')) throw cause
    throw new Error(
      `The disk of ${dirname(file)} is full: make room there and run this again. "backup verify" works in the folder that TMPDIR names.`,
      { cause },
    )
  }
  await using written = await open(file, 'r+')
  await written.sync()
  const facts = await readSqliteFacts(file).catch((cause: unknown) => {
    throw damagedBackup(`The database of the backup is damaged: ${messageOf(cause)}.`, {
      cause,
    })
  })
  compareTables(manifest, facts.tables)
  const { openReads } = await import('../../../platform/db/open.js')
  const reads = await openReads({ file })
  try {
    await compareContents(target, manifest, reads.db)
  } finally {
    await reads.close()
  }
}

export async function restorePostgres(
  target: BackupTarget,
  manifest: Manifest,
  into: {
    url: string
    migrations: readonly Migration[]
    keep: boolean
    isResumed: boolean
    /** Adds rows that the database must have before it is stored. */
    finish(tx: Tx): Promise<void>
  },
  { signal, onProgress }: ReadOptions,
): Promise<void> {
  const { DatabaseOccupiedError, loadPostgres } = await import(
    '../../../platform/db/postgres-load.js'
  )
  let done = 0
  const parts = manifest.database.parts.map((part) => ({
    name: part.name,
    columns: part.columns,
    async *read() {
      for await (const chunk of readStream(target, part, signal)) {
        yield chunk
        done += chunk.length
        onProgress({ phase: 'database', done, total: manifest.database.bytes })
      }
    },
  }))
  const prepare: PostgresLoad['prepare'] = async (tx, tables) => {
    if (!tables.includes('passage_vectors')) return
    try {
      await openPostgresVectors({ db: tx, run: (work) => work(tx) })
    } catch (cause) {
      throw new BackupError(
        'unusable',
        'The backup has vectors, for which PostgreSQL needs the extension pgvector: install it.',
        { cause },
      )
    }
  }
  const check: PostgresLoad['check'] = async (tx, tables) => {
    compareTables(manifest, tables)
    await compareContents(target, manifest, tx)
    await into.finish(tx)
  }
  const { url, migrations, ...options } = into
  try {
    await loadPostgres(url, { migrations, prepare, parts, check }, options)
  } catch (error) {
    throw error instanceof DatabaseOccupiedError ? occupiedDatabase() : error
  }
}

/** @throws BackupError when the database has tables */
export async function requireEmptyPostgres(url: string): Promise<void> {
  const { hasTables } = await import('../../../platform/db/postgres-load.js')
  if (await hasTables(url)) throw occupiedDatabase()
}

function occupiedDatabase(): BackupError {
  return new BackupError(
    'occupied',
    'The PostgreSQL database has tables: restore to an empty database.',
  )
}

/** @throws BackupError when a table does not have the rows that it had */
function compareTables(manifest: Manifest, found: readonly TableCount[]): void {
  const counts = new Map(found.map(({ name, rows }) => [name, rows]))
  for (const { name, rows } of manifest.database.tables) {
    const restored = counts.get(name) ?? 0
    if (restored === rows) continue
    throw damagedBackup(
      `The table ${name} has ${restored} rows after the restore, and had ${rows}.`,
    )
  }
}

/** Compares what the database says of its contents with what the backup has. */
async function compareContents(target: BackupTarget, manifest: Manifest, db: Db): Promise<void> {
  const entries = readIndex(target, manifest.contents.index)
  let entry = (await entries.next()).value as ContentEntry | undefined
  let lost = 0
  for await (const { key, size, sha256 } of listReferredContents(db)) {
    if (entry?.key !== key) {
      lost += 1
      continue
    }
    if (entry.size !== size || (sha256 !== null && entry.sha256 !== sha256)) {
      throw damagedBackup(`The content ${key} is not the one that the database names.`)
    }
    entry = (await entries.next()).value as ContentEntry | undefined
  }
  if (entry === undefined && lost === manifest.contents.lost) return
  throw damagedBackup(
    `The database names ${lost} contents that are not in the backup, which was made without ${manifest.contents.lost}.`,
  )
}

/** As `moveSmallContents`, for a file that nobody uses. */
export async function moveSmallContentsOf(file: string, blobs: BlobStore): Promise<void> {
  const { openDatabase } = await import('../../../platform/db/open.js')
  await using database = await openDatabase({ file })
  await moveSmallContents(database.db, database.run, blobs)
}

/** An object store keeps all contents, because callers read them at its addresses. */
export async function moveSmallContents(db: Db, run: Run, blobs: BlobStore): Promise<void> {
  for (;;) {
    const some = await listSmallContents(db, 100)
    if (some.length === 0) return
    for (const { key, bytes } of some) {
      const content = Buffer.from(bytes)
      await putAndClose(blobs, key, Readable.from([content], { objectMode: false }), {
        maxBytes: content.length,
      })
    }
    const keys = some.map(({ key }) => key)
    await run((tx) => deleteSmallContents(tx, keys))
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
