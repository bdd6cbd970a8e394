// Measures how well scores separate questions that a collection answers from others: each set of questions is asked of
// its own documents, of those of the other sets, and of collections without its answers.
// BENCH_SETS=<folder>          sets in the layout of BEIR, a folder each; without it the questions about our guides
// BENCH_SCORES_DATA=<folder>   keeps the filled databases there, and reuses existing ones
// BENCH_THRESHOLD=0.4          the score from which a result counts as an answer
// BENCH_JSON=<file>            writes the best score of every question
// DATABASE_URL=<address>       fills and measures a PostgreSQL database instead of SQLite
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { mean, measure, separate } from '#server/domain/ranking-measures.js'
import { defaultWeights } from '#server/domain/retriever-weights.js'
import { find } from '#server/features/search/retrieval/find.js'
import { createRanker } from '#server/features/search/retrieval/ranker.js'
import { postgresDialect, sqliteDialect } from '#server/platform/db/dialect.js'
import { openReads } from '#server/platform/db/open.js'
import { awaitVectors, upload } from './collection.mjs'
import { startBenchServer } from './processes.mjs'
import { readSets, shuffled } from './search-sets.mjs'
import { sized } from './size.mjs'

const threshold = Number(process.env.BENCH_THRESHOLD ?? 0.4)
const url = process.env.DATABASE_URL
/**
 * Documents of a collection, chosen by chance; or the share of them that is left when all answers of some questions were
 * removed; the last one has all.
 */
const sizes = process.env.BENCH_SIZES?.split(',').map(Number) ?? sized([20, 200, 0.9, 1], [3, 1])
const retrievers = process.env.BENCH_RETRIEVERS?.split(',')
/** Maximum number of questions of each kind per collection; nDCG uses all of them. */
const maxQuestions = sized(250, 5)
const uploadsAtOnce = 4
const limit = 50
const note = 'scores.json'

/** Rows: for every set and size, what is refused and kept at the threshold, the area under the curve, and nDCG@10. */
export async function measureScores(folder) {
  const sets = await readSets(process.env.BENCH_SETS)
  const dataDir = process.env.BENCH_SCORES_DATA ?? join(folder, 'scores')
  const collections = sets.flatMap((set) => sizes.flatMap((size) => toCollection(set, size)))
  const bots = await fillAll(dataDir, collections)
  const reads = await openReads(url ? { url, poolSize: 2 } : { file: join(dataDir, 'botstead.db') })
  try {
    const used = Object.entries(defaultWeights).filter(
      ([name]) => retrievers?.includes(name) ?? true,
    )
    const weights = Object.fromEntries(used)
    const ranker = createRanker({ dialect: url ? postgresDialect : sqliteDialect, weights })
    const search = (botId) => (query) => reads.snapshot((db) => ask(db, ranker, botId, query))
    const results = []
    for (const collection of collections) {
      const botId = bots[collection.name]
      results.push(await measureOne(collection, search(botId), sets))
    }
    if (process.env.BENCH_JSON) {
      await writeFile(process.env.BENCH_JSON, `${JSON.stringify(results, null, 1)}\n`)
    }
    return results.map(toRow)
  } finally {
    await reads.close()
  }
}

/** Some documents of a set: as many as `size`, or that share of all. */
function toCollection(set, size) {
  const total = set.documents.length
  if (total === 0 || size > total) return []
  const documents =
    size > 1 ? shuffled(set.documents).slice(0, size) : withoutAnswers(set, (1 - size) * total)
  return [
    {
      name: `${set.name} ${documents.length}`,
      set,
      documents,
      isWhole: documents.length === total,
    },
  ]
}

/** The documents of a set without those that answer some of its questions. */
function withoutAnswers({ documents, questions }, count) {
  const removed = new Set()
  for (const { relevant } of shuffled(questions)) {
    if (removed.size + relevant.size <= count) for (const id of relevant.keys()) removed.add(id)
  }
  return documents.filter(({ id }) => !removed.has(id))
}

