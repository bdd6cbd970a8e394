import { beforeAll, expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { type TestServer, useServer } from '../../../test/harness.js'

const again = { idempotencyKey: '1' }

describeEachEngine('responses that an Idempotency-Key of a chat user repeats', (engine) => {
  const running = useServer(engine)
  let server: TestServer
  let botId: string
  let webhookId: string

  beforeAll(async () => {
    server = running()
    const { bot } = await server.client().createBot({})
    botId = bot.id
    webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  })

  async function newUser(id?: string) {
    const { user, key } = await server.client({ webhookId }).chatCreateUser(id ? { id } : {})
    return { id: user.id, chat: server.client({ webhookId, userKey: key }) }
  }

  it('are for that user, not for a later user of the same id', async () => {
    const former = await newUser('ada')
    const { conversation } = await former.chat.chatCreateConversation({}, again)
    const repeated = await former.chat.chatCreateConversation({}, again)
    expect(repeated.conversation.id).toBe(conversation.id)
    await former.chat.chatDeleteUser()

    const next = await newUser('ada')
    const own = await next.chat.chatCreateConversation({}, again)
    expect(own.conversation.id).not.toBe(conversation.id)
    expect(await next.chat.chatGetConversation({ id: own.conversation.id })).toEqual(own)
  })

  it('are refused to keys that are no longer valid', async () => {
    const runtime = server.client({ botId })
    const endings = [
      { end: (id: string) => runtime.banUser({ id }), type: 'Forbidden' },
      { end: (id: string) => runtime.revokeUserKeys({ id }), type: 'Unauthorized' },
      { end: (id: string) => runtime.deleteUser({ id }), type: 'Forbidden' },
    ]
    for (const { end, type } of endings) {
      const { id, chat } = await newUser()
      const { conversation } = await chat.chatCreateConversation({})
      const said = {
        conversationId: conversation.id,
        payload: { type: 'text', text: 'Hello' },
      } as const
      const { message } = await chat.chatCreateMessage(said, again)
      expect((await chat.chatCreateMessage(said, again)).message).toEqual(message)
      await end(id)
      await expect(chat.chatCreateMessage(said, again)).rejects.toMatchObject({ type })
    }
  })
})
