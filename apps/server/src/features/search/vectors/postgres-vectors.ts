import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.js'
import { searchableFiles } from '../../files/lookup/index.js'
import {
  largeSpace,
  type Neighbour,
  type NeighbourSearch,
  type VectorIndex,
} from './vector-index.js'

/** Maximum number of half-precision numbers that an index of pgvector supports. */
const maxIndexed = 4000

/** Half-precision vectors in pgvector; a large space is searched by HNSW. */
export const postgresVectors: VectorIndex = {
  open: openPostgresVectors,

  async missing(db) {
    const { rows } = await sql`
      select 1 where to_regclass('passage_vectors') is not null
    `.execute(db)
    return rows.length > 0
      ? undefined
      : 'PostgreSQL has no pgvector 0.8 or newer, or the server may not create the extension: install it, and run "create extension vector" in the database'
  },

  async prepare(tx, dimensions) {
    if (dimensions > maxIndexed) return
    const length = sql.lit(dimensions)
    // No vectors of a new length exist yet, so this is fast.
    await sql`
      create index if not exists ${sql.ref(`passage_vectors_near_${dimensions}`)}
      on passage_vectors using hnsw ((vector::halfvec(${length})) halfvec_cosine_ops)
      where dimensions = ${length}
    `.execute(tx)
  },

  async add(tx, space, entries) {
    if (entries.length === 0) return
    const rows = entries.map(
      ({ number, vector }) => sql`(${number}::bigint, ${toText(vector)}::halfvec)`,
    )
    await sql`
      insert into passage_vectors (space, dimensions, number, vector)
      select ${space.number}::bigint, ${space.dimensions}::integer, passages.number, made.vector
      from (values ${sql.join(rows)}) as made (number, vector)
      join passages on passages.number = made.number
      on conflict (number, space) do update set vector = excluded.vector
    `.execute(tx)
  },

  async nearest(db, search) {
    const isNarrow = search.tags.length > 0 || search.scope.integrationId !== undefined
    const { space } = search
    const byIndex = space.size >= largeSpace && space.dimensions <= maxIndexed
    return byIndex && !isNarrow && !search.exact
      ? await nearestByIndex(db, search)
      : await nearestExactly(db, search)
  },

  async similarities(db, space, vector, numbers) {
    if (numbers.length === 0) return []
    const { rows } = await sql<Neighbour>`
      select number, 1 - (vector <=> ${toText(vector)}::halfvec) as similarity
      from passage_vectors
      where space = ${space.number} and number = any(${[...numbers]}::bigint[])
    `.execute(db)
    return rows
  },
}

/**
 * Creates the table of vectors where PostgreSQL has pgvector. Not a migration, because the extension may be
 * installed at any time; every start tries, and existing objects stay.
 */
export async function openPostgresVectors(database: Pick<Database, 'db' | 'run'>): Promise<void> {
  const { rows } = await sql`
    select 1 where to_regclass('passage_vectors') is not null
  `.execute(database.db)
  if (rows.length > 0) return
  await database.run(async (tx) => {
    // Two processes that start at once would both create it.
    await sql`select pg_advisory_xact_lock(hashtext('botstead.passage_vectors'))`.execute(tx)
    await sql`create extension if not exists vector`.execute(tx)
    await sql`
      create table if not exists passage_vectors (
        space bigint not null,
        dimensions integer not null,
        number bigint not null references passages (number) on delete cascade,
        vector halfvec not null,
        primary key (number, space)
      )
    `.execute(tx)
    await sql`
      create index if not exists passage_vectors_by_space on passage_vectors (space)
    `.execute(tx)
  })
}

type Reads = Parameters<VectorIndex['nearest']>[0]

/** Statistics must not affect the plan, so each part is materialized; as in keyword search. */
async function nearestExactly(db: Reads, search: NeighbourSearch): Promise<Neighbour[]> {
  const { rows } = await sql<Neighbour>`
    with near as materialized (
      select number, 1 - (vector <=> ${toText(search.vector)}::halfvec) as similarity
      from passage_vectors where space = ${search.space.number}
    )
    select near.number, near.similarity
    from near
    join passages on passages.number = near.number
    where ((passages.file_id, passages.generation)
      in (${searchableFiles(db, search.scope, search.tags)})) is true
    order by near.similarity desc, near.number
    limit ${search.limit}
  `.execute(db)
  return rows
}

async function nearestByIndex(db: Reads, search: NeighbourSearch): Promise<Neighbour[]> {
  const { space, vector, limit } = search
  const dimensions = sql.lit(space.dimensions)
  const some = limit + 50
  // The settings apply until the snapshot ends, from this statement on; the index continues until it
  // has enough vectors of the space. In this form, the planner can only use the index of the dimension.
  const { rows } = await sql<Neighbour>`
    with settings as materialized (
      select set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.ef_search', '200', true)
    ),
    near as materialized (
      select found.number, found.similarity
      from settings cross join lateral (
        select number,
          1 - (vector::halfvec(${dimensions}) <=> ${toText(vector)}::halfvec(${dimensions}))
            as similarity
        from passage_vectors
        where dimensions = ${dimensions} and space = ${space.number}
        order by vector::halfvec(${dimensions}) <=> ${toText(vector)}::halfvec(${dimensions})
        limit ${some}
      ) as found
    )
    select near.number, near.similarity
    from near
    join passages on passages.number = near.number
    where ((passages.file_id, passages.generation)
      in (${searchableFiles(db, search.scope, search.tags)})) is true
    order by near.similarity desc, near.number
    limit ${limit}
  `.execute(db)
  return rows
}

/** Half precision ends at 65,504; vectors have length 1, so no number comes near it. */
function toText(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}
