import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, inject, it, vi } from 'vitest'
import { bundleOf } from '../../../../test/bundle.js'
import { checkout } from '../../../../test/documents.js'
import { engines } from '../../../../test/engines.js'
import { useFiles } from '../../../../test/files.js'
import { eventually } from '../../../../test/jobs.js'
import { openDatabase } from '../../../platform/db/open.js'
import { createEndState, endThread } from '../../../platform/workers/thread-end.js'
import { createSemanticRetriever } from './semantic-retriever.js'

const postgres = engines.find(({ name }) => name === 'postgres')

describe.runIf(postgres)('a search on PostgreSQL', () => {
  if (postgres === undefined) return
  const bench = useFiles(postgres)

  it('reads everything in one snapshot: a file that is deleted between two queries is found', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, 'The old pump is blue.')
    await bench().pauseJobs()
    const { db, url } = bench().database
    const other = new pg.Client(url)
    await other.connect()
    try {
      // A search has found its passages by words before it reads the vocabulary, for words that no passage has.
      await other.query('begin; lock table bot_words in access exclusive mode')
      const searching = bot.as().searchFiles({ query: 'pump zeppelin', contextDepth: 0 })
      await eventually(async () => {
        const { rows } = await sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        `.execute(db)
        expect(rows).toHaveLength(1)
      })
      await bot.as().deleteFile({ id: 'a.md' })
      await other.query('commit')
      const { passages } = await searching
      expect(passages.map(({ content }) => content)).toEqual(['The old pump is blue.'])
      expect((await bot.as().searchFiles({ query: 'pump' })).passages).toEqual([])
    } finally {
      await other.end()
      bench().startJobs()
    }
  })

  it('asks again which vectors the database supports after a failure to ask', async () => {
    const { database } = bench()
    const closed = await openDatabase({ url: database.url ?? '' })
    await closed.close()
    const { search } = createSemanticRetriever(database.dialect)
    const scope = { botId: 'b', integrationId: undefined, now: new Date().toISOString() }
    const request = { query: 'pump', scope, tags: [] }
    await expect(search(closed.db, request, 1)).rejects.toThrow('closed')
    expect(await search(database.db, request, 1)).toBeTypeOf('object')
  })
})

const built = join(checkout, 'apps/server/dist/features/search/retrieval/find-worker.js')

// Node would abort the process if it ended a thread in the middle of that.
it.each([
  ['built', () => built],
  ['bundled', () => bundleOf(inject('workers'), built)],
])('a search thread may be ended only when add-ons are loaded: the %s one', async (_, pathOf) => {
  const endState = createEndState()
  const script = `const { parentPort, workerData } = require('node:worker_threads')
    const { dlopen } = process
    process.dlopen = function (module, path, ...rest) {
      parentPort.postMessage([path, Atomics.load(workerData.endState, 0)])
      return Reflect.apply(dlopen, this, [module, path, ...rest])
    }
    import(workerData.entry)`
  const entry = pathToFileURL(pathOf()).href
  const workerData = { setup: { file: inject('migratedFile') }, endState, entry }
  const worker = new Worker(script, { eval: true, workerData })
  const messages: unknown[] = []
  worker.on('message', (message) => messages.push(message))
  await vi.waitUntil(() => messages.some((message) => Object(message).ready === true))
  expect(messages).toEqual([
    [expect.stringContaining('sqlite'), createEndState()[0]],
    { ready: true },
  ])
  endThread(worker, endState)
})
