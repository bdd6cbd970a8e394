import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { type Chats, createChats } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { encodePayload } from '../../../domain/payload.js'

describeEachEngine('messages', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats

  beforeAll(async () => {
    chats = await createChats(database())
  })

  it('limit the bytes of their payload as JSON, whatever its characters', () => {
    const around = fc.integer({ min: chats.maxPayloadBytes / 8, max: chats.maxPayloadBytes })
    fc.assert(
      fc.property(fc.constantFrom('a', 'é', '茶', '🍵', '"', '\n'), around, (letter, length) => {
        const payload = { text: letter.repeat(length) }
        const bytes = Buffer.byteLength(JSON.stringify(payload))
        const encode = () => encodePayload(payload, chats.maxPayloadBytes)
        if (bytes > chats.maxPayloadBytes) expect(encode).toThrow('at most 2000 bytes')
        else expect(JSON.parse(encode())).toEqual(payload)
      }),
    )
  })

  it('are deleted with their conversations, and no others', async () => {
    const bot = await chats.bot()
    const { botId } = bot.actor
    const ada = await chats.user(bot)
    const [gone, kept] = [
      await chats.chat.createConversation(ada, {}, undefined),
      await chats.chat.createConversation(ada, {}, undefined),
    ]
    for (const { id } of [gone, kept]) {
      await chats.chat.createMessage(
        ada,
        { conversationId: id, payload: { type: 'text', text: 'x' } },
        undefined,
      )
    }
    await chats.messages.purge(botId, [gone.id])
    expect((await chats.chat.listMessages(ada, gone.id, {})).rows).toEqual([])
    expect((await chats.chat.listMessages(ada, kept.id, {})).rows).toHaveLength(1)
  })
})
