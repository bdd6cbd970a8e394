import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { ManualTime } from '../../../test/manual-time.js'
import { eventLog } from '../../migrations/0009-event-log.js'
import type { EventBus, Hint, HintListener } from '../bus/event-bus.js'
import { LocalBus } from '../bus/local.js'
import type { Database } from '../db/open.js'
import { purge } from '../db/purge.js'
import { createLog } from '../telemetry/log.js'
import { type FollowOptions, followStream, OutsideEventLogError } from './follow.js'
import { announceEvents, appendNextEvent } from './publisher.js'
import { trimEvents } from './trim.js'

const createdAt = '2026-03-01T12:00:00.000Z'
let streams = 0

function eventually<T>(assertion: () => T): Promise<T> {
  return vi.waitFor(assertion, { timeout: 10_000, interval: 2 })
}

/** A bus on which every hint comes as often as the test says. */
function unreliableBus(bus: EventBus, copies: () => number): EventBus {
  return {
    publish(hint) {
      for (let copy = copies(); copy > 0; copy--) bus.publish(hint)
    },
    subscribe: (subscription, listener) => bus.subscribe(subscription, listener),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  }
}

async function createBench(database: Database, copies: () => number = () => 1) {
  streams += 1
  const stream = `stream-${streams}`
  const time = new ManualTime()
  const local = new LocalBus(await createLog({ level: 'silent' }))
  const bus = unreliableBus(local, copies)
  const stop = new AbortController()
  return {
    ...{ stream, time, stop, local },
    /** Appends one event and answers its number. */
    async append(): Promise<number> {
      const event = { stream, botId: 'bot', type: 'test', subjectId: 'subject', createdAt }
      const sequence = await database.run((tx) => appendNextEvent(tx, event))
      announceEvents(bus, stream, sequence)
      return sequence
    },
    /** Follows the stream into `seen`, until it ends. */
    follow(options: Partial<FollowOptions> = {}) {
      const seen: number[] = []
      const deps = { db: database.db, bus: local, timers: time, random: () => 0.5 }
      const events = followStream(deps, { stream, after: 0, signal: stop.signal, ...options })
      const ended = (async () => {
        for await (const { sequence } of events) seen.push(sequence)
      })()
      return { seen, ended }
    },
  }
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1)
}

