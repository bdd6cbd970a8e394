import { Readable } from 'node:stream'
import type { Clock } from '../clock.js'
import { prepared } from '../db/prepared.js'
import type { Db, Run } from '../db/schema.js'
import {
  BlobRangeError,
  type BlobStore,
  type ByteRange,
  checkBlobKey,
  isBlobKey,
  requireSize,
} from './blob-store.js'
import { readContent } from './read-content.js'

/** Bytes up to which a blob is kept in the database. */
export const smallBlobBytes = 16 * 1024

/** A blob that is kept in the database. */
interface SmallBlobsTable {
  key: string
  bytes: Uint8Array
  /** Milliseconds since the Unix epoch. */
  stored_at: number
}

declare module '../db/schema.js' {
  interface Schema {
    small_blobs: SmallBlobsTable
  }
}

/** Rows of one page of a list. */
const pageSize = 500

const findBlob = prepared<{ key: string }>()((db, parameter) =>
  db.selectFrom('small_blobs').selectAll().where('key', '=', parameter('key')),
)

const findFacts = prepared<{ key: string }>()((db, parameter) =>
  db
    .selectFrom('small_blobs')
    .select(({ fn }) => ['stored_at', fn<number>('length', ['bytes']).as('size')])
    .where('key', '=', parameter('key')),
)

const insertBlob = prepared<SmallBlobsTable>()((db, parameter) =>
  db
    .insertInto('small_blobs')
    .values({
      key: parameter('key'),
      bytes: parameter('bytes'),
      stored_at: parameter('stored_at'),
    })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet(({ ref }) => ({
        bytes: ref('excluded.bytes'),
        stored_at: ref('excluded.stored_at'),
      })),
    ),
)

/**
 * A store that keeps small blobs in the database, and all others in a store of files. A small one is stored by a
 * transaction that shares its commit with others, where a file of its own takes two flushes of the disk.
 * Blobs that an earlier version put into the other store are still found there.
 */
export function withSmallBlobs(
  files: BlobStore,
  { db, run, clock }: { db: Db; run: Run; clock: Clock },
): BlobStore {
  async function findSmall(key: string): Promise<Buffer | undefined> {
    checkBlobKey(key)
    const found = await findBlob.first(db, { key })
    return found && Buffer.from(found.bytes.buffer, found.bytes.byteOffset, found.bytes.byteLength)
  }

  /** Deletes the blobs that are kept in the database; without any there is no transaction. */
  async function forget(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += pageSize) {
      // PostgreSQL refuses some texts that are no keys; the other store reports them.
      const some = keys.slice(at, at + pageSize).filter(isBlobKey)
      if (some.length === 0) continue
      const kept = await db
        .selectFrom('small_blobs')
        .select('key')
        .where('key', 'in', some)
        .execute()
      if (kept.length === 0) continue
      const found = kept.map(({ key }) => key)
      await run((tx) => tx.deleteFrom('small_blobs').where('key', 'in', found).execute(), {
        mayUseReserve: true,
      })
    }
  }

  return {
    ...files,

    async put(key, content, options = {}) {
      const { maxBytes = Number.POSITIVE_INFINITY } = options
      if (maxBytes > smallBlobBytes) return await files.put(key, content, options)
      checkBlobKey(key)
      const chunks: Uint8Array[] = []
      // The stream may fail before anything reads it; the reading below reports that.
      content.on('error', ignore)
      try {
        const stored = await readContent(content, options, (chunk) => void chunks.push(chunk))
        const bytes = Buffer.concat(chunks)
        await run((tx) => insertBlob.affected(tx, { key, bytes, stored_at: clock.now() }))
        return stored
      } finally {
        content.off('error', ignore)
      }
    },

    async get(key, range) {
      const small = await findSmall(key)
      if (small === undefined) return await files.get(key, range)
      return Readable.from([range === undefined ? small : cut(small, range)], {
        objectMode: false,
      })
    },

    async read(key, size) {
      const small = size > smallBlobBytes ? undefined : await findSmall(key)
      if (small === undefined) return await files.read(key, size)
      requireSize(small, size)
      return small
    },

    async head(key) {
      checkBlobKey(key)
      const facts = await findFacts.first(db, { key })
      if (facts === undefined) return await files.head(key)
      return { size: Number(facts.size), storedAt: Number(facts.stored_at) }
    },

    async remove(key) {
      checkBlobKey(key)
      await forget([key])
      await files.remove(key)
    },

    async removeAll(keys) {
      await forget(keys)
      return await files.removeAll(keys)
    },

    ...(files.localPath && {
      localPath: (key: string, size: number) =>
        size > smallBlobBytes ? files.localPath?.(key, size) : undefined,
    }),

    async *list() {
      let last = ''
      for (;;) {
        const page = await db
          .selectFrom('small_blobs')
          .select(({ fn }) => ['key', 'stored_at', fn<number>('length', ['bytes']).as('size')])
          .where('key', '>', last)
          .orderBy('key')
          .limit(pageSize)
          .execute()
        for (const { key, size, stored_at } of page) {
          yield { key, size: Number(size), storedAt: Number(stored_at) }
        }
        const end = page.at(-1)
        if (end === undefined) break
        last = end.key
      }
      yield* files.list()
    },
  }
}

function cut(bytes: Buffer, { start, end }: ByteRange): Buffer {
  if (start >= 0 && end >= start && end < bytes.length) return bytes.subarray(start, end + 1)
  throw new BlobRangeError(`Bytes ${start} to ${end} are not inside a blob of ${bytes.length}.`)
}

function ignore(): void {}
