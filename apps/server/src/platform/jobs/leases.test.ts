import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import {
  controlledHandler,
  createJobsBench,
  eventually,
  lease,
  newKind,
} from '../../../test/jobs.js'
import { ManualTime } from '../../../test/manual-time.js'
import { jobs } from '../../migrations/0008-jobs.js'
import { interruptedJobs } from '../../migrations/0044-interrupted-jobs.js'
import { tracesOfJobs } from '../../migrations/0090-traces-of-jobs.js'
import { scopesOfJobs } from '../../migrations/0205-scopes-of-jobs.js'
import { LeaseLostError } from '../leases/leases.js'
import { PermanentJobError } from './errors.js'
import type { JobHandler } from './handler.js'

describeEachEngine('the lease of a job', (engine) => {
  const database = useDatabase(engine, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])
  const bench = () => createJobsBench(database())

  it('lets another worker take over from one that fell silent, and not before', async () => {
    const { enqueue, start, time, awaitRun, logged, find } = await bench()
    const kind = newKind()
    const [silent, other] = [controlledHandler(), controlledHandler()]
    start({ [kind]: silent }, { timers: new ManualTime() })
    const id = await enqueue({ kind, key: 'a', payload: 'p' })
    await silent.run(0)
    const claimedAt = time.now()
    start({ [kind]: other })
    const takeover = await awaitRun(other, 0)
    expect(time.now() - claimedAt).toBe(lease)
    expect(takeover.job).toMatchObject({ id, payload: 'p', attempt: 1 })
    expect(logged).toContainEqual(
      expect.objectContaining({ job: id, msg: 'job taken over from a silent worker' }),
    )
    takeover.succeed()
    await eventually(async () => expect(await find(kind, 'a')).toBeUndefined())
  })

  it('is not waited for by a process that is alone', async () => {
    const { enqueue, start, time, logged, find } = await bench()
    const kind = newKind()
    const [dead, other] = [controlledHandler(), controlledHandler()]
    start({ [kind]: dead }, { timers: new ManualTime() })
    const id = await enqueue({ kind, key: 'a', payload: 'p' })
    await dead.run(0)
    const killedAt = time.now()
    start({ [kind]: other }, { alone: true })
    const takeover = await other.run(0)
    expect(time.now()).toBe(killedAt)
    // The attempt that was lost does not count: its worker may have ended for any reason.
    expect(takeover.job).toMatchObject({ id, payload: 'p', attempt: 1 })
    expect(logged).toContainEqual(
      expect.objectContaining({ job: id, msg: 'job taken over from a silent worker' }),
    )
    takeover.succeed()
    await eventually(async () => expect(await find(kind, 'a')).toBeUndefined())
  })

  it('did not run out for a job that failed with the words of one that lost its worker', async () => {
    const { enqueue, start, awaitRun, logged, find } = await bench()
    const kind = newKind()
    const silent = controlledHandler()
    start({ [kind]: silent }, { timers: new ManualTime() })
    await enqueue({ kind, key: 'lost', payload: {} })
    await silent.run(0)
    const other = controlledHandler()
    start({ [kind]: other }, { alone: true })
    await other.run(0)
    const text = (await find(kind, 'lost'))?.last_error
    expect(text).toEqual(expect.stringContaining('lease ran out'))
    ;(await other.run(0)).succeed()
    const id = await enqueue({ kind, key: 'failed', payload: {} })
    const first = await awaitRun(other, 1)
    first.fail(new Error(String(text)))
    const second = await awaitRun(other, 2)
    expect(second.job).toMatchObject({ id, attempt: 2 })
    const takeovers = logged.filter(({ msg }) => msg === 'job taken over from a silent worker')
    expect(takeovers.map(({ key }) => key)).toEqual(['lost'])
    second.succeed()
    await eventually(async () => expect(await find(kind, 'failed')).toBeUndefined())
  })

  it('is prolonged for as long as the worker lives', async () => {
    const { enqueue, start, time, find, queue, rest } = await bench()
    const kind = newKind()
    const [working, other] = [controlledHandler(), controlledHandler()]
    start({ [kind]: working })
    await enqueue({ kind, key: 'a', payload: {}, deadlineMs: lease * 100 })
    const run = await working.run(0)
    start({ [kind]: other })
    for (let beats = 0; beats < 12; beats++) {
      const end = time.now() + lease / 3
      time.advance(lease / 3)
      await rest()
      const due_at = new Date(end + lease).toISOString()
      expect(await find(kind, 'a')).toMatchObject({ due_at })
    }
    expect(run.signal.aborted).toBe(false)
    expect(other.runs).toHaveLength(0)
    run.succeed()
    await eventually(async () =>
      expect(await queue.stats()).not.toContainEqual(expect.objectContaining({ kind })),
    )
  })

  for (const outcome of ['success', 'failure']) {
    it(`once lost, lets the worker store no ${outcome}`, async () => {
      const { enqueue, start, awaitRun, logged, find } = await bench()
      const kind = newKind()
      const stored: unknown[] = []
      const hooks: Omit<JobHandler, 'handler'> = {
        onDone: async (_tx, _job, result) => void stored.push(result),
        onDead: async (_tx, _job, error) => void stored.push(error.message),
      }
      const [silent, other] = [controlledHandler(hooks), controlledHandler(hooks)]
      start({ [kind]: silent }, { timers: new ManualTime() })
      const job = await enqueue({ kind, key: 'a', payload: {} })
      const zombie = await silent.run(0)
      start({ [kind]: other })
      const takeover = await awaitRun(other, 0)
      const before = await find(kind, 'a')
      if (outcome === 'success') zombie.succeed('late')
      else zombie.fail(new PermanentJobError('late'))
      await eventually(() =>
        expect(logged).toContainEqual(
          expect.objectContaining({ job, msg: 'job was lost to another worker' }),
        ),
      )
      expect(await find(kind, 'a')).toEqual(before)
      takeover.succeed('result')
      await eventually(async () => expect(await find(kind, 'a')).toBeUndefined())
      expect(stored).toEqual(['result'])
    })
  }

  it('once lost, ends the attempt at the next sign of life', async () => {
    const { enqueue, start, time } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    const id = await enqueue({ kind, payload: {} })
    const run = await handler.run(0)
    await database().run((tx) => tx.deleteFrom('jobs').where('id', '=', id).execute())
    time.advance(lease / 3)
    await eventually(() => expect(run.signal.aborted).toBe(true))
    expect(run.signal.reason).toBeInstanceOf(LeaseLostError)
    run.fail(new Error('aborted'))
    await enqueue({ kind, payload: 'next' })
    expect((await handler.run(1)).job.payload).toBe('next')
  })

  it('can be asked about by the handler', async () => {
    const { enqueue, start, time, find } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    const id = await enqueue({ kind, key: 'a', payload: {} })
    const run = await handler.run(0)
    time.advance(1000)
    await run.heartbeat()
    expect(await find(kind, 'a')).toMatchObject({
      due_at: new Date(time.now() + lease).toISOString(),
    })
    await database().run((tx) => tx.deleteFrom('jobs').where('id', '=', id).execute())
    await expect(run.heartbeat()).rejects.toThrow(LeaseLostError)
    expect(run.signal.aborted).toBe(true)
    await expect(run.heartbeat()).rejects.toThrow(LeaseLostError)
  })

  it('costs no attempt when it is lost repeatedly, but defers the job for longer each time', async () => {
    const { enqueue, start, time, awaitRun, rest, logged, find, queue } = await bench()
    const kind = newKind()
    const killed = controlledHandler()
    const id = await enqueue({ kind, key: 'a', payload: {}, maxAttempts: 2 })
    const begun: number[] = []
    for (let index = 0; index < 6; index++) {
      const own = new ManualTime(time.now())
      start({ [kind]: killed }, { timers: own, clock: own, alone: true })
      for (; killed.runs[index] === undefined; await rest()) own.ring()
      const run = await killed.run(index)
      expect(run.job.attempt).toBe(1)
      begun.push(own.now())
      time.advance(own.now() - time.now())
    }
    const minute = 60_000
    // `random` is one half, so that three quarters of each pause are waited.
    expect(begun.slice(1).map((at, index) => at - (begun[index] ?? 0))).toEqual(
      [0, 1, 2, 4, 8].map((minutes) => minutes * minute * 0.75),
    )
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        job: id,
        kind,
        key: 'a',
        interruptions: 2,
        retryAt: expect.any(String),
        msg: 'job interrupted again by the end of its process, deferred',
      }),
    )
    expect(await queue.listDead({ kind })).toEqual([])

    // Failures of its own count, and reset the number of interruptions.
    const survivor = controlledHandler()
    start({ [kind]: survivor }, { alone: true })
    ;(await awaitRun(survivor, 0)).fail(new Error('its own fault'))
    await eventually(async () =>
      expect(await find(kind, 'a')).toMatchObject({ attempts: 1, interruptions: 0 }),
    )
    ;(await awaitRun(survivor, 1)).fail(new Error('its own fault'))
    await eventually(async () =>
      expect(await queue.listDead({ kind })).toMatchObject([
        { attempts: 2, lastError: 'its own fault' },
      ]),
    )
  })

  it('keeps the job deferred when it was lost repeatedly, unless other work comes under its key', async () => {
    const { enqueue, start, time, find } = await bench()
    const kind = newKind()
    const killed = controlledHandler()
    await enqueue({ kind, key: 'a', payload: 1 })
    for (const index of [0, 1]) {
      start({ [kind]: killed }, { timers: new ManualTime(), alone: true })
      await killed.run(index)
    }
    const other = controlledHandler()
    start({ [kind]: other }, { alone: true })
    const waiting = await eventually(async () => {
      const job = await find(kind, 'a')
      expect(job).toMatchObject({ state: 'waiting', interruptions: 2, attempts: 0 })
      return job
    })
    await enqueue({ kind, key: 'a', payload: 1 })
    expect(await find(kind, 'a')).toMatchObject({ due_at: waiting?.due_at, interruptions: 2 })
    const askedAt = time.now()
    await enqueue({ kind, key: 'a', payload: 2 })
    const run = await other.run(0)
    expect([run.job.payload, run.job.attempt, time.now()]).toEqual([2, 1, askedAt])
    run.succeed()
    await eventually(async () => expect(await find(kind, 'a')).toBeUndefined())
  })

  it('that was lost gives way to a run that was enqueued meanwhile', async () => {
    const { enqueue, start, awaitRun } = await bench()
    const kind = newKind()
    const [silent, other] = [controlledHandler(), controlledHandler()]
    start({ [kind]: silent }, { timers: new ManualTime() })
    await enqueue({ kind, key: 'a', payload: 1, maxAttempts: 1 })
    await silent.run(0)
    await enqueue({ kind, key: 'a', payload: 2, maxAttempts: 1 })
    start({ [kind]: other })
    const { job } = await awaitRun(other, 0)
    expect(job).toMatchObject({ payload: 2, attempt: 1, maxAttempts: 1 })
  })
})
