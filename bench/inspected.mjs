// A server with much to look at: what the lists of the dashboard read, written straight into the database.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { tsImport } from 'tsx/esm/api'
import { openDatabase } from '#server/platform/db/open.js'
import { createIds } from '#server/platform/ids.js'
import { createWords } from './collection.mjs'
import { givenAmount, sized } from './size.mjs'

/** Of everything, the share that is made: less, to try the benchmark itself. */
const share = givenAmount('BENCH_SHARE', 1, 0.001)
const conversations = Math.round(100_000 * share)
const messagesOfEach = 10
const files = Math.round(10_000 * share)
const logs = Math.round(300_000 * share)
const bots = 10
const days = 30
const dayMs = 86_400_000

export const sizes = {
  conversations,
  messages: conversations * messagesOfEach,
  deliveries: conversations,
  files,
  logs,
}

/** Starts a PostgreSQL as the tests do; it ends with the returned function. */
export async function startPostgres() {
  const { startKeeper } = await tsImport('../apps/server/test/keeper.ts', import.meta.url)
  const starter = await tsImport('../apps/server/test/postgres-server.ts', import.meta.url)
  const keeper = startKeeper()
  return { url: await starter.startPostgres(keeper), stop: () => keeper.end() }
}

/**
 * Fills the database of a server that runs on it.
 * @param {{ file: string } | { url: string }} place
 * @returns words that are said, the first ones often
 */
export async function fill(place, admin, workspaceId) {
  const botIds = []
  for (let i = 0; i < bots; i++) botIds.push((await admin.createBot({ name: `Bot ${i}` })).bot.id)
  const database = await openDatabase(place)
  try {
    const writer = createWriter(database)
    const words = createWords(1)
    await fillConversations(writer, botIds, workspaceId, words)
    await fillFiles(writer, botIds, workspaceId)
    await fillLogs(writer, botIds, workspaceId, words)
    await writer.flush()
    await untilIndexed(database)
    // As the server's own maintenance does after so many changes.
    if ('url' in place) await sql`vacuum analyze`.execute(database.db)
    return { botIds, words }
  } finally {
    await database.close()
  }
}

function createWriter({ run }) {
  const waiting = new Map()
  let count = 0
  const flush = async () => {
    for (const [table, rows] of waiting) {
      for (let from = 0; from < rows.length; from += 400) {
        const values = rows.slice(from, from + 400)
        await run(async (tx) => {
          await tx.insertInto(table).values(values).execute()
        })
      }
    }
    waiting.clear()
    count = 0
  }
  return {
    flush,
    add: async (table, row) => {
      if (!waiting.has(table)) waiting.set(table, [])
      waiting.get(table).push(row)
      count += 1
      if (count >= 20_000) await flush()
    },
  }
}

const isoTime = (time) => new Date(time).toISOString()

/** A clock that goes from some days ago until now, and ids that follow it. */
function createPast() {
  const start = Date.now() - days * dayMs
  let now = start
  return {
    ids: createIds({ now: () => now }),
    go: (share) => {
      now = Math.max(now + 1, start + Math.floor(share * days * dayMs))
      return isoTime(now)
    },
  }
}

/** Ten messages each, half of them of the bot; of every hundred, one has a failed delivery. */
async function fillConversations({ add }, botIds, workspace_id, words) {
  const { ids, go } = createPast()
  const users = []
  for (let i = 0; i < conversations / 10; i++) {
    const user = { id: ids.next('user'), bot_id: botIds[i % bots] }
    const named = { integration: 'chat', name: `User ${i}`, tags: '{}', properties: '{}' }
    const at = isoTime(Date.now() - days * dayMs)
    const rest = { attributes: '{}', banned: 0, created_at: at, updated_at: at }
    await add('users', { ...user, ...named, ...rest })
    users.push(user)
  }
  for (let number = 0; number < conversations; number++) {
    const { id: userId, bot_id } = users[number % users.length]
    const created_at = go(number / conversations)
    const id = ids.next('conv')
    let at = created_at
    let last = ''
    for (let m = 0; m < messagesOfEach; m++) {
      at = go((number + m / messagesOfEach) / conversations)
      last = ids.next('msg')
      const isOfBot = m % 2 === 1
      await add('messages', {
        id: last,
        bot_id,
        conversation_id: id,
        user_id: isOfBot ? bot_id : userId,
        type: 'text',
        payload: JSON.stringify({ text: words.text(12) }),
        direction: isOfBot ? 'outgoing' : 'incoming',
        sequence: m + 1,
        created_at: at,
        updated_at: null,
      })
    }
    await add('conversations', {
      id,
      bot_id,
      integration: 'chat',
      channel: number % 3000 === 0 ? 'rare' : 'channel',
      tags: '{}',
      properties: '{}',
      claimable: 0,
      message_count: messagesOfEach,
      last_sequence: messagesOfEach,
      last_message_at: Date.parse(at),
      created_at,
      updated_at: at,
    })
    await add('participants', { conversation_id: id, user_id: userId, bot_id, created_at })
    await addDelivery(add, ids, {
      bot_id,
      workspace_id,
      conversationId: id,
      messageId: last,
      at,
      number,
    })
  }
}

