import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import {
  type ControlledRun,
  controlledHandler,
  createJobsBench,
  eventually,
  newKind,
} from '../../../test/jobs.js'
import { ManualTime } from '../../../test/manual-time.js'
import { jobs } from '../../migrations/0008-jobs.js'
import { interruptedJobs } from '../../migrations/0044-interrupted-jobs.js'
import { tracesOfJobs } from '../../migrations/0090-traces-of-jobs.js'
import { scopesOfJobs } from '../../migrations/0205-scopes-of-jobs.js'
import { migrate } from '../db/migrate.js'
import { openDatabase } from '../db/open.js'

describeEachEngine('a job runner', (engine) => {
  const database = useDatabase(engine, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])
  const bench = () => createJobsBench(database())

  it('begins at once, without any timer', async () => {
    const { enqueue, start, time } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    const before = time.now()
    await enqueue({ kind, payload: {} })
    await handler.run(0)
    expect(time.now()).toBe(before)
  })

  it('finds jobs that no hint announced: from before its start, and from elsewhere', async () => {
    const { enqueue, start, pass } = await bench()
    const elsewhere = await bench()
    const kind = newKind()
    const handler = controlledHandler({ concurrency: 2 })
    await enqueue({ kind, payload: 'before' })
    start({ [kind]: handler })
    expect((await handler.run(0)).job.payload).toBe('before')
    await elsewhere.enqueue({ kind, payload: 'elsewhere' })
    expect((await pass(handler.run(1))).job.payload).toBe('elsewhere')
  })

  it('runs a job at its time, to the millisecond', async () => {
    const { enqueue, start, time, awaitRun } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    const due = time.now() + 12_345
    await enqueue({ kind, payload: {}, runAt: due })
    await awaitRun(handler, 0)
    expect(time.now()).toBe(due)
  })

  it('takes higher priorities first, then what has been due for longest', async () => {
    const { enqueue, start, time } = await bench()
    const kind = newKind()
    const runAt = (payload: number) => time.now() - 1000 + payload
    for (const payload of [5, 4]) {
      await enqueue({ kind, payload, priority: 'low', runAt: runAt(payload) })
    }
    for (const payload of [3, 2]) await enqueue({ kind, payload, runAt: runAt(payload) })
    for (const payload of [1, 0]) {
      await enqueue({ kind, payload, priority: 'high', runAt: runAt(payload) })
    }
    const handler = controlledHandler()
    start({ [kind]: handler })
    for (const index of [0, 1, 2, 3, 4, 5]) {
      const run = await handler.run(index)
      expect(run.job.payload).toBe(index)
      run.succeed()
    }
  })

  it('does as many jobs of a kind at a time as its handler allows, and other kinds beside them', async () => {
    const { enqueue, start, queue } = await bench()
    const [kind, other] = [newKind(), newKind()]
    const handlers = { [kind]: controlledHandler({ concurrency: 3 }), [other]: controlledHandler() }
    for (let job = 0; job < 5; job++) await enqueue({ kind, payload: job })
    await enqueue({ kind: other, payload: {} })
    start(handlers)
    await handlers[kind]?.run(2)
    await handlers[other]?.run(0)
    expect(await queue.stats()).toContainEqual(
      expect.objectContaining({ kind, running: 3, waiting: 2 }),
    )
    handlers[kind]?.runs[1]?.succeed()
    await handlers[kind]?.run(3)
    expect(await queue.stats()).toContainEqual(
      expect.objectContaining({ kind, running: 3, waiting: 1 }),
    )
  })

  it('keeps slots for jobs of high priority, and does not look for others meanwhile', async () => {
    const { enqueue, start, rest, time } = await bench()
    const kind = newKind()
    await enqueue({ kind, payload: 'normal' })
    await enqueue({ kind, payload: 'low', priority: 'low' })
    const handler = controlledHandler({ concurrency: 3, perScope: { high: 3, others: 1 } })
    start({ [kind]: handler })
    const normal = await handler.run(0)
    await rest()
    expect(handler.runs).toHaveLength(1)
    const before = time.now()
    time.ring()
    // The next poll, and not the time of the job that may not run yet.
    expect(time.now() - before).toBeGreaterThan(1000)
    for (const payload of ['b', 'c']) await enqueue({ kind, payload, priority: 'high' })
    const others = [await handler.run(1), await handler.run(2)]
    expect(others.map(({ job }) => job.payload).toSorted()).toEqual(['b', 'c'])
    for (const run of [normal, ...others]) run.succeed()
    expect((await handler.run(3)).job.payload).toBe('low')
  })

  it('leaves places for jobs of other scopes, however many of one wait', async () => {
    const { enqueue, start, rest, time } = await bench()
    const kind = newKind()
    const add = (scope: string, name: string, priority: 'high' | 'normal' = 'high') =>
      enqueue({ kind, payload: `${scope}${name}`, scope, priority })
    for (const name of '123456') await add('a', name)
    const handler = controlledHandler({ concurrency: 4, perScope: { high: 3, others: 2 } })
    start({ [kind]: handler })
    await rest()
    const begun = () => handler.runs.map(({ job }) => job.payload)
    expect(begun()).toEqual(['a1', 'a2', 'a3'])
    const before = time.now()
    time.ring()
    // The next poll, and not the time of the job that may not run yet.
    expect(time.now() - before).toBeGreaterThan(1000)
    await rest()
    expect(begun()).toHaveLength(3)
    for (const name of '12') await add('b', name, 'normal')
    await rest()
    expect(begun().slice(3)).toEqual(['b1'])
    // The scope of which fewer run is first, although the jobs of the other one are more urgent and waited longer.
    handler.runs[0]?.succeed()
    handler.runs[1]?.succeed()
    await handler.run(5)
    expect(begun().slice(4).toSorted()).toEqual(['a4', 'a5'])
    handler.runs[2]?.succeed()
    handler.runs[4]?.succeed()
    await handler.run(7)
    expect(begun().slice(6).toSorted()).toEqual(['a6', 'b2'])
  })

  it('leaves kinds that it does not know to others', async () => {
    const { enqueue, start, queue } = await bench()
    const [known, unknown] = [newKind(), newKind()]
    await enqueue({ kind: unknown, payload: {} })
    await enqueue({ kind: known, payload: {} })
    const handler = controlledHandler()
    start({ [known]: handler })
    await handler.run(0)
    expect(await queue.stats()).toContainEqual(
      expect.objectContaining({ kind: unknown, waiting: 1, running: 0 }),
    )
  })

  it('stores the result in the transaction that ends the job', async () => {
    const { enqueue, start, queue, find } = await bench()
    const [kind, sequel] = [newKind(), newKind()]
    const handler = controlledHandler({
      onDone: async (tx, job, result) => {
        await queue.enqueue(tx, { kind: sequel, key: job.key ?? '', payload: result })
      },
    })
    const next = controlledHandler()
    start({ [kind]: handler, [sequel]: next })
    await enqueue({ kind, key: 'a', payload: {} })
    ;(await handler.run(0)).succeed({ pages: 3 })
    expect((await next.run(0)).job).toMatchObject({ key: 'a', payload: { pages: 3 } })
    expect(await find(kind, 'a')).toBeUndefined()
  })

  it('shares the jobs with others, each done by one', async () => {
    const place = await engine.createPlace()
    const databases = await Promise.all(
      Array.from({ length: 8 }, () => openDatabase(place.options)),
    )
    try {
      const [first, ...others] = databases
      if (!first) throw new Error('No database')
      await migrate(first, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])
      const benches = await Promise.all([first, ...others].map(createJobsBench))
      const kind = newKind()
      await first.run(async (tx) => {
        for (let job = 0; job < 40; job++)
          await benches[0]?.queue.enqueue(tx, { kind, payload: job })
      })
      // Together they have as many places as there are jobs: all must be claimed, at the same time.
      const handlers = benches.map(() => controlledHandler({ concurrency: 5 }))
      const runners = benches.map(({ start }, index) => {
        // None may lose its jobs while time passes for the others.
        const options = { leaseMilliseconds: 600_000 }
        return start({ [kind]: handlers[index] ?? controlledHandler() }, options)
      })
      const all = (): ControlledRun[] => handlers.flatMap(({ runs }) => runs)
      await eventually(async () => {
        for (const { time, rest } of benches) {
          await rest()
          time.advance(100)
        }
        expect(all()).toHaveLength(40)
      })
      expect(new Set(all().map(({ job }) => job.payload)).size).toBe(40)
      for (const run of all()) run.succeed()
      await eventually(async () => expect(await benches[0]?.queue.stats()).toEqual([]))
      expect(all()).toHaveLength(40)
      await Promise.all(
        runners.map((runner, index) => {
          return benches[index]?.pass(runner.stop())
        }),
      )
    } finally {
      await Promise.all(databases.map((each) => each.close()))
      await place.remove()
    }
  })
})

