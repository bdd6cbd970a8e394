import {
  createClient,
  createUser,
  generateUserKey,
  sendPerfMetrics,
} from '@botpress/webchat-client'
import { beforeAll, expect, it } from 'vitest'
import { describeSlow } from '../engines.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { hear, openWebchat, webchatAddress } from '../webchats.js'

const text = (words: string) => ({ type: 'text' as const, text: words })

describeSlow('the client of the web chat', (engine) => {
  const server = useServer(engine)
  let webhookId: string
  let botId: string
  beforeAll(async () => {
    const made = await makeBot(server())
    webhookId = made.webhookId
    botId = made.bot.id
  })
  const address = (path?: 'chat' | 'webchat') => webchatAddress(server(), webhookId, path)
  const admin = () => server().client()

  it.each(['chat', 'webchat'] as const)('calls every operation at /%s', async (path) => {
    const at = address(path)
    const secret = (await admin().setChatAdminSecret({ id: botId })).secret
    const { user, key } = await createUser({ ...at, name: 'Ada', userData: { plan: 'pro' } })
    expect(user).toMatchObject({ name: 'Ada', data: { plan: 'pro' } })
    const client = createClient({ ...at, userKey: key })

    const changed = await client.updateUser({
      name: 'Countess',
      userData: { plan: 'free' },
      attributes: { city: 'London', age: '36' },
    })
    expect(changed.user).toMatchObject({ data: { plan: 'free' }, attributes: { city: 'London' } })
    await client.updateUser({ userData: null, attributes: { age: null } })
    const me = (await client.getUser()).user
    expect(me).toMatchObject({ id: user.id, name: 'Countess', attributes: { city: 'London' } })
    expect(me).not.toHaveProperty('data')

    const { conversation } = await client.createConversation()
    const conversationId = conversation.id
    expect((await client.getConversation({ conversationId })).conversation).toEqual(conversation)
    expect((await client.listConversations({})).conversations).toEqual([conversation])

    const friend = await createUser({ ...at, attributes: { private: 'yes' } })
    const { attributes: _, ...shown } = friend.user
    expect(
      (await client.addParticipant({ conversationId, userId: friend.user.id })).participant,
    ).toEqual(shown)
    const participants = (await client.listParticipants({ conversationId })).participants
    expect(participants.map(({ id }) => id).sort()).toEqual([user.id, friend.user.id].sort())
    expect(
      (await client.getParticipant({ conversationId, userId: friend.user.id })).participant.id,
    ).toBe(friend.user.id)
    expect(await client.removeParticipant({ conversationId, userId: friend.user.id })).toEqual({})

    const metadata = { clientMessageId: 'one' }
    const sent = { conversationId, payload: text('Hello'), metadata }
    const { message } = await client.createMessage(sent)
    expect((await client.createMessage(sent)).message).toEqual(message)
    const messageId = message.id
    const answer = await client.createMessage({
      conversationId,
      replyTo: messageId,
      payload: { type: 'bloc', items: [{ type: 'text', payload: { text: 'Nested' } }] },
    })
    const { messages, meta } = await client.listConversationMessages({ conversationId })
    expect(messages.map(({ id }) => id)).toEqual([answer.message.id, messageId])
    expect(meta).toEqual({})
    expect((await client.getMessage({ messageId })).message).toEqual(message)
    const updated = await client.updateMessage({ messageId, payload: text('Hello!') })
    expect(updated.message).toEqual({ ...message, payload: text('Hello!'), fromBot: false })
    const last = (await client.listConversations({})).conversations[0]?.lastMessage
    expect(last?.payload).toEqual({
      type: 'bloc',
      items: [{ type: 'text', payload: { text: 'Nested' } }],
    })

    await admin().updateBot({ id: botId, name: 'Changed before' })
    expect(await client.addMessageFeedback({ messageId, value: 'negative' })).toEqual({})
    const feedback = { value: 'positive' as const, comment: 'Good' }
    expect(await client.addMessageFeedback({ messageId, ...feedback })).toEqual({})
    if (path === 'webchat') {
      expect((await client.getMessage({ messageId })).message.feedback).toEqual(feedback)
      expect((await client.getMessage({ messageId: answer.message.id })).message).toMatchObject({
        replyTo: messageId,
      })
    }
    // After a change, the server reads the bot anew.
    await admin().updateBot({ id: botId, name: 'Changed' })
    expect(await client.removeMessageFeedback({ messageId })).toEqual({})
    expect(await client.removeMessageFeedback({ messageId })).toEqual({})
    expect(await client.deleteMessage({ messageId })).toEqual({})

    const payload = { type: 'custom' as const, data: { step: 1 } }
    const { event } = await client.createEvent({ conversationId, payload })
    expect((await client.getEvent({ eventId: event.id })).event.payload).toEqual(payload)

    const { file } = await client.createFile({
      key: 'abc-note.txt',
      size: 5,
      accessPolicies: ['public_content'],
      index: false,
      tags: { source: 'integration', integrationName: 'webchat', conversation: conversationId },
      expiresAt: new Date(server().clock.now() + 30 * 86_400_000).toISOString(),
    })
    const upload = { method: 'PUT', body: 'words', headers: { 'content-type': file.contentType } }
    expect((await fetch(file.uploadUrl, upload)).ok).toBe(true)
    expect(await (await fetch(file.url)).text()).toBe('words')

    const expiresAt = server().clock.now() + 60_000
    const key2 = await client.generateUserKey({ id: 'preset', adminSecret: secret, expiresAt })
    const preset = createClient({ ...at, userKey: key2.key })
    expect((await preset.getUser()).user.id).toBe('preset')
    const again = await generateUserKey({ ...at, userId: 'preset', adminSecret: secret, expiresAt })
    expect(typeof again.key).toBe('string')
    expect(
      await sendPerfMetrics(webhookId, { duration: 1, event: 'x', properties: {} }, at.apiUrl),
    ).toEqual({})

    const ear = hear(client.listenConversation({ conversationId }))
    await ear.until('open')
    await client.createMessage({ conversationId, payload: text('Heard') })
    expect(await ear.until('message_created')).toMatchObject({ payload: text('Heard') })
    ear.close()

    expect(await client.deleteConversation({ conversationId })).toEqual({})
    expect(await client.deleteUser({ userId: user.id })).toEqual({})
    await expect(client.getUser()).rejects.toMatchObject({ code: 404 })
  })

  it('opens a web chat, and the same one again', async () => {
    const first = await openWebchat(address('chat'))
    const { init, client } = first
    expect(init.messages).toEqual([])
    expect(init.participants.map(({ id }) => id)).toEqual([init.user.id])
    const conversationId = init.conversation.id
    await client.createMessage({ conversationId, payload: text('Hello') })
    await first.until('message_created')
    first.close()
    const again = await openWebchat(address('chat'), {
      userToken: init.user.userKey,
      conversationId,
    })
    expect(again.init).toMatchObject({
      conversation: { id: conversationId },
      user: { id: init.user.id, userKey: init.user.userKey },
      messages: [{ payload: text('Hello') }],
    })
  })
})