async function addDelivery(
  add,
  ids,
  { bot_id, workspace_id, conversationId, messageId, at, number },
) {
  const subject_id = ids.next('evt')
  await add('bot_events', {
    id: subject_id,
    bot_id,
    type: 'message_created',
    message_id: messageId,
    conversation_id: conversationId,
    status: 'processed',
    created_at: at,
  })
  const id = ids.next('delivery')
  const hasFailed = number % 100 === 0
  await add('deliveries', {
    id,
    bot_id,
    integration: '',
    kind: 'event_received',
    subject_id,
    order_key: `${bot_id}//${conversationId}`,
    position: 1,
    status: hasFailed ? 'failed' : 'delivered',
    attempts: 1,
    spent: 0,
    set_aside: 0,
    last_error: hasFailed ? 'Status 500: broken' : null,
    created_at: at,
    updated_at: at,
  })
  await add('delivery_attempts', {
    delivery_id: id,
    number: 1,
    bot_id,
    workspace_id,
    started_at: at,
    ended_at: at,
    duration_ms: 12,
    status: hasFailed ? 500 : 200,
    error: hasFailed ? 'Status 500' : null,
    answer: null,
  })
}

async function fillFiles({ add }, botIds, workspace_id) {
  const { ids, go } = createPast()
  for (let number = 0; number < files; number++) {
    const at = go(number / files)
    const hasFailed = number % 50 === 0
    await add('files', {
      id: ids.next('file'),
      workspace_id,
      // All in one bot, whose list is measured.
      bot_id: botIds[0],
      key: `folder-${number % 20}/manual-${number}.md`,
      key_space: '',
      owner_type: 'bot',
      owner_id: botIds[0],
      generation: 1,
      passages_shared: 0,
      status: hasFailed ? 'indexing_failed' : 'indexing_completed',
      failed_reason: hasFailed ? 'Page 3 cannot be read' : null,
      size: 1000,
      content_type: 'text/markdown',
      tags: '{}',
      metadata: '{}',
      public_content: 0,
      shared: 0,
      indexed: 1,
      counted_storage: 1000,
      counted_vector: 1000,
      created_at: at,
      updated_at: at,
    })
  }
}

async function fillLogs({ add }, botIds, workspace_id, words) {
  const { ids, go } = createPast()
  for (let number = 0; number < logs; number++) {
    await add('log_lines', {
      id: ids.next('report'),
      workspace_id,
      bot_id: botIds[number % bots],
      level: number % 100 === 0 ? 'error' : number % 10 === 1 ? 'warn' : 'info',
      message: words.text(8),
      user_id: null,
      workflow_id: null,
      conversation_id: null,
      created_at: go(1 - (1 - number / logs) / 4),
    })
  }
}

/** Waits until the running server has indexed the words of all messages. */
async function untilIndexed({ db }) {
  const progress = db.selectFrom('message_words_progress').select('last_id')
  const newest = db.selectFrom('messages').select('id').orderBy('id', 'desc').limit(1)
  for (;;) {
    const done = await progress.executeTakeFirst()
    const last = await newest.executeTakeFirst()
    if (done?.last_id === last?.id) return
    await sleep(sized(500, 50))
  }
}
