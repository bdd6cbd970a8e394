import { beforeEach } from 'vitest'
import { announceReceiver } from '../src/features/deliveries/outbox.js'
import { retryNow } from '../src/features/deliveries/receiver-store.js'
import { isoTime } from '../src/platform/clock.js'
import type { Database } from '../src/platform/db/open.js'
import { createDeliveriesBench, type OpenCall } from './deliveries.js'
import { eventually } from './jobs.js'

type Bench = Awaited<ReturnType<typeof createDeliveriesBench>>

let subjects = 0

/** A bench for each test with a bot of its own, and what tests do with both. */
export function useDispatching(database: () => Database) {
  let made: { bench: Bench; botId: string } | undefined
  beforeEach(async () => {
    subjects += 1
    made = { bench: await createDeliveriesBench(database()), botId: `bot-${subjects}` }
  })

  return () => {
    if (made === undefined) throw new Error('The bench is there only while a test runs')
    const { bench, botId } = made
    return {
      bench,
      botId,
      enqueue: (subjectId: string, orderingKey: string | undefined = 'line') =>
        bench.enqueue({ botId, subjectId, orderingKey }),
      /**
       * The call that is open for a subject, once there is one. Where a look found rows that others had locked, as a
       * heartbeat has on PostgreSQL, the next one needs time: it passes only once nothing else is under way.
       */
      callOf: (subject: string) =>
        eventually(async () => {
          const find = () => bench.calls.find((open) => open.subject === subject)
          const call = find()
          if (call) return call
          await bench.rest()
          const later = find()
          if (later) return later
          bench.time.advance(50)
          throw new Error(`${subject} is not being sent`)
        }),
      /** Lets time pass until a subject is being sent again. */
      nextCallOf: (subject: string, last: OpenCall) =>
        eventually(async () => {
          await bench.rest()
          const call = bench.calls.find((open) => open.subject === subject && open !== last)
          if (call) return call
          bench.time.advance(250)
          throw new Error(`${subject} is not sent again`)
        }),
      /** Lets time pass, in steps of so many milliseconds, until the receiver is pinged. */
      pingOf: (step = 1000) =>
        eventually(async () => {
          await bench.rest()
          const ping = bench.calls.find(({ operation }) => operation === 'ping')
          if (ping) return ping
          bench.time.advance(step)
          throw new Error('There is no ping')
        }),
      statusOf: async (id: string) => (await bench.find(id))?.status,
      /** The consequence of a change of the bot. */
      changed: async () => {
        await bench.run((tx) => retryNow(tx, botId, isoTime(bench.time.now()), 500))
        announceReceiver(bench.bus, botId)
      },
      begun: () => bench.begun.filter((call) => call.botId === botId),
    }
  }
}
