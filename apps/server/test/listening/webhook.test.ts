import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { useServer } from '../harness.js'
import { eventually } from '../jobs.js'
import { useNotifiedBots } from '../notified-bots.js'
import { startWebhookApp, type WebhookApp } from '../webhook-app.js'
import { listenRaw, openRoom } from './raw-stream.js'

describeSlow('the webhook of a chat', (engine) => {
  const server = useServer(engine)

  /** A room whose bot posts its signals to an app. */
  async function openPostingRoom(app: WebhookApp, more: object = {}) {
    const room = await openRoom(server())
    const { id } = room.bot
    const admin = server().client()
    const configuration = { webhookUrl: app.url, ...more }
    const installed = { chat: { configuration } }
    await server()
      .client({ headers: { 'x-multiple-integrations': 'true' } })
      .updateBot({ id, integrations: installed })
    const listed = async () =>
      (await admin.listDeliveries({ id, integration: 'chat', pageSize: 100 })).deliveries
    return { ...room, id, admin, listed, bot: server().client({ botId: id }), made: room.bot }
  }

  const textsOf = (calls: WebhookApp['posted']) =>
    calls.map(({ signal }) => Reflect.get(Object(signal.data.payload), 'text'))

  const { inTime } = useNotifiedBots(server)

  it('gets the same signals as listeners, in order, signed and with the secret', async () => {
    const app = await startWebhookApp()
    const room = await openPostingRoom(app, { webhookSecret: 's3' })
    const listener = await listenRaw(room.address)
    const conversationId = room.conversation.id
    const { message } = await room.say('hello')
    // Only now is it certain to be live: one that joins later gets pieces of a message in progress after the rest.
    await listener.until((heard) => heard.length === 1)
    const guest = await room.guest()
    const part = { conversationId, userId: guest.user.id }
    await room.owner.chat.chatAddParticipant(part)
    await room.owner.chat.chatCreateEvent({ conversationId, payload: { a: [1] } })
    await room.owner.chat.chatRemoveParticipant(part)
    const piece = { type: 'delta', streamId: 's', sequence: 1, delta: 'wri', createdAt: 'now' }
    const publish = (signal: object) =>
      room.bot.callAction({ type: 'chat:publishMessageStream', input: { conversationId, signal } })
    await publish(piece)
    await publish({ type: 'abort', streamId: 'other' })
    await room.bot.createMessage({
      conversationId,
      userId: room.id,
      type: 'text',
      tags: {},
      payload: { text: 'written', metadata: { streamId: 's' } },
    })
    await room.owner.chat.chatDeleteMessage({ id: message.id })

    const types = [
      'message_created',
      'participant_added',
      'event_created',
      'participant_removed',
      'message_stream_delta',
      'message_stream_abort',
      'message_stream_complete',
      'message_created',
      'message_deleted',
    ]
    await listener.until((heard) => heard.length === types.length)
    await eventually(() => expect(app.posted).toHaveLength(types.length))
    expect(app.posted.map(({ signal }) => signal.type)).toEqual(types)
    expect(app.posted.map(({ signal }) => signal)).toEqual(
      listener.heard.map(({ type, data }) => ({ type, data })),
    )
    listener.close()
    const [first] = app.posted
    const { path, headers = {}, body } = first ?? {}
    expect(path).toBe('/signals/')
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-secret-key': 's3',
      'x-botstead-attempt': '1',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('x-bp-'))).toEqual([])
    const [time, mac] = String(headers['x-botstead-signature']).split(',')
    const expected = createHmac('sha256', room.made.signingSecret)
      .update(`${time?.slice(2)}.${body}`)
      .digest('hex')
    expect(mac).toBe(`v1=${expected}`)

    const deliveries = await eventually(async () => {
      const all = await room.listed()
      expect(all.map(({ status }) => status)).toEqual(types.map(() => 'delivered'))
      return all
    })
    expect(deliveries[0]).toMatchObject({
      kind: 'signal',
      integration: 'chat',
      orderKey: conversationId,
      attempts: 1,
      subjectId: expect.stringContaining(`${conversationId}/`),
    })
    const { deliveries: listed } = await room.admin.listDeliveries({ id: room.id, kind: 'signal' })
    expect(listed).toHaveLength(types.length)
    const { logs } = await room.admin.getBotLogs({
      id: room.id,
      timeStart: '2020-01-01T00:00:00Z',
      conversationId,
    })
    expect(logs.filter((line) => line.message.startsWith('Delivered signal to chat'))).toHaveLength(
      types.length,
    )
  })

  it('gets failed signals again, except for those deleted meanwhile', async () => {
    const app = await startWebhookApp()
    app.answers.push(503)
    const room = await openPostingRoom(app)
    const first = await room.say('one')
    await eventually(() => expect(app.posted).toHaveLength(1))
    const second = await room.say('two')
    await room.say('three')
    await room.owner.chat.chatDeleteMessage({ id: second.message.id })
    await inTime(room.id, async () => expect(app.taken).toHaveLength(3))
    expect(textsOf(app.taken)).toEqual(['one', 'three', undefined])
    expect(app.taken.map(({ headers }) => headers['x-botstead-attempt'])).toEqual(['2', '1', '1'])
    expect(app.taken[2]?.signal).toMatchObject({
      type: 'message_deleted',
      data: { id: second.message.id, userId: first.message.userId },
    })
    await eventually(async () => {
      const statuses = (await room.listed()).map(({ status }) => status)
      expect(statuses.toReversed()).toEqual(['delivered', 'canceled', 'delivered', 'delivered'])
    })
  })

  it('gets refused signals again by a replay, apart from the bot', async () => {
    const app = await startWebhookApp()
    app.answers.push(401)
    const room = await openPostingRoom(app)
    await room.say('refused')
    const deliveryId = await eventually(async () => {
      const [delivery] = await room.listed()
      expect(delivery).toMatchObject({ status: 'failed', lastError: 'Status 401: no' })
      return delivery?.id ?? ''
    })
    const { delivery } = await room.admin.getDelivery({ id: room.id, deliveryId })
    expect(delivery.attemptLog).toMatchObject([{ number: 1, status: 401, answer: 'no' }])
    const others = { id: room.id, integration: 'other' }
    expect(await room.admin.replayFailedDeliveries(others)).toMatchObject({ replayed: 0 })
    const failed = { id: room.id, integration: 'chat', kind: 'signal' as const }
    expect(await room.admin.replayFailedDeliveries(failed)).toEqual({ replayed: 1 })
    await eventually(() => expect(textsOf(app.taken)).toEqual(['refused']))
  })

  it('is paused when it fails for long, and probed with the first pending signal', async () => {
    const app = await startWebhookApp()
    const room = await openPostingRoom(app)
    app.answers.push(...Array<number>(10_000).fill(500))
    await room.say('first')
    for (let i = 0; i < 5; i++) {
      const { conversation } = await room.owner.chat.chatCreateConversation({})
      const payload = { type: 'text' as const, text: 'noise' }
      await room.owner.chat.chatCreateMessage({ conversationId: conversation.id, payload })
    }
    const receivers = async () =>
      (await room.admin.listDeliveryReceivers({ id: room.id })).receivers
    const isPaused = async () =>
      expect(await receivers()).toMatchObject([{ integration: 'chat', paused: 'failures' }])
    await inTime(room.id, isPaused, 120_000)
    await room.say('second')
    const before = app.posted.length
    await room.admin.updateBot({ id: room.id, name: 'is it back?' })
    await inTime(room.id, async () => expect(app.posted.length).toBeGreaterThan(before))
    // A waiting signal shows that it is still down, and never a ping.
    expect(app.posted.every(({ signal }) => signal.type === 'message_created')).toBe(true)
    await isPaused()
    app.answers.length = 0
    await room.admin.updateBot({ id: room.id, name: 'it is' })
    await inTime(room.id, async () => {
      const statuses = (await room.listed()).map(({ status }) => status)
      expect(statuses).toEqual(Array(7).fill('delivered'))
    })
    expect(textsOf(app.taken).filter((text) => text !== 'noise')).toEqual(['first', 'second'])
    expect(await receivers()).toEqual([])
  })

  it('gets signals from when it was set, and only those of the chat', async () => {
    const app = await startWebhookApp()
    const room = await openRoom(server())
    const { id } = room.bot
    const admin = server().client({ headers: { 'x-multiple-integrations': 'true' } })
    const { integration } = await admin.createIntegration({
      name: 'post',
      version: '1.0.0',
      url: 'http://127.0.0.1:9/',
      channels: { mail: { messages: { text: { schema: {} } } } },
    })
    const made = await admin.createIntegrationApiKey({ integrationId: integration.id })
    await room.say('before')
    const chat = { configuration: { webhookUrl: app.url } }
    await admin.updateBot({ id, integrations: { chat, [integration.id]: {} } })
    await room.say('after')
    const bot = server().client({ botId: id })
    const post = server().client({
      token: made.value,
      botId: id,
      headers: { 'x-integration-id': integration.id, 'x-integration-alias': 'post' },
    })
    const posted = await post.createConversation({ channel: 'mail', tags: {} })
    await bot.createMessage({
      conversationId: posted.conversation.id,
      userId: id,
      type: 'text',
      tags: {},
      payload: { text: 'elsewhere' },
    })
    await room.say('last')
    await eventually(() => expect(app.taken).toHaveLength(2))
    await admin.updateBot({ id, integrations: { chat: { configuration: {} } } })
    await room.say('off')
    const { deliveries } = await admin.listDeliveries({ id, kind: 'signal' })
    expect(deliveries).toHaveLength(2)
    expect(textsOf(app.taken)).toEqual(['after', 'last'])
  })
})
