import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { startHttpBot } from '../../../../test/http-bot.js'
import { eventually } from '../../../../test/jobs.js'
import { useRemote } from '../../../../test/remote/server.js'

const timeStart = '2020-01-01T00:00:00Z'
const hour = 60 * 60 * 1000
const day = 24 * hour

describeSlow('the log of a bot', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()
  let admin: ReturnType<ReturnType<typeof server>['client']>

  beforeAll(() => {
    admin = server().client()
  })

  const messages = async (id: string, narrow: object = {}) =>
    (await admin.getBotLogs({ id, timeStart, ...narrow })).logs.map(({ message }) => message)

  async function meet(url?: string) {
    const { bot } = await admin.createBot({ ...(url && { url }) })
    return { id: bot.id, bot, own: server().client({ botId: bot.id }) }
  }

  /** Sends a message to a bot; returns the ids of its author and conversation. */
  async function say({ bot }: Awaited<ReturnType<typeof meet>>, text: string) {
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey, user } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    const { conversation } = await chat.chatCreateConversation({})
    await chat.chatCreateMessage({
      conversationId: conversation.id,
      payload: { type: 'text', text },
    })
    return { userId: user.id, conversationId: conversation.id }
  }

  it('lists every delivery attempt and every written line, newest first', async () => {
    const http = await startHttpBot('shaky')
    const bot = await meet(http.url)
    const { id, own } = bot
    await say(bot, 'hello')
    await eventually(async () => {
      await server().pass(1000)
      expect(await messages(id, { level: 'info' })).toHaveLength(1)
    })
    await own.writeBotLogs({ logs: [{ level: 'debug', message: 'It is done' }] })
    expect(await messages(id)).toEqual([
      'It is done',
      expect.stringMatching(/^Delivered message_created, attempt 3, \d+ ms$/),
      expect.stringMatching(/^Not delivered: message_created, attempt 2, \d+ ms, Status 500/),
      expect.stringMatching(/^Not delivered: message_created, attempt 1, \d+ ms, Status 500/),
    ])
  })

  it('lists an attempt behind what the code wrote during it', async () => {
    const { bot } = await admin.createBot({ url: remote().url })
    const own = server().client({ botId: bot.id })
    let attempt = 0
    remote().behave(async () => {
      attempt++
      server().clock.advance(1000)
      await own.writeBotLogs({ logs: [{ level: 'info', message: `attempt ${attempt} runs` }] })
      server().clock.advance(1000)
      return attempt === 1 ? { status: 500 } : {}
    })
    await own.createEvent({ type: 'news', payload: {} })
    const lines = await eventually(async () => {
      await server().pass(1000)
      const found = await messages(bot.id)
      expect(found).toHaveLength(4)
      return found
    })
    expect(lines).toEqual([
      expect.stringMatching(/^Delivered news, attempt 2/),
      'attempt 2 runs',
      expect.stringMatching(/^Not delivered: news, attempt 1/),
      'attempt 1 runs',
    ])
    const { logs } = await admin.listLogs({ botId: bot.id })
    expect(logs.map(({ message }) => message)).toEqual(lines)
  })

  it('lists what was given up and who paused it, and can be filtered by subject', async () => {
    const http = await startHttpBot('refusing')
    const bot = await meet(http.url)
    const { id } = bot
    const { userId, conversationId } = await say(bot, 'hello')
    await say(bot, 'also')
    const givenUp = await eventually(async () => {
      const found = await messages(id, { level: 'error' })
      expect(found).toHaveLength(2)
      return found[0]
    })
    expect(givenUp).toBe('message_created: given up. Status 400: I do not want this.')
    for (const narrow of [{ userId }, { conversationId }]) {
      expect(await messages(id, narrow)).toHaveLength(2)
      expect(await messages(id, { ...narrow, messageContains: 'GIVEN up' })).toEqual([givenUp])
    }
    expect(await messages(id, { workflowId: conversationId })).toEqual([])
    await admin.pauseDeliveries({ id })
    await admin.pauseDeliveries({ id })
    await admin.resumeDeliveries({ id })
    expect(await messages(id, { messageContains: 'by hand' })).toEqual([
      'Deliveries to the bot: resumed by hand.',
      'Deliveries to the bot: paused by hand.',
    ])
  })

  it('is paged without a gap, whoever wrote the lines, also within one moment', async () => {
    const http = await startHttpBot()
    const bot = await meet(http.url)
    const { id, own } = bot
    for (let i = 0; i < 3; i++) await say(bot, `m${i}`)
    await eventually(async () => expect(await messages(id)).toHaveLength(3))
    const timestamp = new Date().toISOString()
    const earlier = new Date(Date.now() - hour).toISOString()
    const lines = Array.from({ length: 100 }, (_, i) => ({
      level: 'info' as const,
      message: `line ${i}`,
      ...(i % 2 === 0 ? { timestamp } : { timestamp: earlier }),
    }))
    for (let i = 0; i < 3; i++) await own.writeBotLogs({ logs: lines })
    const all: { timestamp: string; message: string }[] = []
    let nextToken: string | undefined
    do {
      const page = await admin.getBotLogs({ id, timeStart, ...(nextToken && { nextToken }) })
      all.push(...page.logs)
      nextToken = page.nextToken
    } while (nextToken)
    expect(all).toHaveLength(303)
    const counts = new Map<string, number>()
    // Those of deliveries contain how long each took.
    const written = all.filter(({ message }) => message.startsWith('line '))
    for (const { message } of written) counts.set(message, (counts.get(message) ?? 0) + 1)
    expect([...counts.values()]).toEqual(Array.from({ length: 100 }, () => 3))
    const times = all.map((line) => line.timestamp)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(await messages(id, { timeEnd: '2025-12-31T00:00:00Z' })).toEqual([])
  })

  it('refuses too many lines, and lines from the future', async () => {
    const { own } = await meet()
    const line = { level: 'info' as const, message: 'x' }
    const timestamp = new Date(server().clock.now() + 600_000).toISOString()
    for (const logs of [
      [],
      Array.from({ length: 101 }, () => line),
      [{ ...line, message: 'x'.repeat(4001) }],
      [{ ...line, timestamp }],
    ]) {
      await expect(own.writeBotLogs({ logs })).rejects.toMatchObject({ type: 'InvalidPayload' })
    }
    // A bot may write so many more while time passes.
    const ends = await server().clock.hold(() =>
      Promise.allSettled(Array.from({ length: 150 }, () => own.writeBotLogs({ logs: [line] }))),
    )
    const refused = ends.filter((end) => end.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThanOrEqual(60)
    expect(refused[0]?.reason).toMatchObject({ type: 'RateLimited' })
  })

  it('is deleted after the retention, and with its bot', async () => {
    const [kept, gone] = [await meet(), await meet()]
    const logs = [{ level: 'info' as const, message: 'first' }]
    for (const { own } of [kept, gone]) await own.writeBotLogs({ logs })
    await admin.deleteBot({ id: gone.id })
    await expect(admin.getBotLogs({ id: gone.id, timeStart })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    server().clock.advance(8 * day)
    await kept.own.writeBotLogs({ logs: [{ level: 'info', message: 'second' }] })
    await eventually(async () => expect(await messages(kept.id)).toEqual(['second']))
  })
})
