import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { connect, existingClient, makeBot } from '../../../../test/existing-clients.js'
import { useServer } from '../../../../test/harness.js'
import { startHttpBot } from '../../../../test/http-bot.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount } from '../../../../test/tenant.js'

const minute = 60 * 1000
const day = 24 * 60 * minute

const nothing = {
  newUsers: 0,
  returningUsers: 0,
  sessions: 0,
  messages: 0,
  userMessages: 0,
  botMessages: 0,
  events: 0,
  eventTypes: {},
  customEvents: {},
}

describeSlow('analytics of a bot', (engine) => {
  const server = useServer(engine)
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)
  const today = () => dayOf(server().clock.now())

  /** Moves the clock to an hour of the next day, so that no test runs over midnight. */
  async function toNextDay(hour = 1) {
    const { clock } = server()
    const midnight = Date.parse(today()) + day
    await server().pass(midnight + hour * 60 * minute - clock.now())
  }

  async function recordsOf(id: string, startDate = today(), endDate = today()) {
    return (await existingClient(server()).getBotAnalytics({ id, startDate, endDate })).records
  }

  it('count messages, visits, users, events, and what the bot counts, by day', async () => {
    const http = await startHttpBot()
    const { admin, bot, client, webhookId } = await makeBot(server())
    const { id } = bot
    await admin.updateBot({ id, url: http.url })
    await toNextDay()
    const [ann, bob] = [await connect(server(), webhookId), await connect(server(), webhookId)]
    const first = (await ann.createConversation({})).conversation.id
    const say = async (user: typeof ann, conversationId: string) => {
      await user.createMessage({ conversationId, payload: { type: 'text', text: 'hello' } })
    }
    await say(ann, first)
    server().clock.advance(29 * minute)
    await say(ann, first)
    await server().pass(31 * minute)
    await say(ann, first)
    await client.createMessage({
      conversationId: first,
      userId: id,
      type: 'text',
      payload: { text: 'Hello to you' },
      tags: {},
    })
    await client.trackAnalytics({ name: 'sold', count: 2 })
    await client.trackAnalytics({ name: 'sold', count: 3 })
    await client.trackAnalytics({ name: 'lost', count: 1 })
    const firstDay = today()
    const expected = {
      ...nothing,
      startDateTimeUtc: `${firstDay}T00:00:00.000Z`,
      endDateTimeUtc: `${firstDay}T23:59:59.999Z`,
      newUsers: 2,
      sessions: 2,
      messages: 3,
      userMessages: 3,
      botMessages: 1,
      customEvents: { sold: 5, lost: 1 },
      llm: expect.objectContaining({ calls: 0, cost: { sum: 0, mean: 0, sd: 0, min: 0, max: 0 } }),
    }
    const [record] = await recordsOf(id)
    const { events = 0, eventTypes = {} } = record ?? {}
    expect(record).toEqual({ ...expected, events, eventTypes })
    expect(eventTypes.message_created).toBe(3)
    expect(Object.values(eventTypes).reduce((sum, count) => sum + count, 0)).toBe(events)

    await toNextDay()
    const second = (await bob.createConversation({})).conversation.id
    await say(ann, first)
    await say(bob, second)
    const carl = await connect(server(), webhookId)
    await say(carl, (await carl.createConversation({})).conversation.id)
    const tomorrow = dayOf(server().clock.now() + day)
    const records = await recordsOf(id, `${firstDay}T15:00:00Z`, tomorrow)
    expect(records).toHaveLength(2)
    expect(records[0]).toEqual({ ...expected, events, eventTypes })
    expect(records[1]).toMatchObject({
      newUsers: 1,
      returningUsers: 2,
      sessions: 3,
      userMessages: 3,
      botMessages: 0,
      customEvents: {},
    })
  })

  it('keep the figures of a day that is over, and count it again after an import', async () => {
    const { admin, bot, client, webhookId } = await makeBot(server())
    const { id } = bot
    await toNextDay()
    const user = await connect(server(), webhookId)
    const { conversation } = await user.createConversation({})
    const conversationId = conversation.id
    const payload = { type: 'text' as const, text: 'hello' }
    const { message } = await user.createMessage({ conversationId, payload })
    const past = today()
    await toNextDay()
    const yesterday = async () => (await recordsOf(id, past, past))[0]
    expect(await yesterday()).toMatchObject({ userMessages: 1, newUsers: 1 })
    await client.deleteMessage({ id: message.id })
    expect(await yesterday()).toMatchObject({ userMessages: 1, sessions: 1 })
    const imported = {
      conversationId,
      userId: user.user.id,
      type: 'text',
      payload: { text: 'Long ago' },
      tags: {},
      discriminateByTags: [],
    }
    const own = server().client({ botId: id })
    await own.importMessages({
      messages: [
        { ...imported, createdAt: `${past}T10:00:00Z` },
        { ...imported, createdAt: `${past}T10:10:00Z` },
      ],
    })
    expect(await yesterday()).toMatchObject({ userMessages: 2, sessions: 1 })
    await admin.deleteBot({ id })
    await expect(yesterday()).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('of the day before are counted by themselves, before its events are deleted', async () => {
    const { bot, webhookId } = await makeBot(server())
    await toNextDay()
    const user = await connect(server(), webhookId)
    const { conversation } = await user.createConversation({})
    const payload = { type: 'text' as const, text: 'hello' }
    await user.createMessage({ conversationId: conversation.id, payload })
    const past = today()
    await toNextDay()
    await vi.waitFor(async () => {
      const stored = await inDatabase(server(), async ({ db }) =>
        db
          .selectFrom('bot_days')
          .select(['day', 'figures'])
          .where('bot_id', '=', bot.id)
          .where('day', '=', past)
          .execute(),
      )
      expect(stored.map(({ figures }) => JSON.parse(figures))).toMatchObject([{ userMessages: 1 }])
    })
  })

  it('have no days in the future, zeros where nothing happened, and a bounded range', async () => {
    const { bot } = await makeBot(server())
    const tomorrow = dayOf(server().clock.now() + day)
    expect(await recordsOf(bot.id, tomorrow, tomorrow)).toEqual([])
    const records = await recordsOf(bot.id, '2020-02-01', '2020-05-03')
    expect(records).toHaveLength(93)
    expect(records[92]).toMatchObject({ ...nothing, startDateTimeUtc: '2020-05-03T00:00:00.000Z' })
    for (const [start, end, rule] of [
      ['2020-02-01', '2020-05-04', 'at most 92 days after'],
      ['2020-02-02', '2020-02-01', 'must not be before'],
      ['soon', '2020-02-01', 'startDate'],
    ] as const) {
      await expect(recordsOf(bot.id, start, end)).rejects.toMatchObject({
        type: 'InvalidQuery',
        message: expect.stringContaining(rule),
      })
    }
    const stranger = existingClient(server(), await addAccount(server()))
    await expect(
      stranger.getBotAnalytics({ id: bot.id, startDate: '2020-02-01', endDate: '2020-02-01' }),
    ).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })
})
