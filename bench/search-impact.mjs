// What searching costs everybody else, and how long a document takes until it is found.
import { join } from 'node:path'
import { startCollection, upload } from './collection.mjs'
import { residentMegabytes } from './processes.mjs'
import { describe, quantiles } from './timed.mjs'

const messages = 1000
const documents = 9
/** In smaller collections searches answer so fast that they are as many as the messages. */
const large = 100_000

/** Rows: messages alone, and while two searches run all the time. */
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
  const waits = ({ p50, p99 }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  return [
    { work: 'create a message, alone', figure: waits(alone) },
    {
      work: `create a message while ${searches} searches of ${size} passages run, two at a time`,
      figure: waits(beside),
      against: 'p99, 2 x alone',
      ratio: (2 * alone.p99) / beside.p99,
      ...(passages >= large && { budget: 1 }),
    },
  ]
}

/** Milliseconds until a message is answered, one after the other. */
async function messageLatency(chat, conversationId) {
  const times = []
  for (let at = 0; at < messages; at++) {
    const start = performance.now()
    await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text: 'hello' } })
    times.push(performance.now() - start)
  }
  return quantiles(times)
}

/** What the thread costs that searches run in: its start, its memory, and the way to it and back. */
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

const sentences = (seed, count) =>
  Array.from(
    { length: count },
    (_, at) => `The pump number ${seed * 7 + at} moves water of kind ${(seed * at) % 97} upwards.`,
  ).join(' ')
