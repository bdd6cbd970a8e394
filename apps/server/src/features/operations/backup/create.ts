import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { BlobNotFoundError, type BlobStore } from '../../../platform/blobs/blob-store.js'
import type { Database } from '../../../platform/db/open.js'
import type { DatabaseSnapshot } from '../../../platform/db/snapshot.js'
import { listReferredContents, type ReferredContent } from '../../files/index.js'
import { createIndexWriter, readIndex } from './content-index.js'
import {
  type ContentList,
  createContentList,
  createDiskSet,
  type DiskSet,
} from './disk-collections.js'
import type { Lease } from './lease.js'
import {
  type ContentEntry,
  type DatabasePart,
  formatVersion,
  type Manifest,
  type SecretFiles,
} from './manifest.js'
import { createPieceWriter, type PieceWriter } from './pieces.js'
import { pieceBytes } from './sealing.js'
import type { BackupTarget } from './target.js'

/** The server whose data is backed up. */
export interface BackupSource {
  database: Pick<Database, 'file' | 'url'>
  dataDir: string
  /** Contents that are not in the database. */
  blobs: Pick<BlobStore, 'get'>
  installation: string
  secrets(): Promise<SecretFiles>
  /** Version of the program. */
  version: string
}

/** Progress of a backup, a restore or a verification. */
interface Progress {
  phase: 'database' | 'contents' | 'comparison'
  /** Bytes of the database, or contents. */
  done: number
  /** Undefined while it is not known. */
  total: number | undefined
  /** Bytes of contents that were read for the backup so far: one content may take hours. */
  bytesRead?: number
}

export type OnProgress = (progress: Progress) => void

/** Contents that are read at a time; each has a piece or two in memory. */
const contentsAtOnce = 4
const pageSize = 200
/** Keys of lost contents that a manifest names. */
const maxLostKeys = 1000

