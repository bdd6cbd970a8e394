import { type Expression, type RawBuilder, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { prepared, rawSelect } from '../../../platform/db/prepared.js'
import type { Db } from '../../../platform/db/schema.js'
import {
  type ScopeExpressions,
  searchableFiles,
  type TagCondition,
} from '../../files/lookup/index.js'
import {
  bytesPerEntry,
  createPackedVectors,
  type PackedVectors,
  toBytes,
  toSignature,
} from './packed-vectors.js'
import type { Neighbour, NeighbourSearch, Space, VectorIndex } from './vector-index.js'

/**
 * In a space that is too large for memory, signatures select this multiple of the limit, or this share
 * of the space: the more vectors there are, the more of them have a similar signature by chance.
 */
const oversampling = 10
const minShare = 0.03
/** Additional neighbours, because some may belong to files that are not found. */
const spare = 50
/** Additional neighbours in memory before those that the caller may not see are excluded. */
const narrowSpare = 1000

/**
 * Vectors of one byte per number. The vectors of frequently searched bots are kept in memory;
 * the others are compared by the functions of sqlite-vec.
 */
export function createSqliteVectors(cache: VectorCache = createVectorCache()): VectorIndex {
  return {
    async open() {},

    async missing(db) {
      try {
        await sql`select vec_version()`.execute(db)
        return undefined
      } catch {
        return 'sqlite-vec has no build for this platform'
      }
    },

    async prepare() {},

    async add(tx, space, entries) {
      if (entries.length === 0) return
      const bumped = await tx
        .updateTable('semantic_spaces')
        .set((eb) => ({ revision: eb('revision', '+', 1) }))
        .where('number', '=', space.number)
        .returning('revision')
        .executeTakeFirst()
      // A space that was deleted in the meantime accepts no vectors.
      if (bumped === undefined) return
      for (const { number, vector } of entries) {
        // A passage may be deleted while its vector is made.
        await sql`
          insert or replace into passage_vectors (space, number, vector, signature, revision)
          select ${space.number}, number, ${toBytes(vector)}, ${toSignature(vector)}, ${bumped.revision}
          from passages where number = ${number}
        `.execute(tx)
      }
    },

    async nearest(db, search) {
      const isNarrow = search.tags.length > 0 || search.scope.integrationId !== undefined
      const packed = await cache.take(db, search.space)
      // Nearly all vectors belong to passages that are found, so a few more than the limit are enough.
      const some = search.limit + (isNarrow ? narrowSpare : spare)
      if (packed !== undefined) {
        const near = packed.nearest(toBytes(search.vector), some)
        const found = await onlyFound(db, search, near)
        if (found.length === search.limit || near.length < some) return found
        // Many deleted vectors hide existing ones.
        if (!isNarrow) cache.drop(search.space.number)
      } else if (!isNarrow) {
        const near = await nearestOfSpace(db, search, some)
        const found = await onlyFound(db, search, near)
        if (found.length === search.limit || near.length < some) return found
      }
      return await nearestOfFiles(db, search)
    },

    async similarities(db, space, vector, numbers) {
      if (numbers.length === 0) return []
      return await selectSimilarities(db, {
        space: space.number,
        vector: toBytes(vector),
        numbers: JSON.stringify(numbers),
      })
    },
  }
}

const selectSimilarities = prepared<{ space: number; vector: Uint8Array; numbers: string }>()(
  (db, p) =>
    rawSelect(
      db,
      sql<Neighbour>`
        select number, ${similarityTo(p('vector'))} as similarity
        from json_each(${p('numbers')}) as wanted
        cross join passage_vectors
          on passage_vectors.space = ${p('space')} and passage_vectors.number = wanted.value
      `,
    ),
)

/** Renders a selection of those of some numbers that still exist and that the caller may find. */
function existing(
  db: Db,
  {
    near,
    space,
    scope,
    tags,
  }: {
    near: string | Expression<string>
    space: number | Expression<number>
    scope: ScopeExpressions
    tags: readonly TagCondition[]
  },
) {
  return sql<{ number: number }>`
    select passages.number
    from json_each(${near}) as near
    cross join passage_vectors
      on passage_vectors.space = ${space} and passage_vectors.number = near.value
    cross join passages on passages.number = near.value
    cross join (${searchableFiles(db, scope, tags)}) as found
      on found.file_id = passages.file_id and found.generation = passages.generation
  `
}

/** For searches in all files of a bot, which is the usual case. */
const selectExisting = prepared<{ near: string; space: number; botId: string; now: string }>()(
  (db, p) => {
    const scope = { botId: p('botId'), integrationId: undefined, now: p('now') }
    return rawSelect(db, existing(db, { near: p('near'), space: p('space'), scope, tags: [] }))
  },
)

/** The neighbours that still exist and that the caller may find, in order. */
async function onlyFound(
  db: Db,
  { space, scope, tags, limit }: NeighbourSearch,
  near: readonly Neighbour[],
): Promise<Neighbour[]> {
  const wanted = { near: JSON.stringify(near.map(({ number }) => number)), space: space.number }
  const rows =
    tags.length === 0 && scope.integrationId === undefined
      ? await selectExisting(db, { ...wanted, botId: scope.botId, now: scope.now })
      : (await existing(db, { ...wanted, scope, tags }).execute(db)).rows
  const found = new Set(rows.map(({ number }) => number))
  return near.filter(({ number }) => found.has(number)).slice(0, limit)
}

/** The nearest in the files that the caller may find, compared one by one. */
async function nearestOfFiles(db: Db, search: NeighbourSearch): Promise<Neighbour[]> {
  const { rows } = await sql<Neighbour>`
    select number, ${similarity(search.vector)} as similarity
    from passage_vectors
    where space = ${search.space.number}
      and number in (
        select passages.number
        from (${searchableFiles(db, search.scope, search.tags)}) as found
        cross join passages
          on passages.file_id = found.file_id and passages.generation = found.generation
      )
    order by similarity desc, number
    limit ${search.limit}
  `.execute(db)
  return rows
}

/** The nearest vectors of a whole space, of any file. */
async function nearestOfSpace(
  db: Db,
  { space, vector, exact }: NeighbourSearch,
  limit: number,
): Promise<Neighbour[]> {
  const candidates = Math.max(limit * oversampling, Math.ceil(space.size * minShare))
  const chosen = sql`
    and number in (
      select number from passage_vectors indexed by passage_vectors_by_signature
      where space = ${space.number}
      order by vec_distance_hamming(vec_bit(signature), vec_bit(${toSignature(vector)}))
      limit ${candidates}
    )
  `
  const { rows } = await sql<Neighbour>`
    select number, ${similarity(vector)} as similarity
    from passage_vectors
    where space = ${space.number} ${exact ? sql`` : chosen}
    order by similarity desc, number
    limit ${limit}
  `.execute(db)
  return rows
}

function similarity(vector: Float32Array): RawBuilder<number> {
  return similarityTo(toBytes(vector))
}

function similarityTo(bytes: Uint8Array | Expression<Uint8Array>): RawBuilder<number> {
  return sql`(1 - vec_distance_cosine(vec_int8(vector), vec_int8(${bytes})))`
}

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
const maxBytes = 64 * 1024 * 1024
/** Vectors per read. */
const pageSize = 5000

/** Makes an empty cache of at most `limit` bytes. */
export function createVectorCache(limit = maxBytes): VectorCache {
  const spaces = new LRUCache<number, CachedSpace>({
    maxSize: limit,
    sizeCalculation: ({ vectors }) => vectors.bytes,
  })
  return {
    async take(db, space) {
      const known = spaces.get(space.number)
      if (known?.revision === space.revision) return known.vectors
      if (space.size * (space.dimensions + bytesPerEntry) > limit) return undefined
      const vectors = known?.vectors ?? createPackedVectors(space.dimensions, space.size)
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
