// Listeners and web chats: memory of each, connections per second, delivery latency, and the time to catch up.
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { processorTime } from './load.mjs'
import { startBenchServer } from './processes.mjs'
import { adminHeadersOf, chatOf, request } from './request.mjs'
import { givenAmount, sized } from './size.mjs'

const perConversation = 10
const messagesPerSecond = 100
const seconds = sized(10, 1)
const missed = sized(1000, 50)
/** Seconds for which quiet listeners are measured: as long as a ping takes to reach all. */
const quietSeconds = sized(30, 1)
/** Milliseconds until what was just done no longer keeps the server busy. */
const calmMs = sized(3000, 200)
const shortCalmMs = sized(1000, 100)
/** Milliseconds for which messages are waited for that were sent. */
const patienceMs = 60_000
/** Both ends of a connection are on this machine, and each process needs a descriptor. */
const listeners = givenAmount('BENCH_LISTENERS', 10_000, 200)

async function residentBytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024
}

/**
 * Opens a stream and passes each text to `onText`; resolves when it is admitted.
 * @param program name of the client; one without a name gets a comment every four seconds
 */
function listen(url, key, agent, onText, program = 'bench') {
  return new Promise((resolve, reject) => {
    const headers = { 'x-user-key': key, ...(program && { 'user-agent': program }) }
    const call = http.get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`))
      response
        .setEncoding('utf8')
        .on('data', onText)
        .on('error', () => {})
      resolve(() => call.destroy())
    })
    call.on('error', reject)
  })
}

/** Sends messages in turn to these conversations, and waits until each has arrived as often as there are listeners. */
async function sendAll(conversations, waits, listenersOfEach) {
  for (let i = 0; i < messagesPerSecond * seconds; i += 1) {
    const due = performance.now() + 1000 / messagesPerSecond
    void say(conversations[(i * 7919) % conversations.length], `sent ${Date.now()}`)
    await sleep(Math.max(0, due - performance.now()))
  }
  const expected = messagesPerSecond * seconds * listenersOfEach
  const end = performance.now() + patienceMs
  while (waits.length < expected && performance.now() < end) await sleep(100)
  // None arrives twice.
  await sleep(shortCalmMs)
  if (waits.length !== expected) throw new Error(`${waits.length} of ${expected} arrived`)
  waits.sort((a, b) => a - b)
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The chat address of a new bot. */
async function createChat(server) {
  const bots = `${server.address}/v1/admin/bots`
  const { bot } = await request(bots, 'POST', adminHeadersOf(server), {})
  return chatOf(bot)
}

async function openConversations(server, count) {
  const chat = await createChat(server)
  const conversations = []
  for (let i = 0; i < count; i += 1) {
    const { key } = await request(`${chat}/users`, 'POST', {}, {})
    const { conversation } = await request(
      `${chat}/conversations`,
      'POST',
      { 'x-user-key': key },
      {},
    )
    conversations.push({ chat, key, id: conversation.id })
  }
  return conversations
}

const say = (conversation, text) =>
  request(
    `${conversation.chat}/messages`,
    'POST',
    { 'x-user-key': conversation.key },
    { conversationId: conversation.id, payload: { type: 'text', text } },
  )
const streamOf = (conversation) => `${conversation.chat}/conversations/${conversation.id}/listen`

/** Connects all listeners, in batches that fit into a listen backlog. */
async function connectAll(conversations, agent, onText, program) {
  const closers = []
  const wanted = conversations.flatMap((conversation) =>
    Array.from({ length: perConversation }, () => conversation),
  )
  for (let i = 0; i < wanted.length; i += 200) {
    closers.push(
      ...(await Promise.all(
        wanted
          .slice(i, i + 200)
          .map((conversation) =>
            listen(streamOf(conversation), conversation.key, agent, onText, program),
          ),
      )),
    )
  }
  return closers
}

async function replay(conversation, agent) {
  for (let i = 0; i < missed; i += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, j) => say(conversation, `missed ${i + j}`)))
  }
  const start = performance.now()
  let received = 0
  await /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      listen(`${streamOf(conversation)}?lastEventId=0`, conversation.key, agent, (text) => {
        received += text.split('message_created').length - 1
        if (received >= missed) resolve()
      }).catch(reject)
    })
  )
  return performance.now() - start
}

/** Percent of a processor that the server takes for listeners to which nothing happens. */
async function costOfQuiet(server, conversations, agent, program) {
  const closers = await connectAll(conversations, agent, () => {}, program)
  await sleep(calmMs)
  const before = await processorTime(server.pid)
  await sleep(quietSeconds * 1000)
  const used = (await processorTime(server.pid)) - before
  for (const close of closers) close()
  await sleep(shortCalmMs)
  return used / (quietSeconds * 10_000)
}

/** Rows of the table: memory, connections per second, latency, catching up. */
export async function measureListeners(folder) {
  const count = listeners
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const server = await startBenchServer(join(folder, 'listeners'))
  try {
    const conversations = await openConversations(server, count / perConversation)
    const waits = []
    const onText = (text) => {
      const now = Date.now()
      for (const [, at] of text.matchAll(/sent (\d+)/g)) waits.push(now - Number(at))
    }
    await sleep(shortCalmMs)
    const before = await residentBytes(server.pid)
    const begin = performance.now()
    const closers = await connectAll(conversations, agent, onText)
    const connecting = (performance.now() - begin) / 1000
    await sleep(calmMs)
    const each = ((await residentBytes(server.pid)) - before) / count

    await sendAll(conversations, waits, perConversation)
    const p95 = percentile(waits, 0.95)
    for (const close of closers) close()
    const quiet = {
      named: await costOfQuiet(server, conversations, agent, 'bench'),
      unnamed: await costOfQuiet(server, conversations, agent, ''),
    }
    const milliseconds = await replay(conversations[0], agent)
    const many = count.toLocaleString('en')
    return [
      {
        work: `memory of one of ${many} listeners`,
        figure: `${(each / 1024).toFixed(1)} KB`,
        against: '20 KB',
        ratio: (20 * 1024) / Math.max(1, each),
        budget: 1,
      },
      { work: `connect ${many} listeners`, figure: `${Math.round(count / connecting)} /s` },
      {
        work: `message to listener, ${messagesPerSecond} /s, ${perConversation} listeners each`,
        figure: `p50 ${percentile(waits, 0.5)} ms, p95 ${p95} ms, p99 ${percentile(waits, 0.99)} ms`,
        against: '50 ms (p95)',
        ratio: 50 / Math.max(1, p95),
        budget: 1,
      },
      {
        work: `${many} quiet listeners, a ping every 30 s`,
        figure: `${quiet.named.toFixed(1)} % of a processor`,
      },
      {
        work: `${many} quiet listeners of Node's http module, a comment every 4 s`,
        figure: `${quiet.unnamed.toFixed(1)} % of a processor`,
      },
      { work: `catch up with ${missed} missed messages`, figure: `${Math.round(milliseconds)} ms` },
    ]
  } finally {
    agent.destroy()
    await server.stop()
  }
}