describeEachEngine('following a stream', (engine) => {
  const database = useDatabase(engine, [eventLog])
  const bench = (copies?: () => number) => createBench(database(), copies)
  const trim = () =>
    purge(database().run, (tx, limit) => trimEvents(tx, '2026-03-02T00:00:00.000Z', limit))

  it('gives what is stored after the number, then what comes, without any timer', async () => {
    const { append, follow, time } = await bench()
    for (let event = 0; event < 5; event++) await append()
    const { seen } = follow({ after: 2, batchSize: 2 })
    await eventually(() => expect(seen).toEqual([3, 4, 5]))
    for (let event = 0; event < 3; event++) await append()
    await eventually(() => expect(seen).toEqual([3, 4, 5, 6, 7, 8]))
    expect(time.pending).toBeLessThanOrEqual(1)
  })

  it('begins with the first event of a stream that does not exist yet', async () => {
    const { append, follow } = await bench()
    const { seen } = follow()
    await append()
    await append()
    await eventually(() => expect(seen).toEqual([1, 2]))
  })

  it('gets events of its own stream alone', async () => {
    const one = await bench()
    const { seen } = one.follow()
    const other = await bench()
    await other.append()
    announceEvents(one.local, other.stream, 1)
    await one.append()
    await eventually(() => expect(seen).toEqual([1]))
  })

  it('finds events without a hint by itself, after its poll interval', async () => {
    const { append, follow, time } = await bench(() => 0)
    const { seen } = follow({ pollMilliseconds: 20_000 })
    await eventually(() => expect(time.pending).toBe(1))
    await append()
    time.advance(19_999)
    expect(seen).toEqual([])
    time.advance(1)
    await eventually(() => expect(seen).toEqual([1]))
    await append()
    await eventually(() => expect(time.pending).toBe(1))
    time.advance(20_000)
    await eventually(() => expect(seen).toEqual([1, 2]))
  })

  it('looks again when the bus may have lost hints', async () => {
    const { append, follow, time, local } = await bench(() => 0)
    const { seen } = follow()
    await eventually(() => expect(time.pending).toBe(1))
    await append()
    local.reportGap()
    await eventually(() => expect(seen).toEqual([1]))
  })

  it('gives each event once and in order, whatever becomes of the hints', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          stored: fc.nat(12),
          live: fc.integer({ min: 1, max: 25 }),
          batchSize: fc.integer({ min: 1, max: 8 }),
          copies: fc.infiniteStream(fc.nat(2)),
        }),
        async ({ stored, live, batchSize, copies }) => {
          const { append, follow, stop, time } = await bench(() => copies.next().value ?? 1)
          for (let event = 0; event < stored; event++) await append()
          const followers = [0, Math.floor(stored / 2), stored].map((after) => ({
            expected: upTo(stored + live).slice(after),
            ...follow({ after, batchSize }),
          }))
          const numbers = await Promise.all(Array.from({ length: live }, append))
          expect(numbers.sort((a, b) => a - b)).toEqual(upTo(stored + live).slice(stored))
          await eventually(() => {
            time.advance(5000)
            for (const { seen, expected } of followers) expect(seen).toEqual(expected)
          })
          stop.abort()
          await Promise.all(followers.map(({ ended }) => ended))
          for (const { seen, expected } of followers) expect(seen).toEqual(expected)
          expect(time.pending).toBe(0)
        },
      ),
      { numRuns: engine.name === 'sqlite' ? 40 : 10 },
    )
  })

  it('ends at once when it is aborted, also while it waits or before it began', async () => {
    const { append, follow, stop, time } = await bench()
    const { seen, ended } = follow()
    await append()
    await eventually(() => expect(seen).toEqual([1]))
    stop.abort()
    await ended
    expect(time.pending).toBe(0)
    await append()
    const late = follow()
    await late.ended
    expect(late.seen).toEqual([])
    expect(seen).toEqual([1])
  })

  it('leaves nothing behind when the reader leaves', async () => {
    const { append, stop, stream, time, local } = await bench()
    const listeners = new Set<HintListener>()
    const counting: EventBus = {
      publish: (hint: Hint) => local.publish(hint),
      subscribe(subscription, listener) {
        listeners.add(listener)
        const unsubscribe = local.subscribe(subscription, listener)
        return () => {
          listeners.delete(listener)
          unsubscribe()
        }
      },
      [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
    }
    await append()
    const deps = { db: database().db, bus: counting, timers: time }
    for await (const _ of followStream(deps, { stream, after: 0, signal: stop.signal })) {
      expect(listeners.size).toBe(1)
      break
    }
    expect(listeners.size).toBe(0)
    expect(time.pending).toBe(0)
  })

  it('refuses to begin outside of the log', async () => {
    const { append, follow, stream } = await bench()
    for (let event = 0; event < 3; event++) await append()
    await expect(follow({ after: 4 }).ended).rejects.toThrow(OutsideEventLogError)
    await trim()
    await append()
    await expect(follow({ after: 2 }).ended).rejects.toThrow(
      `The log of ${stream} cannot be followed from 2`,
    )
    const { seen } = follow({ after: 3 })
    await eventually(() => expect(seen).toEqual([4]))
  })

  it('holds one batch for a slow reader, and says so when the log was trimmed past it', async () => {
    const { append, stop, stream, time, local } = await bench()
    for (let event = 0; event < 9; event++) await append()
    const deps = { db: database().db, bus: local, timers: time }
    const options = { stream, after: 0, signal: stop.signal, batchSize: 3 }
    const events = followStream(deps, options)[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject({ sequence: 1 })
    await trim()
    await append()
    expect((await events.next()).value).toMatchObject({ sequence: 2 })
    expect((await events.next()).value).toMatchObject({ sequence: 3 })
    await expect(events.next()).rejects.toThrow(OutsideEventLogError)
  })
})
