import { expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { existingClient, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { installMail } from '../remote/integration.js'
import { useRemote } from '../remote/server.js'

const day = 24 * 60 * 60 * 1000
const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)

describeSlow('dates without a time', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()

  it('stand for whole days in the filters of conversations, users and messages', async () => {
    const { client, bot } = await makeBot(server())
    const { conversation } = await client.createConversation({ channel: 'channel', tags: {} })
    const { id: conversationId, createdAt } = conversation
    const { user } = await client.createUser({ tags: {} })
    const { message } = await client.createMessage({
      conversationId,
      userId: user.id,
      type: 'text',
      payload: { text: 'hi' },
      tags: {},
    })
    const found = async (range: { afterDate?: string; beforeDate?: string }) => {
      const { conversations } = await client.listConversations(range)
      const { users } = await client.listUsers(range)
      const { messages } = await client.listMessages({ conversationId, ...range })
      return [conversations, users.filter(({ id }) => id !== bot.id), messages].map((list) =>
        list.map(({ id }) => id),
      )
    }
    const all = [[conversation.id], [user.id], [message.id]]
    const none = [[], [], []]
    const made = Date.parse(createdAt)
    // There may be a midnight between the two dates while this runs.
    const until = { beforeDate: dateOf(Date.parse(message.createdAt)) }
    expect(await found({ afterDate: dateOf(made), ...until })).toEqual(all)
    expect(await found({ afterDate: dateOf(made + 2 * day) })).toEqual(none)
    expect(await found({ beforeDate: dateOf(made - day) })).toEqual(none)
    for (const afterDate of ['2026-02-30', '21.11.2026', '2026-11']) {
      await expect(client.listConversations({ afterDate })).rejects.toMatchObject({
        type: 'InvalidQuery',
        message: expect.stringContaining('query.afterDate must be'),
      })
    }
  })

  it('stand for whole days in the filters of logs and of runs of actions', async () => {
    const { admin, bot, inBot, integration } = await installMail(server(), remote())
    const { id } = bot
    remote().behave(() => ({ body: { output: { sent: true } } }))
    const { meta } = await inBot.callAction({ type: 'mail:send', input: { to: 'ada' } })
    expect(meta.cached).toBe(false)
    const runs = async (range: { timestampFrom?: string; timestampUntil?: string }) =>
      (await admin.listActionRuns({ id, integrationName: 'mail', ...range })).data
    const [run] = await runs({})
    // Filtered by the requested alias; the run shows the name of the integration.
    expect(run?.integrationName).toBe(integration.name)
    const called = Date.parse(run?.timestamp ?? '')
    const [today, tomorrow, yesterday] = [called, called + day, called - day].map(dateOf)
    expect(await runs({ timestampFrom: today, timestampUntil: today })).toEqual([run])
    expect(await runs({ timestampFrom: tomorrow })).toEqual([])
    expect(await runs({ timestampUntil: yesterday })).toEqual([])

    const key = await admin.createBotApiKey({ botId: id })
    await server()
      .client({ token: key.value, botId: id })
      .writeBotLogs({ logs: [{ level: 'info', message: 'dated', timestamp: run?.timestamp }] })
    const lines = async (timeStart = '', timeEnd = '') =>
      (await admin.getBotLogs({ id, timeStart, timeEnd, messageContains: 'dated' })).logs
    expect(await lines(today, today)).toHaveLength(1)
    expect(await lines(tomorrow, tomorrow)).toEqual([])
    expect(await lines(yesterday, yesterday)).toEqual([])
    const ofIntegration = { id: integration.id, timeStart: today ?? '', timeEnd: tomorrow }
    expect((await admin.getIntegrationLogs(ofIntegration)).logs).toEqual(expect.any(Array))
  })
})

describeSlow('an absent member', (engine) => {
  const server = useServer(engine)

  it('is removed from a bot without complaint', async () => {
    const { admin, bot } = await makeBot(server())
    const absent = { absent: null } as never
    const { bot: same } = await admin.updateBot({
      id: bot.id,
      plugins: absent,
      integrations: absent,
      actions: absent,
      events: absent,
      states: absent,
      recurringEvents: absent,
      tags: absent,
      secrets: absent,
      user: { tags: absent },
      subscriptions: { events: absent },
    })
    expect(same).toMatchObject({ plugins: {}, tags: {}, actions: {}, secrets: [] })
    const plugin = { id: '6f1c1f5e-0000-4000-8000-000000000000' }
    await expect(
      existingClient(server()).updateBot({
        id: bot.id,
        plugins: { absent: null, real: plugin } as never,
      }),
    ).rejects.toMatchObject({
      type: 'ReferenceNotFound',
      message: expect.stringContaining('body.plugins.real'),
    })
  })
})
