import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { eventLog } from '../../migrations/0009-event-log.js'
import { purge } from '../db/purge.js'
import type { Tx } from '../db/schema.js'
import { appendEvent, appendNextEvent, type NewEvent, nextSequence } from './publisher.js'
import { newestSequence, oldestSequence, readEvents } from './read.js'
import { trimEvents } from './trim.js'

let streams = 0

function newStream(): string {
  streams += 1
  return `stream-${streams}`
}

const start = Date.parse('2026-03-01T12:00:00.000Z')

function newEvent(stream: string, day = 0): NewEvent {
  const createdAt = new Date(start + day * 86_400_000).toISOString()
  return { stream, botId: 'bot', type: 'message_created', subjectId: `subject-${day}`, createdAt }
}

describeEachEngine('the event log', (engine) => {
  const database = useDatabase(engine, [eventLog])
  const numbers = async (stream: string) =>
    (await readEvents(database().db, stream, 0, 1000)).map(({ sequence }) => sequence)

  it('reads back what was written, in order and in pages', async () => {
    const { db, run } = database()
    const stream = newStream()
    await run(async (tx) => {
      expect(await appendNextEvent(tx, newEvent(stream, 1))).toBe(1)
      expect(await appendNextEvent(tx, { ...newEvent(stream, 2), data: { by: 'user' } })).toBe(2)
      expect(await appendNextEvent(tx, newEvent(newStream(), 9))).toBe(1)
      expect(await appendNextEvent(tx, newEvent(stream, 3))).toBe(3)
    })
    expect(await readEvents(db, stream, 0, 2)).toEqual([
      { ...newEvent(stream, 1), sequence: 1, data: undefined },
      { ...newEvent(stream, 2), sequence: 2, data: { by: 'user' } },
    ])
    expect(await readEvents(db, stream, 2, 2)).toEqual([
      { ...newEvent(stream, 3), sequence: 3, data: undefined },
    ])
    expect(await readEvents(db, stream, 3, 2)).toEqual([])
    expect(await newestSequence(db, stream)).toBe(3)
    expect(await oldestSequence(db, stream)).toBe(1)
  })

  it('knows that a stream without events has none', async () => {
    const { db } = database()
    expect(await readEvents(db, 'nothing', 0, 10)).toEqual([])
    expect(await newestSequence(db, 'nothing')).toBe(0)
    expect(await oldestSequence(db, 'nothing')).toBe(1)
  })

  it('takes the number of a caller who counts himself, but never twice', async () => {
    const { db, run } = database()
    const stream = newStream()
    await run((tx) => appendEvent(tx, { ...newEvent(stream), sequence: 1 }))
    await run((tx) => appendEvent(tx, { ...newEvent(stream), sequence: 2 }))
    const again = run((tx) => appendEvent(tx, { ...newEvent(stream), sequence: 2 }))
    await expect(again).rejects.toThrow()
    expect(await numbers(stream)).toEqual([1, 2])
    expect(await newestSequence(db, stream)).toBe(2)
  })

  it('gives the number of a transaction that was rolled back to the next', async () => {
    const { run } = database()
    const stream = newStream()
    await run((tx) => appendNextEvent(tx, newEvent(stream)))
    const failing = run(async (tx) => {
      expect(await nextSequence(tx, stream)).toBe(2)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await run((tx) => appendNextEvent(tx, newEvent(stream)))).toBe(2)
  })

  it('has no gap and no double after appends that run at once, of which some fail', async () => {
    const { run } = database()
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            stream: fc.nat(2),
            events: fc.integer({ min: 1, max: 3 }),
            fails: fc.boolean(),
          }),
          { maxLength: 30 },
        ),
        async (transactions) => {
          const names = [newStream(), newStream(), newStream()]
          const written = [0, 0, 0]
          await Promise.all(
            transactions.map(async ({ stream, events, fails }) => {
              const append = async (tx: Tx) => {
                for (let event = 0; event < events; event++) {
                  await appendNextEvent(tx, newEvent(names[stream] ?? ''))
                }
                if (fails) throw new Error('rolled back')
              }
              const stored = await run(append).then(
                () => true,
                () => false,
              )
              expect(stored).toBe(!fails)
              if (stored) written[stream] = (written[stream] ?? 0) + events
            }),
          )
          for (const [stream, name] of names.entries()) {
            const count = written[stream] ?? 0
            expect(await numbers(name)).toEqual(Array.from({ length: count }, (_, at) => at + 1))
          }
        },
      ),
      { numRuns: engine.name === 'sqlite' ? 40 : 10 },
    )
  })

  it('never shows a number before the ones below it', async () => {
    const { run } = database()
    const stream = newStream()
    let writing = true
    const writers = Promise.all(
      Array.from({ length: 40 }, () => run((tx) => appendNextEvent(tx, newEvent(stream)))),
    ).finally(() => {
      writing = false
    })
    while (writing) {
      const seen = await numbers(stream)
      expect(seen).toEqual(seen.map((_, at) => at + 1))
      await sleep(0)
    }
    await writers
    expect(await numbers(stream)).toHaveLength(40)
  })
})

