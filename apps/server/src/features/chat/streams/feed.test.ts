import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createChats, text } from '../../../../test/chats.js'
import { describeEachEngine, useDatabase } from '../../../../test/engines.js'
import { MemorySink } from '../../../../test/listening/memory-sink.js'
import { ManualTime } from '../../../../test/manual-time.js'
import { createLocalBus } from '../../../platform/bus/local.js'
import { announceEvents } from '../../../platform/events/publisher.js'
import { createLog } from '../../../platform/telemetry/log.js'
import { Feed } from './feed.js'
import { Listener } from './listener.js'

describeEachEngine('a feed', (engine) => {
  const database = useDatabase(engine)

  it('reads the log once when a hint arrives while it starts', async () => {
    const time = new ManualTime()
    const log = await createLog({ level: 'silent' })
    const chats = await createChats(database(), { clock: time, timers: time })
    const user = await chats.user(await chats.bot())
    const { id } = await chats.chat.createConversation(user, {}, undefined)
    const said = { conversationId: id, payload: text('Hello') }
    await chats.chat.createMessage(user, said, undefined)

    const bus = createLocalBus(log)
    let joined = () => {}
    const isJoined = new Promise<void>((resolve) => {
      joined = resolve
    })
    let reads = 0
    const feed = new Feed(
      {
        db: database().db,
        bus,
        clock: time,
        timers: time,
        log,
        render: async (_, events) => {
          reads += 1
          // A second reader would overtake this one while somebody already listens.
          if (reads === 1) await Promise.race([isJoined, sleep(100)])
          return events.map(({ sequence }) => ({ sequence, at: time.now(), frames: [] }))
        },
        firstOpenPiece: async () => {
          announceEvents(bus, id, 2)
          await sleep(20)
          return undefined
        },
      },
      { botId: user.chat.botId, id, publicId: id },
    )
    await feed.ready
    const newest = feed.position
    expect(newest).toBeGreaterThan(0)
    const sink = new MemorySink()
    const subscriber = {
      userId: 'user',
      authorizedAt: newest,
      after: newest,
      watch: () => () => {},
      isParticipant: async () => true,
    }
    const options = { maxPending: 65_536, now: () => time.now(), since: time.now() }
    await feed.join(new Listener(subscriber, sink, options))
    joined()
    await sleep(20)
    expect({ reads, position: feed.position, heard: sink.heard }).toEqual({
      reads: 1,
      position: newest,
      heard: [],
    })
    feed.close()
  })
})
