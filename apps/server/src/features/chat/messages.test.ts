import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { type Chats, createChats, type TestBot, text } from '../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import type { ChatUserActor } from '../../domain/actor.js'

describeEachEngine('the content of a message', (engine) => {
  const database = useDatabase(engine)
  let chats: Chats
  let bot: TestBot

  beforeAll(async () => {
    chats = await createChats(database())
    bot = await chats.bot()
  })

  const open = (actor: ChatUserActor) => chats.chat.createConversation(actor, {}, undefined)
  const send = (actor: ChatUserActor, conversationId: string, words: string) =>
    chats.chat.createMessage(actor, { conversationId, payload: text(words) }, undefined)
  const list = async (actor: ChatUserActor, conversationId: string) =>
    (await chats.chat.listMessages(actor, conversationId, {})).rows

  it('refuses a payload above the limit, and accepts one that just fits', async () => {
    const ada = await chats.user(bot)
    const { id } = await open(ada)
    const frame = '{"text":""}'.length
    const fits = 'é'.repeat((chats.maxPayloadBytes - frame) / 2)
    await send(ada, id, fits)
    await expect(send(ada, id, `${fits}xx`)).rejects.toMatchObject({ type: 'LimitExceeded' })
    await expect(
      chats.chat.createMessage(
        ada,
        { conversationId: id, payload: text('x'), metadata: { fits } },
        undefined,
      ),
    ).rejects.toMatchObject({ type: 'LimitExceeded' })
    expect(await list(ada, id)).toHaveLength(1)
  })

  it('does not accept metadata inside the payload', async () => {
    const ada = await chats.user(bot)
    const { id } = await open(ada)
    const payload = { ...text('x'), metadata: {} }
    await expect(
      chats.chat.createMessage(ada, { conversationId: id, payload }, undefined),
    ).rejects.toMatchObject({ type: 'InvalidPayload' })
  })

  it('returns and lists messages unchanged', async () => {
    const ada = await chats.user(bot)
    const { id } = await open(ada)
    const facts = fc
      .dictionary(fc.string(), fc.jsonValue())
      // Together with the words it has to fit into a message.
      .filter((value) => Buffer.byteLength(JSON.stringify(value)) < chats.maxPayloadBytes / 2)
    const metadata = fc.option(facts, { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1, maxLength: 50 }),
        metadata,
        async (words, given) => {
          const payload = text(words)
          const input = { conversationId: id, payload, ...(given && { metadata: given }) }
          const sent = await chats.chat.createMessage(ada, input, undefined)
          const [listed] = await list(ada, id)
          const expected = JSON.parse(
            JSON.stringify({ payload, ...(given && { metadata: given }) }),
          )
          expect(listed).toEqual({ ...sent, content: expected })
        },
      ),
      { numRuns: 30 },
    )
  })
})
