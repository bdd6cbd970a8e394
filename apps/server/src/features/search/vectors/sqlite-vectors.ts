import { type RawBuilder, sql } from 'kysely'
import { searchableFiles } from '../../files/index.js'
import { toBytes, toSignature } from './quantize.js'
import {
  largeSpace,
  type Neighbour,
  type NeighbourSearch,
  type VectorStore,
} from './vector-store.js'

/** Of a large space, this many times the wanted passages are chosen by signature for an exact look. */
const oversampling = 10

/** Vectors as one byte per number, compared by the functions of sqlite-vec. */
export const sqliteVectors: VectorStore = {
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
    for (const { number, vector } of entries) {
      // A passage can be deleted while its vector is made.
      await sql`
        insert or replace into passage_vectors (space, number, vector, signature)
        select ${space.number}, number, ${toBytes(vector)}, ${toSignature(vector)}
        from passages where number = ${number}
      `.execute(tx)
    }
  },

  async nearest(db, search) {
    // Nearly all vectors belong to passages that are found, so some more than wanted are enough.
    const isNarrow = search.tags.length > 0 || search.scope.integrationId !== undefined
    if (!isNarrow) {
      const some = search.limit + 50
      const { rows } = await sql<Neighbour & { looked: number }>`
        with near as materialized (${nearIn(search, some)}),
          looked as (select count(*) as looked from near)
        select near.number, near.similarity, looked.looked
        from near
        cross join looked
        cross join passages on passages.number = near.number
        cross join (${searchableFiles(db, search.scope, search.tags)}) as found
          on found.file_id = passages.file_id and found.generation = passages.generation
        order by near.similarity desc, near.number
        limit ${search.limit}
      `.execute(db)
      const isWhole = rows.length === search.limit || (rows[0]?.looked ?? 0) < some
      if (isWhole && rows.length > 0) return rows
    }
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
  },

  async similarities(db, space, vector, numbers) {
    if (numbers.length === 0) return []
    const { rows } = await sql<Neighbour>`
      select number, ${similarity(vector)} as similarity
      from passage_vectors
      where space = ${space.number} and number in (${sql.join(numbers)})
    `.execute(db)
    return rows
  },

  async deleteSome(tx, space, limit) {
    const { numAffectedRows } = await sql`
      delete from passage_vectors where space = ${space} and number in (
        select number from passage_vectors where space = ${space} limit ${limit}
      )
    `.execute(tx)
    return Number(numAffectedRows ?? 0)
  },
}

/** The nearest of a whole space, whatever they belong to. */
function nearIn({ space, vector, exact }: NeighbourSearch, limit: number): RawBuilder<unknown> {
  if (exact || space.passages < largeSpace) {
    return sql`
      select number, ${similarity(vector)} as similarity
      from passage_vectors where space = ${space.number}
      order by similarity desc, number limit ${limit}
    `
  }
  return sql`
    select number, ${similarity(vector)} as similarity
    from passage_vectors
    where space = ${space.number} and number in (
      select number from passage_vectors indexed by passage_vectors_by_signature
      where space = ${space.number}
      order by vec_distance_hamming(vec_bit(signature), vec_bit(${toSignature(vector)}))
      limit ${limit * oversampling}
    )
    order by similarity desc, number limit ${limit}
  `
}

function similarity(vector: Float32Array): RawBuilder<number> {
  return sql`(1 - vec_distance_cosine(vec_int8(vector), vec_int8(${toBytes(vector)})))`
}
