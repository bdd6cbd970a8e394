import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { connect, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { openWebchat, webchatAddress } from '../webchats.js'

describeSlow('the web chat', (engine) => {
  const server = useServer(engine, {
    BOTSTEAD_CHAT_NEW_USERS: '6',
    BOTSTEAD_MAX_LISTENERS_PER_USER: '2',
  })
  let made: Awaited<ReturnType<typeof makeBot>>
  beforeAll(async () => {
    made = await makeBot(server())
  })
  const address = () => webchatAddress(server(), made.webhookId, 'chat')
  const open = (headers: Record<string, string> = {}) =>
    server().fetch(`/chat/${made.webhookId}/initialize`, { headers })
  const post = async (path: string, key: string, body: unknown) => {
    const response = await server().fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user-key': key },
      body: JSON.stringify(body),
    })
    return { status: response.status, ...((await response.json()) as object) }
  }

  it('accepts both forms of parts, and returns to each client its own', async () => {
    const web = await openWebchat(address())
    const key = web.init.user.userKey
    const conversationId = web.init.conversation.id
    const plain = server().client({ webhookId: made.webhookId, userKey: key })
    const items = [
      { type: 'text', payload: { text: 'nested' } },
      { type: 'text', text: 'flat' },
    ]
    const sent = { conversationId, payload: { type: 'bloc', items } }
    const flat = {
      type: 'bloc',
      items: [
        { type: 'text', text: 'nested' },
        { type: 'text', text: 'flat' },
      ],
    }
    const nested = {
      type: 'bloc',
      items: [
        { type: 'text', payload: { text: 'nested' } },
        { type: 'text', payload: { text: 'flat' } },
      ],
    }
    expect(await post(`/webchat/${made.webhookId}/messages`, key, sent)).toMatchObject({
      status: 201,
      message: { payload: nested },
    })
    expect(await web.until('message_created')).toMatchObject({ payload: nested })
    const { messages } = await plain.chatListMessages({ conversationId })
    expect(messages.map(({ payload }) => payload)).toEqual([flat])
    const card = { title: 'A card', actions: [] }
    const payload = { type: 'carousel', items: [card, { ...card, type: 'card' }] }
    await post(`/chat/${made.webhookId}/messages`, key, { conversationId, payload })
    expect((await plain.chatListMessages({ conversationId })).messages[0]?.payload).toEqual({
      type: 'carousel',
      items: [
        { ...card, type: 'card' },
        { ...card, type: 'card' },
      ],
    })
  })

  it('names the invalid field of a nested part, and refuses scripts of users', async () => {
    const web = await openWebchat(address())
    const conversationId = web.init.conversation.id
    const refused = async (payload: object) =>
      await post(`/chat/${made.webhookId}/messages`, web.init.user.userKey, {
        conversationId,
        payload,
      })
    const item = (part: object) => ({ type: 'bloc', items: [part] })
    expect(await refused(item({ type: 'image', payload: { imageUrl: '' } }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^body\.payload\.items\.0\.payload\.imageUrl must/),
    })
    expect(await refused(item({ type: 'card', payload: {} }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^body\.payload\.items\.0\.type must be one of/),
    })
    const script = { type: 'custom', url: 'https://example.com/a.js', name: 'a' }
    expect(await refused(script)).toMatchObject({ status: 400 })
    expect(await refused(item({ type: 'custom', payload: script }))).toMatchObject({ status: 400 })
  })

  it('stores a message once per client id, and ignores invalid client ids', async () => {
    const web = await openWebchat(address())
    const conversationId = web.init.conversation.id
    const say = async (text: string, clientMessageId: unknown) =>
      (await post(`/chat/${made.webhookId}/messages`, web.init.user.userKey, {
        conversationId,
        payload: { type: 'text', text },
        metadata: { clientMessageId },
      })) as { status: number; message?: { id: string } }
    const first = await say('a', 'one')
    expect(await say('a', 'one')).toEqual(first)
    expect(await say('b', 'one')).toMatchObject({ status: 409 })
    const numbers = [await say('c', 1), await say('c', 1), await say('c', '')]
    expect(new Set(numbers.map(({ message }) => message?.id)).size).toBe(3)
    expect(web.named('message_created')).toHaveLength(4)
  })

  it('limits the bytes of the messages with which it opens', async () => {
    const web = await openWebchat(address())
    const conversationId = web.init.conversation.id
    const author = { conversationId, userId: made.bot.id, tags: {}, type: 'text' }
    // Two bytes each.
    const text = 'é'.repeat(50_000)
    for (let at = 0; at < 12; at++) {
      await made.client.createMessage({ ...author, payload: { text: `${at} ${text}` } })
    }
    web.close()
    const again = await openWebchat(address(), {
      userToken: web.init.user.userKey,
      conversationId,
    })
    expect(again.init.messages).toHaveLength(10)
    expect(Object(again.init.messages[0]?.payload).text).toMatch(/^11 /)
  })

  it('limits new users, also those with an invalid key, and streams', async () => {
    server().clock.advance(60_000)
    const bot = await makeBot(server())
    const at = webchatAddress(server(), bot.webhookId, 'chat')
    const path = `/chat/${bot.webhookId}/initialize`
    // On a busy machine there would be room for another user before the last one comes.
    await server().clock.hold(async () => {
      const { init } = await openWebchat(at)
      const options = { userToken: init.user.userKey, conversationId: init.conversation.id }
      for (let more = 0; more < 5; more++) await openWebchat(at, { userToken: `stale ${more}` })
      for (const headers of [new Headers(), new Headers({ 'x-user-key': 'stale' })]) {
        const refused = await server().fetch(path, { headers })
        expect(refused.status).toBe(429)
        expect(await refused.json()).toMatchObject({ type: 'RateLimited' })
      }
      expect((await openWebchat(at, options)).init.user.id).toBe(init.user.id)
      const third = await server().fetch(path, { headers: { 'x-user-key': init.user.userKey } })
      expect(third.status).toBe(429)
    })
  })

  it('returns JSON with every error', async () => {
    const elsewhere = await server().fetch('/webchat/nowhere/initialize')
    expect(elsewhere.status).toBe(404)
    expect(await elsewhere.json()).toMatchObject({ type: 'ResourceNotFound' })
    const nothing = await server().fetch(`/webchat/${made.webhookId}/nothing`)
    expect(await nothing.json()).toMatchObject({ type: 'ResourceNotFound' })
    const wrong = await server().fetch(`/webchat/${made.webhookId}/users`, { method: 'PATCH' })
    expect(await wrong.json()).toMatchObject({ type: 'MethodNotFound' })
    const long = await open({ 'x-user-key': 'x'.repeat(9000) })
    expect(long.status).toBe(400)
    expect(await long.json()).toMatchObject({ type: 'InvalidPayload' })
  })

  it('leaves the signals of the chat interface as they are', async () => {
    const ada = await connect(server(), made.webhookId)
    const { conversation } = await ada.createConversation({})
    const listener = await ada.listenConversation({ id: conversation.id })
    const heard: string[] = []
    listener.on('message_created', ({ id }) => void heard.push(id))
    listener.on('unknown', (signal) => void heard.push(JSON.stringify(signal)))
    const { message } = await ada.createMessage({
      conversationId: conversation.id,
      payload: { type: 'text', text: 'Hello' },
    })
    const input = { conversationId: conversation.id }
    await made.client.callAction({ type: 'webchat:startTypingIndicator', input })
    const key = ada.user.key
    const feedback = await server().fetch(
      `/chat/${made.webhookId}/messages/${message.id}/feedback`,
      {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'x-user-key': key },
        body: JSON.stringify({ value: 'positive' }),
      },
    )
    expect(feedback.status).toBe(200)
    const { message: last } = await ada.createMessage({
      conversationId: conversation.id,
      payload: { type: 'text', text: 'Bye' },
    })
    while (!heard.includes(last.id)) await new Promise((resolve) => setImmediate(resolve))
    expect(heard).toEqual([message.id, last.id])
    await listener.disconnect()
  })
})
