// What searching costs everybody else, and how long a document takes until it is found.
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createClient } from '@botstead/contract'
import { startBenchServer } from './processes.mjs'

/** Of the document that is searched; a bit below what one file may have. */
const passages = 4000
const rounds = 200

/** Messages alone and while searches run, and PUT to searchable for Markdown of 100 KB. */
export async function searchImpact(folder) {
  const server = await startBenchServer(join(folder, 'search-impact'))
  try {
    const { alone, beside, indexed } = await measureImpact(server)
    return [
      { work: 'create a message, alone, p99', figure: `${alone.toFixed(1)} ms` },
      {
        work: 'create a message while two searches run, p99',
        figure: `${beside.toFixed(1)} ms`,
        against: '2 x alone',
        ratio: (2 * alone) / beside,
        budget: 1,
      },
      {
        work: 'Markdown of 100 KB: PUT to searchable',
        figure: `${Math.round(indexed)} ms`,
        against: '500 ms',
        ratio: 500 / indexed,
        budget: 1,
      },
    ]
  } finally {
    await server.stop()
  }
}

async function measureImpact({ address: baseUrl, token, workspaceId }) {
  const admin = createClient({ baseUrl, token, workspaceId })
  const { bot } = await admin.createBot({})
  const webhookId = Object.values(bot.integrations)[0].webhookId
  const inBot = createClient({ baseUrl, token, botId: bot.id })
  const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  await upload(inBot, 'large.md', documentOf(passages))

  const alone = await messageLatency(chat, conversation.id)
  let searching = true
  const searches = [1, 2].map(async () => {
    for (let at = 0; searching; at++) {
      await inBot.searchFiles({ query: `how does the pump number ${at} start in the morning` })
    }
  })
  const beside = await messageLatency(chat, conversation.id)
  searching = false
  await Promise.all(searches)

  await upload(inBot, 'warm.md', textOf(100_000, 0))
  const times = []
  for (let at = 1; at <= 5; at++) times.push(await upload(inBot, `${at}.md`, textOf(100_000, at)))
  return { alone, beside, indexed: times.sort((a, b) => a - b)[2] }
}

/** Milliseconds at the 99th percentile. */
async function messageLatency(chat, conversationId) {
  const times = []
  for (let at = 0; at < rounds; at++) {
    const start = performance.now()
    await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: 'hello' } })
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds * 0.99)]
}

/** Milliseconds from the upsert until the file is found. */
async function upload(inBot, key, content) {
  const start = performance.now()
  const size = Buffer.byteLength(content)
  const { file } = await inBot.upsertFile({ key, size, index: true })
  await fetch(file.uploadUrl, { method: 'PUT', body: content })
  let status = 'indexing_pending'
  while (status === 'indexing_pending') {
    status = (await inBot.getFile({ id: file.id, waitFor: 'indexing_completed' })).file.status
  }
  if (status !== 'indexing_completed') throw new Error(`${key} is ${status}`)
  return performance.now() - start
}

const documentOf = (count) =>
  Array.from({ length: count }, (_, at) => `## Part ${at}\n\n${sentences(at, 8)}`).join('\n\n')

const textOf = (bytes, seed) => {
  let text = `# Document ${seed}`
  for (let at = 0; text.length < bytes; at++)
    text += `\n\n## Part ${at}\n\n${sentences(seed + at, 6)}`
  return text.slice(0, bytes)
}

const sentences = (seed, count) =>
  Array.from(
    { length: count },
    (_, at) => `The pump number ${seed * 7 + at} moves water of kind ${(seed * at) % 97} upwards.`,
  ).join(' ')
