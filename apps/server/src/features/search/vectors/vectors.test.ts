import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import {
  type CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines, useDatabase } from '../../../../test/engines.js'
import { migrations } from '../../../migrations/index.js'
import { postgresDialect } from '../../../platform/db/dialect.js'
import { createHandles, type ExecuteQuery } from '../../../platform/db/executor.js'
import { columnKinds } from '../../../platform/db/migrate.js'
import type { Db, Run, Schema } from '../../../platform/db/schema.js'
import { openPostgresVectors, postgresVectors } from './postgres-vectors.js'
import { createRandom } from './random.js'
import { deleteVectors } from './space-store.js'
import { createSqliteVectors, createVectorCache } from './sqlite-vectors.js'
import { largeSpace, type VectorIndex } from './vector-index.js'

const writer = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db: ConstructorParameters<typeof PostgresIntrospector>[0]) =>
    new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

/** PostgreSQL with pgvector inside the process: the server of the other tests lacks it. */
function usePgvector(): () => { db: Db; run: Run } {
  let engine: PGlite | undefined
  let opened: { db: Db; run: Run } | undefined
  beforeAll(async () => {
    const pglite = await PGlite.create({ extensions: { vector } })
    engine = pglite
    const execute: ExecuteQuery = async <R>({ sql: text, parameters }: CompiledQuery) => {
      const { rows, affectedRows = 0 } = await pglite.query<R>(text, [...parameters])
      return { rows, numAffectedRows: BigInt(affectedRows) }
    }
    const handles = createHandles<Schema>(writer)
    const run: Run = (work) => work(handles.transaction(execute))
    const upgrade = createHandles<unknown>(writer).transaction(execute)
    for (const migration of migrations) {
      await migration.up(
        upgrade.withPlugin(columnKinds(postgresDialect)),
        postgresDialect,
        () => {},
      )
    }
    opened = { db: handles.reads(execute), run }
    await openPostgresVectors(opened)
  })
  afterAll(() => engine?.close())
  return () => {
    if (opened === undefined) throw new Error('The database is there only while a test runs')
    return opened
  }
}

const [sqlite] = engines
if (sqlite === undefined) throw new Error('There is no engine to test on')

describe('vectors on sqlite', () => testVectors(createSqliteVectors(), useDatabase(sqlite)))
describe('vectors on sqlite, too many for memory', () =>
  testVectors(createSqliteVectors(createVectorCache(1)), useDatabase(sqlite)))
describe('vectors on pgvector', () => testVectors(postgresVectors, usePgvector()))

