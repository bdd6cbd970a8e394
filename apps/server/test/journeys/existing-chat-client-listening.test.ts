import {
  type AuthenticatedClient,
  ForbiddenError,
  InvalidPayloadError,
  ReferenceNotFoundError,
  ResourceNotFoundError,
} from '@botpress/chat'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { connect, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { listenBySocket, listenRaw } from '../listening/raw-stream.js'

describeSlow('the existing chat client', (engine) => {
  const server = useServer(engine)
  let webhookId: string
  let ada: AuthenticatedClient
  let grace: AuthenticatedClient
  beforeAll(async () => {
    webhookId = (await makeBot(server())).webhookId
    ada = await connect(server(), webhookId, 'ada')
    grace = await connect(server(), webhookId)
  })

  const payload = { type: 'text' as const, text: 'Hello' }

  /** Signals of a conversation as a user's client emits them. */
  async function hear(client: AuthenticatedClient, id: string) {
    const listener = await client.listenConversation({ id })
    const heard: [string, unknown][] = []
    let wake = () => {}
    const take = (name: string) => (data: unknown) => {
      heard.push([name, data])
      wake()
    }
    listener.on('message_created', take('message_created'))
    listener.on('message_deleted', take('message_deleted'))
    listener.on('event_created', take('event_created'))
    listener.on('participant_added', take('participant_added'))
    listener.on('participant_removed', take('participant_removed'))
    listener.on('unknown', take('unknown'))
    listener.on('error', take('error'))
    return {
      heard,
      until: async (count: number) => {
        while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve))
      },
      close: () => listener.disconnect(),
    }
  }

  it('receives the events of a conversation, in order', async () => {
    const { conversation } = await ada.createConversation({ id: 'room-1' })
    const id = conversation.id
    const ear = await hear(ada, id)
    const { message } = await ada.createMessage({
      conversationId: id,
      payload,
      metadata: { trace: 't1' },
    })
    await ada.addParticipant({ conversationId: id, userId: grace.user.id })
    await ada.addParticipant({ conversationId: id, userId: grace.user.id })
    const { message: answer } = await grace.createMessage({ conversationId: id, payload })
    await ada.deleteMessage({ id: message.id })
    await ada.removeParticipant({ conversationId: id, userId: grace.user.id })
    await ear.until(5)
    expect(ear.heard).toEqual([
      ['message_created', { ...message, isBot: false }],
      ['participant_added', { conversationId: id, participantId: grace.user.id }],
      ['message_created', { ...answer, isBot: false }],
      ['message_deleted', { id: message.id, conversationId: id, userId: 'ada' }],
      ['participant_removed', { conversationId: id, participantId: grace.user.id }],
    ])
    await ear.close()
  })

  it('receives a message that was sent just before', async () => {
    const { conversation } = await ada.createConversation({})
    const ear = await server().clock.hold(async () => {
      await ada.createMessage({ conversationId: conversation.id, payload })
      return await hear(ada, conversation.id)
    })
    await ear.until(1)
    expect(ear.heard).toMatchObject([['message_created', { payload }]])
    await ear.close()
  })

  it.each(['room/with/slashes', 'back\\slash'])('listens to %s', async (id) => {
    await ada.createConversation({ id })
    const ear = await hear(ada, id)
    await ada.createMessage({ conversationId: id, payload })
    await ear.until(1)
    expect(ear.heard).toMatchObject([['message_created', { conversationId: id }]])
    await ear.close()
  })

  it('loses its stream when it is removed', async () => {
    const { conversation } = await ada.createConversation({})
    const ear = await server().clock.hold(async () => {
      await ada.addParticipant({ conversationId: conversation.id, userId: grace.user.id })
      return await hear(grace, conversation.id)
    })
    await ear.until(1)
    await ada.removeParticipant({ conversationId: conversation.id, userId: grace.user.id })
    await ear.until(2)
    expect(ear.heard.map(([name]) => name)).toEqual(['participant_added', 'error'])
    await expect(grace.listenConversation({ id: conversation.id })).rejects.toMatchObject({
      status: 403,
    })
  })

  it('manages its own user', async () => {
    const client = await connect(server(), webhookId, 'fleeting')
    const { user } = await client.updateUser({ name: 'Flo', profile: 'Comes and goes' })
    expect(user).toMatchObject({ id: 'fleeting', name: 'Flo', profile: 'Comes and goes' })
    expect((await client.updateUser({ name: 'Florence' })).user).toMatchObject({
      name: 'Florence',
      profile: 'Comes and goes',
    })
    expect(await client.deleteUser({})).toEqual({})
    await expect(client.getUser({})).rejects.toBeInstanceOf(ResourceNotFoundError)
    expect((await connect(server(), webhookId, 'fleeting')).user.id).toBe('fleeting')
  })

  it('gets, lists and deletes conversations of its own', async () => {
    const client = await connect(server(), webhookId)
    const { conversation } = await client.getOrCreateConversation({ id: 'mine' })
    expect(await client.getOrCreateConversation({ id: 'mine' })).toEqual({ conversation })
    const { conversation: native } = await client.createConversation({})
    expect((await client.getOrCreateConversation({ id: native.id })).conversation).toEqual(native)
    await expect(grace.getOrCreateConversation({ id: 'mine' })).rejects.toBeInstanceOf(
      ForbiddenError,
    )
    const own = await client.list.conversations({}).collect()
    expect(own.map(({ id }) => id)).toEqual([native.id, 'mine'])
    await expect(grace.deleteConversation({ id: 'mine' })).rejects.toBeInstanceOf(ForbiddenError)
    const { message } = await client.createMessage({ conversationId: 'mine', payload })
    await client.deleteConversation({ id: 'mine' })
    await expect(client.getMessage({ id: message.id })).rejects.toBeInstanceOf(
      ResourceNotFoundError,
    )
    await expect(client.getConversation({ id: 'mine' })).rejects.toBeInstanceOf(
      ResourceNotFoundError,
    )
    expect((await grace.getOrCreateConversation({ id: 'mine' })).conversation.id).toBe('mine')
  })

  it('lists participants', async () => {
    const { conversation } = await ada.createConversation({})
    const conversationId = conversation.id
    await ada.addParticipant({ conversationId, userId: grace.user.id })
    const all = await ada.list.participants({ conversationId }).collect()
    expect(all.map(({ id }) => id).sort()).toEqual(['ada', grace.user.id].sort())
    const path = { conversationId, userId: grace.user.id }
    expect((await ada.getParticipant(path)).participant.id).toBe(grace.user.id)
    await expect(grace.getParticipant(path)).rejects.toBeInstanceOf(ForbiddenError)
    await expect(ada.addParticipant({ conversationId, userId: 'nobody' })).rejects.toBeInstanceOf(
      ReferenceNotFoundError,
    )
    await expect(ada.removeParticipant({ conversationId, userId: 'ada' })).rejects.toBeInstanceOf(
      InvalidPayloadError,
    )
    await expect(
      ada.removeParticipant({ conversationId, userId: 'nobody' }),
    ).rejects.toBeInstanceOf(ResourceNotFoundError)
    await expect(grace.addParticipant({ conversationId, userId: 'ada' })).rejects.toBeInstanceOf(
      ForbiddenError,
    )
  })

  it('reads and deletes messages', async () => {
    const { conversation } = await ada.createConversation({})
    const conversationId = conversation.id
    await ada.addParticipant({ conversationId, userId: grace.user.id })
    const { message } = await ada.createMessage({ conversationId, payload })
    // With the true author, whoever reads it.
    expect(await grace.getMessage({ id: message.id })).toEqual({ message })
    await expect(grace.deleteMessage({ id: message.id })).rejects.toBeInstanceOf(ForbiddenError)
    expect(await ada.deleteMessage({ id: message.id })).toEqual({})
    await expect(ada.getMessage({ id: message.id })).rejects.toBeInstanceOf(ResourceNotFoundError)
    await expect(ada.deleteMessage({ id: message.id })).rejects.toBeInstanceOf(
      ResourceNotFoundError,
    )
  })

  it('sends and gets custom events', async () => {
    const { conversation } = await ada.createConversation({})
    const conversationId = conversation.id
    const ear = await server().clock.hold(async () => {
      await ada.addParticipant({ conversationId, userId: grace.user.id })
      return await hear(grace, conversationId)
    })
    const { event } = await ada.createEvent({ conversationId, payload: { rating: { stars: 5 } } })
    await ear.until(2)
    expect(ear.heard.at(-1)).toEqual(['event_created', { ...event, isBot: false }])
    // With the true sender, whoever reads it.
    expect(await grace.getEvent({ id: event.id })).toEqual({ event })
    expect(event).toMatchObject({ userId: 'ada', payload: { rating: { stars: 5 } } })
    const stranger = await connect(server(), webhookId)
    await expect(stranger.getEvent({ id: event.id })).rejects.toBeInstanceOf(ForbiddenError)
    await expect(stranger.createEvent({ conversationId, payload: {} })).rejects.toBeInstanceOf(
      ForbiddenError,
    )
    await expect(ada.getEvent({ id: 'nothing' })).rejects.toBeInstanceOf(ResourceNotFoundError)
    await ear.close()
  })

  it('stores a repeated message once', async () => {
    const { conversation } = await ada.createConversation({})
    const conversationId = conversation.id
    // The existing client omits members that it does not know.
    const client = server().client({ webhookId, userKey: ada.user.key })
    const clientMessageId = `own-${conversationId}`
    const send = (text: string) =>
      client.chatCreateMessage({ conversationId, payload: { type: 'text', text }, clientMessageId })
    const first = await send('Hello')
    expect(await send('Hello')).toEqual(first)
    await expect(send('Something else')).rejects.toMatchObject({ status: 409 })
    const { messages } = await ada.listMessages({ conversationId })
    expect(messages).toHaveLength(1)
  })

  it('is refused a stream with the status that its transport supports', async () => {
    const { conversation } = await ada.createConversation({})
    const address = {
      url: server().url,
      webhookId,
      conversationId: conversation.id,
      userKey: ada.user.key,
    }
    const forged = { ...address, userKey: 'forged' }
    const foreign = { ...address, userKey: grace.user.key }
    const nowhere = { ...address, webhookId: 'nowhere' }
    for (const listen of [listenRaw, listenBySocket]) {
      await expect(listen(forged)).rejects.toMatchObject({ status: 401 })
      await expect(listen(foreign)).rejects.toMatchObject({ status: 403 })
      await expect(listen(nowhere)).rejects.toMatchObject({ status: 404 })
    }
    const path = `/chat/${webhookId}/conversations/${conversation.id}/listen`
    expect((await server().fetch(path)).status).toBe(400)
    await expect(listenBySocket({ ...address, userKey: '' })).rejects.toMatchObject({ status: 401 })
  })
})
