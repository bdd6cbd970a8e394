import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'

const numbered = {
  schema: {
    type: 'object',
    required: ['count'],
    properties: { count: { type: 'integer', minimum: 1 } },
    additionalProperties: false,
  },
}
const when = '2026-01-01T00:00:00.000Z'

describeSlow('declared schemas', (engine) => {
  const server = useServer(engine)
  let bot: ReturnType<typeof existingClient>
  let mail: typeof bot
  let botId: string
  let integrationId: string
  let chat: { conversationId: string; userId: string }
  let thread: typeof chat
  let updateMail: (patch: object) => Promise<unknown>

  beforeAll(async () => {
    const admin = existingClient(server(), { headers: { 'x-multiple-integrations': 'true' } })
    const { integration } = await admin.createIntegration({
      name: 'mail',
      version: '1.0.0',
      channels: {
        thread: { messages: { letter: numbered, text: { schema: {} } } },
        open: { messages: {} },
      },
      events: { arrived: numbered },
      states: { cursor: { type: 'integration', ...numbered } },
    })
    integrationId = integration.id
    updateMail = (patch) => admin.updateIntegration({ id: integration.id, ...patch })
    const made = await admin.createBot({ events: { counted: numbered, 'sum#made': numbered } })
    botId = made.bot.id
    await admin.updateBot({
      id: botId,
      integrations: { post: { integrationId: integration.id, enabled: false } },
    })
    bot = existingClient(server(), { botId })
    mail = existingClient(server(), {
      botId,
      integrationId: integration.id,
      integrationAlias: 'post',
    })
    const { user } = await mail.createUser({ tags: {} })
    const inThread = await mail.createConversation({ channel: 'thread', tags: {} })
    thread = { userId: user.id, conversationId: inThread.conversation.id }
    const inChat = await bot.createConversation({ channel: 'channel', tags: {} })
    chat = { userId: botId, conversationId: inChat.conversation.id }
  })

  /** Type and text of a refusal; undefined without one. */
  const refusalOf = async (call: Promise<unknown>) => {
    const { type, message } = Object(await call.then(Object, (error: unknown) => error))
    return type && `${type}: ${message}`
  }
  const wrong = (field: string, rule: string) =>
    expect.stringMatching(new RegExp(`^InvalidDataFormat: body\\.${field} ${rule}`))

  it('validates messages by the schema of their channel, from either side and in every call', async () => {
    const message = { ...thread, type: 'letter', tags: {} }
    const bad = { count: 0 }
    const tooSmall = 'must be at least 1, by the schema of messages of the type letter'
    for (const client of [bot, mail]) {
      const create = (payload: object) => refusalOf(client.createMessage({ ...message, payload }))
      expect(await create(bad)).toEqual(wrong('payload.count', tooSmall))
      expect(await create({})).toEqual(wrong('payload.count', 'is required'))
      expect(await create({ count: 1, more: 1 })).toEqual(wrong('payload.more', 'is a member'))
      expect(await create({ count: 1 })).toBeUndefined()
      const later = { ...message, payload: bad, schedule: { delay: 1000 } }
      expect(await refusalOf(client.createMessage(later))).toEqual(wrong('payload.count', tooSmall))
    }
    const once = { ...message, tags: { n: '1' } }
    const getOrCreate = (payload?: object) =>
      refusalOf(mail.getOrCreateMessage({ ...once, ...(payload && { payload }) }))
    expect(await getOrCreate()).toEqual(wrong('payload.count', 'is required'))
    expect(await getOrCreate({ count: 2 })).toBeUndefined()
    // An existing message is found without its payload.
    expect(await getOrCreate()).toBeUndefined()
    const { messages } = await mail.listMessages({ tags: { n: '1' } })
    const id = messages[0]?.id ?? ''
    expect(await refusalOf(mail.updateMessage({ id, payload: bad }))).toEqual(
      wrong('payload.count', tooSmall),
    )
    expect(await refusalOf(mail.updateMessage({ id, tags: { seen: 'yes' } }))).toBeUndefined()
    const history = { ...message, createdAt: when, discriminateByTags: [] }
    const imported = [
      { ...history, payload: { count: 1 } },
      { ...history, payload: bad },
    ]
    expect(await refusalOf(mail.importMessages({ messages: imported }))).toEqual(
      wrong('messages\\[1\\]\\.payload\\.count', tooSmall),
    )
    const initial = { type: 'letter', payload: bad, tags: {}, discriminateByTags: [] }
    expect(
      await refusalOf(mail.initializeIncomingMessage({ ...thread, message: initial })),
    ).toEqual(wrong('message\\.payload\\.count', tooSmall))
    const { conversation } = await mail.getConversation({ id: thread.conversationId })
    expect(conversation.messageCount).toBe(3)
  })

  it('names the types of a channel, and accepts any in channels without types', async () => {
    const send = (to: typeof chat, type: string) =>
      refusalOf(bot.createMessage({ ...to, type, payload: {}, tags: {} }))
    expect(await send(thread, 'dance')).toBe(
      'InvalidPayload: body.type: the channel thread of post has no messages of the type dance; it has letter, text.',
    )
    expect(await send(thread, 'constructor')).toMatch('InvalidPayload')
    expect(await send(chat, 'dance')).toMatch('body.type: chat has no messages of the type dance')
    const { conversation } = await mail.createConversation({ channel: 'open', tags: {} })
    expect(await send({ ...thread, conversationId: conversation.id }, 'dance')).toBeUndefined()
    await updateMail({ channels: { open: { messages: { wave: { schema: {} } } } } })
    expect(await send({ ...thread, conversationId: conversation.id }, 'dance')).toMatch('has wave')
    await updateMail({ channels: { open: { messages: { wave: null, dance: { schema: {} } } } } })
    expect(await send({ ...thread, conversationId: conversation.id }, 'dance')).toBeUndefined()
  })

  it('validates messages of the chat', async () => {
    const card = { title: 'Pump', actions: [{ action: 'say', label: 'Yes', value: 'yes' }] }
    const good: [type: string, payload: object][] = [
      ['text', { text: 'Hello', metadata: { any: 1 }, more: true }],
      ['image', { imageUrl: 'https://example.com/a.png', title: 'A pump' }],
      ['location', { latitude: 1, longitude: 2, address: '' }],
      ['card', card],
      ['carousel', { items: [card, { ...card, type: 'card' }] }],
      ['choice', { text: 'Which?', options: [] }],
      ['bloc', { items: [{ type: 'text', payload: { text: 'a' } }] }],
    ]
    const bad: [type: string, payload: object, place: string, rule: string][] = [
      ['text', { text: '' }, 'text', 'must not be empty'],
      ['audio', {}, 'audioUrl', 'is required'],
      ['location', { latitude: '1', longitude: 2 }, 'latitude', 'must be a number'],
      ['carousel', { items: [card, { title: 'x' }] }, 'items\\.1\\.actions', 'is required'],
      ['bloc', { items: [{ type: 'card', payload: card }] }, 'items\\.0\\.type', 'must be one of'],
      ['bloc', { items: [{ type: 'text', text: 'flat' }] }, 'items\\.0\\.payload', 'is required'],
      [
        ...(['bloc', { items: [{ type: 'file', payload: {} }] }] as const),
        ...(['items\\.0\\.payload\\.fileUrl', 'is required'] as const),
      ],
    ]
    const send = (type: string, payload: object) =>
      refusalOf(bot.createMessage({ ...chat, type, payload, tags: {} }))
    for (const [type, payload] of good)
      expect([type, await send(type, payload)]).toEqual([type, undefined])
    for (const [type, payload, place, rule] of bad) {
      expect(await send(type, payload)).toEqual(wrong(`payload\\.${place}`, rule))
    }
  })

  it('validates events and states by their schemas, and accepts others', async () => {
    const event = (client: typeof bot, type: string, payload: object) =>
      refusalOf(client.createEvent({ type, payload }))
    for (const [client, type] of [
      [bot, 'counted'],
      [bot, 'sum#made'],
      [mail, 'arrived'],
    ] as const) {
      const said = `must be an integer, by the schema of the event ${type}`
      expect(await event(client, type, { count: 'two' })).toEqual(wrong('payload.count', said))
      expect(await event(client, type, { count: 2 })).toBeUndefined()
    }
    expect(await event(bot, 'arrived', { count: 'two' })).toBeUndefined()
    expect(await event(mail, 'unheard', { count: 'two' })).toBeUndefined()
    const place = { type: 'integration', id: integrationId, name: 'cursor' } as const
    const broken = wrong('payload.count', 'must be at least 1, by the schema of the state cursor')
    expect(await refusalOf(mail.setState({ ...place, payload: { count: 0 } }))).toEqual(broken)
    await mail.setState({ ...place, payload: { count: 1 } })
    expect(await refusalOf(mail.patchState({ ...place, payload: { count: 0 } }))).toEqual(broken)
    expect(await refusalOf(mail.getOrSetState({ ...place, payload: { count: 0 } }))).toBeUndefined()
    expect(await refusalOf(bot.setState({ ...place, payload: { count: 0 } }))).toBeUndefined()
  })

  it('validates states of the bot by its definition, including their expiry', async () => {
    const counter = { type: 'bot' as const, ...numbered, expiry: 60_000 }
    await existingClient(server()).updateBot({ id: botId, states: { counter } })
    const place = { type: 'bot' as const, id: botId, name: 'counter' }
    const broken = wrong('payload.count', 'must be at least 1, by the schema of the state counter')
    expect(await refusalOf(bot.setState({ ...place, payload: { count: 0 } }))).toEqual(broken)
    const { state } = await bot.setState({ ...place, payload: { count: 1 } })
    expect(state.expiry).toBe(60_000)
  })

  it('refuses a recurring event that violates its schema', async () => {
    const admin = existingClient(server())
    const declare = (payload: object) =>
      refusalOf(
        admin.updateBot({
          id: botId,
          recurringEvents: { daily: { schedule: { cron: '0 7 * * *' }, type: 'counted', payload } },
        }),
      )
    expect(await declare({ count: 0 })).toEqual(
      wrong('recurringEvents\\.daily\\.payload\\.count', 'must be at least 1'),
    )
    expect(await declare({ count: 1 })).toBeUndefined()
  })
})
