import { describe, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import {
  controlledHandler,
  createJobsBench,
  eventually,
  lease,
  newKind,
} from '../../../test/jobs.js'
import { jobs } from '../../migrations/0008-jobs.js'
import { interruptedJobs } from '../../migrations/0044-interrupted-jobs.js'
import { tracesOfJobs } from '../../migrations/0090-traces-of-jobs.js'
import { scopesOfJobs } from '../../migrations/0205-scopes-of-jobs.js'
import { PermanentJobError } from './errors.js'

describeEachEngine('the job queue', (engine) => {
  const database = useDatabase(engine, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])
  const bench = () => createJobsBench(database())

  it('forgets a job whose transaction was rolled back, and wakes nobody for it', async () => {
    const { queue, start, time, rest } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    const enqueueAndFail = database().run(async (tx) => {
      await queue.enqueue(tx, { kind, payload: {} })
      throw new Error('changed my mind')
    })
    await expect(enqueueAndFail).rejects.toThrow('changed my mind')
    await database().run((tx) => queue.enqueue(tx, { kind, payload: 'the next one' }))
    expect((await handler.run(0)).job.payload).toBe('the next one')
    time.advance(lease - 1)
    await rest()
    expect(await queue.stats()).toContainEqual(
      expect.objectContaining({ kind, waiting: 0, running: 1 }),
    )
  })

  it('hands the payload over as it was given', async () => {
    const { enqueue, start } = await bench()
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    const payload = { text: 'žluťoučký 🐎', list: [1, null, { deep: true }] }
    const id = await enqueue({ kind, payload, maxAttempts: 3 })
    const { job } = await handler.run(0)
    expect(job).toEqual({ id, kind, key: undefined, payload, attempt: 1, maxAttempts: 3 })
  })

  it('refuses to try less than once', async () => {
    const { enqueue } = await bench()
    const kind = newKind()
    await expect(enqueue({ kind, payload: {}, maxAttempts: 0 })).rejects.toThrow(RangeError)
    await expect(enqueue({ kind, payload: {}, deadlineMs: 0.5 })).rejects.toThrow(RangeError)
  })

  describe('with a key', () => {
    it('keeps one waiting job: the last payload, the earlier time, the better priority', async () => {
      const { enqueue, queue, time, find } = await bench()
      const kind = newKind()
      const early = time.now() + 1000
      const late = time.now() + 9000
      const first = await enqueue({ kind, key: 'a', payload: 1, runAt: late, priority: 'high' })
      const again = await enqueue({ kind, key: 'a', payload: 2, runAt: early, priority: 'low' })
      await enqueue({ kind, key: 'a', payload: 3, runAt: late })
      expect(again).toBe(first)
      expect(await queue.stats()).toContainEqual(expect.objectContaining({ kind, waiting: 1 }))
      expect(await find(kind, 'a')).toMatchObject({
        payload: '3',
        priority: 0,
        due_at: new Date(early).toISOString(),
      })
    })

    it('keeps jobs of other keys and kinds apart, and all jobs without a key', async () => {
      const { enqueue, queue } = await bench()
      const [kind, other] = [newKind(), newKind()]
      for (const key of ['a', 'b', undefined, undefined]) {
        await enqueue({ kind, payload: {}, ...(key && { key }) })
      }
      await enqueue({ kind: other, key: 'a', payload: {} })
      const stats = await queue.stats()
      expect(stats).toContainEqual(expect.objectContaining({ kind, waiting: 4 }))
      expect(stats).toContainEqual(expect.objectContaining({ kind: other, waiting: 1 }))
    })

    it('runs once more after the present run, however often it was enqueued meanwhile', async () => {
      const { enqueue, start, queue } = await bench()
      const kind = newKind()
      const handler = controlledHandler({ concurrency: 4 })
      start({ [kind]: handler })
      await enqueue({ kind, key: 'a', payload: 'first' })
      const first = await handler.run(0)
      for (const payload of ['second', 'third', 'fourth']) {
        await enqueue({ kind, key: 'a', payload })
      }
      // Another job shows that the runner has looked and found nothing else to run.
      await enqueue({ kind, key: 'b', payload: 'other' })
      expect((await handler.run(1)).job.payload).toBe('other')
      expect(first.job.payload).toBe('first')
      first.succeed()
      const followUp = await handler.run(2)
      expect(followUp.job).toMatchObject({ key: 'a', payload: 'fourth', attempt: 1 })
      followUp.succeed()
      await eventually(async () =>
        expect(await queue.stats()).toContainEqual(
          expect.objectContaining({ kind, waiting: 0, running: 1 }),
        ),
      )
      expect(handler.runs).toHaveLength(3)
    })

    it('has a follow-up in place of a retry, also at its later time', async () => {
      const { enqueue, start, time, find, awaitRun } = await bench()
      const kind = newKind()
      const handler = controlledHandler()
      start({ [kind]: handler })
      await enqueue({ kind, key: 'a', payload: 1, maxAttempts: 1 })
      const first = await handler.run(0)
      const later = time.now() + 50_000
      await enqueue({ kind, key: 'a', payload: 2, runAt: later + 9 })
      await enqueue({ kind, key: 'a', payload: 3, runAt: later })
      first.fail(new Error('no'))
      await eventually(async () =>
        expect(await find(kind, 'a')).toMatchObject({
          state: 'waiting',
          attempts: 0,
          last_error: 'no',
          due_at: new Date(later).toISOString(),
        }),
      )
      const followUp = await awaitRun(handler, 1)
      expect(followUp.job).toMatchObject({ payload: 3, attempt: 1 })
      expect(time.now()).toBe(later)
    })

    it('comes back to life when it is enqueued after its death', async () => {
      const { enqueue, start, queue } = await bench()
      const kind = newKind()
      const handler = controlledHandler()
      start({ [kind]: handler })
      await enqueue({ kind, key: 'a', payload: 1 })
      ;(await handler.run(0)).fail(new PermanentJobError('never'))
      await eventually(async () => expect(await queue.listDead({ kind })).toHaveLength(1))
      await enqueue({ kind, key: 'a', payload: 2 })
      expect((await handler.run(1)).job).toMatchObject({ payload: 2, attempt: 1 })
      expect(await queue.listDead({ kind })).toEqual([])
    })
  })

  describe('seen by the operator', () => {
    it('counts jobs by state and says how long the first has been due', async () => {
      const { enqueue, start, queue, time } = await bench()
      const [kind, unhandled] = [newKind(), newKind()]
      const handler = controlledHandler()
      start({ [kind]: handler })
      await enqueue({ kind, payload: 'runs' })
      await handler.run(0)
      await enqueue({ kind: unhandled, payload: 'late', runAt: time.now() + 60_000 })
      expect(await queue.stats()).toContainEqual({
        kind: unhandled,
        waiting: 1,
        running: 0,
        dead: 0,
        oldestWaitingAge: 0,
      })
      await enqueue({ kind: unhandled, payload: 'due' })
      time.advance(7000)
      const stats = await queue.stats()
      expect(stats).toContainEqual({
        kind,
        waiting: 0,
        running: 1,
        dead: 0,
        oldestWaitingAge: 0,
      })
      expect(stats).toContainEqual({
        kind: unhandled,
        waiting: 2,
        running: 0,
        dead: 0,
        oldestWaitingAge: 7000,
      })
    })

    it('lists dead jobs, last first, and gives them another life', async () => {
      const { enqueue, start, queue, time } = await bench()
      const kind = newKind()
      const handler = controlledHandler()
      start({ [kind]: handler })
      const ids: string[] = []
      for (const [index, payload] of ['first', 'second'].entries()) {
        ids.push(await enqueue({ kind, payload }))
        ;(await handler.run(index)).fail(new PermanentJobError(`${payload} is broken`))
        await eventually(async () => expect(await queue.listDead({ kind })).toHaveLength(index + 1))
        time.advance(1000)
      }
      const dead = await queue.listDead({ kind })
      expect(dead.map(({ payload }) => payload)).toEqual(['second', 'first'])
      expect(dead[0]).toEqual({
        id: ids[1],
        kind,
        key: undefined,
        payload: 'second',
        attempts: 1,
        lastError: 'second is broken',
        diedAt: new Date(time.now() - 1000).toISOString(),
      })
      expect(await queue.listDead({ kind, limit: 1 })).toEqual(dead.slice(0, 1))

      const { run } = database()
      expect(await run((tx) => queue.requeueDead(tx, ids[0] ?? ''))).toBe(true)
      expect((await handler.run(2)).job).toMatchObject({ id: ids[0], attempt: 1 })
      expect(await run((tx) => queue.requeueDead(tx, ids[0] ?? ''))).toBe(false)
      expect(await run((tx) => queue.requeueDead(tx, 'job_unknown'))).toBe(false)
    })
  })
})

describeEachEngine('dead jobs', (engine) => {
  const database = useDatabase(engine, [jobs, interruptedJobs, tracesOfJobs, scopesOfJobs])

  it('forgets dead jobs that are old', async () => {
    const { enqueue, start, queue, time } = await createJobsBench(database())
    const kind = newKind()
    const handler = controlledHandler()
    start({ [kind]: handler })
    for (const index of [0, 1, 2]) {
      await enqueue({ kind, payload: index })
      ;(await handler.run(index)).fail(new PermanentJobError('broken'))
      await eventually(async () => expect(await queue.listDead({ kind })).toHaveLength(index + 1))
      time.advance(1000)
    }
    const before = new Date(time.now() - 1000).toISOString()
    const trim = (limit: number) => database().run((tx) => queue.trimDead(tx, before, limit))
    expect(await trim(1)).toBe(1)
    expect(await trim(100)).toBe(1)
    expect(await trim(100)).toBe(0)
    expect((await queue.listDead({ kind })).map(({ payload }) => payload)).toEqual([2])
  })
})
