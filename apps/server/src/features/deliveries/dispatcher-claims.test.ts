import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { lease } from '../../../test/deliveries.js'
import { useDispatching } from '../../../test/dispatching.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { eventually } from '../../../test/jobs.js'
import { ManualTime } from '../../../test/manual-time.js'

describeEachEngine('the dispatcher, among others,', (engine) => {
  const database = useDatabase(engine)
  const dispatching = useDispatching(engine, database)

  it('gives back what is on the way when it stops; whoever takes it up says that it is a repeat', async () => {
    const { bench, enqueue, callOf } = dispatching()
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
    const { bench, enqueue, callOf } = dispatching()
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
    const { bench, enqueue, callOf, nextCallOf } = dispatching()
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
    const { bench, enqueue, callOf, statusOf } = dispatching()
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
})
