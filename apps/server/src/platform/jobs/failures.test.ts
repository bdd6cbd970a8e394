import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { controlledHandler, createJobsBench, eventually, newKind } from '../../../test/jobs.js'
import { jobs } from '../../migrations/0008-jobs.js'
import { interruptedJobs } from '../../migrations/0044-interrupted-jobs.js'
import { tracesOfJobs } from '../../migrations/0090-traces-of-jobs.js'
import { scopesOfJobs } from '../../migrations/0205-scopes-of-jobs.js'
import { PermanentJobError } from './errors.js'
import type { JobHandler } from './handler.js'

describeEachEngine('a job that fails', (engine) => {
  const database = useDatabase(engine, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])
  const bench = () => createJobsBench(database())

  it('is tried again after pauses that double, and is dead after the last attempt', async () => {
    const { enqueue, start, time, awaitRun, find, queue, logged } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler }, { random: () => 0 })
    const id = await enqueue({ kind, key: 'a', payload: {}, maxAttempts: 4 })
    const begun: number[] = []
    for (const index of [0, 1, 2, 3]) {
      const run = await awaitRun(handler, index)
      expect(run.job.attempt).toBe(index + 1)
      begun.push(time.now())
      run.fail(new Error(`failure ${index + 1}`, { cause: new Error('the disk is full') }))
      await eventually(async () => expect((await find(kind, 'a'))?.state).not.toBe('running'))
    }
    const pauses = begun.slice(1).map((at, index) => at - (begun[index] ?? 0))
    expect(pauses).toEqual([500, 1000, 2000])
    await eventually(async () => {
      expect(await queue.listDead({ kind })).toEqual([
        expect.objectContaining({
          id,
          key: 'a',
          attempts: 4,
          lastError: 'failure 4: the disk is full',
          diedAt: new Date(time.now()).toISOString(),
        }),
      ])
    })
    // The last line is written after the transaction that shows the job as dead.
    const lines = await eventually(() => {
      const found = logged.filter((line) => line.job === id)
      expect(found.map(({ level, attempt }) => [level, attempt])).toEqual([
        ...[1, 2, 3].map((attempt) => ['warn', attempt]),
        ['error', 4],
      ])
      return found
    })
    expect(lines[3]).toMatchObject({ kind, key: 'a', err: { message: 'failure 4' } })
  })

  it('waits while something that it needs is away, without an attempt that counts', async () => {
    const { enqueue, start, time, awaitRun, find, queue } = await bench()
    const kind = newKind()
    const handler = Object.assign(controlledHandler(), {
      isAway: (error: Error) => error.message === 'away',
    })
    start({ [kind]: handler }, { random: () => 0 })
    await enqueue({ kind, key: 'a', payload: {}, maxAttempts: 2 })
    const begun: number[] = []
    for (const index of [0, 1, 2, 3]) {
      const run = await awaitRun(handler, index)
      expect(run.job.attempt).toBe(1)
      begun.push(time.now())
      run.fail(new Error(index < 3 ? 'away' : 'a fault'))
      await eventually(async () => expect((await find(kind, 'a'))?.state).not.toBe('running'))
    }
    expect(begun.slice(1).map((at, index) => at - (begun[index] ?? 0))).toEqual(
      Array(3).fill(15_000),
    )
    ;(await awaitRun(handler, 4)).fail(new Error('a fault'))
    await eventually(async () =>
      expect(await queue.listDead({ kind })).toMatchObject([{ attempts: 2 }]),
    )
  })

  it('is not tried again after a permanent error', async () => {
    const { enqueue, start, queue } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    await enqueue({ kind, payload: {} })
    ;(await handler.run(0)).fail(new PermanentJobError('the file is encrypted'))
    await eventually(async () =>
      expect(await queue.listDead({ kind })).toMatchObject([
        { attempts: 1, lastError: 'the file is encrypted' },
      ]),
    )
  })

  it('keeps no more of an error than fits', async () => {
    const { enqueue, start, queue } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    await enqueue({ kind, payload: {} })
    ;(await handler.run(0)).fail(new PermanentJobError('x'.repeat(100_000)))
    await eventually(async () => {
      const [dead] = await queue.listDead({ kind })
      expect(dead?.lastError).toHaveLength(1000)
    })
  })

  it('fails also by throwing at once, and by throwing what is no error', async () => {
    const { enqueue, start, queue } = await bench()
    const kind = newKind()
    const handler: JobHandler<string> = {
      handler: (job) => {
        if (job.payload === 'at once') throw new Error('thrown')
        return Promise.reject('a text')
      },
    }
    start({ [kind]: handler })
    await enqueue({ kind, payload: 'at once', maxAttempts: 1 })
    await enqueue({ kind, payload: 'later', maxAttempts: 1 })
    await eventually(async () => {
      const dead = await queue.listDead({ kind })
      expect(dead.map(({ lastError }) => lastError).sort()).toEqual(['a text', 'thrown'])
    })
  })

  it('is given up if its payload is no JSON, and delays none behind it', async () => {
    const { enqueue, start, queue, awaitRun } = await bench()
    const kind = newKind()
    const ends: unknown[] = []
    const handler = controlledHandler({
      concurrency: 4,
      onDead: async (_, job) => void ends.push(job.payload),
    })
    const foreign = await enqueue({ kind, key: 'foreign', payload: {} })
    await enqueue({ kind, key: 'own', payload: { fine: true } })
    // As another program may write it.
    await database().run((tx) =>
      tx.updateTable('jobs').set({ payload: '{"' }).where('id', '=', foreign).execute(),
    )
    start({ [kind]: handler })
    const { job, succeed } = await awaitRun(handler, 0)
    expect(job.payload).toEqual({ fine: true })
    succeed()
    await eventually(async () =>
      expect(await queue.listDead({ kind })).toMatchObject([
        { id: foreign, attempts: 1, lastError: expect.stringContaining('is not JSON') },
      ]),
    )
    expect(ends).toEqual([])
  })

  it('notifies its handler in the transaction that marks it dead', async () => {
    const { enqueue, start, queue, awaitRun } = await bench()
    const [kind, sequel] = [newKind(), newKind()]
    const deaths: [unknown, string][] = []
    const handler = controlledHandler({
      async onDead(tx, job, error) {
        deaths.push([job.payload, error.message])
        await queue.enqueue(tx, { kind: sequel, key: job.id, payload: error.message })
      },
    })
    start({ [kind]: handler })
    const id = await enqueue({ kind, payload: 'p', maxAttempts: 2 })
    ;(await awaitRun(handler, 0)).fail(new Error('first'))
    ;(await awaitRun(handler, 1)).fail(new Error('second'))
    await eventually(async () => expect(await queue.listDead({ kind })).toHaveLength(1))
    expect(deaths).toEqual([['p', 'second']])
    expect(await queue.stats()).toContainEqual(
      expect.objectContaining({ kind: sequel, waiting: 1 }),
    )
    expect((await queue.listDead({ kind }))[0]?.id).toBe(id)
  })

  it('fails too if its result cannot be stored, of which nothing stays', async () => {
    const { enqueue, start, queue } = await bench()
    const [kind, sequel] = [newKind(), newKind()]
    const handler = controlledHandler({
      async onDone(tx, _job, result) {
        await queue.enqueue(tx, { kind: sequel, payload: result })
        throw new Error('no place for the result')
      },
    })
    start({ [kind]: handler })
    await enqueue({ kind, payload: {}, maxAttempts: 1 })
    ;(await handler.run(0)).succeed('result')
    await eventually(async () =>
      expect(await queue.listDead({ kind })).toMatchObject([
        { lastError: 'no place for the result' },
      ]),
    )
    const kinds = (await queue.stats()).map((stats) => stats.kind)
    expect(kinds).not.toContain(sequel)
  })

  it('fails at its deadline, and its late result counts no more', async () => {
    const { enqueue, start, time, find, awaitRun } = await bench()
    const kind = newKind()
    const stored: unknown[] = []
    const handler = controlledHandler({
      onDone: async (_tx, _job, result) => void stored.push(result),
    })
    start({ [kind]: handler })
    await enqueue({ kind, key: 'a', payload: {}, deadlineMs: 2500 })
    const run = await handler.run(0)
    time.advance(2499)
    expect(run.signal.aborted).toBe(false)
    time.advance(1)
    expect(run.signal.aborted).toBe(true)
    expect(run.signal.reason.message).toBe('The attempt took longer than 2500 ms')
    run.succeed('too late')
    await eventually(async () =>
      expect(await find(kind, 'a')).toMatchObject({
        state: 'waiting',
        last_error: 'The attempt took longer than 2500 ms',
      }),
    )
    ;(await awaitRun(handler, 1)).succeed('in time')
    await eventually(async () => expect(await find(kind, 'a')).toBeUndefined())
    expect(stored).toEqual(['in time'])
  })

  it('does not wait for ever for a handler that ignores the deadline, nor runs beside it', async () => {
    const { enqueue, start, time, find, logged } = await bench()
    const kind = newKind()
    const handler = controlledHandler({ concurrency: 2 })
    start({ [kind]: handler }, { graceMilliseconds: 700 })
    const id = await enqueue({ kind, key: 'a', payload: {}, deadlineMs: 2000 })
    const deaf = await handler.run(0)
    time.advance(2700)
    await eventually(async () =>
      expect(await find(kind, 'a')).toMatchObject({ state: 'waiting', attempts: 1 }),
    )
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        job: id,
        msg: 'job handler goes on although its signal was aborted',
      }),
    )
    // The retry is due long since; another job shows that the runner has looked.
    time.advance(60_000)
    await enqueue({ kind, key: 'b', payload: {} })
    expect((await handler.run(1)).job.key).toBe('b')
    deaf.succeed()
    expect((await handler.run(2)).job).toMatchObject({ key: 'a', attempt: 2 })
  })
})
