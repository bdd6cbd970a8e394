import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { countAlive } from '../../../test/garbage.js'
import type { ThreadOrder } from '../../../test/programs/thread-tasks.js'
import { programEntry, programPath } from '../../../test/programs.js'
import { createThreadPool, type ThreadPool, type ThreadPoolOptions } from './thread-pool.js'

/** Milliseconds for a task. No real one takes as long, also on a busy machine. */
const limit = 25_000

/** Ends a process while a thread of it counts rows. */
async function runProgram(how: string, rows: string, { isHeard = true } = {}) {
  const words = [programPath('exit-in-query'), how, rows]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'inherit', 'pipe'] })
  // Closes the pipe, so that writing to it fails.
  if (!isHeard) child.stderr.destroy()
  const [errors, exit] = await Promise.all([isHeard ? text(child.stderr) : '', once(child, 'exit')])
  return { errors, exit }
}

describe('a thread pool', () => {
  const pools: ThreadPool<ThreadOrder, unknown>[] = []
  const errors: Error[] = []

  function open(options: Partial<ThreadPoolOptions> = {}) {
    const pool = createThreadPool<ThreadOrder, unknown>({
      entry: programEntry('thread-tasks'),
      setup: 'setup',
      threads: 1,
      maxQueue: 1,
      timeLimitMs: limit,
      memoryLimitMb: 64,
      onError: (error) => errors.push(error),
      ...options,
    })
    pools.push(pool)
    return pool
  }

  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool[Symbol.asyncDispose]()
    errors.length = 0
  })

  const echo = (value: unknown): ThreadOrder => ({ do: 'echo', value })

  function gate() {
    const buffer = new SharedArrayBuffer(4)
    const open = () => {
      Atomics.store(new Int32Array(buffer), 0, 1)
      Atomics.notify(new Int32Array(buffer), 0)
    }
    return { order: { do: 'wait', gate: buffer } as const, open }
  }

  it('runs from the source of its threads where nothing is built', async () => {
    const entry = new URL('../../../test/programs/thread-tasks.js', import.meta.url)
    expect(await open({ entry }).run(echo(1))).toEqual(['setup', 1])
  })

  it('returns the results of its threads, which have their setup', async () => {
    const pool = open()
    expect(await pool.run(echo({ a: [1] }))).toEqual(['setup', { a: [1] }])
    expect(await pool.run(echo(2))).toEqual(['setup', 2])
  })

  it('gives the place of a thread back that the system does not start', async () => {
    // A function cannot be sent to a thread: the start fails at once, as when the system has no more threads.
    const pool = open({ setup: () => {} })
    for (let times = 0; times < 3; times++) {
      await expect(pool.run(echo(times))).rejects.toThrow('could not be cloned')
    }
    expect(pool.load()).toEqual({ running: 0, waiting: 0 })
  })

  it('continues after a task that throws, and rejects with its error', async () => {
    const pool = open()
    await expect(pool.run({ do: 'throw' })).rejects.toMatchObject({
      name: 'RangeError',
      message: 'as ordered',
    })
    expect(await pool.run(echo(1))).toEqual(['setup', 1])
    expect(errors).toEqual([])
  })

  it('takes a new thread after one has ended', async () => {
    const pool = open()
    await expect(pool.run({ do: 'end' })).rejects.toMatchObject({ name: 'ThreadEndError' })
    expect(await pool.run(echo(1))).toEqual(['setup', 1])
    expect(errors).toHaveLength(1)
  })

  it('leaves the event loop alone while a thread is blocked, and refuses more than may wait', async () => {
    const pool = open()
    const { order, open: openGate } = gate()
    const blocked = pool.run(order)
    const waiting = pool.run(echo(1))
    await expect(pool.run(echo(2))).rejects.toMatchObject({
      name: 'WorkerLimitError',
      limit: 'queue',
    })
    openGate()
    expect(await blocked).toBe('waited')
    expect(await waiting).toEqual(['setup', 1])
  })

  it('runs tasks beside each other', async () => {
    const pool = open({ threads: 2 })
    const { order, open: openGate } = gate()
    const blocked = pool.run(order)
    expect(await pool.run(echo(1))).toEqual(['setup', 1])
    openGate()
    await blocked
  })

  it('ends a thread whose task takes too long', async () => {
    const pool = open()
    await pool.run(echo(0))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const spinning = pool.run({ do: 'spin' })
    const refused = expect(spinning).rejects.toMatchObject({ limit: 'time' })
    await vi.advanceTimersByTimeAsync(limit)
    vi.useRealTimers()
    await refused
    expect(await pool.run(echo(1))).toEqual(['setup', 1])
    expect(errors.map(({ message }) => message)).toEqual([
      `The thread ended: The task took longer than ${limit} ms`,
    ])
  })

  it('leaves a thread the time to start, however short the time for a task is', async () => {
    const { order, open: openGate } = gate()
    const pool = open({ setup: { startGate: order.gate } })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const first = pool.run(echo(1))
    await vi.advanceTimersByTimeAsync(30_000)
    vi.useRealTimers()
    openGate()
    expect(await first).toMatchObject([{}, 1])
    expect(errors).toEqual([])
  })

  it('leaves the tasks that wait for a thread the time that it takes to start', async () => {
    const { order, open: openGate } = gate()
    const pool = open({ setup: { startGate: order.gate }, maxQueue: 2 })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const early = [pool.run(echo(1)), pool.run(echo(2))]
    await vi.advanceTimersByTimeAsync(15_000)
    const late = pool.run(echo(3))
    await vi.advanceTimersByTimeAsync(15_000)
    vi.useRealTimers()
    openGate()
    expect(await Promise.all([...early, late])).toMatchObject([
      [{}, 1],
      [{}, 2],
      [{}, 3],
    ])
    expect(errors).toEqual([])
  })

  it('ends a thread that does not start', async () => {
    const { order } = gate()
    const pool = open({ setup: { startGate: order.gate } })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const refused = expect(pool.run(echo(1))).rejects.toMatchObject({ limit: 'time' })
    await vi.advanceTimersByTimeAsync(60_000)
    vi.useRealTimers()
    await refused
    await vi.waitUntil(() => errors.length === 1)
  })

  it('gives up waiting when the caller goes away, also for a place', async () => {
    const pool = open()
    const { order, open: openGate } = gate()
    const [running, waiting] = [new AbortController(), new AbortController()]
    const one = pool.run(order, running.signal)
    const two = pool.run(echo(1), waiting.signal)
    const gone = new Error('gone')
    waiting.abort(gone)
    await expect(two).rejects.toBe(gone)
    running.abort(gone)
    await expect(one).rejects.toBe(gone)
    openGate()
    expect(await pool.run(echo(2))).toEqual(['setup', 2])
  })

  it('ends a thread whose task takes too long also after the caller went away', async () => {
    const pool = open()
    await pool.run(echo(0))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const caller = new AbortController()
    const spinning = pool.run({ do: 'spin' }, caller.signal)
    const refused = expect(spinning).rejects.toThrow('gone')
    await vi.advanceTimersByTimeAsync(1000)
    caller.abort(new Error('gone'))
    await refused
    await vi.advanceTimersByTimeAsync(limit)
    vi.useRealTimers()
    expect(await pool.run(echo(1))).toEqual(['setup', 1])
  })

  // An add-on in C++ whose call is cut ends the process, and with it these tests.
  const range = 'with recursive n (n) as (select 1 union all select n + 1 from n where n < 5000)'
  it.each([
    ['reads many rows', `${range} select n, 'row ' || n from n`],
    ['counts', `${range} select count(*), 'row ' || max(n) from n`],
    ['calls functions in JavaScript', `${range} select max(fold_case('ROW ' || n)) from n`],
    ['fails', 'select n from nothing'],
  ])('ends threads in the middle of a query that %s', async (_, sql) => {
    for (let round = 0; round < 10; round++) {
      const pool = open()
      const started = new SharedArrayBuffer(4)
      const querying = pool.run({ do: 'query', started, sql })
      const refused = expect(querying).rejects.toThrow('The thread pool is closed')
      await vi.waitUntil(() => Atomics.load(new Int32Array(started), 0) === 1, { interval: round })
      await pool[Symbol.asyncDispose]()
      await refused
    }
  })

  it.each([
    ['exits', 'exit', 3],
    ['has a fault', 'throw', 1],
  ])('lets a query end when the process %s', async (_, how, status) => {
    expect(await runProgram(how, '20000')).toMatchObject({ exit: [status, null] })
  })

  it('leaves a process two seconds for a query, which is killed then', async () => {
    expect(await runProgram('exit', '1e12')).toEqual({
      exit: [null, 'SIGKILL'],
      errors: 'A statement of the database does not end, the process is killed.\n',
    })
    // Also where nobody reads its errors.
    const unheard = await runProgram('exit', '1e12', { isHeard: false })
    expect(unheard.exit).toEqual([null, 'SIGKILL'])
  })

  it('ends threads that load their code', async () => {
    const refusal = 'The thread pool is closed'
    const at = open()
    const refused = expect(at.run(echo('at once'))).rejects.toThrow(refusal)
    await at[Symbol.asyncDispose]()
    await refused
    for (let round = 0; round < 5; round++) {
      const pool = open()
      const ended = pool.run(echo(round)).catch((error: Error) => error.message)
      await setTimeout(round * 20)
      await pool[Symbol.asyncDispose]()
      // A fast machine has loaded it by then.
      expect([[refusal], ['setup', round]]).toContainEqual([await ended].flat())
    }
  })

  it('keeps no result once it was returned', async () => {
    const pool = open()
    const results: WeakRef<object>[] = []
    for (let round = 0; round < 20; round++) {
      results.push(new WeakRef(Object(await pool.run(echo(round)))))
    }
    // The engine itself may still hold the last ones.
    expect(await countAlive(results)).toBeLessThanOrEqual(3)
  })

  it('refuses everything once it is closed', async () => {
    const pool = open()
    const spinning = pool.run({ do: 'spin' })
    const waiting = pool.run(echo(1))
    const refused = Promise.all(
      [spinning, waiting].map((task) => expect(task).rejects.toThrow('The thread pool is closed')),
    )
    await pool[Symbol.asyncDispose]()
    await refused
    await expect(pool.run(echo(2))).rejects.toThrow('The thread pool is closed')
  })
})
