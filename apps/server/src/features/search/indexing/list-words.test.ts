import { sql } from 'kysely'
import { afterAll, expect, it, vi } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { migrations } from '../../../migrations/index.js'
import { migrate } from '../../../platform/db/migrate.js'
import type { Tx } from '../../../platform/db/schema.js'
import { createKeywordIndex } from '../keywords/index.js'
import { insertPassages } from '../passage-store.js'
import { insertWords } from '../vocabulary-store.js'
import { createClearPassages, createListWords, listWordsJob } from './existing-passages.js'
import { createIngestPool } from './ingest.js'

const before = migrations.filter(({ name }) => name < '0028')

const passage = (bot_id: string, file_id: string, position: number, content: string) => ({
  id: `${file_id}-${position}`,
  bot_id,
  file_id,
  generation: 1,
  position,
  content,
  subtype: 'paragraph' as const,
  page_number: null,
  headings: '["Manual"]',
  own_headings: '[]',
  start_offset: 0,
  end_offset: 1,
})

const ingestPool = createIngestPool({
  workers: 1,
  onError(error) {
    throw error
  },
})
afterAll(() => ingestPool[Symbol.asyncDispose]())

describeEachEngine('the vocabulary', (engine) => {
  const database = useDatabase(engine, before)

  const listWords = async (botId: string) => {
    const rows = database().db.selectFrom('bot_words').select('word').where('bot_id', '=', botId)
    return (await rows.orderBy('word').execute()).map(({ word }) => word)
  }

  it('gets the words of earlier passages by one job for each bot', async () => {
    const { db, run } = database()
    await run(async (tx) => {
      const many = Array.from({ length: 120 }, (_, at) => passage('bot', 'file', at, 'Filter'))
      await insertPassages(tx, [...many, passage('bot', 'file', 120, 'Zeppelin')])
      await insertPassages(tx, [passage('other', 'file_2', 0, 'Harbour')])
    })
    await migrate(database(), migrations)
    expect(await listWords('bot')).toEqual([])

    const jobs = db.selectFrom('jobs').select(['id', 'kind', 'key', 'payload', 'state'])
    const made = await jobs.where('kind', '=', listWordsJob).orderBy('key').execute()
    expect(made).toMatchObject(
      ['bot', 'other'].map((key) => ({ kind: listWordsJob, key, state: 'waiting' })),
    )
    for (const { id, kind, payload } of made) {
      const job = {
        id,
        kind,
        key: undefined,
        payload: JSON.parse(payload),
        attempt: 1,
        maxAttempts: 1,
      }
      const { signal } = new AbortController()
      await createListWords({ run }).handler(job, { signal, heartbeat: async () => {} })
    }
    expect(await listWords('bot')).toEqual(['filter', 'manual', 'zeppelin'])
    expect(await listWords('other')).toEqual(['harbour', 'manual'])
  })

  it('keeps a word that a new passage has while the last other passage is removed', async () => {
    const { db, run, dialect } = database()
    const index = createKeywordIndex(dialect)
    const add = async (tx: Tx, fileId: string) => {
      const numbers = await insertPassages(tx, [passage('racing', fileId, 0, 'Turbine')])
      const entries = numbers.map((number) => ({
        number,
        fields: { folders: '', name: '', headings: '', body: 'turbine' },
      }))
      await index.add(tx, 'racing', entries)
      await insertWords(tx, 'racing', [{ word: 'turbine', reversed: 'enibrut' }])
    }
    await run((tx) => add(tx, 'old'))
    let isWritten = false
    const clear = createClearPassages({
      db,
      run,
      index,
      ingestPool,
      indexing: { usefulPassages: async () => undefined },
    })
    const adding = run(async (tx) => {
      await add(tx, 'new')
      isWritten = true
      // Long enough for concurrent work to overtake; on SQLite nothing runs concurrently.
      if (dialect.name === 'postgres') await sql`select pg_sleep(0.5)`.execute(tx)
    })
    await vi.waitFor(() => expect(isWritten).toBe(true))
    const payload = { botId: 'racing', fileId: 'old' }
    const job = { id: 'job', kind: 'search.clear', key: 'old', payload, attempt: 1, maxAttempts: 1 }
    const { signal } = new AbortController()
    const clearing = clear.handler(job, { signal, heartbeat: async () => {} })
    await Promise.all([adding, clearing])
    expect(await listWords('racing')).toEqual(['turbine'])
  })
})
