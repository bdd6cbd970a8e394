import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { createJobsBench, lease, newKind } from '../../../test/jobs.js'
import { ManualTime } from '../../../test/manual-time.js'
import { jobs } from '../../migrations/0008-jobs.js'
import { interruptedJobs } from '../../migrations/0044-interrupted-jobs.js'
import { tracesOfJobs } from '../../migrations/0090-traces-of-jobs.js'
import { scopesOfJobs } from '../../migrations/0205-scopes-of-jobs.js'
import type { Database } from '../db/open.js'
import { PermanentJobError } from './errors.js'
import type { Job, JobHandler } from './handler.js'

type Command =
  | { do: 'enqueue'; key: string }
  | { do: 'finish'; run: number; outcome: 'success' | 'failure' | 'permanent failure' }
  | { do: 'wait'; milliseconds: number }
  | { do: 'stall'; worker: number }

const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('enqueue'), key: fc.constantFrom('a', 'b', 'c') }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('finish'),
        run: fc.nat(5),
        outcome: fc.constantFrom('success', 'failure', 'permanent failure'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('wait'),
        milliseconds: fc.constantFrom(700, 5000, lease / 3),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('stall'), worker: fc.nat(1) }) },
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
)

interface Worker {
  readonly timers: ManualTime
  stalled: boolean
  stop(): Promise<void>
}

interface OpenRun {
  readonly worker: Worker
  readonly key: string
  readonly payload: unknown
  readonly signal: AbortSignal
  end(error?: Error): void
}

const maxAttempts = 3
const day = 24 * 60 * 60 * 1000

/** Two workers that do what a list of commands says, while every promise of the queue is checked. */
async function createPlay(database: Database) {
  const bench = await createJobsBench(database)
  const kind = newKind()
  const open = new Set<OpenRun>()
  const latest = new Map<string, OpenRun>()
  const begunOf = new WeakMap<Job, OpenRun>()
  const asked = new Map<string, number>()
  const ended = new Map<string, unknown>()
  const violations: string[] = []
  let payloads = 0

  function createHandler(worker: Worker): JobHandler {
    const recordEnd: JobHandler['onDone'] = async (_tx, job) => {
      const { key = '', payload } = job
      // A run that another one followed may store nothing, however late it ends.
      const run = begunOf.get(job)
      if (run !== latest.get(key)) violations.push(`${key} was ended by a stale run`)
      ended.set(key, payload)
    }
    return {
      concurrency: 2,
      handler: (job, { signal }) =>
        new Promise<void>((resolve, reject) => {
          const { key = '', payload, attempt } = job
          const end = (error?: Error) => {
            open.delete(begun)
            if (error) reject(error)
            else resolve()
          }
          const begun: OpenRun = { worker, key, payload, signal, end }
          for (const other of open) {
            const runs = other.key === key && !other.worker.stalled && !other.signal.aborted
            if (runs) violations.push(`${key} runs twice at once`)
          }
          if (attempt > maxAttempts) violations.push(`${key} is tried once too often`)
          open.add(begun)
          latest.set(key, begun)
          begunOf.set(job, begun)
        }),
      onDone: recordEnd,
      onDead: recordEnd,
    }
  }

  function startWorker(): Worker {
    const timers = new ManualTime()
    const worker: Worker = { timers, stalled: false, stop: () => bench.pass(runner.stop(), timers) }
    const runner = bench.start({ [kind]: createHandler(worker) }, { timers })
    return worker
  }

  const workers = [startWorker(), startWorker()]
  const all = [...workers]

  async function wait(milliseconds: number): Promise<void> {
    bench.time.advance(milliseconds)
    for (const { timers, stalled } of all) if (!stalled) timers.advance(milliseconds)
    await bench.rest()
  }

  return {
    violations,
    async perform(command: Command): Promise<void> {
      switch (command.do) {
        case 'enqueue': {
          payloads += 1
          const { key } = command
          asked.set(key, payloads)
          await bench.enqueue({ kind, key, payload: payloads, maxAttempts, deadlineMs: lease * 2 })
          return bench.rest()
        }
        case 'finish': {
          const run = [...open][command.run % Math.max(open.size, 1)]
          if (command.outcome === 'success') run?.end()
          else if (command.outcome === 'failure') run?.end(new Error('failed'))
          else run?.end(new PermanentJobError('failed for good'))
          return bench.rest()
        }
        case 'wait':
          return wait(command.milliseconds)
        case 'stall': {
          const worker = workers[command.worker]
          if (worker) worker.stalled = true
          const successor = startWorker()
          all.push(successor)
          workers[command.worker] = successor
          return bench.rest()
        }
        default:
          return command satisfies never
      }
    },
    /** Ends all runs well until nothing is left to do; then everything that was asked for is done. */
    async finish(): Promise<void> {
      for (let round = 0; round < 100; round++) {
        for (const run of open) run.end()
        // Jobs that lost their workers repeatedly wait for longer.
        await wait(round < 20 ? lease / 3 : day)
        const left = (await bench.queue.stats()).find((stats) => stats.kind === kind)
        if (!left || left.waiting + left.running === 0) break
      }
      expect(Object.fromEntries(ended)).toEqual(Object.fromEntries(asked))
    },
    async close(): Promise<void> {
      for (const run of open) run.end()
      await Promise.all(all.map((worker) => worker.stop()))
    },
  }
}

describeEachEngine('jobs under any interleaving', (engine) => {
  const database = useDatabase(engine, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])

  it('never run twice at once, store nothing late, and are all done in the end', async () => {
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
      { numRuns: engine.name === 'sqlite' ? 30 : 10 },
    )
  })
})
