import { allOperations } from '@botstead/contract'
import { decodeJwt, SignJWT } from 'jose'
import { beforeAll, expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { type TestServer, useServer } from '../../../test/harness.js'

const chatSecret = 'a secret that the apps of the operator know'
const hello = { type: 'text', text: 'Hello' } as const

describeEachEngine('chat address', (engine) => {
  const running = useServer(engine, { BOTSTEAD_CHAT_SECRET: chatSecret })
  let server: TestServer
  let webhookId: string
  let botId: string

  beforeAll(async () => {
    server = running()
    ;({ webhookId, botId } = await newBot())
  })

  async function newBot(configuration: Record<string, unknown> = {}) {
    const admin = server.client()
    const { bot } = await admin.createBot({})
    await admin.updateBot({ id: bot.id, integrations: { chat: { configuration } } })
    const [chat] = Object.values(bot.integrations)
    return { botId: bot.id, webhookId: chat?.webhookId ?? '' }
  }

  const keyFor = (id: string, secret = chatSecret) =>
    new SignJWT({ id }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret))

  async function newUser(input: { id?: string; name?: string } = {}, at = webhookId) {
    const { user, key } = await server.client({ webhookId: at }).chatCreateUser(input)
    return { user, key, chat: server.client({ webhookId: at, userKey: key }) }
  }

  const post = (path: string, body: string | undefined, headers: Record<string, string> = {}) =>
    server.fetch(`/chat/${webhookId}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    })

  it('responds to the hello request with extra slashes and without a key', async () => {
    for (const path of ['/hello', '/hello/', '//hello/']) {
      const response = await server.fetch(`/chat/${webhookId}${path}`)
      expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
    }
  })

  it('that does not exist is refused as not found by all operations, with or without a key', async () => {
    const key = await keyFor('ada')
    const operations = allOperations.filter(({ path }) => path.startsWith('/chat/'))
    expect(operations).not.toHaveLength(0)
    for (const { method, path } of [...operations, { method: 'GET', path: '/chat/{w}/nothing' }]) {
      for (const headers of [new Headers(), new Headers({ 'x-user-key': key })]) {
        if (method === 'POST') headers.set('content-type', 'application/json')
        const response = await server.fetch(path.replaceAll(/\{\w+\}/g, 'unknown'), {
          method,
          headers,
          ...(method === 'POST' && { body: '{}' }),
        })
        expect([path, response.status, await response.json()]).toEqual([
          path,
          404,
          {
            id: expect.any(String),
            code: 404,
            type: 'ResourceNotFound',
            message: expect.any(String),
          },
        ])
      }
    }
  })

  it('is not found while it is switched off or after its bot is deleted', async () => {
    const { botId, webhookId } = await newBot()
    const admin = server.client()
    const chat = server.client({ webhookId })
    await chat.chatHello()
    await admin.updateBot({ id: botId, integrations: { chat: { enabled: false } } })
    await expect(chat.chatHello()).rejects.toMatchObject({ type: 'ResourceNotFound' })
    await admin.updateBot({ id: botId, integrations: { chat: { enabled: true } } })
    await chat.chatHello()
    await admin.deleteBot({ id: botId })
    await expect(chat.chatHello()).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('responds with 400 without a key, and with 401 to an empty or wrong one', async () => {
    const me = `/chat/${webhookId}/users/me`
    const missing = await server.fetch(me)
    expect([missing.status, await missing.json()]).toMatchObject([
      400,
      { type: 'InvalidPayload', metadata: { in: 'headers', field: 'x-user-key' } },
    ])
    for (const key of ['', 'wrong', await keyFor('ada', 'another secret')]) {
      const response = await server.fetch(me, { headers: { 'x-user-key': key } })
      expect([response.status, await response.json()]).toMatchObject([
        401,
        { type: 'Unauthorized' },
      ])
    }
  })

  it('creates users, whose key contains their public id', async () => {
    const { user, key, chat } = await newUser({ name: 'Ada' })
    expect(user).toEqual({
      id: expect.stringMatching(/^user_[0-9A-Z]{26}$/),
      createdAt: user.createdAt,
      updatedAt: user.createdAt,
      name: 'Ada',
    })
    expect(decodeJwt(key)).toMatchObject({ id: user.id })
    expect(await chat.chatGetUser()).toEqual({ user })

    const named = await newUser({ id: 'ada/1' })
    expect(named.user.id).toBe('ada/1')
    expect(decodeJwt(named.key)).toMatchObject({ id: 'ada/1' })
  })

  it('requires a body, which may be an empty object', async () => {
    expect((await post('/users', undefined)).status).toBe(400)
    expect((await post('/users', '{}')).status).toBe(201)
  })

  it.each(['', 'white space', 'ümlaut', 'x'.repeat(71)])(
    'refuses to create a user with the id %j',
    async (id) => {
      const response = await post('/users', JSON.stringify({ id }))
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { type: 'InvalidPayload', message: expect.stringMatching(/^body\.id /) },
      ])
    },
  )

  it('accepts keys of the server and of the app where it uses the shared secret', async () => {
    const chat = server.client({ webhookId, userKey: await keyFor('signed-by-app') })
    await expect(chat.chatGetUser()).rejects.toMatchObject({ type: 'ResourceNotFound' })
    const { user } = await chat.chatGetOrCreateUser({ name: 'First' })
    expect(user.id).toBe('signed-by-app')
    expect((await chat.chatGetOrCreateUser({})).user).toEqual(user)
    expect((await chat.chatGetOrCreateUser({ name: 'Next' })).user).toMatchObject({ name: 'Next' })
  })

  it('accepts only keys signed with its own secret where it has one', async () => {
    const { webhookId } = await newBot({ encryptionKey: 'four' })
    await expect(server.client({ webhookId }).chatCreateUser({})).rejects.toMatchObject({
      type: 'Unauthorized',
    })
    const own = server.client({ webhookId, userKey: await keyFor('ada', 'four') })
    expect((await own.chatGetOrCreateUser({})).user.id).toBe('ada')
    const shared = server.client({ webhookId, userKey: await keyFor('ada') })
    await expect(shared.chatGetUser()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('does not accept the key of a user with the same id in another bot', async () => {
    const { webhookId: elsewhere } = await newBot()
    await newUser({ id: 'namesake' })
    const { key } = await newUser({ id: 'namesake' }, elsewhere)
    const thief = server.client({ webhookId, userKey: key })
    await expect(thief.chatGetUser()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('accepts a message in a conversation that the bot prepared', async () => {
    const { user, chat } = await newUser()
    const runtime = server.client({ botId })
    const { conversation } = await runtime.createConversation({ channel: 'channel', tags: {} })
    const { message } = await chat.chatCreateMessage({
      conversationId: conversation.id,
      payload: { type: 'audio', audioUrl: 'https://example.com/a.ogg' },
      metadata: { trace: 't1' },
    })
    expect(message).toEqual({
      id: expect.stringMatching(/^msg_[0-9A-Z]{26}$/),
      createdAt: expect.stringMatching(/Z$/),
      conversationId: conversation.id,
      userId: user.id,
      payload: { type: 'audio', audioUrl: 'https://example.com/a.ogg' },
      metadata: { trace: 't1' },
    })
    expect(await chat.chatListMessages({ conversationId: conversation.id })).toEqual({
      messages: [message],
      meta: {},
    })
    expect(await runtime.getConversation({ id: conversation.id })).toMatchObject({
      conversation: { messageCount: 1 },
    })
  })

  it('decodes each id in a path separately', async () => {
    const { chat } = await newUser()
    const { conversation } = await chat.chatCreateConversation({ id: 'rooms/7' })
    expect(conversation.id).toBe('rooms/7')
    expect(await chat.chatGetConversation({ id: 'rooms/7' })).toEqual({ conversation })
    await chat.chatCreateMessage({ conversationId: 'rooms/7', payload: hello })
    const { messages } = await chat.chatListMessages({ conversationId: 'rooms/7' })
    expect(messages).toMatchObject([{ conversationId: 'rooms/7', payload: hello }])
  })

  it.each([
    [{ type: 'audio' }, 'body.payload.audioUrl is required.'],
    [{ type: 'text', text: '' }, 'body.payload.text must not be empty.'],
    [{ type: 'text', text: 1 }, 'body.payload.text must be a string.'],
    [{ type: 'location', latitude: '1', longitude: 2 }, 'body.payload.latitude must be a number.'],
    [{ text: 'x' }, 'body.payload.type is required.'],
    [
      { type: 'bloc', items: [{ type: 'text', text: 'a' }, { type: 'file' }] },
      'body.payload.items.1.fileUrl is required.',
    ],
    [{ type: 'choice', text: 'x', options: [{}] }, 'body.payload.options.0.label is required.'],
    ['text', 'body.payload must be an object.'],
  ])('names the wrong field of a payload: %j', async (payload, message) => {
    const { key } = await newUser()
    const body = JSON.stringify({ conversationId: 'conv_1', payload })
    const response = await post('/messages', body, { 'x-user-key': key })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { type: 'InvalidPayload', message },
    ])
  })

  it.each([null, 'text', [], 1])('refuses metadata that is not an object: %j', async (metadata) => {
    const { key } = await newUser()
    const body = JSON.stringify({ conversationId: 'conv_1', payload: hello, metadata })
    const response = await post('/messages', body, { 'x-user-key': key })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { message: 'body.metadata must be an object.' },
    ])
  })

  it('refuses a payload of more than 128 KiB', async () => {
    const { chat } = await newUser()
    const { conversation } = await chat.chatCreateConversation({})
    const say = (length: number) =>
      chat.chatCreateMessage({
        conversationId: conversation.id,
        payload: { type: 'text', text: 'x'.repeat(length) },
      })
    await say(131_072 - '{"text":""}'.length)
    await expect(say(131_072)).rejects.toMatchObject({ type: 'LimitExceeded' })
  })

  it('returns the first object again to a repeated creation', async () => {
    const { chat } = await newUser({}, (await newBot()).webhookId)
    const rooms = await Promise.all(
      Array.from({ length: 5 }, () =>
        chat.chatCreateConversation({ id: 'conversation' }, { idempotencyKey: 'conversation' }),
      ),
    )
    expect(new Set(rooms.map(({ conversation }) => conversation.createdAt)).size).toBe(1)

    const send = () =>
      chat.chatCreateMessage(
        { conversationId: 'conversation', payload: hello },
        { idempotencyKey: 'message' },
      )
    const sent = await Promise.all([send(), send(), send()])
    expect(new Set(sent.map(({ message }) => message.id)).size).toBe(1)
    expect((await chat.chatListMessages({ conversationId: 'conversation' })).messages).toHaveLength(
      1,
    )
    await expect(
      chat.chatCreateMessage(
        { conversationId: 'conversation', payload: { type: 'text', text: 'other' } },
        { idempotencyKey: 'message' },
      ),
    ).rejects.toMatchObject({ type: 'AlreadyExists' })
  })

  it('returns a user key only once, whatever Idempotency-Key is sent', async () => {
    const { webhookId } = await newBot()
    const anyone = server.client({ webhookId })
    const first = await anyone.chatCreateUser({}, { idempotencyKey: 'guessable' })
    const second = await anyone.chatCreateUser({}, { idempotencyKey: 'guessable' })
    expect(second.user.id).not.toBe(first.user.id)
    expect(decodeJwt(second.key).id).toBe(second.user.id)

    await anyone.chatCreateUser({ id: 'ada' }, { idempotencyKey: 'user' })
    await expect(
      anyone.chatCreateUser({ id: 'ada' }, { idempotencyKey: 'user' }),
    ).rejects.toMatchObject({
      type: 'AlreadyExists',
      message: expect.stringContaining('choose another id'),
    })
  })

  it('refuses a page token that is repeated or not from this list', async () => {
    const { key, chat } = await newUser()
    const { conversation } = await chat.chatCreateConversation({})
    const list = (query: string) =>
      server.fetch(`/chat/${webhookId}/conversations/${conversation.id}/messages?${query}`, {
        headers: { 'x-user-key': key },
      })
    expect(await (await list('nextToken=')).json()).toEqual({ messages: [], meta: {} })
    for (const query of ['nextToken=a&nextToken=b', 'nextToken=made-up']) {
      const response = await list(query)
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { type: 'InvalidQuery' },
      ])
    }
  })
})