function testVectors(store: VectorIndex, database: () => { db: Db; run: Run }): void {
  const now = '2026-03-01T12:00:00.000Z'
  const { normal } = createRandom(1)
  const random = () => Float32Array.from({ length: 128 }, normal)
  const scopeOf = (botId: string) => ({ botId, integrationId: undefined, now })
  let made = 0

  /** A bot with a file of passages that have these vectors. */
  async function newBot(vectors: readonly Float32Array[]) {
    made += 1
    const space = { number: made, dimensions: 128, size: vectors.length, revision: 1 }
    const botId = `bot${made}`
    const first = made * 10_000
    await database().run(async (tx) => {
      await sql`
        insert into files (id, workspace_id, bot_id, key, key_space, owner_type, owner_id, generation,
          passages_generation, passages_shared, status, size, content_type, tags, metadata,
          public_content, shared, indexed, counted_storage, counted_vector, created_at, updated_at)
        values (${botId}, 'w', ${botId}, 'k', '', 'bot', 'bot', 1, 1, 0, 'indexing_completed', 1, 'text/plain',
          '{}', '{}', 0, 0, 1, 0, 0, ${now}, ${now})
      `.execute(tx)
      await tx
        .insertInto('semantic_spaces')
        .values({
          bot_id: botId,
          embedder: 'e',
          dimensions: 128,
          serving: 1,
          passages: 1,
          model: null,
          created_at: now,
        })
        .execute()
      for (const at of vectors.keys()) {
        await sql`
          insert into passages (number, id, bot_id, file_id, generation, position, subtype, content,
            headings, own_headings, start_offset, end_offset)
          ${sql.raw(store === postgresVectors ? 'overriding system value' : '')}
          values (${first + at}, ${`${botId}-${at}`}, ${botId}, ${botId}, 1, ${at}, 'paragraph', 'x', '[]', '[]', 0, 1)
        `.execute(tx)
      }
      await store.prepare(tx, 128)
      await store.add(
        tx,
        space,
        vectors.map((vector, at) => ({ number: first + at, vector })),
      )
    })
    return { botId, space, first }
  }

  it('are available', async () => {
    expect(await store.missing(database().db)).toBeUndefined()
  })

  it('find the nearest of one bot only, exactly and by index', async () => {
    const vectors = Array.from({ length: 300 }, random)
    const { botId, space, first } = await newBot(vectors)
    await newBot(vectors)
    const wanted = vectors[7] ?? random()
    for (const size of [300, largeSpace]) {
      const search = {
        space: { ...space, size },
        vector: wanted,
        scope: scopeOf(botId),
        tags: [],
      }
      const found = await store.nearest(database().db, { ...search, limit: 5, exact: false })
      expect(found).toHaveLength(5)
      expect(found[0]?.number).toBe(first + 7)
      expect(found[0]?.similarity).toBeGreaterThan(0.99)
      const similarities = found.map(({ similarity }) => similarity)
      expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
      expect(found.every(({ number }) => number >= first && number < first + 300)).toBe(true)
    }
    const tags = [{ name: 'kb', in: ['none'] }]
    const search = { space, vector: wanted, scope: scopeOf(botId), tags, limit: 5, exact: false }
    expect(await store.nearest(database().db, search)).toEqual([])
    const known = await store.similarities(database().db, space, wanted, [first + 7, first + 9999])
    expect(known).toEqual([{ number: first + 7, similarity: expect.closeTo(1, 2) }])
  })

  it('that are added or changed are found at once, deleted ones never', async () => {
    const { botId, space, first } = await newBot(Array.from({ length: 80 }, random))
    const { db, run } = database()
    const wanted = random()
    const nearest = async (revision: number) => {
      const scope = scopeOf(botId)
      const search = { vector: wanted, scope, tags: [], limit: 5, exact: false }
      return await store.nearest(db, { ...search, space: { ...space, revision } })
    }
    expect((await nearest(1))[0]?.similarity).toBeLessThan(0.9)
    await run((tx) => store.add(tx, space, [{ number: first + 3, vector: wanted }]))
    expect((await nearest(2))[0]).toMatchObject({ number: first + 3 })
    await run(async (tx) => {
      await tx
        .deleteFrom('passages')
        .where('number', '<', first + 78)
        .execute()
    })
    // More deleted vectors than any search skips.
    const left = (await nearest(2)).map(({ number }) => number)
    expect(left.toSorted((a, b) => a - b)).toEqual([first + 78, first + 79])
  })

  it('are deleted with their passages, and in batches with their space', async () => {
    const { botId, space, first } = await newBot(Array.from({ length: 6 }, random))
    const { db, run } = database()
    const count = async () =>
      (
        await db
          .selectFrom('passage_vectors')
          .select('number')
          .where('space', '=', space.number)
          .execute()
      ).length
    await run(async (tx) => {
      await tx.deleteFrom('passages').where('number', '=', first).execute()
    })
    expect(await count()).toBe(5)
    expect(await run((tx) => deleteVectors(tx, space.number, 2))).toBe(2)
    expect(await count()).toBe(3)
    await run(async (tx) => {
      // A deleted passage gets no vector.
      await store.add(tx, space, [{ number: first, vector: random() }])
      await tx.deleteFrom('passages').where('bot_id', '=', botId).execute()
    })
    expect(await count()).toBe(0)
  })
}
