import { expect, it } from 'vitest'
import { createDeliveriesBench } from '../../../test/deliveries.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { eventually } from '../../../test/jobs.js'
import { isoTime } from '../../platform/clock.js'
import { claimFirst, endClaim } from './claim-store.js'
import { createRetention } from './retention.js'

const day = 24 * 60 * 60 * 1000

describeEachEngine('expired deliveries', (engine) => {
  const database = useDatabase(engine)

  it('are deleted with their attempts; pending ones are given up, and their queue continues', async () => {
    const bench = await createDeliveriesBench(database())
    const sweeps = createRetention({
      clock: bench.time,
      bus: bench.bus,
      retentionMs: 7 * day,
      domainEvents: bench.domainEvents,
      writeLogLine: async (_tx, line) => void bench.noted.push(line),
    })
    const sweep = async () => {
      let removed = 0
      for (const work of sweeps) removed += await bench.run(work)
      return removed
    }
    const respondTo = (subject: string, status: number) =>
      eventually(() => {
        const call = bench.calls.find((open) => open.subject === subject)
        if (!call) throw new Error(`${subject} is not being sent`)
        call.respond(status)
      })
    const statusOf = async (id: string) => (await bench.find(id))?.status

    const { stop } = await bench.start()
    const done = await bench.enqueue({ subjectId: 'done', orderingKey: 'line' })
    const refused = await bench.enqueue({ subjectId: 'refused', orderingKey: 'line' })
    await respondTo('done', 200)
    await respondTo('refused', 400)
    await eventually(async () => expect(await statusOf(refused)).toBe('failed'))
    await bench.pause('bot')
    const stuck = await bench.enqueue({ subjectId: 'stuck', orderingKey: 'line' })
    await eventually(async () => expect((await bench.find(stuck))?.set_aside).toBe(1))
    await stop()

    bench.time.advance(6 * day)
    // A failed probe does not restart its waiting time.
    const receiver = { botId: 'bot', integration: '' }
    const now = isoTime(bench.time.now())
    const tried = await bench.run((tx) => claimFirst(tx, receiver, 'prober', now))
    const again = { status: 'pending' as const, last_error: 'No', next_attempt_at: now }
    expect(
      await bench.run(async (tx) => tried !== undefined && (await endClaim(tx, tried, again, now))),
    ).toBe(true)
    const behind = await bench.enqueue({ subjectId: 'behind', orderingKey: 'line' })
    expect(await sweep()).toBe(0)
    bench.time.advance(1.5 * day)
    expect(await sweep()).toBe(3)
    for (const id of [done, refused]) {
      expect(await bench.find(id)).toBeUndefined()
      expect(await bench.attemptsOf(id)).toEqual([])
    }
    const failure = expect.stringMatching(/^Given up: it has waited/)
    expect(await bench.find(stuck)).toMatchObject({ status: 'failed', last_error: failure })
    expect(bench.finished.slice(2)).toEqual([{ subject: 'stuck', failure }])
    expect(bench.noted.at(-1)).toMatchObject({
      level: 'error',
      message: failure && expect.any(String),
    })
    // Its position is free: the delivery behind it is next.
    expect(await bench.find(behind)).toMatchObject({ status: 'pending', set_aside: 0 })
    expect((await bench.find(behind))?.next_attempt_at).not.toBeNull()
  })
})
