import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ChatUserActor } from '../../src/domain/actor.js'
import { createLocalBus } from '../../src/platform/bus/local.js'
import { readEvents } from '../../src/platform/events/read.js'
import { createLog } from '../../src/platform/telemetry/log.js'
import { type Chats, createChats, text } from '../chats.js'
import { describeSlow, useDatabase } from '../engines.js'
import { ManualTime } from '../manual-time.js'
import { MemorySink } from './memory-sink.js'

/** Possible commands; numbers pick one of the present objects. */
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), who: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), who: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const), who: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('disconnect' as const), who: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('connect' as const), who: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), who: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), who: fc.nat(1) }) },
)
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never

/** A permanent listener: reconnects with the last number whenever the stream ends. */
interface Ear {
  /** 0 is the owner, 1 the guest. */
  user: 0 | 1
  sink: MemorySink | undefined
  /** The process that serves it. */
  process: Chats | undefined
  heard: MemorySink['heard']
}

describeSlow('a stream', (engine) => {
  const database = useDatabase(engine)

  it('delivers the log in order and once, whatever happens', async () => {
    const log = await createLog({ level: 'silent' })
    const runs = engine.name === 'sqlite' ? 30 : 12
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(command, { minLength: 1, maxLength: 4 }), {
          minLength: 3,
          maxLength: 14,
        }),
        fc.boolean(),
        async (batches, hintsPass) => {
          const world = await createWorld(log, hintsPass)
          for (const batch of batches) {
            await Promise.all(batch.map((one) => world.act(one)))
          }
          await world.settle()
          await world.check()
          world.stop()
        },
      ),
      { numRuns: runs },
    )
  })

  /** Two processes on one database, and a conversation with two users and four ears. */
  async function createWorld(log: Awaited<ReturnType<typeof createLog>>, hintsPass: boolean) {
    const time = new ManualTime()
    const shared = createLocalBus(log)
    const boot = () =>
      createChats(database(), {
        clock: time,
        timers: time,
        ...(hintsPass && { bus: shared }),
      } as Parameters<typeof createChats>[1])
    const processes: [Chats, Chats] = [await boot(), await boot()]
    const bot = await processes[0].bot()
    const users: [ChatUserActor, ChatUserActor] = [
      await processes[0].user(bot),
      await processes[0].user(bot),
    ]
    const { id } = await processes[0].chat.createConversation(users[0], {}, undefined)
    await processes[0].chat.addParticipant(users[0], id, users[1].userKeyId)
    const ears: Ear[] = [0, 0, 1, 1].map((user) => ({
      user: user === 0 ? 0 : 1,
      sink: undefined,
      process: undefined,
      heard: [],
    }))

    /**
     * Processes that ended abruptly, as by kill -9: what they stored stays, and they send no more.
     */
    const dead = new Set<Chats>()

    async function connect(ear: Ear, process: Chats): Promise<void> {
      if (ear.sink?.open) return
      const after = ear.heard.findLast(({ sequence }) => sequence !== undefined)?.sequence ?? 0
      const start = await process.chat.listen(users[ear.user], id, after)
      // The connection came too late, or died with its process.
      if (ear.sink?.open || dead.has(process)) return
      ear.process = process
      ear.sink = new MemorySink()
      // Signals from before and later ones are one view.
      ear.sink.heard.push(...ear.heard)
      ear.heard = ear.sink.heard
      start(ear.sink)
    }

    /** Ignores refusals of operations that are not allowed at the moment. */
    const tolerant = (work: Promise<unknown>) =>
      work.catch((error: unknown) => {
        if (
          !/not yours|not a participant|no conversation|no message|is stopping/.test(String(error))
        ) {
          throw error
        }
      })

    async function act({ do: what, who }: Command): Promise<void> {
      const process = processes[who % 2 === 0 ? 0 : 1]
      const actor = users[who % 2 === 0 ? 0 : 1]
      const { chat } = process
      switch (what) {
        case 'send':
          await tolerant(
            chat.createMessage(actor, { conversationId: id, payload: text('x') }, undefined),
          )
          return
        case 'delete': {
          const own = await chat.listMessages(users[0], id, {})
          const message = own.rows.find(({ userId }) => userId === actor.userKeyId)
          if (message) await tolerant(chat.deleteMessage(actor, message.id))
          return
        }
        case 'leave':
          await tolerant(
            chat.removeParticipant(users[0], {
              webhookId: bot.webhookId,
              conversationId: id,
              userId: users[1].userKeyId,
            }),
          )
          return
        case 'join':
          await chat.addParticipant(users[0], id, users[1].userKeyId)
          return
        case 'disconnect':
          ears[who]?.sink?.close()
          return
        case 'connect': {
          const ear = ears[who]
          if (ear) await tolerant(connect(ear, process))
          return
        }
        case 'restart': {
          const index = who % 2 === 0 ? 0 : 1
          processes[index].streams.stop()
          processes[index] = await boot()
          return
        }
        case 'kill': {
          const index = who % 2 === 0 ? 0 : 1
          const killed = processes[index]
          dead.add(killed)
          for (const ear of ears) if (ear.process === killed) ear.sink?.close()
          processes[index] = await boot()
          return
        }
        default:
          return what satisfies never
      }
    }

    const logOf = () => readEvents(database().db, id, 0, 1000)

    return {
      act,
      async settle() {
        await processes[0].chat.addParticipant(users[0], id, users[1].userKeyId)
        // The last event is always sent.
        await processes[0].chat.createMessage(
          users[0],
          { conversationId: id, payload: text('end') },
          undefined,
        )
        const newest = (await logOf()).length
        const behind = () => ears.filter(({ sink }) => !sink?.open || (sink.lastId ?? 0) < newest)
        for (let round = 0; behind().length > 0; round++) {
          if (round > 200) throw new Error('Listeners never reach the end of the log')
          for (const [i, ear] of behind().entries()) {
            await tolerant(connect(ear, processes[i % 2 === 0 ? 0 : 1]))
          }
          // Without hints the poll has to find what is new.
          time.advance(1000)
          for (let i = 0; i < 5; i++) await turn()
          // A database on a busy machine takes its time, whatever the clock of the test says.
          if (round > 20) await new Promise((resolve) => setTimeout(resolve, 20))
        }
      },
      async check() {
        const events = await logOf()
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i + 1))
        const deleted = new Set(
          events.filter(({ type }) => type === 'message_deleted').map((one) => one.subjectId),
        )
        const mayBeMissing = (event: (typeof events)[number]) =>
          event.type === 'message_created' && deleted.has(event.subjectId)
        for (const { heard } of ears) {
          const sent = new Set(heard.map(({ sequence }) => sequence))
          const expected = events.filter((one) => sent.has(one.sequence) || !mayBeMissing(one))
          expect(heard.map(({ sequence, type }) => [sequence, type])).toEqual(
            expected.map(({ sequence, type }) => [sequence, type]),
          )
        }
      },
      stop() {
        for (const { streams } of [...processes, ...dead]) streams.stop()
      },
    }
  }
})
