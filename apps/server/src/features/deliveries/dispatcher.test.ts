import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { createDeliveriesBench, lease, type OpenCall } from '../../../test/deliveries.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { eventually } from '../../../test/jobs.js'
import { ManualTime } from '../../../test/manual-time.js'
import { isoTime } from '../../platform/clock.js'
import type { Run } from '../../schema.js'
import { announceReceiver } from './hints.js'
import { hasten } from './receivers.js'

type Bench = Awaited<ReturnType<typeof createDeliveriesBench>>

const minute = 60_000
let subjects = 0

describeEachEngine('the dispatcher', (engine) => {
  const database = useDatabase(engine)
  let bench: Bench
  let botId: string

  beforeEach(async () => {
    bench = await createDeliveriesBench(database())
    subjects += 1
    botId = `bot-${subjects}`
  })

  const enqueue = (subjectId: string, orderKey: string | undefined = 'line') =>
    bench.enqueue({ botId, subjectId, orderKey })
  /** The call that is open for a subject, once there is one. */
  const callOf = (subject: string) =>
    eventually(() => {
      const call = bench.calls.find((open) => open.subject === subject)
      if (!call) throw new Error(`${subject} is not being sent`)
      return call
    })
  /** Lets time pass until a subject is being sent again. */
  const nextCallOf = (subject: string, last: OpenCall) =>
    eventually(() => {
      const call = bench.calls.find((open) => open.subject === subject && open !== last)
      if (call) return call
      bench.time.advance(250)
      throw new Error(`${subject} is not sent again`)
    })
  /** Lets the dispatcher do what it can do without more time. */
  const turns = () => sleep(engine.name === 'sqlite' ? 5 : 15)
  const statusOf = async (id: string) => (await bench.find(id))?.status
  /** What happens when somebody changes the bot. */
  const changed = async () => {
    await bench.run((tx) => hasten(tx, botId, isoTime(bench.time.now()), 500))
    announceReceiver(bench.bus, botId)
  }
  const begun = () => bench.begun.filter((call) => call.botId === botId)

  it('sends what belongs together in order, and tells when it is done', async () => {
    await bench.start()
    const ids = [await enqueue('a'), await enqueue('b'), await enqueue('c')]
    for (const subject of ['a', 'b', 'c']) {
      const call = await callOf(subject)
      expect(bench.calls).toHaveLength(1)
      call.answer(200)
    }
    await eventually(async () => expect(await statusOf(ids[2] ?? '')).toBe('delivered'))
    // Told after the commit, which others may see first.
    await eventually(() =>
      expect(bench.finished).toEqual(
        ['a', 'b', 'c'].map((subject) => ({ subject, failure: null })),
      ),
    )
  })

  it('sends different conversations side by side, at most so many to one receiver', async () => {
    await bench.start({ limits: { perReceiver: 3 } })
    for (let i = 0; i < 6; i++) await enqueue(`s${i}`, `line ${i}`)
    await eventually(() => expect(bench.calls).toHaveLength(3))
    const other = await bench.enqueue({ botId: `${botId}-other`, subjectId: 'other' })
    await callOf('other')
    expect(bench.calls).toHaveLength(4)
    bench.calls[0]?.answer(200)
    await callOf('s3')
    expect(bench.calls).toHaveLength(4)
    while (bench.finished.length < 7) {
      for (const call of [...bench.calls]) call.answer(200)
      await turns()
    }
    expect(await statusOf(other)).toBe('delivered')
  })

  it('reaches who stands behind the backlog of a receiver that is busy', async () => {
    for (let i = 0; i < 40; i++) await enqueue(`s${i}`, `line ${i}`)
    const other = await bench.enqueue({ botId: `${botId}-other`, subjectId: 'other' })
    await bench.start({ limits: { perReceiver: 2, concurrency: 4 } })
    ;(await callOf('other')).answer(200)
    expect(begun()).toHaveLength(2)
    await eventually(async () => expect(await statusOf(other)).toBe('delivered'))
    while (bench.finished.length < 41) {
      for (const call of [...bench.calls]) call.answer(200)
      await turns()
    }
    expect(bench.calls).toEqual([])
  })

  it('tries again after growing pauses, says so, and keeps what came of each attempt', async () => {
    await bench.start()
    const id = await enqueue('a')
    await enqueue('b')
    const first = await callOf('a')
    first.answer(503, '{"message":"busy"}')
    const second = await nextCallOf('a', first)
    second.fail('timeout')
    const third = await nextCallOf('a', second)
    third.answer(429, '', { 'retry-after': '20' })
    const fourth = await nextCallOf('a', third)
    expect(begun().map(({ subject, attempt }) => [subject, attempt])).toEqual(
      [1, 2, 3, 4].map((attempt) => ['a', attempt]),
    )
    const waits = [second.at - first.at, third.at - second.at, fourth.at - third.at]
    for (const [at, least] of [750, 1500, 20_000].entries()) {
      expect(waits[at]).toBeGreaterThanOrEqual(least)
    }
    fourth.answer(200, 'thanks')
    ;(await callOf('b')).answer(200)
    await eventually(async () => expect(bench.finished).toHaveLength(2))
    const attempts = await bench.attemptsOf(id)
    expect(attempts.map(({ status, error, answer }) => [status, error, answer])).toEqual([
      [503, 'Status 503: busy', '{"message":"busy"}'],
      [null, 'It ended with timeout.', null],
      [429, 'Status 429: no reason given', ''],
      [200, null, 'thanks'],
    ])
  })

  it('gives up at once what is refused, and in the end what keeps failing; the next goes on', async () => {
    await bench.start({ maximumAttempts: 2 })
    const [a, b, c] = [await enqueue('a'), await enqueue('b'), await enqueue('c')]
    ;(await callOf('a')).answer(400, '{"message":"no such thing"}')
    const first = await callOf('b')
    first.answer(500)
    ;(await nextCallOf('b', first)).fail('connection')
    ;(await callOf('c')).answer(200)
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

  it('leaves a receiver alone that fails for long, and goes on in order when it is back', async () => {
    const pausing = { afterMs: 5 * minute, afterFailures: 5, probeEveryMs: 30_000 }
    await bench.start({ pausing, maximumAttempts: 100 })
    await enqueue('a')
    await enqueue('b')
    await enqueue('c', 'other line')
    const isPaused = async () => (await bench.receiver(botId))?.paused === 'failures'
    while (!(await isPaused())) {
      for (const call of [...bench.calls]) call.fail('connection')
      bench.time.advance(5000)
      await turns()
    }
    const warnings = bench.logged.filter(({ msg }) => String(msg).includes('are paused'))
    expect(warnings).toEqual([expect.anything()])
    expect(warnings[0]).toMatchObject({ botId, error: 'It ended with connection.' })

    const ping = await eventually(() => {
      for (const call of bench.calls) if (call.operation !== 'ping') call.fail('connection')
      const found = bench.calls.find(({ operation }) => operation === 'ping')
      if (found) return found
      bench.time.advance(5000)
      throw new Error('There is no ping')
    })
    ping.fail('connection')
    const beforeHour = begun().length
    for (let passed = 0; passed < 60 * minute; passed += minute) {
      bench.time.advance(minute)
      await turns()
      for (const call of [...bench.calls]) call.fail('connection')
    }
    // Nothing but pings came meanwhile, so that no attempt is used up.
    const during = begun().slice(beforeHour)
    expect(during.filter(({ operation }) => operation !== 'ping')).toEqual([])

    const answered = await eventually(() => {
      const found = bench.calls.find(({ operation }) => operation === 'ping')
      if (found) return found
      bench.time.advance(5000)
      throw new Error('There is no ping')
    })
    answered.answer(200)
    ;(await callOf('c')).answer(200)
    ;(await callOf('a')).answer(200)
    ;(await callOf('b')).answer(200)
    await eventually(() => expect(bench.finished).toHaveLength(3))
    expect(await bench.receiver(botId)).toMatchObject({ paused: null, failures: 0 })
  })

  it('does not wait out the pause of an attempt once the receiver is back', async () => {
    const pausing = { afterMs: 0, afterFailures: 5, probeEveryMs: 1000 }
    await bench.start({ pausing, maximumAttempts: 100 })
    const id = await enqueue('a')
    let call = await callOf('a')
    for (let failures = 1; failures < 5; failures += 1) {
      call.answer(500)
      call = await nextCallOf('a', call)
    }
    call.answer(500)
    await eventually(async () => expect((await bench.receiver(botId))?.paused).toBe('failures'))
    const due = Date.parse((await bench.find(id))?.next_attempt_at ?? '')
    const ping = await eventually(() => {
      const found = bench.calls.find(({ operation }) => operation === 'ping')
      if (found) return found
      bench.time.advance(250)
      throw new Error('There is no ping')
    })
    ping.answer(200)
    ;(await callOf('a')).answer(200)
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'))
    expect(bench.time.now()).toBeLessThan(due)
  })

  it('tries at once what a receiver failed to take, when somebody changes it', async () => {
    await bench.start()
    await enqueue('a')
    await enqueue('b')
    await enqueue('c', 'other line')
    ;(await callOf('a')).fail('connection')
    ;(await callOf('c')).fail('connection')
    await eventually(async () => expect((await bench.receiver(botId))?.failures).toBe(2))
    const last = begun().length
    await turns()
    expect(begun()).toHaveLength(last)
    await changed()
    ;(await callOf('a')).answer(200)
    ;(await callOf('c')).answer(200)
    ;(await callOf('b')).answer(200)
    await eventually(() => expect(bench.finished).toHaveLength(3))
  })

  it('keeps what waits for a receiver without an address, and counts no attempt', async () => {
    bench.homeless.add(botId)
    await bench.start()
    const id = await enqueue('a')
    await eventually(async () =>
      expect(await bench.find(id)).toMatchObject({ set_aside: 1, attempts: 0, owner: null }),
    )
    expect(await bench.receiver(botId)).toMatchObject({ reason: 'The receiver has no address.' })
    bench.homeless.delete(botId)
    await changed()
    const ping = await eventually(() => {
      const found = bench.calls.find(({ operation }) => operation === 'ping')
      if (!found) throw new Error('There is no ping')
      return found
    })
    ping.answer(200)
    const call = await callOf('a')
    expect(call.attempt).toBe(1)
    call.answer(200)
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'))
  })

  it('drops what has nothing to tell any more', async () => {
    bench.deleted.add('a')
    await bench.start()
    const id = await enqueue('a')
    await enqueue('b')
    ;(await callOf('b')).answer(200)
    expect(await statusOf(id)).toBe('canceled')
  })

  it('ends a pause only by hand where a person began it', async () => {
    await bench.start()
    await enqueue('early', 'other')
    ;(await callOf('early')).answer(503)
    await eventually(async () =>
      expect(await bench.receiver(botId)).toMatchObject({ reason: expect.stringMatching('503') }),
    )
    await bench.pause(botId)
    // What failed before is not why.
    expect(await bench.receiver(botId)).toMatchObject({ paused: 'operator', reason: null })
    const id = await enqueue('a')
    const before = begun().length
    await eventually(async () => expect((await bench.find(id))?.set_aside).toBe(1))
    bench.time.advance(60 * minute)
    await turns()
    expect(begun()).toHaveLength(before)
    await bench.resume(botId)
    ;(await callOf('a')).answer(200)
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'))
  })

  it('stops a line after the delivery that is on the way when the receiver is paused', async () => {
    await bench.start()
    await enqueue('a')
    await enqueue('b')
    const call = await callOf('a')
    await bench.pause(botId)
    call.answer(200)
    await eventually(async () => {
      const rows = await bench.db
        .selectFrom('deliveries')
        .select('set_aside')
        .where('bot_id', '=', botId)
        .where('subject_id', '=', 'b')
        .execute()
      expect(rows).toEqual([{ set_aside: 1 }])
    })
    expect(begun().map(({ subject }) => subject)).toEqual(['a'])
  })

  it('gives back what is on the way when it stops; whoever takes it up says that it is a repeat', async () => {
    const one = await bench.start({ name: 'one' })
    await enqueue('a')
    await callOf('a')
    await one.stop()
    await bench.start({ name: 'two' })
    const again = await callOf('a')
    expect(again).toMatchObject({ by: 'two', attempt: 2 })
    again.answer(200)
    await eventually(() => expect(bench.finished).toHaveLength(1))
  })

  it('goes on in a line also when it gives a sign of life in the moment of settling', async () => {
    await bench.start()
    for (let turns = 0; turns < 8; turns++) {
      await enqueue(`a${turns}`)
      await enqueue(`b${turns}`)
      ;(await callOf(`a${turns}`)).answer(200)
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      bench.time.advance(lease / 3)
      ;(await callOf(`b${turns}`)).answer(200)
    }
    await eventually(() => expect(bench.finished).toHaveLength(16))
  })

  it('takes up what a process left that fell silent, and ignores what that one still says', async () => {
    const silent = new ManualTime()
    await bench.start({ name: 'silent', timers: silent })
    await enqueue('a')
    const lost = await callOf('a')
    await bench.start({ name: 'other' })
    const again = await nextCallOf('a', lost)
    expect(again).toMatchObject({ by: 'other', attempt: 2 })
    lost.answer(400)
    again.answer(200)
    await eventually(() => expect(bench.finished).toHaveLength(1))
    expect(bench.finished).toEqual([{ subject: 'a', failure: null }])
  })

  it('counts no attempt where the time of a claim ended before the call', async () => {
    let slow = 3
    const onRead = () => {
      if (slow > 0) bench.time.advance(lease + 1)
      slow -= 1
    }
    await bench.start({ maximumAttempts: 1, onRead })
    const id = await enqueue('a')
    const call = await callOf('a')
    expect(slow).toBe(-1)
    expect(call.attempt).toBe(1)
    call.answer(503)
    await eventually(async () => expect(await statusOf(id)).toBe('failed'))
    expect(await bench.find(id)).toMatchObject({
      ...{ attempts: 1, last_error: expect.stringMatching(/^Given up after 1 attempt\./) },
    })
  })

  it('leaves a paused webhook alone that loses its address while it is tried', async () => {
    let transactions = 0
    const run: Run = (work) => {
      transactions += 1
      return database().run(work)
    }
    const onRead = () => {
      bench.homeless.add(botId)
      announceReceiver(bench.bus, botId)
    }
    bench.homeless.add(botId)
    await bench.start({ run, onRead, plain: true })
    const first = await enqueue('a')
    bench.time.advance(1000)
    const second = await enqueue('b', 'other line')
    await eventually(async () => expect((await bench.find(second))?.set_aside).toBe(1))
    bench.homeless.delete(botId)
    bench.deleted.add('a')
    await changed()
    await eventually(async () => expect(await statusOf(first)).toBe('canceled'))
    await eventually(async () => {
      const before = transactions
      await sleep(50)
      expect(transactions).toBe(before)
    })
    expect(await bench.find(second)).toMatchObject({ status: 'pending', attempts: 0 })
    expect(bench.calls).toEqual([])
  })
})