async function fillAll(dataDir, collections) {
  const known = await readFile(join(dataDir, note), 'utf8').catch(() => '{}')
  const bots = JSON.parse(known)
  const missing = collections.filter(({ name }) => bots[name] === undefined)
  if (missing.length === 0) return bots
  await mkdir(dataDir, { recursive: true })
  const server = await startBenchServer(dataDir, { BOTSTEAD_RATE_LIMIT: 'off' })
  const { address: baseUrl } = server
  // Only the first start shows them.
  const { token = bots.token, workspaceId = bots.workspaceId } = server
  Object.assign(bots, { token, workspaceId })
  try {
    for (const { name, documents } of missing) {
      const { bot } = await createClient({ baseUrl, token, workspaceId }).createBot({})
      const inBot = createClient({ baseUrl, token, botId: bot.id })
      const queue = documents.values()
      const work = async () => {
        for (const { id, title, text } of queue) {
          const content = title === '' ? text || ' ' : `# ${title}\n\n${text}`
          await upload(inBot, encodeURIComponent(id), content, { contentType: 'text/markdown' })
        }
      }
      await Promise.all(Array.from({ length: uploadsAtOnce }, work))
      bots[name] = bot.id
    }
    if (!url) await awaitAllVectors(join(dataDir, 'botstead.db'), bots, missing)
    await writeFile(join(dataDir, note), JSON.stringify(bots))
    return bots
  } finally {
    await server.stop()
  }
}

async function awaitAllVectors(file, bots, collections) {
  const reads = await openReads({ file })
  try {
    for (const { name, documents } of collections) {
      // Fewer have no vectors.
      if (documents.length >= 40) await awaitVectors(reads, bots[name], documents.length)
    }
  } finally {
    await reads.close()
  }
}

/** The documents that are found, best first, and the score of the best. */
async function ask(db, ranker, botId, query) {
  const scope = { botId, integrationId: undefined, now: new Date().toISOString() }
  const request = { query, scope, tags: [], limit, depth: 0 }
  const { hits, nearby, files } = await find(db, ranker, request)
  const fileOf = new Map(nearby.map(({ hit, file_id }) => [hit, file_id]))
  const keyOf = new Map(files.map(({ id, key }) => [id, decodeURIComponent(key)]))
  const ranked = hits.map(({ number }) => keyOf.get(fileOf.get(number) ?? '') ?? '')
  return { score: hits[0]?.score ?? 0, ranked: [...new Set(ranked)] }
}

async function measureOne({ name, set, documents, isWhole }, search, sets) {
  const present = new Set(documents.map(({ id }) => id))
  const isPresent = ([id]) => present.has(id)
  const own = shuffled(set.questions)
  const answered = own.filter(({ relevant }) => [...relevant].some(isPresent))
  const removed = own
    .filter(({ relevant }) => ![...relevant].some(isPresent))
    .slice(0, maxQuestions)
  const foreign = sets.flatMap((other) =>
    other === set ? [] : shuffled(other.questions).slice(0, maxQuestions),
  )
  const ndcg = []
  /** @type {Record<string, { id: string, text: string, score: number, ranked?: string[] }[]>} */
  const scored = { answered: [], removed: [], foreign: [] }
  for (const [at, { id, text, relevant }] of answered.entries()) {
    if (!isWhole && at >= maxQuestions) break
    const { score, ranked } = await search(text)
    const there = new Map([...relevant].filter(isPresent))
    ndcg.push(measure(ranked, there).ndcg)
    scored.answered?.push({ id, text, score, ranked: ranked.slice(0, 10) })
  }
  for (const [kind, questions] of Object.entries({ removed, foreign })) {
    for (const { id, text } of questions) {
      scored[kind]?.push({ id, text, score: (await search(text)).score })
    }
  }
  return { name, documents: documents.length, ndcg: mean(ndcg), ...scored }
}

const scoresOf = (questions) => questions.map(({ score }) => score)
const percent = (part, all) => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`

function toRow({ name, ndcg, answered, removed, foreign }) {
  const isAnswer = (score) => score >= threshold
  const kept = scoresOf(answered).filter(isAnswer).length
  const refusals = Object.entries({ removed, foreign }).flatMap(([kind, questions]) => {
    if (questions.length === 0) return []
    const scores = scoresOf(questions)
    const refused = scores.filter((score) => !isAnswer(score)).length
    const { chance } = separate(scoresOf(answered), scores)
    return [`${kind}: refused ${percent(refused, scores.length)}, area ${chance.toFixed(3)}`]
  })
  return {
    work: `scores of ${name}`,
    figure: [
      `kept ${percent(kept, answered.length)}`,
      ...refusals,
      `nDCG@10 ${ndcg.toFixed(4)}`,
    ].join('; '),
  }
}
