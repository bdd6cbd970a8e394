import {
  AlreadyExistsError,
  type AuthenticatedClient,
  ChatClientError,
  Client,
  ForbiddenError,
  InvalidPayloadError,
  InvalidQueryError,
  ResourceNotFoundError,
  UnauthorizedError,
} from '@botpress/chat'
import { beforeAll, describe, expect, it } from 'vitest'
import { payloadExamples } from '../bad-input/payload-examples.js'
import { connect, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

type Payload = Parameters<AuthenticatedClient['createMessage']>[0]['payload']

describe('the existing chat client', () => {
  const server = useServer()
  let webhookId: string
  let ada: AuthenticatedClient
  let room: string
  beforeAll(async () => {
    webhookId = (await makeBot(server())).webhookId
    ada = await connect(server(), webhookId)
    room = (await ada.createConversation({})).conversation.id
  })

  const baseApiUrl = () => `${server().url}/chat`
  const say = (text: string, conversationId = room) =>
    ada.createMessage({ conversationId, payload: { type: 'text', text } })

  describe('connects', () => {
    it('as a new user', async () => {
      expect(ada.user).toEqual({
        id: expect.stringMatching(/^user_[0-9A-Z]{26}$/),
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: ada.user.createdAt,
        key: expect.any(String),
      })
      const { key: _, ...user } = ada.user
      expect(await ada.getUser({})).toEqual({ user })
    })

    it('again with the key of the user', async () => {
      const again = await Client.connect({
        webhookId,
        baseApiUrl: baseApiUrl(),
        userKey: ada.user.key,
      })
      expect(again.user.id).toBe(ada.user.id)
      const { messages } = await again.listMessages({ conversationId: room })
      expect(messages).toEqual((await ada.listMessages({ conversationId: room })).messages)
    })

    it('with an id that the app has chosen', async () => {
      const grace = await connect(server(), webhookId, 'grace-1')
      expect(grace.user.id).toBe('grace-1')
      await expect(connect(server(), webhookId, 'grace-1')).rejects.toBeInstanceOf(
        AlreadyExistsError,
      )
      await expect(connect(server(), webhookId, 'not an id')).rejects.toBeInstanceOf(
        InvalidPayloadError,
      )
    })

    it('with the address of the installation', async () => {
      const apiUrl = `${baseApiUrl()}/${webhookId}`
      expect((await Client.connect({ apiUrl })).user.id).toMatch(/^user_/)
    })

    it('with a profile', async () => {
      const client = new Client({ webhookId, baseApiUrl: baseApiUrl() })
      const profile = { name: 'Grace', pictureUrl: 'https://example.com/g.png', profile: 'Admiral' }
      const { user, key } = await client.createUser(profile)
      expect(user).toMatchObject(profile)
      const { user: changed } = await client.getOrCreateUser({ 'x-user-key': key, name: 'Hopper' })
      expect(changed).toMatchObject({ ...profile, name: 'Hopper' })
    })

    it('not to an unknown address', async () => {
      await expect(connect(server(), 'nobody')).rejects.toBeInstanceOf(ChatClientError)
    })
  })

  it('signs its own keys when the app has the encryption key', async () => {
    const { admin, bot, integrationId, webhookId } = await makeBot(server())
    const encryptionKey = 'only the app and the server know this'
    await admin.updateBot({
      id: bot.id,
      integrations: { [integrationId]: { configuration: { encryptionKey } } },
    })
    const place = { webhookId, baseApiUrl: baseApiUrl() }
    const user = await Client.connect({ ...place, encryptionKey, userId: 'ada' })
    expect(user.user.id).toBe('ada')
    const { conversation } = await user.createConversation({ id: 'room-7' })
    const payload = { type: 'text' as const, text: 'Hello' }
    const { message } = await user.createMessage({ conversationId: 'room-7', payload })
    expect(message).toMatchObject({ userId: 'ada', conversationId: conversation.id })
    await expect(Client.connect(place)).rejects.toBeInstanceOf(UnauthorizedError)
    const forged = { ...place, encryptionKey: 'guessed', userId: 'ada' }
    await expect(Client.connect(forged)).rejects.toBeInstanceOf(UnauthorizedError)
    const foreign = { ...place, userKey: ada.user.key }
    await expect(Client.connect(foreign)).rejects.toBeInstanceOf(UnauthorizedError)
  })

  it.each(Object.entries(payloadExamples))('sends and lists %s', async (_, payload) => {
    const { message } = await ada.createMessage({
      conversationId: room,
      payload: payload as Payload,
    })
    expect(message).toEqual({
      id: expect.stringMatching(/^msg_[0-9A-Z]{26}$/),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      conversationId: room,
      userId: ada.user.id,
      payload,
    })
    const { messages } = await ada.listMessages({ conversationId: room })
    expect(messages[0]).toEqual(message)
  })

  it('keeps metadata beside the payload', async () => {
    const metadata = { trace: 't1', deep: { list: [1, null, 'x'] } }
    const payload = { type: 'text' as const, text: 'Hello' }
    const { message } = await ada.createMessage({ conversationId: room, payload, metadata })
    expect(message).toMatchObject({ payload, metadata })
    const { messages } = await ada.listMessages({ conversationId: room })
    expect(messages[0]).toEqual(message)
  })

  it('opens conversations with ids of its own', async () => {
    const { conversation } = await ada.createConversation({ id: 'room-a' })
    expect(conversation.id).toBe('room-a')
    expect(await ada.getConversation({ id: 'room-a' })).toEqual({ conversation })
    await expect(ada.createConversation({ id: 'room-a' })).rejects.toBeInstanceOf(
      AlreadyExistsError,
    )
    const { message } = await say('Hello', 'room-a')
    expect(message.conversationId).toBe('room-a')
    // Another chat address has separate ids.
    const elsewhere = await connect(server(), (await makeBot(server())).webhookId)
    expect((await elsewhere.createConversation({ id: 'room-a' })).conversation.id).toBe('room-a')
    expect((await elsewhere.listMessages({ conversationId: 'room-a' })).messages).toEqual([])
  })

  it('reads all messages with its list helper, newest first', async () => {
    const { conversation } = await ada.createConversation({})
    const texts = Array.from({ length: 120 }, (_, i) => `message ${i}`)
    for (const text of texts) await say(text, conversation.id)
    const all = await ada.list.messages({ conversationId: conversation.id }).collect()
    expect(all.map(({ payload }) => payload.text)).toEqual(texts.toReversed())
    const times = all.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(new Set(times).size).toBe(times.length)
  })

  it('throws its own error classes for refusals', async () => {
    const stranger = await connect(server(), webhookId)
    const payload = { type: 'text' as const, text: 'Hello' }
    const empty = { type: 'text' as const, text: '' }
    const refusals: [() => Promise<unknown>, new (...args: never[]) => Error][] = [
      [() => stranger.getConversation({ id: room }), ForbiddenError],
      [() => stranger.listMessages({ conversationId: room }), ForbiddenError],
      [() => stranger.createMessage({ conversationId: room, payload }), ForbiddenError],
      [() => ada.createMessage({ conversationId: 'nobody', payload }), ForbiddenError],
      [() => ada.getConversation({ id: 'nobody' }), ResourceNotFoundError],
      [() => ada.createMessage({ conversationId: room, payload: empty }), InvalidPayloadError],
      [() => ada.listMessages({ conversationId: room, nextToken: 'nonsense' }), InvalidQueryError],
    ]
    for (const [call, type] of refusals) {
      const refusal = await call().catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(type)
      expect(refusal).toMatchObject({ id: expect.stringMatching(/^req_/) })
    }
  })

  it('writes to a conversation that was created through the main API', async () => {
    const { client, webhookId } = await makeBot(server())
    const { conversation } = await client.createConversation({ channel: 'channel', tags: {} })
    const user = await connect(server(), webhookId)
    const { message } = await user.createMessage({
      conversationId: conversation.id,
      payload: { type: 'audio', audioUrl: 'https://example.com/a.mp3' },
    })
    expect(message.conversationId).toBe(conversation.id)
    const late = await connect(server(), webhookId)
    const call = late.listMessages({ conversationId: conversation.id })
    await expect(call).rejects.toBeInstanceOf(ForbiddenError)
    const { conversation: counted } = await client.getConversation({ id: conversation.id })
    expect(counted.messageCount).toBe(1)
  })
})
