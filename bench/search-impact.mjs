// The cost of searches for other requests, and the time until a document is searchable.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteReads } from '#server/platform/db/sqlite-driver.js'
import { createWords, startCollection, upload } from './collection.mjs'
import { residentMegabytes } from './processes.mjs'
import { sized } from './size.mjs'
import { describe, quantiles } from './timed.mjs'

const messages = sized(1000, 20)
const documents = sized(9, 1)
/** Bytes of the document that is indexed meanwhile. */
const largeBytes = sized(5_000_000, 200_000)
/** In smaller collections searches are so fast that there are as many of them as messages. */
const large = 100_000

/** Rows: messages alone, and while two searches run continuously. */
export async function measureMessages({ inBot, chatClient }, passages, questions) {
  const { key: userKey } = await chatClient().chatCreateUser({})
  const chat = chatClient({ userKey })
  const { conversation } = await chat.chatCreateConversation({})
  const send = () => messageLatency(chat, conversation.id)
  await send()
  const alone = await send()
  let searching = true
  let searches = 0
  const searchers = [0, 1].map(async (first) => {
    for (let at = first; searching; at++, searches++) {
      await inBot.searchFiles({ query: questions[at % questions.length] })
    }
  })
  const beside = await send()
  searching = false
  await Promise.all(searchers)
  const size = passages.toLocaleString('en')
  return [
    { work: 'create a message, alone', figure: waitsOf(alone) },
    {
      work: `create a message while ${searches} searches of ${size} passages run, two at a time`,
      figure: waitsOf(beside),
      against: 'p99, 2 x alone',
      ratio: (2 * alone.p99) / beside.p99,
      ...(passages >= large && { budget: 1 }),
    },
  ]
}

/** Rows: messages alone, and while a large document is indexed, and while it is deleted. */
export async function measureIndexingImpact(folder) {
  const { server, file, inBot, chatClient } = await startCollection(join(folder, 'impact'), 0)
  const reads = await openSqliteReads(file)
  try {
    const { key: userKey } = await chatClient().chatCreateUser({})
    const chat = chatClient({ userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const whileIt = async (work) => {
      let isDone = false
      const working = work().finally(() => {
        isDone = true
      })
      const times = await messageLatency(chat, conversation.id, () => !isDone)
      return { times, took: await working }
    }
    await upload(inBot, 'warm.md', varied(100_000, 1))
    await messageLatency(chat, conversation.id)
    const alone = await messageLatency(chat, conversation.id)
    const text = varied(largeBytes, 2)
    const indexing = await whileIt(() => upload(inBot, 'large.md', text))
    const deleting = await whileIt(async () => {
      const begin = performance.now()
      for (const id of ['large.md', 'warm.md']) await inBot.deleteFile({ id })
      while (await hasWords(reads)) await sleep(20)
      return performance.now() - begin
    })
    const seconds = (took) => `${(took / 1000).toFixed(1)} s`
    return [
      { work: 'create a message, alone', figure: waitsOf(alone) },
      {
        work: `create a message while a document of ${largeBytes / 1e6} MB is indexed, ${seconds(indexing.took)}`,
        figure: waitsOf(indexing.times),
        against: 'p99, 2 x alone',
        ratio: (2 * alone.p99) / indexing.times.p99,
      },
      {
        work: `create a message while its passages are deleted, ${seconds(deleting.took)}`,
        figure: waitsOf(deleting.times),
        against: 'p99, 2 x alone',
        ratio: (2 * alone.p99) / deleting.times.p99,
      },
    ]
  } finally {
    reads.close()
    await server.stop()
  }
}

/** The words are deleted last. */
async function hasWords(reads) {
  const rows = await reads.snapshot((db) =>
    db.selectFrom('bot_words').select('word').limit(1).execute(),
  )
  return rows.length > 0
}

/** Milliseconds until the response to a message, one after another. */
export async function messageLatency(chat, conversationId, goesOn = (at) => at < messages) {
  const times = []
  for (let at = 0; goesOn(at); at++) {
    const start = performance.now()
    await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: 'hello' } })
    times.push(performance.now() - start)
  }
  return quantiles(times)
}

const waitsOf = ({ p50, p99, most }) =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${most.toFixed(1)} ms`

/** The cost of the search thread: its start, its memory, and the round trip to it. */
export async function searchThread(folder) {
  const { server, inBot } = await startCollection(join(folder, 'thread'), 0)
  try {
    const search = async () => {
      const begin = performance.now()
      await inBot.searchFiles({ query: 'nothing is there' })
      return performance.now() - begin
    }
    await inBot.listFiles({})
    const before = await residentMegabytes(server.pid)
    const first = await search()
    const after = await residentMegabytes(server.pid)
    const times = []
    for (let at = 0; at < messages; at++) times.push(await search())
    return [
      {
        work: 'first search, which starts a thread',
        figure: `${Math.round(first)} ms, ${Math.round(after - before)} MB more memory`,
      },
      {
        work: 'a search through the interface that finds nothing',
        figure: describe(quantiles(times)),
      },
    ]
  } finally {
    await server.stop()
  }
}

/** From PUT to searchable for Markdown of 100 KB. */
export async function timeToSearchable(folder) {
  const { server, inBot } = await startCollection(join(folder, 'searchable'), 0)
  try {
    await upload(inBot, 'warm.md', textOf(100_000, 0))
    const times = []
    for (let at = 1; at <= documents; at++) {
      times.push(await upload(inBot, `${at}.md`, textOf(100_000, at)))
    }
    const { p50, p95 } = quantiles(times)
    return [
      {
        work: 'Markdown of 100 KB: PUT to searchable',
        figure: `p50 ${Math.round(p50)} ms, longest of ${documents} ${Math.round(p95)} ms`,
        against: '500 ms, p50',
        ratio: 500 / p50,
        budget: 1,
      },
    ]
  } finally {
    await server.stop()
  }
}

const textOf = (bytes, seed) => {
  let text = `# Document ${seed}`
  for (let at = 0; text.length < bytes; at++) {
    text += `\n\n## Part ${at}\n\n${sentences(seed + at, 6)}`
  }
  return text.slice(0, bytes)
}

/** Text of made-up words, as many distinct ones as in a book. */
function varied(bytes, seed) {
  const words = createWords(seed)
  let text = '# Document'
  while (text.length < bytes) text += `\n\n## ${words.text(4)}\n\n${words.text(165)}.`
  return text.slice(0, bytes)
}

const sentences = (seed, count) =>
  Array.from(
    { length: count },
    (_, at) => `The pump number ${seed * 7 + at} moves water of kind ${(seed * at) % 97} upwards.`,
  ).join(' ')
