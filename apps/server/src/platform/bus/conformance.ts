import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLog, type Log } from '../telemetry/log.js'
import type { EventBus, Hint, Subscription } from './event-bus.js'

/** A log whose lines can be looked at. */
export async function recordedLog(): Promise<{ log: Log; lines: string[] }> {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { log: await createLog({ level: 'debug', destination }), lines }
}

/** Waits for something that will happen; only a failing test waits to the end. */
export function until(happened: () => boolean | Promise<boolean>): Promise<unknown> {
  return vi.waitUntil(happened, { interval: 2 })
}

/** Subscribes and keeps what is heard. */
export function listen(bus: EventBus, subscription: Subscription) {
  const hints: Hint[] = []
  const heard = { hints, gaps: 0 }
  const stop = bus.subscribe(subscription, {
    onHint: (hint) => void hints.push(hint),
    onGap: () => {
      heard.gaps += 1
    },
  })
  return { heard, hints, stop }
}

/**
 * Tests that every event bus must pass.
 * @param make opens the bus of a publisher and that of a listener, which may be the same
 */
export function testEventBus(
  name: string,
  make: (log: Log) => Promise<{ publisher: EventBus; listener: EventBus }>,
): void {
  describe(`event bus: ${name}`, () => {
    let publisher: EventBus
    let listener: EventBus
    let lines: string[]
    let topics = 0
    const newTopic = () => `topic-${topics++}`

    beforeAll(async () => {
      const recorded = await recordedLog()
      lines = recorded.lines
      const buses = await make(recorded.log)
      publisher = buses.publisher
      listener = buses.listener
    })

    afterAll(async () => {
      await publisher[Symbol.asyncDispose]()
      await listener[Symbol.asyncDispose]()
    })

    /** Waits until everything published before has arrived: hints of one bus keep their order. */
    const settle = async () => {
      const marker = newTopic()
      const { hints } = listen(listener, { topic: marker })
      publisher.publish({ topic: marker, key: 'marker' })
      await until(() => hints.length > 0)
    }

    it('brings a hint to all listeners of its log or topic, and to no others', async () => {
      const topic = newTopic()
      const [log, again, all] = [{ topic, key: 'a' }, { topic, key: 'a' }, { topic }].map((each) =>
        listen(listener, each),
      )
      const other = listen(listener, { topic, key: 'b' })
      const elsewhere = listen(listener, { topic: newTopic(), key: 'a' })
      publisher.publish({ topic, key: 'a', seq: 7 })
      await settle()
      for (const each of [log, again, all])
        expect(each?.hints).toEqual([{ topic, key: 'a', seq: 7 }])
      expect(other.hints).toEqual([])
      expect(elsewhere.hints).toEqual([])
    })

    it('brings hints without a sequence as they are', async () => {
      const topic = newTopic()
      const { hints } = listen(listener, { topic })
      publisher.publish({ topic, key: 'ключ "1"\n\u0000' })
      await settle()
      expect(hints).toEqual([{ topic, key: 'ключ "1"\n\u0000' }])
    })

    it('joins the hints of one turn about one log', async () => {
      const topic = newTopic()
      const { hints } = listen(listener, { topic })
      for (const seq of [1, 3, 2]) publisher.publish({ topic, key: 'a', seq })
      publisher.publish({ topic, key: 'b', seq: 1 })
      publisher.publish({ topic, key: 'b' })
      publisher.publish({ topic, key: 'b', seq: 2 })
      await settle()
      expect(hints).toEqual([
        { topic, key: 'a', seq: 3 },
        { topic, key: 'b' },
      ])
    })

    it('brings the hints of later turns, too', async () => {
      const topic = newTopic()
      const { hints } = listen(listener, { topic })
      for (const seq of [1, 2, 3]) {
        publisher.publish({ topic, key: 'a', seq })
        await settle()
      }
      expect(hints.map(({ seq }) => seq)).toEqual([1, 2, 3])
    })

    it('brings thousands of hints of one turn', async () => {
      const topic = newTopic()
      const { hints } = listen(listener, { topic })
      const sent = Array.from({ length: 3_000 }, (_, seq) => ({ topic, key: `log-${seq}`, seq }))
      for (const hint of sent) publisher.publish(hint)
      await settle()
      expect(hints).toEqual(sent)
    })

    it('does not call listeners before the publisher is done', async () => {
      const topic = newTopic()
      const { hints } = listen(publisher, { topic })
      publisher.publish({ topic, key: 'a' })
      expect(hints).toEqual([])
      await until(() => hints.length === 1)
    })

    it('brings nothing to a listener that stopped, and stopping twice is harmless', async () => {
      const topic = newTopic()
      const [first, second] = [
        listen(listener, { topic, key: 'a' }),
        listen(listener, { topic, key: 'a' }),
      ]
      first.stop()
      first.stop()
      publisher.publish({ topic, key: 'a' })
      await settle()
      expect(first.hints).toEqual([])
      expect(second.hints).toHaveLength(1)
    })

    it('lets listeners start and stop others while they are called', async () => {
      const topic = newTopic()
      const victim = listen(listener, { topic })
      const late: Hint[] = []
      const stop = listener.subscribe(
        { topic, key: 'a' },
        {
          onHint: () => {
            stop()
            victim.stop()
            listener.subscribe({ topic }, { onHint: (hint) => void late.push(hint), onGap() {} })
          },
          onGap() {},
        },
      )
      publisher.publish({ topic, key: 'a', seq: 1 })
      await settle()
      publisher.publish({ topic, key: 'a', seq: 2 })
      await settle()
      expect(late.at(-1)).toEqual({ topic, key: 'a', seq: 2 })
      expect(victim.hints.map(({ seq }) => seq)).not.toContain(2)
    })

    it('lets a listener fail without harm to the publisher or the others', async () => {
      const topic = newTopic()
      const failing = {
        onHint: () => {
          throw new Error('listener is broken')
        },
        onGap() {},
      }
      listener.subscribe({ topic }, failing)
      const { hints } = listen(listener, { topic })
      expect(() => publisher.publish({ topic, key: 'a' })).not.toThrow()
      await settle()
      expect(hints).toHaveLength(1)
      expect(lines.join()).toContain('listener is broken')
    })

    it('forgets hints and listeners once it is closed', async () => {
      const { publisher: closed, listener: rest } = await make((await recordedLog()).log)
      const { hints } = listen(closed, { topic: 'closed' })
      await rest[Symbol.asyncDispose]()
      await closed[Symbol.asyncDispose]()
      await closed[Symbol.asyncDispose]()
      expect(() => closed.publish({ topic: 'closed', key: 'a' })).not.toThrow()
      await settle()
      expect(hints).toEqual([])
    })
  })
}
