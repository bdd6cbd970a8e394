import { expect, it } from 'vitest'
import { useDispatching } from '../../../test/dispatching.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { eventually } from '../../../test/jobs.js'
import type { Run } from '../../platform/db/schema.js'

describeEachEngine('the dispatcher', (engine) => {
  const database = useDatabase(engine)
  const dispatching = useDispatching(database)

  it('sends deliveries with one ordering key in order, and raises an event when each has ended', async () => {
    const { bench, enqueue, callOf, statusOf } = dispatching()
    await bench.start()
    const ids = [await enqueue('a'), await enqueue('b'), await enqueue('c')]
    for (const subject of ['a', 'b', 'c']) {
      const call = await callOf(subject)
      expect(bench.calls).toHaveLength(1)
      call.respond(200)
    }
    await eventually(async () => expect(await statusOf(ids[2] ?? '')).toBe('delivered'))
    // Called after the commit, which others may see first.
    await eventually(() =>
      expect(bench.finished).toEqual(
        ['a', 'b', 'c'].map((subject) => ({ subject, failure: null })),
      ),
    )
  })

  it('sends different conversations in parallel, within the limit of a receiver', async () => {
    const { bench, botId, enqueue, callOf, statusOf } = dispatching()
    await bench.start({ limits: { perReceiver: 3 } })
    for (let i = 0; i < 6; i++) await enqueue(`s${i}`, `line ${i}`)
    await eventually(() => expect(bench.calls).toHaveLength(3))
    const other = await bench.enqueue({ botId: `${botId}-other`, subjectId: 'other' })
    await callOf('other')
    expect(bench.calls).toHaveLength(4)
    bench.calls[0]?.respond(200)
    await callOf('s3')
    expect(bench.calls).toHaveLength(4)
    while (bench.finished.length < 7) {
      for (const call of [...bench.calls]) call.respond(200)
      await bench.rest()
    }
    expect(await statusOf(other)).toBe('delivered')
  })

  /**
   * Sends the first of four queues through two places, and holds back what settling returns; then lets go, so
   * that two more are being sent, and two wait for a place.
   */
  async function crowd({ bench, enqueue, callOf }: ReturnType<typeof dispatching>) {
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const run: Run = async (work) => {
      const value = await bench.run(work)
      const isSettled = Array.isArray(value) && value.some((each) => each && 'pausedNow' in each)
      if (isSettled) await held
      return value
    }
    for (const turn of ['first', 'second']) {
      for (let i = 0; i < 5; i++) await enqueue(`${turn} ${i}`, `line ${i}`)
    }
    const { stop } = await bench.start({ run, limits: { perReceiver: 2 } })
    for (let i = 0; i < 4; i++) {
      ;(await callOf(`first ${i}`)).respond(200)
      expect(bench.calls.length).toBeLessThanOrEqual(2)
    }
    await bench.rest()
    const whileHeld = bench.begun.length
    letGo()
    await eventually(() => expect(bench.begun.length).toBe(6))
    await bench.rest()
    return { whileHeld, stop }
  }

  it('sends others while results are stored: as many as the limit allows, and no more than it stores', async () => {
    const all = dispatching()
    const { bench, begun } = all
    const { whileHeld } = await crowd(all)
    expect(whileHeld).toBe(4)
    while (bench.finished.length < 10) {
      expect(bench.calls.length).toBeLessThanOrEqual(2)
      for (const call of [...bench.calls]) call.respond(200)
      await bench.rest()
    }
    for (let i = 0; i < 5; i++) {
      const sent = begun().filter(({ subject }) => subject.endsWith(` ${i}`))
      expect(sent.map(({ subject }) => subject)).toEqual([`first ${i}`, `second ${i}`])
    }
  })

  it('does not send what waits for its turn when the receiver is paused or the server stops', async () => {
    const all = dispatching()
    const { bench, botId, begun } = all
    const { stop } = await crowd(all)
    await bench.pause(botId)
    await bench.rest()
    for (const call of [...bench.calls]) call.respond(200)
    await bench.rest()
    expect(begun()).toHaveLength(6)
    await bench.resume(botId)
    await eventually(() => expect(bench.calls).toHaveLength(2))
    await stop()
    expect(begun()).toHaveLength(8)
    const pending = await bench.db
      .selectFrom('deliveries')
      .selectAll()
      .where('bot_id', '=', botId)
      .where('status', '=', 'pending')
      .execute()
    expect(pending.map(({ owner }) => owner)).toEqual(pending.map(() => null))
    expect(pending).toHaveLength(4)
  })

  it('reaches receivers behind the backlog of a saturated one', async () => {
    const { bench, botId, enqueue, callOf, statusOf, begun } = dispatching()
    for (let i = 0; i < 40; i++) await enqueue(`s${i}`, `line ${i}`)
    const other = await bench.enqueue({ botId: `${botId}-other`, subjectId: 'other' })
    await bench.start({ limits: { perReceiver: 2, concurrency: 4 } })
    ;(await callOf('other')).respond(200)
    expect(begun()).toHaveLength(2)
    await eventually(async () => expect(await statusOf(other)).toBe('delivered'))
    while (bench.finished.length < 41) {
      for (const call of [...bench.calls]) call.respond(200)
      await bench.rest()
    }
    expect(bench.calls).toEqual([])
  })

  it('retries after growing pauses, and stores the result of each attempt', async () => {
    const { bench, enqueue, callOf, nextCallOf, begun } = dispatching()
    await bench.start()
    const id = await enqueue('a')
    await enqueue('b')
    const first = await callOf('a')
    first.respond(503, '{"message":"busy"}')
    const second = await nextCallOf('a', first)
    second.fail('timeout')
    const third = await nextCallOf('a', second)
    third.respond(429, '', { 'retry-after': '20' })
    const fourth = await nextCallOf('a', third)
    expect(begun().map(({ subject, attempt }) => [subject, attempt])).toEqual(
      [1, 2, 3, 4].map((attempt) => ['a', attempt]),
    )
    const waits = [second.at - first.at, third.at - second.at, fourth.at - third.at]
    for (const [at, least] of [750, 1500, 20_000].entries()) {
      expect(waits[at]).toBeGreaterThanOrEqual(least)
    }
    fourth.respond(200, 'thanks')
    ;(await callOf('b')).respond(200)
    await eventually(async () => expect(bench.finished).toHaveLength(2))
    const attempts = await bench.attemptsOf(id)
    expect(attempts.map(({ status, error, answer }) => [status, error, answer])).toEqual([
      [503, 'Status 503: busy', '{"message":"busy"}'],
      [null, 'It ended with timeout.', null],
      [429, 'Status 429: no reason given', ''],
      [200, null, 'thanks'],
    ])
  })

  it('gives up refused deliveries at once and failing ones in the end, and continues with the next', async () => {
    const { bench, enqueue, callOf, nextCallOf, statusOf } = dispatching()
    await bench.start({ maxAttempts: 2 })
    const [a, b, c] = [await enqueue('a'), await enqueue('b'), await enqueue('c')]
    ;(await callOf('a')).respond(400, '{"message":"no such thing"}')
    const first = await callOf('b')
    first.respond(500)
    ;(await nextCallOf('b', first)).fail('connection')
    ;(await callOf('c')).respond(200)
    await eventually(() => expect(bench.finished).toHaveLength(3))
    expect(bench.finished).toEqual([
      { subject: 'a', failure: 'Status 400: no such thing' },
      { subject: 'b', failure: 'Given up after 2 attempts. It ended with connection.' },
      { subject: 'c', failure: null },
    ])
    expect([await statusOf(a), await statusOf(b), await statusOf(c)]).toEqual([
      'failed',
      'failed',
      'delivered',
    ])
  })

  it('cancels a delivery whose subject was deleted', async () => {
    const { bench, enqueue, callOf, statusOf } = dispatching()
    bench.deleted.add('a')
    await bench.start()
    const id = await enqueue('a')
    await enqueue('b')
    ;(await callOf('b')).respond(200)
    expect(await statusOf(id)).toBe('canceled')
  })
})
