import { describe, expect, test, vi } from 'vitest'
import { countAlive } from '../../../test/garbage.js'
import type { Trouble } from '../../../test/programs/limits-worker.js'
import { programEntry } from '../../../test/programs.js'
import { resolveEntry } from './worker-entry.js'
import { createWorkerPool, type WorkerPoolOptions } from './worker-pool.js'
import { startWorkerProcess } from './worker-process.js'

interface Input {
  trouble: Trouble
  bytes?: Uint8Array
}

function openPool(options: Partial<WorkerPoolOptions> = {}) {
  return createWorkerPool<Input, unknown, never, string>({
    entry: programEntry('limits-worker'),
    workers: 1,
    maxQueue: 10,
    timeLimitMs: 240_000,
    memoryLimitMb: 64,
    maxOutputBytes: 50_000,
    idleTimeoutMs: 60_000,
    onError: () => {},
    ...options,
  })
}

describe('limits', () => {
  test('a task without end is stopped after its time and the next one runs', async () => {
    await using pool = openPool()
    await expect(pool.run({ trouble: 'loop' }, { timeLimitMs: 50 })).rejects.toMatchObject({
      name: 'WorkerLimitError',
      limit: 'time',
    })
    expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
  })

  test.each([
    ['a task', 'loop-in-task' as const, 100],
    ['a part of a task', 'loop-in-part' as const, 200],
  ])('%s is stopped after the processor time that it may take', async (_, trouble, bound) => {
    await using pool = openPool()
    await expect(pool.run({ trouble })).rejects.toMatchObject({
      limit: 'time',
      message: `The task took more than ${bound} ms of processor time`,
    })
    expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
  })

  test('the processor time of a task is not bounded by what an earlier one may take', async () => {
    await using pool = openPool()
    const first = await pool.run({ trouble: 'bound' })
    expect(await pool.run({ trouble: 'burn' })).toBe(first)
  })

  test.each(['allocate' as const, 'allocate-at-once' as const, 'allocate-buffers' as const])(
    'a task that eats memory (%s) is stopped and the next one runs',
    async (trouble) => {
      await using pool = openPool()
      await expect(pool.run({ trouble })).rejects.toMatchObject({ limit: 'memory' })
      expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
    },
  )

  test('what tasks leave behind takes no memory from later ones', async () => {
    await using pool = openPool()
    const processes = new Set<unknown>()
    for (let at = 0; at < 12; at += 1) processes.add(await pool.run({ trouble: 'keep' }))
    // Each leaves 8 of 64 MB behind.
    expect(processes.size).toBeGreaterThan(1)
  })

  test('an output over the limit is refused by its size', async () => {
    await using pool = openPool()
    await expect(pool.run({ trouble: 'output' })).rejects.toMatchObject({
      limit: 'output',
      message: 'The output has 100002 bytes, more than 50000',
    })
  })

  test('a piece that cannot be taken ends the worker, its task only, and the next one runs', async () => {
    await using pool = openPool()
    const onPiece = () => {
      throw new RangeError('too many')
    }
    const bytes = new Uint8Array(3)
    await expect(pool.run({ trouble: 'pieces', bytes }, { onPiece })).rejects.toMatchObject({
      name: 'WorkerExitError',
      message: 'A message of the worker cannot be read: too many',
    })
    expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
  })

  const frame = (kind: number, content: string, bytes = content.length) =>
    String.fromCharCode(kind, ...[24, 16, 8, 0].map((shift) => (bytes >>> shift) & 255)) + content

  test.each([
    ['no frame', '\xff'.repeat(100)],
    ['a message of the channel of Node', '\x7b"cmd":"NODE_HANDLE","type":"net.Socket"}\n'],
    ['a task', frame(0, '{}')],
    ['more than it may', frame(1, '', 2 ** 32 - 1)],
    ['a report that is no JSON', frame(4, '{')],
    ['a piece that is no JSON', frame(5, '[1')],
    ['an error that is no JSON', frame(3, '\xff')],
    ['outputs without content', frame(1, '').repeat(1000)],
    ['pieces without end', frame(5, '"x"').repeat(20_000)],
    ['reports without end', frame(4, '1').repeat(200_000)],
  ])('a worker that sends %s is ended with its task only', async (_, text) => {
    await using pool = openPool()
    const bytes = Buffer.from(text, 'latin1')
    const options = { onPiece: () => {}, onProgress: () => {} }
    await expect(pool.run({ trouble: 'write', bytes }, options)).rejects.toThrow(
      'A message of the worker cannot be read',
    )
    expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
  })

  test.each([
    ['an output that is no JSON', frame(1, 'x')],
    ['an output that is cut', frame(1, '{"a":')],
    ['an error of another form', frame(3, '[{"message":{"toString":1}}]')],
    ['a size that is no number', frame(2, '{}')],
  ])('%s fails the task', async (_, text) => {
    await using pool = openPool()
    const bytes = Buffer.from(text, 'latin1')
    await expect(pool.run({ trouble: 'write', bytes })).rejects.toThrow()
  })

  test('an output comes in pieces and is bounded as a whole', async () => {
    await using pool = openPool()
    const pieces: number[] = []
    const onPiece = (piece: string) => pieces.push(Number(piece))
    const run = (amount: number) =>
      pool.run({ trouble: 'pieces', bytes: new Uint8Array(amount) }, { onPiece })
    expect(await run(40)).toBe('end')
    expect(pieces).toEqual(Array.from({ length: 40 }, (_, at) => at))
    await expect(run(60)).rejects.toMatchObject({
      limit: 'output',
      message: 'The output has 50100 bytes, more than 50000',
    })
  })

  test('tasks beyond the queue are refused, those in it run', async () => {
    await using pool = openPool({ maxQueue: 1 })
    const stop = new AbortController()
    const first = pool.run({ trouble: 'loop' }, { signal: stop.signal })
    const second = pool.run({ trouble: 'echo' })
    await expect(pool.run({ trouble: 'echo' })).rejects.toMatchObject({ limit: 'queue' })
    stop.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    expect(await second).toMatchObject({ size: 0 })
  })
})

