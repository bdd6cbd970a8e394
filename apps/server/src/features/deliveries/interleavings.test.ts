import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createDeliveriesBench, lease, type OpenCall } from '../../../test/deliveries.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { ManualTime } from '../../../test/manual-time.js'
import type { Database } from '../../platform/db/open.js'

const outcomes = ['taken', 'refused', 'broken', 'silent'] as const
const bots = ['x', 'y'] as const

type Command =
  | { do: 'enqueue'; bot: string; line: string; count: number }
  | { do: 'finish'; call: number; outcome: (typeof outcomes)[number] }
  | { do: 'wait'; milliseconds: number }
  | { do: 'stall'; worker: number }
  | { do: 'pause' | 'resume'; bot: string }

const bot = fc.constantFrom(...bots)
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('enqueue' as const),
        bot,
        line: fc.constantFrom('a', 'b', 'c'),
        count: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('finish' as const),
        call: fc.nat(5),
        outcome: fc.constantFrom(...outcomes),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        milliseconds: fc.constantFrom(700, 5000, lease / 3, lease + 1),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('stall' as const), worker: fc.nat(1) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume'), bot }) },
  ),
  { minLength: 10, maxLength: 50, size: 'max' },
)

interface Worker {
  name: string
  timers: ManualTime
  stalled: boolean
  stop: () => Promise<void>
}

/** Two dispatchers that follow a list of commands while every guarantee is checked. */
async function createPlay(database: Database) {
  const bench = await createDeliveriesBench(database)
  const { calls, begun } = bench
  const violations: string[] = []
  const asked = new Map<string, string[]>()
  const paused = new Set<string>()
  const seen = new Map<string, number>()
  const workers: Worker[] = []
  let subjects = 0
  let looked = 0
  let stalls = 0

  async function startWorker(at: number): Promise<void> {
    const timers = new ManualTime()
    const name = `worker ${workers.length}`
    // No receiver pauses by itself here: only commands pause.
    const pausing = { afterMs: 1e12, afterFailures: 1e6, probeEveryMs: 1e9 }
    const { stop } = await bench.start({
      timers,
      name,
      pausing,
      maxAttempts: 3,
    })
    workers.push({ name, timers, stalled: false, stop })
    current[at] = workers.at(-1)
  }
  const current: (Worker | undefined)[] = []

  const workerOf = (call: OpenCall) => workers.find(({ name }) => name === call.by)
  const queueOf = (subject: string) => subject.split(' ')[0] ?? ''

  /**
   * Waits until all dispatchers are idle before time moves on, and checks the calls that have
   * begun.
   */
  async function rest(): Promise<void> {
    await bench.rest()
    for (const call of begun.slice(looked)) {
      const before = seen.get(call.subject) ?? 0
      // A stalled worker leaves an attempt without an outcome. So does a slow one when more time
      // passes at once than a lease lasts.
      const taken = begun.filter(
        ({ subject, signal }) => subject === call.subject && signal?.aborted,
      )
      if (call.attempt > 3 + stalls + taken.length)
        violations.push(`${call.subject} is tried once too often`)
      if (call.attempt <= before)
        violations.push(`${call.subject} does not say that it is a repeat`)
      if (before === 0 && call.attempt !== 1) violations.push(`${call.subject} is no repeat`)
      seen.set(call.subject, call.attempt)
    }
    looked = begun.length
    const alive = calls.filter((call) => !workerOf(call)?.stalled && !call.signal?.aborted)
    const lines = alive.map(({ subject }) => queueOf(subject))
    if (new Set(lines).size < lines.length) violations.push('two of a line are sent at once')
  }

  async function wait(milliseconds: number): Promise<void> {
    bench.time.advance(milliseconds)
    for (const { timers, stalled } of workers) if (!stalled) timers.advance(milliseconds)
    await rest()
  }

  function finish(call: OpenCall, outcome: (typeof outcomes)[number]): void {
    if (outcome === 'taken') call.respond(200)
    else if (outcome === 'refused') call.respond(400)
    else if (outcome === 'broken') call.respond(503)
    else call.fail('timeout')
  }

  async function resume(botId: string): Promise<void> {
    paused.delete(botId)
    await bench.resume(botId)
    await rest()
  }

  await startWorker(0)
  await startWorker(1)

  return {
    violations,
    async perform(command: Command): Promise<void> {
      switch (command.do) {
        case 'enqueue': {
          for (let i = 0; i < command.count; i++) {
            const line = `${command.bot}/${command.line}`
            subjects += 1
            const subject = `${line} ${subjects}`
            asked.set(line, [...(asked.get(line) ?? []), subject])
            await bench.enqueue({
              botId: command.bot,
              subjectId: subject,
              orderingKey: command.line,
            })
          }
          const waiting = begun.length
          await rest()
          const early = begun.slice(waiting).filter(({ botId }) => paused.has(botId))
          if (early.length > 0) violations.push('a paused receiver is called')
          return
        }
        case 'finish': {
          const call = calls[command.call % Math.max(calls.length, 1)]
          if (call) finish(call, command.outcome)
          return rest()
        }
        case 'wait':
          return wait(command.milliseconds)
        case 'stall': {
          const worker = current[command.worker]
          if (worker) worker.stalled = true
          stalls += 1
          await startWorker(command.worker)
          return rest()
        }
        case 'pause':
          paused.add(command.bot)
          await bench.pause(command.bot)
          return rest()
        case 'resume':
          return resume(command.bot)
        default:
          return command satisfies never
      }
    },
    /**
     * Accepts all calls until nothing is left, then checks that each delivery ended once, in order.
     */
    async finish(): Promise<void> {
      for (const botId of bots) await resume(botId)
      const count = () =>
        database.db
          .selectFrom('deliveries')
          .select('id')
          .where('status', '=', 'pending')
          .where('bot_id', 'in', bots)
          .execute()
      for (let round = 0; round < 200 && (await count()).length > 0; round++) {
        for (const call of [...calls]) call.respond(200)
        await wait(lease / 3)
      }
      const ends = new Map<string, string[]>()
      for (const { subject } of bench.finished) {
        ends.set(queueOf(subject), [...(ends.get(queueOf(subject)) ?? []), subject])
      }
      expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(asked))
      const lines = await database.db.selectFrom('delivery_lines').selectAll().execute()
      expect(lines).toEqual([])
    },
    async close(): Promise<void> {
      for (const call of [...calls]) call.respond(200)
      await Promise.all(workers.map(({ stop }) => stop()))
      await database.run(async (tx) => {
        await tx.deleteFrom('deliveries').execute()
        await tx.deleteFrom('delivery_lines').execute()
        await tx.deleteFrom('delivery_receivers').execute()
        await tx.deleteFrom('delivery_attempts').execute()
      })
    },
  }
}

describeEachEngine('deliveries under any interleaving', (engine) => {
  const database = useDatabase(engine)
  it('are sent in order, one at a time per ordering key, and end exactly once', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        const play = await createPlay(database())
        try {
          for (const command of list) await play.perform(command)
          await play.finish()
          expect(play.violations).toEqual([])
        } finally {
          await play.close()
        }
      }),
      { numRuns: 15 },
    )
  })
})
