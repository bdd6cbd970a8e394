// Measures the dashboard on a server with much data: the time of every list, frames while one is scrolled,
// and the cost for messages.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@botstead/contract'
import { chromium } from 'playwright-core'
import { fill, sizes, startPostgres } from './inspected.mjs'
import { startBenchServer } from './processes.mjs'
import { messageLatency } from './search-impact.mjs'
import { sized } from './size.mjs'
import { skipped } from './table.mjs'
import { quantiles } from './timed.mjs'

/** Chromium as systems install it. */
const browsers = [
  ...(process.env.CHROMIUM ? [process.env.CHROMIUM] : []),
  '/usr/bin/chromium',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/google-chrome',
]
const rounds = sized(20, 1)
const scrollMs = sized(5000, 1500)
/** Milliseconds between two lists that a very busy reader opens. */
const pauseMs = 100
/** Maximum time in milliseconds of a list, and minimum frames per second while it is scrolled. */
const wanted = { milliseconds: 300, frames: 50 }

/** The lists of the screens, by the calls that open them. */
function listsOf({ admin, inBot, botId, conversationId, word, rareWord }) {
  const conversations = (filter) => admin.listWorkspaceConversations({ pageSize: 100, ...filter })
  const deliveries = (filter) => admin.listWorkspaceDeliveries({ pageSize: 100, ...filter })
  const logs = (filter) => admin.listLogs({ pageSize: 100, ...filter })
  return {
    'the overview': () => admin.getOverview({}),
    conversations: () => conversations({}),
    'conversations of a bot': () => conversations({ botId }),
    'conversations of a rare channel': () => conversations({ channel: 'rare' }),
    'conversations with a failed delivery': () => conversations({ hasFailedDelivery: true }),
    'conversations in which a common word is said': () => conversations({ text: word }),
    'conversations in which two rare words are said': () => conversations({ text: rareWord }),
    'the time line of a conversation': () =>
      admin.getConversationTimeline({ id: conversationId, pageSize: 100 }),
    deliveries: () => deliveries({}),
    'deliveries that failed': () => deliveries({ status: 'failed' }),
    logs: () => logs({}),
    'errors of the logs': () => logs({ minLevel: 'error' }),
    'the chart of the logs': () => admin.countLogs({}),
    files: () => inBot.listFiles({ pageSize: 100 }),
    'files that failed': () => inBot.listFiles({ pageSize: 100, status: 'indexing_failed' }),
    'folders of files': () => inBot.listFileFolders({}),
    bots: () => admin.listBots({ pageSize: 100 }),
  }
}

export async function measureDashboard(folder) {
  const rows = await measureOn('SQLite', join(folder, 'dashboard'), undefined)
  const postgres = await startPostgres()
  try {
    return [...rows, ...(await measureOn('PostgreSQL', join(folder, 'dashboard-pg'), postgres.url))]
  } finally {
    await postgres.stop()
  }
}

async function measureOn(engine, dataDir, url) {
  const environment = url === undefined ? {} : { DATABASE_URL: url }
  const server = await startBenchServer(dataDir, environment)
  try {
    const { address: baseUrl, token, workspaceId } = server
    const admin = createClient({ baseUrl, token, workspaceId })
    const place = url === undefined ? { file: join(dataDir, 'botstead.db') } : { url }
    const { botIds, words } = await fill(place, admin, workspaceId)
    const [botId] = botIds
    const inBot = createClient({ baseUrl, token, botId })
    const { conversations } = await admin.listWorkspaceConversations({ pageSize: 1 })
    const [newest] = conversations
    if (newest === undefined) throw new Error('There is no conversation')
    const lists = listsOf({
      admin,
      inBot,
      botId,
      conversationId: newest.id,
      word: words.text(1),
      rareWord: words.text(2),
    })
    return [
      ...(await measureLists(engine, lists)),
      ...(await measureOthers(engine, { admin, baseUrl, lists })),
      ...(await measureFrames(engine, server)),
    ]
  } finally {
    await server.stop()
  }
}

async function measureLists(engine, lists) {
  const rows = []
  for (const [name, list] of Object.entries(lists)) {
    const times = []
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      await list()
      times.push(performance.now() - begin)
    }
    const { p50, most } = quantiles(times)
    rows.push({
      work: `${engine}, ${sizes.messages.toLocaleString('en')} messages: ${name}`,
      figure: `p50 ${p50.toFixed(1)} ms, longest of ${rounds} ${most.toFixed(1)} ms`,
      against: `${wanted.milliseconds} ms, longest`,
      ratio: wanted.milliseconds / most,
      budget: 1,
    })
  }
  return rows
}

/** Messages alone, and while somebody opens one list after the other. */
async function measureOthers(engine, { admin, baseUrl, lists }) {
  const { bot } = await admin.createBot({})
  const [{ webhookId }] = Object.values(bot.integrations)
  const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  const send = () => messageLatency(chat, conversation.id)
  await send()
  const alone = await send()
  let isOpening = true
  let opened = 0
  const opening = (async () => {
    while (isOpening) {
      for (const list of Object.values(lists)) {
        if (!isOpening) return
        await list()
        opened += 1
        await sleep(pauseMs)
      }
    }
  })()
  const beside = await send()
  isOpening = false
  await opening
  const waits = ({ p50, p99 }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  return [
    { work: `${engine}: create a message, alone`, figure: waits(alone) },
    {
      work: `${engine}: create a message while ${opened} lists are opened, ${pauseMs} ms apart`,
      figure: waits(beside),
      against: 'p50, 2 x alone',
      ratio: (2 * alone.p50) / beside.p50,
      budget: 1,
    },
  ]
}

/** Frames while the list of conversations is scrolled, with its further pages. */
async function measureFrames(engine, { address, token, workspaceId }) {
  const executablePath = browsers.find((path) => existsSync(path))
  if (executablePath === undefined) {
    return [skipped(`${engine}: scroll the list of conversations`, 'there is no Chromium')]
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
    await page.goto(`${address}/dashboard`)
    await page.evaluate(async (value) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ token: value })
      await fetch('/v1/admin/sessions', { method: 'POST', headers, body })
    }, token)
    await page.goto(`${address}/dashboard/${workspaceId}/all/conversations`)
    await page.getByRole('row').nth(5).hover()
    await page.evaluate(() => {
      const frames = []
      Object.assign(globalThis, { frames_: frames })
      const note = (time) => {
        frames.push(time)
        globalThis.requestAnimationFrame(note)
      }
      globalThis.requestAnimationFrame(note)
    })
    const begin = performance.now()
    while (performance.now() - begin < scrollMs) {
      await page.mouse.wheel(0, 200)
      await page.waitForTimeout(16)
    }
    const times = await page.evaluate(() => Reflect.get(globalThis, 'frames_'))
    // Whole seconds, those without a frame included; on a very busy machine, the first one is all there is.
    const [first = 0, last = first] = [times[0], times.at(-1)]
    const length = Math.max(1, Math.floor((last - first) / 1000))
    const seconds = times.map((time) => Math.floor((time - first) / 1000))
    const frames = Array.from({ length }, (_, at) => seconds.filter((one) => one === at).length)
    const worst = Math.min(...frames)
    return [
      {
        work: `${engine}: scroll the list of conversations for ${scrollMs / 1000} s`,
        figure: `${worst} frames in the worst second`,
        against: `${wanted.frames} frames`,
        ratio: worst / wanted.frames,
        budget: 1,
      },
    ]
  } finally {
    await browser.close()
  }
}
