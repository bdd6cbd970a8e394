import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { lease } from '../../../test/deliveries.js'
import { useDispatching } from '../../../test/dispatching.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { eventually } from '../../../test/jobs.js'
import { ManualTime } from '../../../test/manual-time.js'
import type { Run } from '../../platform/db/schema.js'
import { announceDelivery } from './outbox.js'

describeEachEngine('the dispatcher, beside other processes,', (engine) => {
  const database = useDatabase(engine)
  const dispatching = useDispatching(database)

  it('releases deliveries in flight when it stops; the next process to claim them sends them as a repeat', async () => {
    const { bench, enqueue, callOf } = dispatching()
    const one = await bench.start({ name: 'one' })
    await enqueue('a')
    await callOf('a')
    await one.stop()
    await bench.start({ name: 'two' })
    const again = await callOf('a')
    expect(again).toMatchObject({ by: 'two', attempt: 2 })
    again.respond(200)
    await eventually(() => expect(bench.finished).toHaveLength(1))
  })

  it('counts only attempts that the receiver refused, however often a server was interrupted meanwhile', async () => {
    const { bench, enqueue, callOf, nextCallOf, statusOf } = dispatching()
    const id = await enqueue('a')
    for (const name of ['stopped', 'stopped again']) {
      const { stop } = await bench.start({ name, maxAttempts: 2 })
      await callOf('a')
      await stop()
    }
    await bench.start({ name: 'killed', timers: new ManualTime(), maxAttempts: 2 })
    const lost = await callOf('a')
    await bench.start({ name: 'last', maxAttempts: 2 })
    const again = await nextCallOf('a', lost)
    expect(again).toMatchObject({ by: 'last', attempt: 4 })
    lost.respond(200)
    again.respond(500)
    await eventually(async () => expect((await bench.attemptsOf(id)).length).toBe(1))
    expect(await statusOf(id)).toBe('pending')
    ;(await nextCallOf('a', again)).respond(500)
    await eventually(async () => expect(await statusOf(id)).toBe('failed'))
    expect((await bench.find(id))?.last_error).toContain('Given up after 2 attempts.')
  })

  it('continues a queue when a heartbeat coincides with settling', async () => {
    const { bench, enqueue, callOf } = dispatching()
    await bench.start()
    for (let turns = 0; turns < 8; turns++) {
      await enqueue(`a${turns}`)
      await enqueue(`b${turns}`)
      ;(await callOf(`a${turns}`)).respond(200)
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      bench.time.advance(lease / 3)
      ;(await callOf(`b${turns}`)).respond(200)
    }
    await eventually(() => expect(bench.finished).toHaveLength(16))
  })

  it('begins no call after the time to stop is over', async () => {
    const { bench, enqueue, callOf } = dispatching()
    let held: Promise<void> | undefined
    let letGo = () => {}
    const run: Run = async (work) => {
      // As of its start: its commit is visible to others before it returns.
      const hold = held
      const value = await bench.run(work)
      await hold
      return value
    }
    const { stop } = await bench.start({ name: 'one', run })
    await enqueue('a')
    const id = await enqueue('b')
    const call = await callOf('a')
    held = new Promise((resolve) => {
      letGo = resolve
    })
    call.respond(200)
    // Settled, and the next one is claimed, but the dispatcher has not noticed yet.
    await eventually(async () => expect((await bench.find(id))?.owner).not.toBeNull())
    const settled = letGo
    held = undefined
    bench.time.advance(lease / 3)
    await bench.rest()
    const stopped = stop()
    await bench.rest()
    bench.time.advance(1000)
    settled()
    await stopped
    expect(bench.begun.map(({ subject }) => subject)).toEqual(['a'])
    expect(await bench.find(id)).toMatchObject({ status: 'pending', owner: null, attempts: 0 })
    await bench.start({ name: 'two' })
    expect(await callOf('b')).toMatchObject({ by: 'two', attempt: 1 })
  })

  it('pauses while due deliveries cannot be claimed, and continues when they can', async () => {
    const { bench, botId, enqueue, callOf, statusOf } = dispatching()
    const finished = await enqueue('finished', 'one')
    const damage = { status: 'failed' as const }
    await bench.run((tx) =>
      tx.updateTable('deliveries').set(damage).where('id', '=', finished).execute(),
    )
    await bench.start()
    await bench.rest()
    expect(bench.calls).toEqual([])
    if (engine.name === 'sqlite') return
    // Only this engine lets another transaction hold it.
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const id = await enqueue('held', 'two')
    const call = await callOf('held')
    call.respond(503)
    await eventually(async () => expect((await bench.find(id))?.owner).toBeNull())
    let isHeld = false
    // Not a transaction that the bench waits for.
    const holding = database().run(async (tx) => {
      await tx.selectFrom('deliveries').select('id').where('id', '=', id).forUpdate().execute()
      isHeld = true
      await held
    })
    await eventually(() => expect(isHeld).toBe(true))
    bench.time.advance(2000)
    announceDelivery(bench.bus, { bot_id: botId, integration: '' })
    await bench.rest()
    expect(bench.calls).toEqual([])
    letGo()
    await holding
    bench.time.advance(50)
    ;(await callOf('held')).respond(200)
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'))
  })

  it('claims the deliveries of a process without heartbeat, and ignores results of that process', async () => {
    const { bench, enqueue, callOf, nextCallOf } = dispatching()
    const silent = new ManualTime()
    await bench.start({ name: 'silent', timers: silent })
    await enqueue('a')
    const lost = await callOf('a')
    await bench.start({ name: 'other' })
    const again = await nextCallOf('a', lost)
    expect(again).toMatchObject({ by: 'other', attempt: 2 })
    lost.respond(400)
    again.respond(200)
    await eventually(() => expect(bench.finished).toHaveLength(1))
    expect(bench.finished).toEqual([{ subject: 'a', failure: null }])
  })

  it('counts no attempt when a lease expired before the call', async () => {
    const { bench, enqueue, callOf, statusOf } = dispatching()
    let slow = 3
    const onRead = (subjects: readonly string[]) => {
      // Deliveries of earlier tests become due, too, when time passes.
      if (!subjects.includes('slow')) return
      if (slow > 0) bench.time.advance(lease + 1)
      slow -= 1
    }
    await bench.start({ maxAttempts: 1, onRead })
    const id = await enqueue('slow')
    const call = await callOf('slow')
    expect(slow).toBe(-1)
    expect(call.attempt).toBe(1)
    call.respond(503)
    await eventually(async () => expect(await statusOf(id)).toBe('failed'))
    expect(await bench.find(id)).toMatchObject({
      attempts: 1,
      last_error: expect.stringMatching(/^Given up after 1 attempt\./),
    })
  })
})
