import { expect, it } from 'vitest'
import { createDeliveriesBench } from '../../../test/deliveries.js'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import type { CallResult } from '../calls/requests/index.js'
import { createDelivered } from './delivered.js'

describeEachEngine('what is settled together', (engine) => {
  const database = useDatabase(engine)

  it('goes on once in a line, also when one that was lost and the one behind it come together', async () => {
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
    // Another process took the first one up and finished it, before it was answered here too.
    await set(lost, { status: 'delivered', attempts: 2 })
    await bench.run((tx) => tx.updateTable('delivery_lines').set({ waiting: 2 }).execute())

    const delivered = createDelivered({
      ...{ run: bench.run, clock: bench.time, domainEvents: bench.domainEvents },
    })
    const result: CallResult = {
      ...{ verdict: { result: 'delivered' }, startedAt: '2026-01-01T00:00:00.000Z' },
      ...{ durationMs: 1, status: 200, answer: '' },
    }
    const nextClaim = { owner: 'me', leaseUntil: '2027-01-01T00:00:00.000Z' }
    const answers = await Promise.all(
      [before, row].map((taken) => delivered.add({ row: taken, result, nextClaim })),
    )
    expect(answers.map((answer) => answer?.id)).toEqual([undefined, next])
  })
})