/** Id of a backup that begins at a time, in milliseconds since the Unix epoch. */
export function newBackupId(now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(4).toString('hex')}`
}

/**
 * Makes a backup.
 * @param createdAt ISO 8601
 * @param lease by which no contents are removed meanwhile
 */
export async function createBackup(
  source: BackupSource,
  target: BackupTarget,
  {
    id,
    createdAt,
    lease,
    onProgress,
  }: {
    id: string
    createdAt: string
    lease: Pick<Lease, 'signal' | 'confirm'>
    onProgress: OnProgress
  },
): Promise<Manifest> {
  const { signal } = lease
  using present = createDiskSet()
  for await (const { key } of target.pieces.list()) present.add(key)
  const writer = createPieceWriter(target, present, signal)
  const previous = await findPrevious(target)

  using contents = createContentList()
  const database = await storeDatabase(source, writer, contents, { signal, onProgress })
  const stored = await storeContents(source, writer, contents, {
    known: previous === undefined ? noEntries() : readIndex(target, previous.contents.index),
    present,
    signal,
    onProgress,
  })
  const secrets = Buffer.from(JSON.stringify(await source.secrets()))
  const manifest: Manifest = {
    form: formatVersion,
    id,
    createdAt,
    version: source.version,
    installation: source.installation,
    ...database,
    contents: stored,
    secrets: await writer.writeStream(Readable.from([secrets], { objectMode: false })),
    storedBytes: writer.storedBytes,
  }
  // Only now it is known that all contents and pieces stayed until here.
  await lease.confirm()
  await target.writeManifest(manifest)
  return manifest
}

/** The last backup, if it can be read: with its list, contents that it has are not read again. */
async function findPrevious(target: BackupTarget): Promise<Manifest | undefined> {
  const last = (await target.listIds()).at(-1)
  if (last === undefined) return undefined
  return await target.readManifest(last).catch(() => undefined)
}

async function* noEntries(): AsyncGenerator<ContentEntry> {}

async function takeSnapshot({ database, dataDir }: BackupSource): Promise<DatabaseSnapshot> {
  // Only the driver that is used is loaded.
  if (database.url !== undefined) {
    const { takePostgresSnapshot } = await import('../../../platform/db/postgres-snapshot.js')
    return await takePostgresSnapshot(database.url)
  }
  const { takeSqliteSnapshot } = await import('../../../platform/db/sqlite-snapshot.js')
  return await takeSqliteSnapshot(database.file ?? '', join(dataDir, 'backup-copy'))
}

async function storeDatabase(
  source: BackupSource,
  writer: PieceWriter,
  contents: ContentList,
  { signal, onProgress }: { signal: AbortSignal; onProgress: OnProgress },
): Promise<Pick<Manifest, 'engine' | 'schema' | 'database'>> {
  const snapshot = await takeSnapshot(source)
  try {
    let bytes = 0
    const parts: DatabasePart[] = []
    for await (const { name, columns, content } of snapshot.parts()) {
      const counted = count(content, (size) => {
        signal.throwIfAborted()
        bytes += size
        onProgress({ phase: 'database', done: bytes, total: undefined })
      })
      parts.push({ name, columns, ...(await writer.writeStream(counted)) })
    }
    for await (const content of listReferredContents(snapshot.db)) contents.add(content)
    const { engine, schema } = snapshot
    return { engine, schema, database: { bytes, tables: await snapshot.tables(), parts } }
  } finally {
    await snapshot.close()
  }
}

async function* count(
  content: AsyncIterable<Buffer>,
  onChunk: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    onChunk(chunk.length)
    yield chunk
  }
}

async function storeContents(
  { blobs }: BackupSource,
  writer: PieceWriter,
  list: ContentList,
  {
    known,
    present,
    signal,
    onProgress,
  }: {
    known: AsyncGenerator<ContentEntry>
    present: DiskSet
    signal: AbortSignal
    onProgress: OnProgress
  },
): Promise<Manifest['contents']> {
  const index = createIndexWriter(writer)
  const lostKeys: string[] = []
  let lost = 0
  let done = 0
  let bytes = 0
  let bytesRead = 0
  let previous = await next(known)

  /** The entry of a content in the last backup. Callers must look up contents in the order of their keys. */
  async function findKnown({ key, sha256 }: ReferredContent): Promise<ContentEntry | undefined> {
    while (previous !== undefined && previous.key < key) previous = await next(known)
    if (previous?.key !== key || previous.sha256 !== sha256) return undefined
    return previous.pieces.every((name) => present.has(name)) ? previous : undefined
  }

  async function store(content: ReferredContent): Promise<ContentEntry | string> {
    signal.throwIfAborted()
    const { key, size, sha256 } = content
    try {
      const stored = await storeContent(blobs, writer, content, (size) => {
        signal.throwIfAborted()
        bytesRead += size
        onProgress({ phase: 'contents', done, total: list.count, bytesRead })
      })
      if (stored.size !== size) return `${key}: it has ${stored.size} bytes instead of ${size}`
      if (sha256 === null || stored.sha256 === sha256) return stored
      return `${key}: it has the SHA-256 ${stored.sha256} instead of ${sha256}`
    } catch (error) {
      if (error instanceof BlobNotFoundError) return `${key}: it is missing`
      throw error
    }
  }

  for (const page of list.pages(pageSize)) {
    for (let at = 0; at < page.length; at += contentsAtOnce) {
      const some = page.slice(at, at + contentsAtOnce)
      const kept: (ContentEntry | undefined)[] = []
      for (const content of some) kept.push(await findKnown(content))
      const results = await Promise.all(
        some.map(async (content, position) => kept[position] ?? (await store(content))),
      )
      for (const result of results) {
        done += 1
        if (typeof result === 'string') {
          lost += 1
          if (lostKeys.length < maxLostKeys) lostKeys.push(result)
          continue
        }
        bytes += result.size
        await index.add(result)
      }
      onProgress({ phase: 'contents', done, total: list.count, bytesRead })
    }
  }
  return { count: done - lost, bytes, index: await index.end(), lost, lostKeys }
}

async function next(entries: AsyncGenerator<ContentEntry>): Promise<ContentEntry | undefined> {
  try {
    const { value, done } = await entries.next()
    return done === true ? undefined : value
  } catch {
    // A damaged list of an earlier backup only means that contents are read again.
    return undefined
  }
}

async function storeContent(
  blobs: Pick<BlobStore, 'get'>,
  writer: PieceWriter,
  { key, size, sha256 }: ReferredContent,
  onChunk: (bytes: number) => void,
): Promise<ContentEntry> {
  if (size === 0) return { key, size, sha256: createHash('sha256').digest('hex'), pieces: [] }
  // The name of a content that is one piece is known without reading it.
  if (sha256 !== null && size <= pieceBytes) {
    const name = writer.nameOf(sha256)
    if (writer.has(name)) return { key, size, sha256, pieces: [name] }
  }
  const content = await blobs.get(key)
  try {
    const stream = await writer.writeStream(count(content, onChunk))
    return { key, size: stream.bytes, sha256: stream.sha256, pieces: stream.pieces }
  } finally {
    content.destroy()
  }
}
