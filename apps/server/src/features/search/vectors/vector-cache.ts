import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Db } from '../../../platform/db/schema.js'
import { bytesPerEntry, createPackedVectors, type PackedVectors } from './packed-vectors.js'
import type { Space } from './vector-index.js'

/** Vectors of spaces in the memory of a search thread. */
export interface VectorCache {
  /**
   * All vectors in the snapshot of `db`, and possibly some that were deleted before it.
   * @returns undefined if they do not fit in memory
   */
  take(db: Db, space: Space): Promise<PackedVectors | undefined>
  /** Removes a space from the cache. */
  drop(space: number): void
}

interface CachedSpace {
  revision: number
  vectors: PackedVectors
}

/** Memory for the vectors of one thread: those of 300,000 passages by the built-in model. */
const maximumBytes = 64 * 1024 * 1024
/** Vectors per read. */
const pageSize = 5000

export function createVectorCache(limit = maximumBytes): VectorCache {
  const spaces = new LRUCache<number, CachedSpace>({
    maxSize: limit,
    sizeCalculation: ({ vectors }) => vectors.bytes,
  })
  return {
    async take(db, space) {
      const known = spaces.get(space.number)
      if (known?.revision === space.revision) return known.vectors
      if (space.size * (space.dimensions + bytesPerEntry) > limit) return undefined
      const vectors = known?.vectors ?? createPackedVectors(space.dimensions)
      const whole = await read(db, space, known, vectors, limit)
      if (!whole) {
        spaces.delete(space.number)
        return undefined
      }
      // Set again, because its size has grown.
      spaces.set(space.number, { revision: space.revision, vectors })
      return vectors
    },
    drop: (space) => void spaces.delete(space),
  }
}

/** Adds vectors newer than a revision, or all; returns whether everything fits. */
async function read(
  db: Db,
  space: Space,
  known: CachedSpace | undefined,
  vectors: PackedVectors,
  limit: number,
): Promise<boolean> {
  let last = { number: -1, revision: known?.revision ?? -1 }
  // All vectors of the known revision are cached, so reading continues after its last number.
  if (known !== undefined) last.number = Number.MAX_SAFE_INTEGER
  for (;;) {
    const rows = await db
      .selectFrom('passage_vectors')
      .select(['number', 'vector', 'revision'])
      .where('space', '=', space.number)
      .$if(known === undefined, (query) =>
        query.where('number', '>', last.number).orderBy('number'),
      )
      .$if(known !== undefined, (query) =>
        query
          .where(sql<boolean>`(revision, number) > (${last.revision}, ${last.number})`)
          .orderBy('revision')
          .orderBy('number'),
      )
      .limit(pageSize)
      .execute()
    for (const { number, vector } of rows) vectors.set(number, vector)
    if (vectors.bytes > limit) return false
    const end = rows.at(-1)
    if (end === undefined || rows.length < pageSize) return true
    last = end
  }
}
