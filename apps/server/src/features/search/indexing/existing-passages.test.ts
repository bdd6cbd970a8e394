import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { migrations } from '../../../migrations/index.js'
import { migrate } from '../../../platform/db/migrate.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { FileScope } from '../../files/index.js'
import { createKeywordIndex } from '../keywords/index.js'
import { deleteOfBot, insertPassages } from '../passage-store.js'
import { toQuery } from '../query.js'
import { insertWords } from '../vocabulary-store.js'
import { createReplaceEntries, replaceEntriesJob } from './existing-passages.js'
import { createIngestPool } from './ingest.js'

const before = migrations.filter(({ name }) => name < '0046-names')
const botId = 'bot'

const ingestPool = createIngestPool({
  workers: 1,
  onError(error) {
    throw error
  },
})
afterAll(() => ingestPool[Symbol.asyncDispose]())

describeEachEngine('index entries of an earlier release', (engine) => {
  const database = useDatabase(engine, before)

  /** A file whose passages are indexed as in an earlier release. */
  async function addFile(tx: Tx, id: string, key: string, texts: readonly string[]) {
    await tx
      .insertInto('files')
      .values({ ...blankFile, id, key })
      .execute()
    const rows = texts.map((content, position) => ({
      id: `${id}-${position}`,
      bot_id: botId,
      file_id: id,
      generation: 1,
      position,
      content,
      subtype: 'paragraph' as const,
      page_number: null,
      headings: '[]',
      own_headings: '[]',
      start_offset: 0,
      end_offset: 1,
    }))
    const numbers = await insertPassages(tx, rows)
    for (const [at, number] of numbers.entries()) {
      const body = (texts[at] ?? '').toLowerCase().replaceAll('ö', 'o')
      await (engine.name === 'sqlite'
        ? sql`insert into passage_words (rowid, scope, headings, body)
            values (${number}, ${`bot${botId}`}, '', ${body})`.execute(tx)
        : sql`insert into passage_words (number, words) values (${number},
            array_to_tsvector(array[${`@bot${botId}`}]) || to_tsvector('botstead_words', ${body}))`.execute(
            tx,
          ))
    }
  }

  async function find(query: string) {
    const { db, dialect } = database()
    const scope: FileScope = { botId, integrationId: undefined, now: '2026-03-01T12:00:00.000Z' }
    const search = { query: toQuery(query), scope, tags: [], limit: 100 }
    const reader = await createKeywordIndex(dialect).reader(db, botId)
    return await reader.search(search)
  }

  const listWords = async () => {
    const { rows } = await sql<{ word: string }>`
      select word from bot_words order by word
    `.execute(database().db)
    return rows.map(({ word }) => word)
  }

  async function runJob() {
    const { db, run, dialect } = database()
    const jobs = db.selectFrom('jobs').select(['id', 'kind', 'payload'])
    const [made, ...others] = await jobs.where('kind', '=', replaceEntriesJob).execute()
    expect(others).toEqual([])
    const payload = JSON.parse(made?.payload ?? '')
    const job = { id: 'job', kind: replaceEntriesJob, key: botId, payload }
    const index = createKeywordIndex(dialect)
    const { signal } = new AbortController()
    await createReplaceEntries({ db, run, index, ingestPool }).handler(
      { ...job, attempt: 1, maxAttempts: 1 },
      { signal, heartbeat: async () => {} },
    )
  }

  it('are found until they are replaced, with names of files and with umlauts kept apart', async () => {
    const { db, run } = database()
    const many = Array.from({ length: 45 }, (_, at) => `Ein schöner Satz ${at}`)
    await run(async (tx) => {
      await addFile(tx, 'file_1', 'tools/curlManual.txt', many)
      await addFile(tx, 'file_2', 'note.txt', ['Das ist schon gut', 'Der Wechsel'])
      await insertWords(tx, botId, [
        { word: 'schoner', reversed: 'renohcs' },
        { word: 'wechsel', reversed: 'leshcew' },
      ])
    })
    await migrate(database(), migrations)

    expect(await find('Satz')).toHaveLength(45)
    expect(await find('wechsel')).toHaveLength(1)
    expect(await find('curl')).toEqual([])

    // Twice, as after an interruption.
    await runJob()
    await runJob()
    expect(await find('Satz')).toHaveLength(45)
    expect(await find('curl')).toHaveLength(45)
    expect(await find('schoener')).toHaveLength(45)
    expect(await find('schöner')).toHaveLength(45)
    expect(await find('schoner')).toEqual([])
    expect(await find('schon')).toHaveLength(1)
    const words = await listWords()
    expect(words).toEqual(expect.arrayContaining(['curl', 'schoener', 'wechsel', 'tools']))
    expect(words).not.toContain('schoner')
    const { headings } = await db
      .selectFrom('passages')
      .select('headings')
      .where('id', '=', 'file_1-44')
      .executeTakeFirstOrThrow()
    expect(headings).toBe('["curl Manual"]')
    if (engine.name === 'sqlite') {
      const { rows } = await sql`select rowid from passage_words limit 1`.execute(db)
      expect(rows).toEqual([])
    }

    await run((tx) => deleteOfBot(tx, botId, 100))
    expect(await find('curl Satz schon')).toEqual([])
  })
})

const blankFile = {
  workspace_id: 'workspace',
  bot_id: botId,
  key_space: '',
  owner_id: 'bot',
  generation: 1,
  passages_generation: 1,
  size: 1,
  content_type: 'text/plain',
  tags: '{}',
  metadata: '{}',
  counted_storage: 0,
  counted_vector: 0,
  owner_type: 'bot',
  status: 'indexing_completed',
  passages_shared: 0,
  public_content: 0,
  shared: 0,
  indexed: 1,
  created_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
} as const
