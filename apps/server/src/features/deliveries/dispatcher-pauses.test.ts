import { expect, it } from 'vitest'
import { useDispatching } from '../../../test/dispatching.js'
import { describeSlow, useDatabase } from '../../../test/engines.js'
import { eventually } from '../../../test/jobs.js'
import type { Run } from '../../platform/db/schema.js'
import { announceReceiver } from './outbox.js'
import * as receivers from './receiver-store.js'

const minute = 60_000

describeSlow('the dispatcher, where receivers are paused,', (engine) => {
  const database = useDatabase(engine)
  const dispatching = useDispatching(database)

  it('pauses a receiver that fails for long, and continues in order when it is back', async () => {
    const { bench, botId, enqueue, callOf, pingOf, begun } = dispatching()
    const pausing = { afterMs: 5 * minute, afterFailures: 5, probeEveryMs: 30_000 }
    await bench.start({ pausing, maxAttempts: 100 })
    await enqueue('a')
    await enqueue('b')
    await enqueue('c', 'other line')
    const isPaused = async () => (await bench.receiver(botId))?.paused === 'failures'
    while (!(await isPaused())) {
      for (const call of [...bench.calls]) call.fail('connection')
      bench.time.advance(5000)
      await bench.rest()
    }
    const warnings = bench.logged.filter(({ msg }) => String(msg).includes('are paused'))
    expect(warnings).toEqual([expect.anything()])
    expect(warnings[0]).toMatchObject({ botId, error: 'It ended with connection.' })

    const ping = await eventually(async () => {
      for (const call of [...bench.calls]) if (call.operation !== 'ping') call.fail('connection')
      await bench.rest()
      const found = bench.calls.find(({ operation }) => operation === 'ping')
      if (found) return found
      bench.time.advance(5000)
      throw new Error('There is no ping')
    })
    ping.fail('connection')
    const beforeHour = begun().length
    for (let passed = 0; passed < 60 * minute; passed += minute) {
      bench.time.advance(minute)
      await bench.rest()
      for (const call of [...bench.calls]) call.fail('connection')
    }
    // Only pings came meanwhile, so that no attempt is used up.
    const during = begun().slice(beforeHour)
    expect(during.filter(({ operation }) => operation !== 'ping')).toEqual([])

    ;(await pingOf(5000)).respond(200)
    ;(await callOf('c')).respond(200)
    ;(await callOf('a')).respond(200)
    ;(await callOf('b')).respond(200)
    await eventually(() => expect(bench.finished).toHaveLength(3))
    expect(await bench.receiver(botId)).toMatchObject({ paused: null, failures: 0 })
  })

  it('does not wait out the pause of an attempt once the receiver is back', async () => {
    const { bench, botId, enqueue, callOf, nextCallOf, pingOf, statusOf } = dispatching()
    const pausing = { afterMs: 0, afterFailures: 5, probeEveryMs: 1000 }
    await bench.start({ pausing, maxAttempts: 100 })
    const id = await enqueue('a')
    let call = await callOf('a')
    for (let failures = 1; failures < 5; failures += 1) {
      call.respond(500)
      call = await nextCallOf('a', call)
    }
    call.respond(500)
    await eventually(async () => expect((await bench.receiver(botId))?.paused).toBe('failures'))
    const due = Date.parse((await bench.find(id))?.next_attempt_at ?? '')
    ;(await pingOf(250)).respond(200)
    ;(await callOf('a')).respond(200)
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'))
    expect(bench.time.now()).toBeLessThan(due)
  })

  it('retries at once when a failing receiver is changed', async () => {
    const { bench, botId, enqueue, callOf, changed, begun } = dispatching()
    await bench.start()
    await enqueue('a')
    await enqueue('b')
    await enqueue('c', 'other line')
    ;(await callOf('a')).fail('connection')
    ;(await callOf('c')).fail('connection')
    await eventually(async () => expect((await bench.receiver(botId))?.failures).toBe(2))
    const last = begun().length
    await bench.rest()
    expect(begun()).toHaveLength(last)
    await changed()
    ;(await callOf('a')).respond(200)
    ;(await callOf('c')).respond(200)
    ;(await callOf('b')).respond(200)
    await eventually(() => expect(bench.finished).toHaveLength(3))
  })

  it('keeps deliveries to a receiver without an address, and counts no attempt', async () => {
    const { bench, botId, enqueue, callOf, pingOf, statusOf, changed } = dispatching()
    bench.withoutAddress.add(botId)
    await bench.start()
    const id = await enqueue('a')
    await eventually(async () =>
      expect(await bench.find(id)).toMatchObject({ set_aside: 1, attempts: 0, owner: null }),
    )
    expect(await bench.receiver(botId)).toMatchObject({ reason: 'The receiver has no address.' })
    bench.withoutAddress.delete(botId)
    await changed()
    ;(await pingOf(0)).respond(200)
    const call = await callOf('a')
    expect(call.attempt).toBe(1)
    call.respond(200)
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'))
  })

  it('ends a pause by a person only by hand', async () => {
    const { bench, botId, enqueue, callOf, statusOf, begun } = dispatching()
    await bench.start()
    await enqueue('early', 'other')
    ;(await callOf('early')).respond(503)
    await eventually(async () =>
      expect(await bench.receiver(botId)).toMatchObject({ reason: expect.stringMatching('503') }),
    )
    await bench.pause(botId)
    // Earlier failures are not the reason of the pause.
    expect(await bench.receiver(botId)).toMatchObject({ paused: 'operator', reason: null })
    const id = await enqueue('a')
    const before = begun().length
    await eventually(async () => expect((await bench.find(id))?.set_aside).toBe(1))
    bench.time.advance(60 * minute)
    await bench.rest()
    expect(begun()).toHaveLength(before)
    await bench.resume(botId)
    ;(await callOf('a')).respond(200)
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'))
  })

  it('stops a queue after the delivery in flight when the receiver is paused', async () => {
    const { bench, botId, enqueue, callOf, begun } = dispatching()
    await bench.start()
    await enqueue('a')
    await enqueue('b')
    const call = await callOf('a')
    await bench.pause(botId)
    call.respond(200)
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

  it('stops probing a paused webhook that loses its address', async () => {
    const { bench, botId, enqueue, statusOf, changed } = dispatching()
    let transactions = 0
    const run: Run = (work) => {
      transactions += 1
      return bench.run(work)
    }
    const onRead = () => {
      bench.withoutAddress.add(botId)
      announceReceiver(bench.bus, botId)
    }
    bench.withoutAddress.add(botId)
    await bench.start({ run, onRead, plain: true })
    const first = await enqueue('a')
    bench.time.advance(1000)
    const second = await enqueue('b', 'other line')
    // Also the first: were it in flight, the second would be tried when the address is back.
    await eventually(async () => {
      for (const id of [first, second]) expect((await bench.find(id))?.set_aside).toBe(1)
    })
    bench.withoutAddress.delete(botId)
    bench.deleted.add('a')
    await changed()
    await eventually(async () => expect(await statusOf(first)).toBe('canceled'))
    await bench.rest()
    const before = transactions
    await bench.rest()
    expect(transactions).toBe(before)
    expect(await bench.find(second)).toMatchObject({ status: 'pending', attempts: 0 })
    expect(bench.calls).toEqual([])
  })

  it('keeps a webhook paused while all that is left for it is in flight', async () => {
    const { bench, botId, enqueue, callOf } = dispatching()
    await bench.start({ plain: true })
    await enqueue('a')
    const call = await callOf('a')
    await bench.run(async (tx) => {
      const at = (ms: number) => new Date(bench.time.now() + ms).toISOString()
      await receivers.pause(tx, { botId, integration: '' }, 'failures', at(0), at(1000))
    })
    announceReceiver(bench.bus, botId)
    await bench.rest()
    bench.time.advance(1000)
    await bench.rest()
    expect(await bench.receiver(botId)).toMatchObject({ paused: 'failures' })
    call.respond(200)
    await eventually(() => expect(bench.finished).toHaveLength(1))
    await eventually(async () => {
      bench.time.advance(30_000)
      await bench.rest()
      expect((await bench.receiver(botId))?.paused).toBeFalsy()
    })
  })

  it('limits the probes of a webhook when no delivery gets as far as a call', async () => {
    const { bench, botId, enqueue } = dispatching()
    let read = 0
    bench.withoutAddress.add(botId)
    const onRead = () => {
      read += 1
      throw new Error('What is to be told cannot be read.')
    }
    await bench.start({ onRead, plain: true })
    for (let i = 0; i < 25; i++) await enqueue(`s${i}`, `line ${i}`)
    await eventually(async () => {
      const waiting = bench.db.selectFrom('deliveries').select('id').where('bot_id', '=', botId)
      expect(await waiting.where('set_aside', '=', 1).execute()).toHaveLength(25)
    })
    bench.withoutAddress.delete(botId)
    await bench.rest()
    bench.time.advance(30_000)
    // Each is read twice: in a batch, and then alone.
    await eventually(() => expect(read).toBe(40))
    await bench.rest()
    expect(read).toBe(40)
    expect(await bench.receiver(botId)).toMatchObject({ paused: 'failures' })
  })
})