describeEachEngine('trimming the event log', (engine) => {
  describe('of several streams', () => {
    const database = useDatabase(engine, [eventLog])

    it('removes what is old, some at a time, and remembers how far', async () => {
      const { db, run } = database()
      await run(async (tx) => {
        for (const day of [1, 2, 3, 4]) await appendNextEvent(tx, newEvent('mixed', day))
        for (const day of [1, 2]) await appendNextEvent(tx, newEvent('old', day))
        for (const day of [3, 4]) await appendNextEvent(tx, newEvent('young', day))
        await appendEvent(tx, { ...newEvent('counted elsewhere', 1), sequence: 1 })
      })
      const before = newEvent('', 3).createdAt
      const first = await run((tx) => trimEvents(tx, before, 2))
      expect(first).toBe(2)
      await purge(run, (tx, limit) => trimEvents(tx, before, limit))
      const range = async (stream: string) => [
        await oldestSequence(db, stream),
        await newestSequence(db, stream),
        (await readEvents(db, stream, 0, 10)).map(({ sequence }) => sequence),
      ]
      expect(await range('mixed')).toEqual([3, 4, [3, 4]])
      expect(await range('old')).toEqual([3, 2, []])
      expect(await range('young')).toEqual([1, 2, [1, 2]])
      expect(await range('counted elsewhere')).toEqual([2, 1, []])
      expect(await run((tx) => appendNextEvent(tx, newEvent('old', 5)))).toBe(3)
      expect(await range('old')).toEqual([3, 3, [3]])
      expect(await run((tx) => trimEvents(tx, before, 100))).toBe(0)
    })
  })

  describe('written by unequal clocks', () => {
    const database = useDatabase(engine, [eventLog])

    it('removes the beginning of a stream and never its middle', async () => {
      const { db, run } = database()
      await run(async (tx) => {
        for (const day of [1, 5, 2, 6]) await appendNextEvent(tx, newEvent('s', day))
      })
      expect(await run((tx) => trimEvents(tx, newEvent('', 3).createdAt, 100))).toBe(3)
      expect(await oldestSequence(db, 's')).toBe(4)
      expect(await readEvents(db, 's', 0, 10)).toMatchObject([{ sequence: 4 }])
    })
  })

  describe('with many streams', () => {
    const database = useDatabase(engine, [eventLog])

    it('is done by several processes at once', async () => {
      const { db, run } = database()
      await run(async (tx) => {
        for (let stream = 0; stream < 700; stream++) {
          await appendNextEvent(tx, newEvent(`s${stream}`, 1))
        }
      })
      const before = newEvent('', 2).createdAt
      const trim = () => purge(run, (tx, limit) => trimEvents(tx, before, limit))
      await Promise.all([trim(), trim(), trim()])
      for (const stream of ['s0', 's699']) {
        expect(await oldestSequence(db, stream)).toBe(2)
        expect(await readEvents(db, stream, 0, 1)).toEqual([])
      }
    })
  })
})
