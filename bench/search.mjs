// Search in the passages of one bot: each retriever alone, all together, for one caller and for many, and the impact
// on others.
// BENCH_PASSAGES=1000,10000 npm run bench -- search-size    other sizes than 1,000, 10,000 and 100,000
// BENCH_SEARCH_DATA=<folder>    keeps the filled databases there, and reuses existing ones
// BENCH_JSON=<file>             writes the figures, for bench/plot.mjs
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteReads } from '#server/platform/db/sqlite-driver.js'
import { startCollection } from './collection.mjs'
import { measureMessages } from './search-impact.mjs'
import { retrieversOf } from './search-retrievers.mjs'
import { sized } from './size.mjs'
import { describe, quantiles, timed } from './timed.mjs'

const sizes = (process.env.BENCH_PASSAGES ?? sized('1000,10000,100000', '60'))
  .split(',')
  .map(Number)
const questions = sized(60, 10)
const budgetMs = 100
const callers = 16
const togetherMs = sized(5000, 300)
const whole = 'as a caller sees it'

/** Rows of every size, in the order given. */
export async function searchBySize(folder) {
  const rows = []
  const points = []
  for (const passages of sizes) {
    const dataDir = join(process.env.BENCH_SEARCH_DATA ?? folder, `search-${passages}`)
    const { retrievers, others } = await searchIn(dataDir, passages)
    points.push({ passages, retrievers })
    rows.push(...toRows(passages, retrievers), ...others)
  }
  if (process.env.BENCH_JSON) {
    await writeFile(process.env.BENCH_JSON, `${JSON.stringify(points, null, 2)}\n`)
  }
  return rows
}

async function searchIn(dataDir, passages) {
  const collection = await startCollection(dataDir, passages)
  const { server, file, botId, words, inBot } = collection
  /** @type {Awaited<ReturnType<typeof openSqliteReads>> | undefined} */
  let reads
  try {
    reads = await openSqliteReads(file)
    const queries = Array.from({ length: questions }, (_, at) => {
      const question = words.text(8)
      // Every tenth with a typing error in its first word.
      return at % 10 === 0 ? question.replace(/^(.)(.)(.)/, '$1$3$2') : question
    })
    const retrievers = {}
    for (const [name, search] of Object.entries(retrieversOf(reads, botId))) {
      retrievers[name] = await timed(queries, search)
    }
    const { clock } = await timed(queries, (query) => inBot.searchFiles({ query }))
    retrievers[whole] = { clock }
    const together = await searchTogether(inBot, queries)
    return {
      retrievers,
      others: [together, ...(await measureMessages(collection, passages, queries))],
    }
  } finally {
    reads?.close()
    await server.stop()
  }
}

/** A row: searches of many callers at once. */
async function searchTogether(inBot, queries) {
  const times = []
  const begin = performance.now()
  const search = async (first) => {
    for (let at = first; performance.now() - begin < togetherMs; at += callers) {
      const asked = performance.now()
      await inBot.searchFiles({ query: queries[at % queries.length] })
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => search(caller)))
  const perSecond = Math.round((times.length * 1000) / (performance.now() - begin))
  return {
    work: `search, ${callers} callers at once`,
    figure: `${perSecond} /s, ${describe(quantiles(times))}`,
  }
}

function toRows(passages, retrievers) {
  const alone = retrievers['FTS5 alone'].clock.p95
  return Object.entries(retrievers).map(([name, { clock, processor }]) => ({
    work: `search ${passages.toLocaleString('en')} passages, ${name}`,
    figure: `${describe(clock)}${processor ? `; at the processor ${describe(processor)}` : ''}`,
    ...(name === 'all three' && { against: 'FTS5 alone, p95', ratio: alone / clock.p95 }),
    ...(name === whole && { against: `${budgetMs} ms`, ratio: budgetMs / clock.p95, budget: 1 }),
  }))
}
