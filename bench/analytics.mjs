// Measures the count of a day of a large bot, in processor time because others may use the machine. It excludes
// the time of PostgreSQL itself.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { countDay } from '#server/features/conversations/analytics/counting.js'
import { migrations } from '#server/migrations/index.js'
import { migrate } from '#server/platform/db/migrate.js'
import { openDatabase } from '#server/platform/db/open.js'
import { createIds } from '#server/platform/ids.js'
import { startPostgres } from './inspected.mjs'
import { givenAmount } from './size.mjs'
import { quantiles } from './timed.mjs'

const messages = Math.round(200_000 * givenAmount('BENCH_SHARE', 1, 0.01))
const conversations = 2000
const day = '2026-03-01'
const dayMs = 86_400_000
const rowsAtOnce = 400

export async function measureAnalytics(folder) {
  await mkdir(folder, { recursive: true })
  const rows = await measureOn('SQLite', { file: join(folder, 'analytics.db') })
  const postgres = await startPostgres()
  try {
    return [...rows, ...(await measureOn('PostgreSQL', { url: postgres.url }))]
  } finally {
    await postgres.stop()
  }
}

async function measureOn(engine, place) {
  const database = await openDatabase(place)
  try {
    await migrate(database, migrations)
    await fill(database)
    const pages = []
    let last = processorMs()
    const begin = last
    const figures = await countDay(database.db, 'bot', day, async () => {
      const now = processorMs()
      pages.push(now - last)
      last = now
    })
    const whole = processorMs() - begin
    const counted = figures.userMessages + figures.botMessages
    if (counted !== messages) throw new Error(`${counted} messages were counted`)
    const { p50, p95 } = quantiles(pages)
    return [
      {
        work: `a day of ${messages.toLocaleString('en')} messages, ${engine}`,
        figure: `${Math.round(whole)} ms of the processor`,
      },
      {
        work: `of it, the 2,000 rows that are read at once, ${engine}`,
        figure: `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`,
      },
    ]
  } finally {
    await database.close()
  }
}

function processorMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function fill({ run }) {
  const ids = createIds()
  for (let from = 0; from < messages; from += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, messages - from)
    const rows = Array.from({ length }, (_, at) => rowOf(from + at, ids))
    await run(async (tx) => void (await tx.insertInto('messages').values(rows).execute()))
  }
}

function rowOf(number, ids) {
  const isOfBot = number % 2 === 1
  const talk = Math.floor(number / 20) % conversations
  return {
    id: ids.next('msg'),
    bot_id: 'bot',
    conversation_id: `conversation ${talk}`,
    user_id: isOfBot ? 'bot' : `user ${talk}`,
    type: 'text',
    payload: JSON.stringify({ text: 'Is the station open on Sunday?' }),
    direction: isOfBot ? 'outgoing' : 'incoming',
    sequence: 1,
    created_at: new Date(Date.parse(day) + Math.floor(number * (dayMs / messages))).toISOString(),
    updated_at: null,
  }
}
