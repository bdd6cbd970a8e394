import { expect, it, vi } from 'vitest'
import { createChats } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { MemorySink } from '../../../../test/listening/memory-sink.js'
import { Frame } from '../../../platform/streams/frame.js'
import type { Subscriber } from './index.js'

describeEachEngine('a stream with first frames', (engine) => {
  const database = useDatabase(engine)

  it('does not keep its first frames, and notices when the network has taken them', async () => {
    const chats = await createChats(database())
    const bot = await chats.bot()
    const ada = await chats.user(bot)
    const { id: conversation } = await chats.chat.createConversation(ada, {}, undefined)
    const followed = { botId: bot.actor.botId, id: conversation, publicId: conversation }
    const open = async () => {
      const sink = new MemorySink()
      const network = { take: () => {} }
      sink.ready = async () =>
        await new Promise((resolve) => {
          network.take = resolve
        })
      const subscriber: Subscriber & { taken: boolean } = {
        userId: ada.userKeyId,
        authorizedAt: 0,
        after: 0,
        firstFrames: [new Frame({ type: 'init', data: {} }, undefined)],
        taken: false,
        onFirstFramesTaken() {
          subscriber.taken = true
        },
        watch: () => () => {},
        isParticipant: async () => true,
      }
      const start = await chats.streams.subscribe(followed, subscriber)
      start(sink)
      await vi.waitFor(() => expect(sink.heard.map(({ type }) => type)).toContain('init'))
      expect(subscriber).toMatchObject({ firstFrames: undefined, taken: false })
      return { sink, network, subscriber }
    }
    const reading = await open()
    reading.network.take()
    await vi.waitFor(() => expect(reading.subscriber.taken).toBe(true))
    reading.sink.close()
    const leaving = await open()
    leaving.sink.close()
    expect(leaving.subscriber.taken).toBe(true)
  })
})
