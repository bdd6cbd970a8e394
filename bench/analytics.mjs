// The figures of a large bot by day: how long the first call and later ones take, and how long messages
// wait meanwhile.
import { join } from 'node:path'
import { createClient } from '@botstead/contract'
import { openDatabase } from '../apps/server/dist/platform/db/open.js'
import { createIds } from '../apps/server/dist/platform/ids.js'
import { startPostgres } from './inspected.mjs'
import { startBenchServer } from './processes.mjs'
import { messageLatency } from './search-impact.mjs'

const days = 3
const messagesOfDay = Math.round(200_000 * Number(process.env.BENCH_SHARE ?? 1))
const conversations = 2000
const dayMs = 86_400_000
const rowsAtOnce = 400

export async function measureAnalytics(folder) {
  const rows = await measureOn('SQLite', join(folder, 'analytics'), undefined)
  const postgres = await startPostgres()
  try {
    return [...rows, ...(await measureOn('PostgreSQL', join(folder, 'analytics-pg'), postgres.url))]
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
    const { bot } = await admin.createBot({})
    const today = Date.parse(new Date().toISOString().slice(0, 10))
    await fill(url === undefined ? { file: join(dataDir, 'botstead.db') } : { url }, bot.id, today)
    const query = {
      id: bot.id,
      startDate: new Date(today - days * dayMs).toISOString(),
      endDate: new Date(today - dayMs).toISOString(),
    }
    const webhookId =
      bot.integrations.chat?.webhookId ?? Object.values(bot.integrations)[0].webhookId
    const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
    const chat = createClient({ baseUrl, webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    const alone = await messageLatency(chat, conversation.id)
    const begin = performance.now()
    let isOver = false
    const counting = admin
      .getBotAnalytics(query)
      .then(({ records }) => ({ records, milliseconds: performance.now() - begin }))
      .finally(() => {
        isOver = true
      })
    const beside = await messageLatency(chat, conversation.id, () => !isOver)
    const first = await counting
    const counted = first.records.reduce((sum, { userMessages, botMessages }) => {
      return sum + userMessages + botMessages
    }, 0)
    if (counted !== days * messagesOfDay) throw new Error(`${counted} messages were counted`)
    const again = performance.now()
    await admin.getBotAnalytics(query)
    const repeated = performance.now() - again
    const what = `${(days * messagesOfDay).toLocaleString('en')} messages of ${days} days`
    return [
      {
        work: `figures of ${what}, first call, ${engine}`,
        figure: `${Math.round(first.milliseconds)} ms`,
      },
      { work: `the same again, ${engine}`, figure: `${repeated.toFixed(1)} ms` },
      {
        work: `a message meanwhile, and alone, ${engine}`,
        figure: `p50 ${beside.p50.toFixed(1)} ms, p95 ${beside.p95.toFixed(1)} ms; ${alone.p50.toFixed(1)} ms, ${alone.p95.toFixed(1)} ms`,
      },
    ]
  } finally {
    await server.stop()
  }
}

async function fill(place, botId, today) {
  const { run, close } = await openDatabase(place)
  const ids = createIds()
  try {
    for (let from = 0; from < days * messagesOfDay; from += rowsAtOnce) {
      const rows = Array.from(
        { length: Math.min(rowsAtOnce, days * messagesOfDay - from) },
        (_, at) => rowOf(botId, today, from + at, ids),
      )
      await run(async (tx) => void (await tx.insertInto('messages').values(rows).execute()))
    }
  } finally {
    await close()
  }
}

function rowOf(botId, today, number, ids) {
  const created_at = new Date(today - days * dayMs + number * (dayMs / messagesOfDay)).toISOString()
  const isOfBot = number % 2 === 1
  return {
    id: ids.next('msg'),
    bot_id: botId,
    conversation_id: `conversation ${Math.floor(number / 20) % conversations}`,
    user_id: isOfBot ? botId : `user ${Math.floor(number / 20) % conversations}`,
    type: 'text',
    payload: JSON.stringify({ text: 'Is the station open on Sunday?' }),
    direction: isOfBot ? 'outgoing' : 'incoming',
    sequence: 1,
    created_at,
    updated_at: null,
  }
}