describe('a task that takes long', () => {
  test('does not hold up others, as long as there are places beside them', async () => {
    await using pool = openPool({ slow: { places: 1, afterMs: 20 } })
    const [first, second] = [new AbortController(), new AbortController()]
    const slow = pool.run({ trouble: 'loop' }, { signal: first.signal })
    expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
    const slowToo = pool.run({ trouble: 'loop' }, { signal: second.signal })
    const quick = pool.run({ trouble: 'echo' })
    await vi.waitFor(() => expect(pool.load()).toEqual({ running: 2, waiting: 1 }))
    first.abort(new Error('enough'))
    await expect(slow).rejects.toThrow('enough')
    // Its place beside the others went to the other slow one.
    expect(await quick).toMatchObject({ size: 0 })
    expect(pool.load()).toEqual({ running: 1, waiting: 0 })
    second.abort(new Error('enough'))
    await expect(slowToo).rejects.toThrow('enough')
    expect(pool.load()).toEqual({ running: 0, waiting: 0 })
  })

  test('keeps its place while nobody waits', async () => {
    await using pool = openPool({ slow: { places: 1, afterMs: 1 } })
    const before = await pool.run({ trouble: 'echo' })
    await vi.waitFor(() => expect(pool.load()).toEqual({ running: 0, waiting: 0 }))
    // The process of a slow one is not used again; this one is.
    expect(await pool.run({ trouble: 'echo' })).toEqual(before)
  })
})

describe('failures', () => {
  test('what a task throws reaches the caller and leaves its process alive', async () => {
    await using pool = openPool()
    const before = await pool.run({ trouble: 'echo' })
    await expect(pool.run({ trouble: 'throw' })).rejects.toThrow('too much of this')
    expect(await pool.run({ trouble: 'echo' })).toEqual(before)
  })

  test('a process that exits fails its task and is replaced', async () => {
    await using pool = openPool()
    await expect(pool.run({ trouble: 'exit' })).rejects.toThrow('ended with code 3')
    expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
  })

  test('a module that cannot be loaded fails the task with the reason', async () => {
    await using pool = openPool({ entry: new URL('./no-such-worker.js', import.meta.url) })
    await expect(pool.run({ trouble: 'echo' })).rejects.toThrow('no-such-worker')
  })
})

