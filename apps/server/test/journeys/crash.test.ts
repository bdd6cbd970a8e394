import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@botstead/contract'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/platform/db/open.js'
import { createCommandPlace } from '../command-place.js'
import { describeSlow } from '../engines.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'
const settings = { BOTSTEAD_ADMIN_TOKEN: token, LOG_LEVEL: 'error' }
const senders = 16
const rounds = 4
/** Acknowledged messages after which the server is killed, with all senders waiting for a response. */
const messagesPerRound = 25

/** One conversation under load: what was sent, and what the server acknowledged. */
interface Conversation {
  webhookId: string
  userKey: string
  conversationId: string
  acknowledged: Map<string, string>
  sent: number
}

describeSlow('messages under kill -9', (engine) => {
  it('are all stored, once and in a gapless sequence, if they were acknowledged', async () => {
    await using place = await createCommandPlace(engine)
    const environment = { ...place.environment, ...settings }
    let server = await startServerProcess(environment)
    const conversation = await openConversation(server)
    for (let round = 0; round < rounds; round++) {
      const sending = Array.from({ length: senders }, () => sendUntilDown(server, conversation))
      await untilAcknowledged(conversation, conversation.acknowledged.size + messagesPerRound)
      await server.kill()
      await Promise.all(sending)
      server = await startServerProcess(environment)
      await expectAllThere(server, conversation)
    }
    await server.stop()
    await expectGapless(place.options, conversation.conversationId)
  })
})

async function openConversation(server: ServerProcess): Promise<Conversation> {
  const baseUrl = server.url
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({})
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  return {
    webhookId,
    userKey,
    conversationId: conversation.id,
    acknowledged: new Map(),
    sent: 0,
  }
}

async function untilAcknowledged(conversation: Conversation, count: number): Promise<void> {
  while (conversation.acknowledged.size < count) await sleep(1)
}

/** Sends numbered messages one after another until the server is killed. */
async function sendUntilDown(server: ServerProcess, conversation: Conversation): Promise<void> {
  const { webhookId, userKey, conversationId } = conversation
  const chat = createClient({ baseUrl: server.url, webhookId, userKey })
  for (;;) {
    conversation.sent += 1
    const text = `message ${conversation.sent}`
    try {
      const { message } = await chat.chatCreateMessage({
        conversationId,
        payload: { type: 'text', text },
      })
      conversation.acknowledged.set(message.id, text)
    } catch {
      return
    }
  }
}

async function expectAllThere(server: ServerProcess, conversation: Conversation): Promise<void> {
  const { webhookId, userKey, conversationId, acknowledged } = conversation
  const chat = createClient({ baseUrl: server.url, webhookId, userKey })
  const stored = new Map<string, string>()
  let nextToken: string | undefined
  do {
    const page = await chat.chatListMessages({ conversationId, ...(nextToken && { nextToken }) })
    for (const { id, payload } of page.messages) {
      expect(stored.has(id)).toBe(false)
      stored.set(id, String(payload.text))
    }
    nextToken = page.meta.nextToken
  } while (nextToken)
  const lost = [...acknowledged].filter(([id, text]) => stored.get(id) !== text)
  expect(lost).toEqual([])
  expect(new Set(stored.values()).size).toBe(stored.size)
}

/** Expects the messages to have numbers without gaps, and each to be counted once. */
async function expectGapless(
  options: { url?: string; file?: string },
  conversationId: string,
): Promise<void> {
  await using database = await openDatabase(options)
  const messages = await database.db
    .selectFrom('messages')
    .select('sequence')
    .where('conversation_id', '=', conversationId)
    .orderBy('sequence')
    .execute()
  const days = await database.db.selectFrom('usage_days').select(['kind', 'value']).execute()
  const counted = days.filter(({ kind }) => kind === 'user_messages')
  expect(counted.reduce((sum, { value }) => sum + Number(value), 0)).toBe(messages.length)
  const first = messages[0]?.sequence ?? 0
  expect(messages.map(({ sequence }) => sequence)).toEqual(messages.map((_, i) => first + i))
}
