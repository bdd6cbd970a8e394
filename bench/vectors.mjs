// The nearest vectors of a bot: in the memory of the search thread, by signatures, and by a full scan.
// BENCH_VECTORS=20000 npm run bench -- vectors    another amount than 100,000
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { toIndexText } from '@botstead/documents/text'
import { sql } from 'kysely'
import { fitLsa } from '#server/features/search/vectors/lsa/fit.js'
import { toLsaVector } from '#server/features/search/vectors/lsa/model.js'
import { toBytes } from '#server/features/search/vectors/packed-vectors.js'
import {
  createSqliteVectors,
  createVectorCache,
} from '#server/features/search/vectors/sqlite-vectors.js'
import { migrations } from '#server/migrations/index.js'
import { migrate } from '#server/platform/db/migrate.js'
import { openDatabase } from '#server/platform/db/open.js'
import { createWords } from './collection.mjs'
import { givenAmount, sized } from './size.mjs'
import { describe, timed } from './timed.mjs'

const amount = givenAmount('BENCH_VECTORS', 100_000, 500)
const questions = sized(30, 3)
const limit = 50
/** As the server fits models of large bots. */
const sample = 20_000
const fitting = { dimensions: 128, maxTerms: 40_000 }
const now = new Date().toISOString()
const scope = { botId: 'bot', integrationId: undefined, now }

/** Rows: the time of each method, and how many of the nearest it finds. */
export async function measureVectors(folder) {
  await mkdir(folder, { recursive: true })
  const database = await openDatabase({ file: join(folder, 'vectors.db') })
  try {
    await migrate(database, migrations)
    const words = createWords(amount)
    const texts = Array.from({ length: amount }, () => toIndexText(words.text(84)))
    const begin = process.cpuUsage()
    const model = fitLsa(texts.slice(0, sample), fitting)
    const { user, system } = process.cpuUsage(begin)
    const fitted = (user + system) / 1e6
    const vectorOf = (text) => toLsaVector(model, text).values
    const space = await fill(database, texts.map(vectorOf))
    const queries = Array.from({ length: questions }, () => vectorOf(toIndexText(words.text(8))))
    const size = amount.toLocaleString('en')
    return [
      {
        work: `fit a model to ${Math.min(sample, amount).toLocaleString('en')} passages`,
        figure: `${fitted.toFixed(1)} s at the processor`,
      },
      ...(await measureWays(database.db, space, queries)).map(({ way, times, recall }) => ({
        work: `nearest of ${size} vectors, ${way}`,
        figure: `${describe(times.clock)}; at the processor ${describe(times.processor)}; finds ${recall}`,
      })),
    ]
  } finally {
    await database.close()
  }
}

async function measureWays(db, space, queries) {
  const [inMemory, byReading] = [createSqliteVectors(), createSqliteVectors(createVectorCache(1))]
  const search = (vector, exact) => ({ space, vector, scope, tags: [], limit, exact })
  const numbersOf = (rows) => rows.map(({ number }) => number)
  const scan = async (table, convert, vector) => {
    const distance = sql`vec_distance_cosine(${convert(sql.ref('vector'))}, ${convert(vector)})`
    const { rows } = await sql`
      select number from ${sql.table(table)} order by ${distance} limit ${limit}
    `.execute(db)
    return numbersOf(rows)
  }
  const ways = {
    'one byte a number, all read': async (vector) =>
      numbersOf(await byReading.nearest(db, search(vector, true))),
    'in memory': async (vector) => numbersOf(await inMemory.nearest(db, search(vector, false))),
    'chosen by signature': async (vector) =>
      numbersOf(await byReading.nearest(db, search(vector, false))),
    'floats, all read': (vector) => scan('float_vectors', (each) => asFloats(each), vector),
    'table vec0, one byte a number': async (vector) => {
      const { rows } = await sql`
        select number from vec0_vectors
        where space = 1 and vector match vec_int8(${toBytes(vector)}) and k = ${limit}
      `.execute(db)
      return numbersOf(rows)
    },
  }
  const measured = []
  const nearest = new Map()
  const shareOf = (found, vector, amount) => {
    const wanted = new Set(nearest.get(vector).slice(0, amount))
    return found.slice(0, amount).filter((number) => wanted.has(number)).length / amount
  }
  for (const [way, find] of Object.entries(ways)) {
    const shares = new Map([20, limit].map((amount) => [amount, /** @type {number[]} */ ([])]))
    const times = await timed(queries, async (vector) => {
      const found = await find(vector)
      if (!nearest.has(vector)) nearest.set(vector, found)
      for (const [amount, some] of shares) some.push(shareOf(found, vector, amount))
    })
    const recall = [...shares].map(([amount, some]) => {
      const mean = some.reduce((sum, share) => sum + share, 0) / some.length
      return `${(mean * 100).toFixed(1)} % of the nearest ${amount}`
    })
    measured.push({ way, times, recall: recall.join(', ') })
  }
  return measured
}

function asFloats(value) {
  return value instanceof Float32Array ? Buffer.from(value.buffer) : value
}

/** A bot with one file, whose passages have these vectors, in the form of the server and in others. */
async function fill({ db, run }, vectors) {
  const space = { number: 1, dimensions: vectors[0].length, size: vectors.length, revision: 0 }
  await run(async (tx) => {
    await sql`
      insert into files (id, workspace_id, bot_id, key, key_space, owner_type, owner_id, generation,
        passages_generation, passages_shared, status, size, content_type, tags, metadata,
        public_content, shared, indexed, counted_storage, counted_vector, created_at, updated_at)
      values ('file', 'w', 'bot', 'k', '', 'bot', 'bot', 1, 1, 0, 'indexing_completed', 1, 'text/plain',
        '{}', '{}', 0, 0, 1, 0, 0, ${now}, ${now})
    `.execute(tx)
    await sql`
      insert into semantic_spaces (number, bot_id, embedder, dimensions, serving, passages, created_at)
      values (1, 'bot', 'e', ${space.dimensions}, 1, ${vectors.length}, ${now})
    `.execute(tx)
    await sql`create table float_vectors (number integer primary key, vector blob)`.execute(tx)
    await sql`
      create virtual table vec0_vectors using vec0(
        space integer partition key, number integer primary key,
        vector int8[${sql.lit(space.dimensions)}] distance_metric=cosine
      )
    `.execute(tx)
  })
  const store = createSqliteVectors()
  const batch = 1000
  for (let start = 0; start < vectors.length; start += batch) {
    const entries = vectors.slice(start, start + batch).map((vector, at) => ({
      number: start + at + 1,
      vector,
    }))
    await run(async (tx) => {
      for (const { number, vector } of entries) {
        await sql`
          insert into passages (number, id, bot_id, file_id, generation, position, subtype, content,
            headings, own_headings, start_offset, end_offset)
          values (${number}, ${`p${number}`}, 'bot', 'file', 1, ${number}, 'paragraph', 'x', '[]', '[]', 0, 1)
        `.execute(tx)
        await sql`insert into float_vectors values (${number}, ${asFloats(vector)})`.execute(tx)
        await sql`
          insert into vec0_vectors (space, number, vector)
          values (1, ${number}, vec_int8(${toBytes(vector)}))
        `.execute(tx)
      }
      await store.add(tx, space, entries)
    })
  }
  const { revision } = await db
    .selectFrom('semantic_spaces')
    .select('revision')
    .executeTakeFirstOrThrow()
  return { ...space, revision }
}
