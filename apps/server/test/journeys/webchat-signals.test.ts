import { createUser } from '@botpress/webchat-client'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { existingClient, makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { type Init, openWebchat, webchatAddress } from '../webchats.js'

const text = (words: string) => ({ type: 'text' as const, text: words })

describeSlow('the signals of the web chat', (engine) => {
  const server = useServer(engine)
  let made: Awaited<ReturnType<typeof makeBot>>
  beforeAll(async () => {
    made = await makeBot(server())
  })
  const address = () => webchatAddress(server(), made.webhookId, 'chat')

  /** Sends a message of the bot, of any type. */
  const say = async (conversationId: string, type: string, payload: object) =>
    (
      await made.client.createMessage({
        conversationId,
        userId: made.bot.id,
        tags: {},
        type,
        payload: payload as Record<string, unknown>,
      })
    ).message
  const call = async (name: string, input: object) =>
    (await made.client.callAction({ type: `webchat:${name}`, input: { ...input } })).output
  const publish = (conversationId: string, sequence: number, delta: string) =>
    made.client.callAction({
      type: 'chat:publishMessageStream',
      input: {
        conversationId,
        signal: { type: 'delta', streamId: 's-1', createdAt: 'now', sequence, delta },
      },
    })

  it('report messages, after their status, and changes of messages', async () => {
    const { init, client, signals, until } = await openWebchat(address())
    const conversationId = init.conversation.id
    const metadata = { clientMessageId: 'mine' }
    const sent = await client.createMessage({ conversationId, payload: text('Hello'), metadata })
    const message = { ...sent.message, fromBot: false }
    const answer = await say(conversationId, 'text', { text: 'Hi', metadata })
    await client.updateMessage({ messageId: message.id, payload: text('Hello!') })
    await client.addMessageFeedback({ messageId: answer.id, value: 'positive' })
    await made.client.updateMessage({ id: answer.id, payload: { text: 'Hi!' }, tags: {} })
    await until('message_updated', 3)
    const said = {
      id: answer.id,
      createdAt: answer.createdAt,
      conversationId,
      userId: made.bot.id,
      fromBot: true,
      payload: text('Hi'),
      // Otherwise it would overwrite the message of the user.
      metadata: {},
    }
    const feedback = { value: 'positive' }
    expect(signals()).toEqual([
      {
        type: 'message_status_changed',
        payload: { message, oldStatus: 'pending', newStatus: 'processing' },
      },
      { type: 'message_created', payload: message },
      { type: 'message_created', payload: said },
      { type: 'message_updated', payload: { ...message, payload: text('Hello!') } },
      { type: 'message_updated', payload: { ...said, feedback } },
      {
        type: 'message_updated',
        payload: { ...said, payload: text('Hi!'), metadata: undefined, feedback },
      },
    ])
  })

  it('report participants by name', async () => {
    const { init, client, signals, until } = await openWebchat(address())
    const conversationId = init.conversation.id
    const agent = await createUser({ ...address(), name: 'An agent', userData: { private: true } })
    const { data: _, ...user } = agent.user
    await client.addParticipant({ conversationId, userId: user.id })
    await client.removeParticipant({ conversationId, userId: user.id })
    await until('participant_removed')
    expect(signals()).toEqual([
      { type: 'participant_added', payload: { conversationId, participant: user } },
      { type: 'participant_removed', payload: { conversationId, participantId: user.id } },
    ])
  })

  it('carry the actions of a bot to the page', async () => {
    const { init, client, signals, until } = await openWebchat(address())
    const conversationId = init.conversation.id
    await call('startTypingIndicator', { conversationId, messageId: 'any', timeout: 3000 })
    await call('stopTypingIndicator', { conversationId })
    await call('showWebchat', { conversationId })
    await call('hideWebchat', { conversationId })
    await call('toggleWebchat', { conversationId })
    await call('configWebchat', { conversationId, config: JSON.stringify({ color: '#123456' }) })
    await call('customEvent', { conversationId, event: JSON.stringify({ step: 1 }) })
    await made.client.callAction({
      type: 'chat:sendEvent',
      input: { conversationId, payload: { step: 2 } },
    })
    await until('custom', 2)
    expect(signals()).toEqual([
      { type: 'typing_started', payload: { timeout: 3000 } },
      { type: 'typing_stopped', payload: {} },
      { type: 'webchat_visibility', payload: { visibility: 'show' } },
      { type: 'webchat_visibility', payload: { visibility: 'hide' } },
      { type: 'webchat_visibility', payload: { visibility: 'toggle' } },
      { type: 'webchat_config', payload: { config: { color: '#123456' } } },
      { type: 'custom', payload: { event: { step: 1 } } },
      { type: 'custom', payload: { event: { step: 2 } } },
    ])
    await client.updateUser({ userData: { plan: 'pro' } })
    expect(await call('getUserData', { userId: init.user.id })).toEqual({
      userData: { plan: 'pro' },
    })
    await expect(call('customEvent', { conversationId, event: 'no JSON' })).rejects.toMatchObject({
      type: 'InvalidDataFormat',
    })
    await expect(call('showWebchat', { conversationId: 'nowhere' })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await expect(call('startTypingIndicator', { conversationId, timeout: -1 })).rejects.toThrow(
      /timeout/,
    )
  })

  it('grow one message piece by piece', async () => {
    const first = await openWebchat(address())
    const { init, signals, until } = first
    const { id } = init.conversation
    await publish(id, 1, 'Good ')
    await publish(id, 2, 'mor')
    await until('message_updated')
    const late = await openWebchat(address(), {
      userToken: init.user.userKey,
      conversationId: id,
    })
    await publish(id, 3, 'ning')
    const message = await say(id, 'text', {
      text: 'Good morning!',
      metadata: { streamId: 's-1' },
    })
    await until('message_updated', 3)
    const metadata = { streamId: 's-1', clientMessageId: 'stream:s-1' }
    expect(signals()).toMatchObject([
      { type: 'message_created', payload: { payload: text('Good '), metadata } },
      { type: 'message_updated', payload: { payload: text('Good mor'), metadata } },
      { type: 'message_updated', payload: { payload: text('Good morning'), metadata } },
      {
        type: 'message_updated',
        payload: { id: message.id, payload: text('Good morning!'), metadata },
      },
    ])
    expect(late.init.messages).toMatchObject([{ payload: text('Good mor'), metadata }])
    await late.until('message_updated', 2)
    expect(late.signals().map(({ payload }) => payload)).toMatchObject([
      { payload: text('Good morning') },
      { id: message.id, payload: text('Good morning!') },
    ])
    const again = await openWebchat(address(), {
      userToken: init.user.userKey,
      conversationId: id,
    })
    expect(again.init.messages).toMatchObject([{ id: message.id, metadata }])
  })

  it('begin with the newest messages, without losing one while a web chat opens', async () => {
    const { init } = await openWebchat(address())
    const conversationId = init.conversation.id
    const sent: string[] = []
    const writing = (async () => {
      for (let at = 0; at < 60; at++) {
        await say(conversationId, 'text', { text: `m${at}` })
        sent.push(`m${at}`)
      }
    })()
    const openings = Array.from({ length: 6 }, async (_, at) => {
      while (sent.length < at * 8) await new Promise((resolve) => setImmediate(resolve))
      return await openWebchat(address(), { userToken: init.user.userKey, conversationId })
    })
    const opened = await Promise.all(openings)
    await writing
    for (const { init: start, named, until } of opened) {
      await until('message_created', 1)
      const seen = () => {
        const past = start.messages.toReversed().map(({ payload }) => payload)
        const live = named('message_created').map((message) => Object(message).payload)
        return [...new Set([...past, ...live].map((payload) => Object(payload).text))]
      }
      while (seen().length < 60) await until('message_created', named('message_created').length + 1)
      expect(seen()).toEqual(sent)
    }
    for (let at = 60; at < 110; at++) await say(conversationId, 'text', { text: `m${at}` })
    const again = await openWebchat(address(), { userToken: init.user.userKey, conversationId })
    expect(again.init.messages.map(({ payload }) => Object(payload).text)).toEqual(
      Array.from({ length: 100 }, (_, at) => `m${109 - at}`),
    )
  })

  it('have only payloads that the widget supports', async () => {
    const { init, named, until } = await openWebchat(address())
    const conversationId = init.conversation.id
    const card = { title: 'A card', actions: [] }
    const items = [{ type: 'text', payload: { text: 'Nested' } }]
    await say(conversationId, 'carousel', { items: [card] })
    await say(conversationId, 'bloc', { items })
    await say(conversationId, 'custom', { url: 'https://example.com/a.js', name: 'a', data: 1 })
    await until('message_created', 3)
    const shown = [
      { type: 'carousel', items: [card] },
      { type: 'bloc', items },
      { type: 'custom', url: 'https://example.com/a.js', name: 'a', data: 1 },
    ]
    expect(named('message_created').map((message) => Object(message).payload)).toEqual(shown)
    const again = await openWebchat(address(), { userToken: init.user.userKey, conversationId })
    expect(again.init.messages.map(({ payload }) => payload)).toEqual(shown.toReversed())
  })

  it('include the start of a conversation, which the bot receives once', async () => {
    const { init, client } = await openWebchat(address())
    const conversationId = init.conversation.id
    const start = async () =>
      (
        await client.createEvent({
          conversationId,
          payload: { type: 'conversation_started', data: { page: 'a' } },
        })
      ).event
    const first = await start()
    expect(first.payload).toEqual({
      type: 'conversation_started',
      data: { page: 'a', status: { isInitial: true } },
    })
    const second = await start()
    expect(second).toMatchObject({
      id: first.id,
      payload: { data: { status: { isInitial: false } } },
    })
    await client.createEvent({
      conversationId,
      payload: { type: 'custom', data: { step: 1 } },
      bindConversation: false,
      bindUser: false,
    })
    const { events } = await existingClient(server(), { botId: made.bot.id }).listEvents({})
    const own = events.filter(({ payload }) => Object(payload).conversationId === conversationId)
    expect(own.map(({ type, conversationId: id, userId }) => ({ type, id, userId }))).toEqual([
      { type: 'chat:custom', id: undefined, userId: undefined },
      { type: 'chat:conversationStarted', id: conversationId, userId: init.user.id },
    ])
  })

  it('do not include those of another conversation', async () => {
    const one = await openWebchat(address())
    const other = await openWebchat(address())
    await say(other.init.conversation.id, 'text', { text: 'private' })
    const taken = await openWebchat(address(), {
      userToken: one.init.user.userKey,
      conversationId: other.init.conversation.id,
    })
    expect(taken.init.conversation.id).not.toBe(other.init.conversation.id)
    expect(taken.init.user.id).toBe(one.init.user.id)
    expect(taken.init.messages).toEqual([])
    await other.until('message_created')
    const [{ id: messageId }] = other.named('message_created') as [{ id: string }]
    const attempts = [
      () => one.client.addMessageFeedback({ messageId, value: 'positive' }),
      () => one.client.removeMessageFeedback({ messageId }),
      () => one.client.updateMessage({ messageId, payload: text('mine') }),
      () => one.client.getMessage({ messageId }),
    ]
    for (const attempt of attempts) {
      await expect(attempt()).rejects.toMatchObject({ code: 403 })
    }
    await expect(
      other.client.updateMessage({ messageId, payload: text('mine') }),
    ).rejects.toMatchObject({ code: 403 })
    expect(one.named('message_created')).toEqual([])
  })

  it('belong to a new conversation if the key or the conversation is gone', async () => {
    const { init, client } = await openWebchat(address())
    const options = { userToken: init.user.userKey, conversationId: init.conversation.id }
    const stale = await openWebchat(address(), { ...options, userToken: 'from another server' })
    expect(stale.init.user.id).not.toBe(init.user.id)
    expect(stale.init.conversation.id).not.toBe(init.conversation.id)
    // Before `init`, which a page that is being opened waits for.
    expect(stale.heard.map(({ type }) => type)).toEqual(['open', 'error', 'init'])
    expect(stale.named('error')).toEqual([
      {
        id: stale.init.conversation.id,
        code: 401,
        type: 'Unauthorized',
        message: expect.stringContaining('not valid any more'),
      },
    ])
    const without = await openWebchat(address(), { userToken: 'from another server' })
    expect(without.signals()).toEqual([])
    await client.deleteConversation({ conversationId: init.conversation.id })
    const restarted = await openWebchat(address(), options)
    expect(restarted.init.user.id).toBe(init.user.id)
    expect(restarted.init.conversation.id).not.toBe(init.conversation.id)
    expect(restarted.named('error')).toMatchObject([{ code: 404, type: 'ResourceNotFound' }])
    await client.deleteUser({ userId: init.user.id })
    const gone: Init = (await openWebchat(address(), options)).init
    expect(gone.user.id).not.toBe(init.user.id)
    expect(gone.user.userKey).not.toBe(init.user.userKey)
  })
})
