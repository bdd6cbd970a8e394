import { describe, expect, it } from 'vitest'
import { createDeliveriesBench } from '../../../test/deliveries.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import type { CallResult } from '../calls/requests/index.js'
import { createSettle, pauseAfter } from './settle.js'

describeEachEngine('deliveries that are settled together', (engine) => {
  const database = useDatabase(engine)

  it('continue their queue once, also when a lost claim and the next one are settled together', async () => {
    const bench = await createDeliveriesBench(database())
    const [lost = '', own = '', next = ''] = [
      await bench.enqueue({ subjectId: 'lost', orderingKey: 'line' }),
      await bench.enqueue({ subjectId: 'own', orderingKey: 'line' }),
      await bench.enqueue({ subjectId: 'next', orderingKey: 'line' }),
    ]
    const set = (id: string, values: { status?: 'delivered'; owner?: string; attempts: number }) =>
      bench.run((tx) => tx.updateTable('deliveries').set(values).where('id', '=', id).execute())
    await set(lost, { owner: 'me', attempts: 1 })
    await set(own, { owner: 'me', attempts: 1 })
    const [before, row] = [await bench.find(lost), await bench.find(own)]
    if (before === undefined || row === undefined) throw new Error('They were just made')
    // Another process took the first one over and finished it before the response arrived here.
    await set(lost, { status: 'delivered', attempts: 2 })
    await bench.run((tx) => tx.updateTable('delivery_lines').set({ waiting: 2 }).execute())

    const settle = createSettle({
      run: bench.run,
      bus: bench.bus,
      clock: bench.time,
      log: bench.log,
      random: () => 0.5,
      reportIssue: () => {},
      domainEvents: bench.domainEvents,
      writeLogLine: async () => {},
      workspaceIn: async () => undefined,
      retry: { maxAttempts: 5, firstMs: 1000, maxMs: 60_000 },
      pausing: { afterMs: 300_000, afterFailures: 5, probeEveryMs: 30_000 },
    })
    const result: CallResult = {
      verdict: { result: 'delivered' },
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:00:00.001Z',
      durationMs: 1,
      status: 200,
      responseText: '',
      url: 'http://localhost/',
      signature: 't=0',
      responseHeaders: null,
    }
    const nextClaim = { owner: 'me', leaseUntil: '2027-01-01T00:00:00.000Z' }
    const settled = await Promise.all(
      [before, row].map((each) =>
        settle.attempt({ row: each, result, wasFailing: false, nextClaim }),
      ),
    )
    expect(settled.map((each) => each?.next?.id)).toEqual([undefined, next])
  })
})

describe('the pause after an attempt', () => {
  const policy = { firstMs: 1000, maxMs: 600_000 }

  it('doubles up to the longest pause, with jitter over its second half', () => {
    expect([1, 2, 3, 11, 500].map((attempt) => pauseAfter(policy, attempt, 0, 0))).toEqual([
      500, 1000, 2000, 300_000, 300_000,
    ])
    expect(pauseAfter(policy, 1, 0, 0.999)).toBe(1000)
  })

  it('is as long as the receiver requests, up to the longest pause', () => {
    expect(pauseAfter(policy, 1, 90_000, 0)).toBe(90_000)
    expect(pauseAfter(policy, 1, 9_000_000, 0)).toBe(600_000)
  })
})