describeEachEngine('stopping a job runner', (engine) => {
  const database = useDatabase(engine, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])
  const bench = () => createJobsBench(database())

  it('lets running jobs finish and begins no other', async () => {
    const { enqueue, start, queue, time } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    const runner = start({ [kind]: handler })
    await enqueue({ kind, payload: 'running' })
    const run = await handler.run(0)
    await enqueue({ kind, payload: 'waiting' })
    const stopped = runner.stop({ deadline: 10_000 })
    time.advance(9999)
    expect(run.signal.aborted).toBe(false)
    run.succeed()
    await stopped
    expect(handler.runs).toHaveLength(1)
    expect(await queue.stats()).toContainEqual(
      expect.objectContaining({ kind, waiting: 1, running: 0 }),
    )
  })

  it('gives back what does not finish in time, without counting the attempt', async () => {
    const { enqueue, start, pass, find } = await bench()
    const kind = newKind()
    const [handler, other] = [controlledHandler(), controlledHandler()]
    const runner = start({ [kind]: handler })
    await enqueue({ kind, key: 'a', payload: {}, maxAttempts: 1 })
    const run = await handler.run(0)
    run.signal.addEventListener('abort', () => run.fail(new Error('aborted')))
    await pass(runner.stop({ deadline: 3000 }))
    expect(await find(kind, 'a')).toMatchObject({ state: 'waiting', attempts: 0 })
    start({ [kind]: other })
    expect((await other.run(0)).job).toMatchObject({ attempt: 1 })
  })

  it('does not wait for a handler that ignores its signal', async () => {
    const { enqueue, start, pass, find } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    const runner = start({ [kind]: handler })
    await enqueue({ kind, key: 'a', payload: {} })
    await handler.run(0)
    await pass(runner.stop({ deadline: 0 }))
    expect(await find(kind, 'a')).toMatchObject({ state: 'waiting', attempts: 0 })
  })

  it('wakes others for what it gives back', async () => {
    const { enqueue, start, pass } = await bench()
    const kind = newKind()
    const [handler, other] = [controlledHandler(), controlledHandler()]
    const runner = start({ [kind]: handler })
    await enqueue({ kind, payload: {} })
    await handler.run(0)
    start({ [kind]: other }, { timers: new ManualTime() })
    await pass(runner.stop({ deadline: 0 }))
    await other.run(0)
  })

  it('leaves no timer behind, and can be done twice or by disposing', async () => {
    const { enqueue, start, time } = await bench()
    const kind = newKind()
    const handler = controlledHandler({ concurrency: 2 })
    const runner = start({ [kind]: handler, [newKind()]: controlledHandler() })
    await enqueue({ kind, payload: {} })
    ;(await handler.run(0)).succeed()
    await enqueue({ kind, payload: {} })
    const run = await handler.run(1)
    const stopped = runner[Symbol.asyncDispose]()
    const again = runner.stop()
    run.succeed()
    await Promise.all([stopped, again])
    expect(time.pending).toBe(0)
  })
})
