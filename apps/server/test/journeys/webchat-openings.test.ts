import { beforeAll, expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { openWebchat, webchatAddress } from '../webchats.js'

const day = 86_400_000

describeSlow('conversations that page views opened', (engine) => {
  const server = useServer(engine)
  let made: Awaited<ReturnType<typeof makeBot>>
  beforeAll(async () => {
    made = await makeBot(server())
  })
  const address = () => webchatAddress(server(), made.webhookId, 'chat')

  /** Opens a chat as the widget does, which also reports the start. */
  async function open(credentials: object = {}) {
    const { init, client } = await openWebchat(address(), credentials)
    const conversationId = init.conversation.id
    const payload = { type: 'conversation_started' as const, data: {} }
    await client.createEvent({ conversationId, payload })
    return { conversationId, userId: init.user.id, userToken: init.user.userKey, client }
  }

  async function exists(id: string): Promise<boolean> {
    const { conversations } = await made.client.listConversations({})
    return conversations.some((conversation) => conversation.id === id)
  }

  it('are deleted after seven days in which nothing happened', async () => {
    const { conversationId, userId, userToken } = await open()
    await server().pass(6.9 * day)
    expect(await exists(conversationId)).toBe(true)
    await server().pass(0.2 * day)
    await vi.waitFor(async () => expect(await exists(conversationId)).toBe(false))
    // A page that is still open, or comes back, names the conversation that it knows.
    const again = await open({ userToken, conversationId })
    expect(again.conversationId).not.toBe(conversationId)
    expect(again.userId).toBe(userId)
  })

  it('are kept if a user or the bot did anything in them', async () => {
    const bot = made.client
    const timeoutAt = new Date(server().clock.now() + 30 * day).toISOString()
    const uses: Record<string, (chat: Awaited<ReturnType<typeof open>>) => Promise<unknown>> = {
      'a message': ({ client, conversationId }) =>
        client.createMessage({ conversationId, payload: { type: 'text', text: 'Hello' } }),
      'a message that was deleted': async ({ client, conversationId }) => {
        const payload = { type: 'text' as const, text: 'Hello' }
        const { message } = await client.createMessage({ conversationId, payload })
        await client.deleteMessage({ messageId: message.id })
      },
      'an event': ({ client, conversationId }) =>
        client.createEvent({ conversationId, payload: { type: 'custom', data: {} } }),
      'a file': ({ client, conversationId }) =>
        client.createFile({ key: 'a.png', size: 1, tags: { conversation: conversationId } }),
      'a participant': async ({ conversationId }) => {
        const { user } = await bot.createUser({ tags: {} })
        await bot.addParticipant({ id: conversationId, userId: user.id })
      },
      'a tag': ({ conversationId }) =>
        bot.updateConversation({ id: conversationId, tags: { topic: 'prices' } }),
      'a state': ({ conversationId }) =>
        bot.setState({ type: 'conversation', id: conversationId, name: 'step', payload: {} }),
      'a scheduled message': ({ conversationId }) =>
        bot.createMessage({
          conversationId,
          userId: made.bot.id,
          type: 'text',
          payload: { text: 'Still there?' },
          tags: {},
          schedule: { delay: 30 * day },
        }),
      'a workflow that runs': ({ conversationId }) =>
        bot.createWorkflow({
          name: 'ask',
          conversationId,
          input: {},
          status: 'pending',
          timeoutAt,
        }),
    }
    const kept: Record<string, string> = {}
    for (const [name, use] of Object.entries(uses)) {
      const chat = await open()
      await use(chat)
      kept[name] = chat.conversationId
    }
    const unused = await open()
    await server().pass(7.1 * day)
    await vi.waitFor(async () => expect(await exists(unused.conversationId)).toBe(false))
    for (const [name, id] of Object.entries(kept))
      expect([name, await exists(id)]).toEqual([name, true])
  })

  it('are not those that a program created', async () => {
    const { client } = await open()
    const { conversation } = await client.createConversation()
    const unused = await open()
    await server().pass(7.1 * day)
    await vi.waitFor(async () => expect(await exists(unused.conversationId)).toBe(false))
    expect(await exists(conversation.id)).toBe(true)
  })
})