/**
 * Opens a web chat as its widget does, and passes each text after the first frame to `onText`. Resolves with its
 * conversation when the first frame is there.
 * @param known the conversation of a widget that comes back; undefined for a new visitor
 */
function openWidget(chat, agent, onText, known) {
  return new Promise((resolve, reject) => {
    const path = known ? `/initialize?conversationId=${known.id}` : '/initialize'
    const headers = { accept: 'text/event-stream', timeout: '60000' }
    if (known) headers['x-user-key'] = known.key
    const call = http.get(`${chat}${path}`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`))
      /** @type {string | undefined} */
      let first = ''
      response
        .setEncoding('utf8')
        .on('data', (text) => {
          if (first === undefined) return onText(text)
          first += text
          const frame = /^data: (\{"type":"init".*\})$/m.exec(first)?.[1]
          if (frame === undefined) return
          first = undefined
          const { conversation, user } = JSON.parse(frame).data
          resolve({ chat, id: conversation.id, key: user.userKey, close: () => call.destroy() })
        })
        .on('error', () => {})
    })
    call.on('error', reject)
  })
}

/** Opens widgets in batches that fit into a listen backlog; returns them, and how many were opened a second. */
async function openWidgets(count, open) {
  const widgets = []
  const begin = performance.now()
  for (let i = 0; i < count; i += 200) {
    const batch = Array.from({ length: Math.min(200, count - i) }, (_, j) => open(i + j))
    widgets.push(...(await Promise.all(batch)))
  }
  return { widgets, perSecond: (count * 1000) / (performance.now() - begin) }
}

/** Rows of the table for web chats, each with a user and a conversation of its own. */
export async function measureWidgets(folder) {
  const count = listeners
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY })
  let server = await startBenchServer(join(folder, 'widgets'))
  try {
    const chat = await createChat(server)
    const waits = []
    const onText = (text) => {
      // The signal of its status has the message too.
      for (const [, at] of text.matchAll(/"message_created".*sent (\d+)/g)) {
        waits.push(Date.now() - Number(at))
      }
    }
    const openNew = async () => {
      const widget = await openWidget(chat, agent, onText)
      const payload = { type: 'conversation_started', data: {} }
      await request(
        `${chat}/events`,
        'POST',
        { 'x-user-key': widget.key },
        { conversationId: widget.id, payload },
      )
      return widget
    }
    const { widgets, perSecond } = await openWidgets(count, openNew)
    await sleep(calmMs)

    await sendAll(widgets, waits, 1)
    const p95 = percentile(waits, 0.95)
    const used = await processorTime(server.pid)
    await sleep(quietSeconds * 1000)
    const quiet = ((await processorTime(server.pid)) - used) / (quietSeconds * 10_000)
    for (const { close } of widgets) close()
    // All of them come back to a server that has just started, whose memory is not that of the work before.
    await server.stop()
    server = await startBenchServer(join(folder, 'widgets'))
    const restarted = `${server.address}${new URL(chat).pathname}`
    const reopen = (at) => openWidget(restarted, agent, onText, widgets[at])
    for (const { close } of (await openWidgets(Math.min(200, count), reopen)).widgets) close()
    await sleep(shortCalmMs)
    await server.collect()
    const before = await residentBytes(server.pid)
    const again = await openWidgets(count, reopen)
    await sleep(calmMs)
    await server.collect()
    const each = ((await residentBytes(server.pid)) - before) / count
    for (const { close } of again.widgets) close()
    const many = count.toLocaleString('en')
    return [
      {
        work: `memory of one of ${many} web chats`,
        figure: `${(each / 1024).toFixed(1)} KB`,
        against: '20 KB',
        ratio: (20 * 1024) / Math.max(1, each),
        budget: 1,
      },
      { work: `open ${many} web chats of new visitors`, figure: `${Math.round(perSecond)} /s` },
      {
        work: `open ${many} web chats of known visitors, after a restart`,
        figure: `${Math.round(again.perSecond)} /s`,
      },
      {
        work: `message to its web chat, ${messagesPerSecond} /s, ${many} open`,
        figure: `p50 ${percentile(waits, 0.5)} ms, p95 ${p95} ms, p99 ${percentile(waits, 0.99)} ms`,
        against: '50 ms (p95)',
        ratio: 50 / Math.max(1, p95),
        budget: 1,
      },
      { work: `${many} quiet web chats`, figure: `${quiet.toFixed(1)} % of a processor` },
    ]
  } finally {
    agent.destroy()
    await server.stop()
  }
}
