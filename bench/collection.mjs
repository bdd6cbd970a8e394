// A bot with passages of made-up words, filled through the interface as a user would.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@botstead/contract'
import { openSqliteReads } from '#server/platform/db/sqlite-driver.js'
import { startBenchServer } from './processes.mjs'
import { sized } from './size.mjs'

const perFile = 2500
const note = 'bench.json'

/**
 * A server on a data folder with a number of passages of one bot and their vectors. A folder that was filled
 * before is used as it is.
 */
export async function startCollection(dataDir, passages) {
  const known = await readFile(join(dataDir, note), 'utf8').catch(() => undefined)
  const server = await startBenchServer(dataDir)
  const words = createWords(passages)
  const file = join(dataDir, 'botstead.db')
  const facts = known ? JSON.parse(known) : await fill(server, passages, words, file)
  if (!known) await writeFile(join(dataDir, note), JSON.stringify(facts))
  const { token, botId, webhookId } = facts
  return {
    server,
    file,
    botId,
    words: createWords(passages + 1),
    inBot: createClient({ baseUrl: server.address, token, botId }),
    chatClient: (options) => createClient({ baseUrl: server.address, webhookId, ...options }),
  }
}

async function fill(server, passages, words, file) {
  const { token, workspaceId, address: baseUrl } = server
  const { bot } = await createClient({ baseUrl, token, workspaceId }).createBot({})
  const inBot = createClient({ baseUrl, token, botId: bot.id })
  for (let start = 0; start < passages; start += perFile) {
    const amount = Math.min(perFile, passages - start)
    // With a heading each, so that every part is a passage.
    const parts = Array.from({ length: amount }, () => `## ${words.text(4)}\n\n${words.text(80)}.`)
    await upload(inBot, `part-${start}.md`, parts.join('\n\n'))
  }
  const reads = await openSqliteReads(file)
  try {
    await awaitVectors(reads, bot.id, passages)
  } finally {
    reads.close()
  }
  return { token, botId: bot.id, webhookId: Object.values(bot.integrations)[0]?.webhookId }
}

/** Uploads a file and waits until it is searchable; returns milliseconds from the first call on. */
export async function upload(inBot, key, content, description = {}) {
  const begin = performance.now()
  const size = Buffer.byteLength(content)
  const { file } = await inBot.upsertFile({ key, size, index: true, ...description })
  await fetch(file.uploadUrl, { method: 'PUT', body: content })
  let now = file
  do {
    now = (await inBot.getFile({ id: file.id, waitFor: 'indexing_completed' })).file
  } while (now.status === 'indexing_pending')
  if (now.status !== 'indexing_completed') {
    throw new Error(`${key} is ${now.status}: ${now.failedStatusReason}`)
  }
  return performance.now() - begin
}

/** Every passage has its vector once none waits, and the model is final once it was fitted to about as many. */
export async function awaitVectors(reads, botId, passages) {
  for (let quiet = 0; quiet < 3; ) {
    await sleep(sized(1000, 50))
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

/**
 * Made-up words with the frequencies of content words: the n-th occurs one n-th as often as the
 * first, which occurs in about 2 of 100 passages. More common words are mostly omitted from questions.
 */
export function createWords(seed) {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const first = 500
  const spread = 1000
  // Letters only: the vocabulary in which similar words are searched contains no others.
  const letters = (rank) =>
    String.fromCharCode(...[...rank.toString(26)].map((digit) => 97 + Number.parseInt(digit, 26)))
  const word = () => `w${letters(Math.floor(first * spread ** random()))}x`
  return { text: (count) => Array.from({ length: count }, word).join(' ') }
}
