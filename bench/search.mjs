// Search in the passages of one bot, by what it takes to rank them: each leg alone, and all together.
// BENCH_PASSAGES=1000,10000 npm run bench -- search    other sizes than 1,000, 10,000 and 100,000
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { weightsOf } from '../apps/server/dist/features/search/rank/fusion.js'
import { createRanker } from '../apps/server/dist/features/search/rank/ranker.js'
import { sqliteDialect } from '../apps/server/dist/platform/db/dialect.js'
import { openSqliteReads } from '../apps/server/dist/platform/db/sqlite-reads.js'
import { startBenchServer } from './processes.mjs'

const sizes = (process.env.BENCH_PASSAGES ?? '1000,10000,100000').split(',').map(Number)
const perFile = 2500
const questions = 60
const budgetMs = 100

export async function search(folder) {
  const rows = []
  for (const passages of sizes) rows.push(...(await searchIn(folder, passages)))
  return rows
}

async function searchIn(folder, passages) {
  const dataDir = join(folder, `search-${passages}`)
  const server = await startBenchServer(dataDir)
  const words = createWords(passages)
  try {
    const botId = await fill(server, passages, words)
    const reads = await openSqliteReads(join(dataDir, 'botstead.db'))
    try {
      await awaitVectors(reads, botId, passages)
      const asked = Array.from({ length: questions }, () => words.text(8))
      const rows = []
      for (const legs of [['keyword'], ['semantic'], ['keyword', 'grams', 'semantic']]) {
        const figures = await measure(reads, botId, legs, asked)
        const all = legs.length === 3
        rows.push({
          work: `search ${passages.toLocaleString('en')} passages, ${all ? 'all legs' : legs[0]}`,
          figure: `p50 ${figures.p50.toFixed(1)} ms, p95 ${figures.p95.toFixed(1)} ms`,
          ...(all && { against: `${budgetMs} ms`, ratio: budgetMs / figures.p95, budget: 1 }),
        })
      }
      return rows
    } finally {
      reads.close()
    }
  } finally {
    await server.stop()
  }
}

async function measure(reads, botId, legs, asked) {
  const ranker = createRanker({ dialect: sqliteDialect, weights: weightsOf(legs) })
  const scope = { botId, integrationId: undefined, now: new Date().toISOString() }
  const times = []
  // The first round only warms up.
  for (const [at, query] of [...asked, ...asked].entries()) {
    const begin = performance.now()
    await reads.snapshot((db) => ranker.rank(db, { query, scope, tags: [], limit: 20 }))
    if (at >= asked.length) times.push(performance.now() - begin)
  }
  times.sort((a, b) => a - b)
  return { p50: times[times.length >> 1], p95: times[Math.floor(times.length * 0.95)] }
}

async function fill(server, passages, words) {
  const admin = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  const botHeaders = {
    ...admin,
    'x-workspace-id': server.workspaceId,
    'x-multiple-integrations': 'true',
  }
  const { bot } = await call(`${server.address}/v1/admin/bots`, 'POST', botHeaders, {})
  const headers = { ...admin, 'x-bot-id': bot.id }
  for (let start = 0; start < passages; start += perFile) {
    const amount = Math.min(perFile, passages - start)
    // A heading each, so that every part is a passage.
    const parts = Array.from({ length: amount }, () => `## ${words.text(4)}\n\n${words.text(80)}.`)
    const content = parts.join('\n\n')
    const { file } = await call(`${server.address}/v1/files`, 'PUT', headers, {
      key: `part-${start}.md`,
      size: Buffer.byteLength(content),
      index: true,
    })
    await fetch(file.uploadUrl, { method: 'PUT', body: content })
  }
  for (;;) {
    const { files } = await call(`${server.address}/v1/files?pageSize=100`, 'GET', headers)
    const failed = files.find(({ status }) => status.endsWith('failed'))
    if (failed) throw new Error(failed.failedStatusReason)
    if (files.every(({ status }) => status === 'indexing_completed')) return bot.id
    await sleep(500)
  }
}

/** Every passage has its vector once nothing waits, and none is made anew once the model fits so many. */
async function awaitVectors(reads, botId, passages) {
  for (let quiet = 0; quiet < 3; ) {
    await sleep(1000)
    const isDone = await reads.snapshot(async (db) => {
      const ofBot = (table) => db.selectFrom(table).where('bot_id', '=', botId)
      const waiting = await ofBot('passages_without_vector').select('number').limit(1).execute()
      const spaces = await ofBot('semantic_spaces').select(['serving', 'passages']).execute()
      const isSettled = spaces.every((space) => space.serving && space.passages * 1.5 > passages)
      return waiting.length === 0 && isSettled
    })
    quiet = isDone ? quiet + 1 : 0
  }
}

async function call(url, method, headers, body) {
  const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
  return await response.json()
}

/**
 * Made-up words that are as common or rare as words of content are, the n-th by one n-th as often as the
 * first; the first stands in some 2 of 100 passages. What is more common is mostly left out of questions.
 */
function createWords(seed) {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const first = 500
  const spread = 1000
  const word = () => `w${Math.floor(first * spread ** random()).toString(36)}x`
  return { text: (count) => Array.from({ length: count }, word).join(' ') }
}
