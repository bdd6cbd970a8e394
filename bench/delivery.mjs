// Deliveries: how many per second reach one bot, in order, and how soon a bot's reply arrives.
import { once } from 'node:events'
import http from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startBenchServer } from './processes.mjs'
import { firstMessage, startScript, stopped } from './programs.mjs'
import { chatOf, json, request } from './request.mjs'
import { givenAmount, sized } from './size.mjs'

const { Agent } = createRequire(new URL('../apps/server/package.json', import.meta.url))('undici')
const conversations = givenAmount('BENCH_CONVERSATIONS', 2000, 20)
const perConversation = 10
const questions = sized(200, 5)
/** Bare calls that are made. */
const calls = sized(20_000, 200)
/** Calls to one bot at a time, as the server makes them by default. */
const concurrency = 16
const script = fileURLToPath(new URL('./delivery-bot.mjs', import.meta.url))

/** Runs work for each item with limited concurrency. */
async function each(items, atOnce, work) {
  const left = items.values()
  const run = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, run))
}

async function startBot({ address, token }) {
  const child = startScript(script, { args: [address, token] })
  const { url } = await firstMessage(child)
  const query = async (what) => {
    child.send(what)
    return (await once(child, 'message'))[0]
  }
  const stop = () => stopped(child, () => child.send('stop'))
  return { url, query, stop }
}

async function openConversations(server) {
  const admin = { authorization: `Bearer ${server.token}`, 'x-workspace-id': server.workspaceId }
  const { bot } = await request(`${server.address}/v1/admin/bots`, 'POST', admin, {})
  const chat = chatOf(bot)
  const { key } = await request(`${chat}/users`, 'POST', {}, {})
  const user = { 'x-user-key': key }
  const ids = []
  await each(Array.from({ length: conversations }), concurrency, async () => {
    const { conversation } = await request(`${chat}/conversations`, 'POST', user, {})
    ids.push(conversation.id)
  })
  const say = (conversationId, text) =>
    request(`${chat}/messages`, 'POST', user, { conversationId, payload: { type: 'text', text } })
  const change = (patch) =>
    request(`${server.address}/v1/admin/bots/${bot.id}`, 'PUT', admin, patch)
  const act = (what) =>
    request(`${server.address}/v1/admin/bots/${bot.id}/deliveries/${what}`, 'POST', admin, {})
  return { bot, chat, user, ids, say, change, act }
}

/** Calls per second of bare POSTs with such a body, over as many connections. */
async function bareCalls(url, body) {
  const agent = new Agent({ connections: concurrency })
  const { origin } = new URL(url)
  const headers = { ...json, 'x-bp-type': 'message_created' }
  const post = async () => {
    const response = await agent.request({ origin, path: '/', method: 'POST', headers, body })
    await response.body.dump()
  }
  await each(Array.from({ length: calls / 10 }), concurrency, post)
  const begin = performance.now()
  await each(Array.from({ length: calls }), concurrency, post)
  const perSecond = calls / ((performance.now() - begin) / 1000)
  await agent.close()
  return perSecond
}

async function untilDelivered(bot, expected) {
  let last = -1
  for (let quiet = 0; quiet < 300; quiet += 1) {
    const { count } = await bot.query('count')
    if (count >= expected) return
    if (count !== last) quiet = 0
    last = count
    await sleep(50)
  }
  throw new Error(`${last} of ${expected} were delivered, and no more come`)
}

function requireOrder(orders) {
  const wanted = Array.from({ length: perConversation }, (_, i) => i).join()
  const wrong = orders.filter(([, order]) => order.join() !== wanted)
  if (wrong.length > 0 || orders.length !== conversations) {
    throw new Error(
      `${wrong.length} of ${orders.length} conversations are out of order: ${wrong[0]}`,
    )
  }
}

/** Milliseconds from sending a message to the reply at a listener, sorted. */
async function replies({ chat, user, ids, say }) {
  const arrived = new Map()
  const url = `${chat}/conversations/${ids[0]}/listen`
  const call = http.get(url, { headers: user })
  const [stream] = await once(call, 'response')
  stream.setEncoding('utf8').on('data', (text) => {
    for (const [, number] of text.matchAll(/reply (\d+)/g)) {
      if (!arrived.has(number)) arrived.set(number, performance.now())
    }
  })
  stream.on('error', () => {})
  const waits = []
  for (let i = 0; i < questions; i += 1) {
    const begin = performance.now()
    await say(ids[0], `ask ${i}`)
    while (!arrived.has(String(i))) {
      if (performance.now() - begin > 60_000) throw new Error(`There is no reply to message ${i}`)
      await sleep(1)
    }
    waits.push(arrived.get(String(i)) - begin)
  }
  call.destroy()
  return waits.sort((a, b) => a - b)
}

/** Rows of the table: deliveries per second against bare calls, and the time until a reply. */
export async function measureDelivery(folder) {
  const server = await startBenchServer(join(folder, 'delivery'))
  const bot = await startBot(server)
  try {
    const opened = await openConversations(server)
    await opened.change({ url: bot.url })
    const payload = { message: { payload: { type: 'text', text: '0' } }, filler: 'x'.repeat(1200) }
    const bare = await bareCalls(bot.url, JSON.stringify({ event: { payload } }))
    // Only sending is measured: deliveries wait until the pause ends.
    await opened.act('pause')
    await each(opened.ids, concurrency, async (id) => {
      for (let i = 0; i < perConversation; i += 1) await opened.say(id, String(i))
    })
    const total = conversations * perConversation
    const begin = performance.now()
    await opened.act('resume')
    await untilDelivered(bot, total)
    const perSecond = total / ((performance.now() - begin) / 1000)
    requireOrder(await bot.query('orders'))
    const waits = await replies(opened)
    const at = (share) => waits[Math.floor(waits.length * share)].toFixed(1)
    const rate = (figure) => `${Math.round(figure).toLocaleString('en')} /s`
    return [
      { work: `bare POST to a bot, ${concurrency} at once`, figure: rate(bare) },
      {
        work: `deliver ${total.toLocaleString('en')} messages of ${conversations} conversations in order`,
        figure: rate(perSecond),
        against: 'bare POST to a bot',
        ratio: perSecond / bare,
      },
      {
        work: "message to the bot's reply at a listener",
        figure: `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`,
      },
    ]
  } finally {
    await bot.stop()
    await server.stop()
  }
}
