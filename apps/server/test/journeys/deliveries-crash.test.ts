import { createClient } from '@botstead/contract'
import { expect, it, vi } from 'vitest'
import { createCommandPlace } from '../command-place.js'
import { describeInLong, describeInUsual, engines } from '../engines.js'
import { type HttpBot, startHttpBot } from '../http-bot.js'
import { startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'
const rooms = 8
const postgres = engines.find(({ name }) => name === 'postgres')

/** Waits for processes that share a machine: longer, and polling less often, than within one process. */
const eventually = (assertion: () => Promise<void>) =>
  vi.waitFor(assertion, { timeout: 15_000, interval: 50 })

/** Creates a bot with conversations through the API. */
async function furnish(baseUrl: string, url: string, webhookUrl?: string) {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({ url })
  if (webhookUrl !== undefined) {
    const headers = { 'x-multiple-integrations': 'true' }
    const chat = { configuration: { webhookUrl } }
    await createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '', headers }).updateBot(
      { id: bot.id, integrations: { chat } },
    )
  }
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await createClient({ baseUrl, webhookId }).chatCreateUser({})
  const chat = createClient({ baseUrl, webhookId, userKey })
  const open = Array.from({ length: rooms }, () => chat.chatCreateConversation({}))
  const conversationIds = (await Promise.all(open)).map(({ conversation }) => conversation.id)
  return { conversationIds, webhookId, userKey }
}

type Place = Awaited<ReturnType<typeof furnish>>

/** Sends `count` numbers in each conversation; ends early when the server is gone. */
async function say(baseUrl: string, place: Place, said: Map<string, string[]>, count: number) {
  const { conversationIds, webhookId, userKey } = place
  const chat = createClient({ baseUrl, webhookId, userKey })
  const speak = async (conversationId: string) => {
    const own = said.get(conversationId) ?? []
    said.set(conversationId, own)
    for (let i = 0; i < count; i++) {
      const text = `${own.length}`
      await chat.chatCreateMessage({ conversationId, payload: { type: 'text', text } })
      own.push(text)
    }
  }
  await Promise.allSettled(conversationIds.map(speak))
}

/** Checks that a receiver got the texts of each conversation in order; returns how often any was repeated. */
async function expectReceived(bot: HttpBot, said: Map<string, string[]>): Promise<number> {
  let repeats = 0
  for (const [conversationId, texts] of said) {
    const received = await bot.received(conversationId)
    const first = received.filter(
      ({ text }, at) => received.findIndex((c) => c.text === text) === at,
    )
    expect(first.map(({ text }) => text)).toEqual(texts)
    for (const [at, call] of received.entries()) {
      if (first.includes(call)) continue
      // A repeated call is marked, and precedes everything that follows it.
      expect(call.attempt).toBeGreaterThan(1)
      expect(call.text).toBe(received[at - 1]?.text)
      repeats += 1
    }
  }
  return repeats
}

describeInUsual('deliveries of several processes', () => {
  it('survive kill -9: nothing is lost or reordered, and repeats are marked', async () => {
    await using place = await createCommandPlace()
    const environment = { ...place.environment, BOTSTEAD_ADMIN_TOKEN: token }
    const bot = await startHttpBot('slow')
    const app = await startHttpBot('slow')
    await using first = await startServerProcess(environment)
    const made = await furnish(first.url, bot.url, app.url)
    const said = new Map<string, string[]>()
    await say(first.url, made, said, 4)
    // In the middle: everything is stored, and the bot is processing some of it.
    await eventually(async () => expect((await bot.calls()).length).toBeGreaterThan(rooms))
    await first.kill()
    await using second = await startServerProcess(environment)
    for (const receiver of [bot, app]) {
      await eventually(async () =>
        expect(await expectReceived(receiver, said)).toBeLessThanOrEqual(rooms),
      )
    }
    expect(await second.stop()).toBe(0)
  })
})

describeInLong('deliveries of several processes', () => {
  it.skipIf(!postgres)(
    'share the work on PostgreSQL: each is sent by one process, also when another is killed',
    async () => {
      await using place = await createCommandPlace(postgres)
      const environment = {
        ...place.environment,
        // Long enough that a process which a busy machine suspends for seconds does not count as dead.
        BOTSTEAD_ADMIN_TOKEN: token,
        BOTSTEAD_JOB_LEASE_MS: '10s',
      }
      const bot = await startHttpBot('echo')
      await using one = await startServerProcess(environment)
      await using two = await startServerProcess(environment)
      const made = await furnish(one.url, bot.url)
      const said = new Map<string, string[]>()
      await say(one.url, made, said, 5)
      await say(two.url, made, said, 5)
      await eventually(async () => expect(await expectReceived(bot, said)).toBe(0))
      expect(await bot.calls()).toHaveLength(rooms * 10)

      const slow = await startHttpBot('slow')
      const other = await furnish(two.url, slow.url)
      const heard = new Map<string, string[]>()
      await say(one.url, other, heard, 2)
      await say(two.url, other, heard, 2)
      await eventually(async () => expect((await slow.calls()).length).toBeGreaterThan(rooms))
      await one.kill()
      // Only deliveries in progress at the killed process are sent again.
      await eventually(async () =>
        expect(await expectReceived(slow, heard)).toBeLessThanOrEqual(rooms),
      )
      expect(await two.stop()).toBe(0)
    },
  )
})