test('a worker that ends between tasks is reported and replaced', async () => {
  const errors: Error[] = []
  await using pool = openPool({ onError: (error) => errors.push(error) })
  await pool.run({ trouble: 'exit-later' })
  await vi.waitFor(() => expect(errors).toMatchObject([{ name: 'WorkerExitError' }]))
  expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
})

test('a worker that is no longer needed ends without a report', async () => {
  const errors: Error[] = []
  await using pool = openPool({ idleTimeoutMs: 0, onError: (error) => errors.push(error) })
  const first = await pool.run({ trouble: 'echo' })
  await vi.waitFor(async () => expect(await pool.run({ trouble: 'echo' })).not.toEqual(first))
  expect(errors).toEqual([])
})

describe('cancelling', () => {
  test('a signal that is aborted already keeps the task from running', async () => {
    await using pool = openPool()
    const signal = AbortSignal.abort(new Error('never mind'))
    await expect(pool.run({ trouble: 'echo' }, { signal })).rejects.toThrow('never mind')
  })

  test('a task gives up its place in the queue when it is cancelled', async () => {
    await using pool = openPool({ maxQueue: 1 })
    const [first, second] = [new AbortController(), new AbortController()]
    const running = pool.run({ trouble: 'loop' }, { signal: first.signal })
    const waiting = pool.run({ trouble: 'echo' }, { signal: second.signal })
    second.abort(new Error('no longer needed'))
    await expect(waiting).rejects.toThrow('no longer needed')
    const successor = pool.run({ trouble: 'echo' })
    first.abort(new Error('stop'))
    await expect(running).rejects.toThrow('stop')
    expect(await successor).toMatchObject({ size: 0 })
  })

  test('closing the pool fails what runs, what waits and what comes', async () => {
    const pool = openPool()
    const results = Promise.allSettled([
      pool.run({ trouble: 'loop' }),
      pool.run({ trouble: 'echo' }),
    ])
    await pool[Symbol.asyncDispose]()
    for (const result of await results) {
      expect(result).toMatchObject({ reason: { message: 'The worker pool is closed' } })
    }
    await expect(pool.run({ trouble: 'echo' })).rejects.toThrow('closed')
  })
})

test('a worker leaves it to its server to stop, when a signal is meant for both', async () => {
  await using pool = openPool()
  const before = await pool.run({ trouble: 'echo' })
  const { process: pid } = before as { process: number }
  for (const signal of ['SIGINT', 'SIGTERM']) process.kill(pid, signal)
  expect(await pool.run({ trouble: 'echo' })).toEqual(before)
})

test('a worker runs from its source where nothing is built', async () => {
  const entry = new URL('../../../test/programs/limits-worker.js', import.meta.url)
  await using pool = openPool({ entry })
  expect(await pool.run({ trouble: 'echo' })).toMatchObject({ size: 0 })
})

test('a process keeps no result once it was returned', async () => {
  const entry = resolveEntry(programEntry('limits-worker'))
  const worker = startWorkerProcess(entry, 64)
  const ignore = () => {}
  const results: WeakRef<object>[] = []
  try {
    for (let round = 0; round < 20; round++) {
      const envelope = { input: { trouble: 'echo' }, maxOutputBytes: 50_000 }
      const result = await worker.run(envelope, { onProgress: ignore, onPiece: ignore })
      expect(result).toHaveProperty('output')
      results.push(new WeakRef(result))
    }
    // The engine itself may still hold the last ones.
    expect(await countAlive(results)).toBeLessThanOrEqual(3)
  } finally {
    worker.kill()
    await worker.ended
  }
})

describe('what a task gets', () => {
  test('a buffer comes with it', async () => {
    await using pool = openPool()
    const result = pool.run({ trouble: 'echo', bytes: new Uint8Array(1_000_000) })
    expect(await result).toMatchObject({ size: 1_000_000 })
  })

  test('the environment of the process stays outside', async () => {
    await using pool = openPool()
    expect(await pool.run({ trouble: 'secrets' })).toEqual([])
  })
})
