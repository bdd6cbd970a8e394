import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { deliveryRow } from '../../../test/delivery-rows.js'
import { describeSlow, useDatabase } from '../../../test/engines.js'
import { createPager } from '../../platform/db/pager.js'
import {
  countOfReceivers,
  type ListFilter,
  listReceiversOf,
  pageOfReceivers,
} from './listing-store.js'
import type { DeliveryRow } from './store.js'

const statuses = ['pending', 'delivered', 'failed', 'canceled'] as const
const kinds = ['message_created', 'message_updated', 'signal'] as const
const bots = Array.from({ length: 12 }, (_, i) => `bot_${i}`)

describeSlow('lists of deliveries to some receivers', (engine) => {
  const database = useDatabase(engine)
  const pager = createPager(randomBytes(32))
  const rows = Array.from({ length: 240 }, (_, i): DeliveryRow => {
    const bot_id = bots[Math.trunc(i / 3) % bots.length] ?? ''
    const integration = ['', 'chat', 'mail'][i % 3] ?? ''
    return deliveryRow({
      bot_id,
      integration,
      kind: integration === '' ? 'event_received' : (kinds[i % 5 === 0 ? 1 : 0] ?? 'signal'),
      status: statuses[(i * 3) % 4] ?? 'failed',
      created_at: new Date(Date.UTC(2026, 0, 1, 0, Math.trunc(i / 4))).toISOString(),
    })
  })

  beforeAll(async () => {
    await database().run(async (tx) => {
      for (const row of rows) await tx.insertInto('deliveries').values(row).execute()
    })
  })

  const order = (direction: 'asc' | 'desc') => (one: DeliveryRow, other: DeliveryRow) =>
    (`${one.created_at}${one.id}` < `${other.created_at}${other.id}` ? -1 : 1) *
    (direction === 'asc' ? 1 : -1)
  const matching = (filter: ListFilter, direction: 'asc' | 'desc') =>
    rows
      .filter(({ kind }) => filter.kind === undefined || kind === filter.kind)
      .filter(({ status }) => !filter.statuses?.length || filter.statuses.includes(status))
      .sort(order(direction))

  it('continue behind what one page looked at, in the same order, without losing any', async () => {
    const { db } = database()
    const receivers = await listReceiversOf(db, bots)
    expect(receivers.length).toBeGreaterThan(20)
    const inputs = fc.record({
      kind: fc.constantFrom(undefined, ...kinds),
      statuses: fc.subarray([...statuses]),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      pageSize: fc.integer({ min: 1, max: 100 }),
      maxScanned: fc.integer({ min: 1, max: 300 }),
    })
    await fc.assert(
      fc.asyncProperty(inputs, async ({ direction, pageSize, maxScanned, ...filter }) => {
        const found: string[] = []
        let nextToken: string | undefined
        do {
          const page = pager.page({
            operation: 'test',
            scope: 'all',
            filter,
            sort: 'created_at',
            direction,
            nextToken,
            pageSize,
          })
          const part = await pageOfReceivers(db, receivers, filter, page, maxScanned)
          expect(part.rows.length).toBeLessThanOrEqual(pageSize)
          found.push(...part.rows.map(({ id }) => id))
          nextToken = part.nextToken
        } while (nextToken !== undefined)
        expect(found).toEqual(matching(filter, direction).map(({ id }) => id))
      }),
      { numRuns: 40 },
    )
  })

  it('are counted up to a bound, which the count says', async () => {
    const { db } = database()
    const receivers = await listReceiversOf(db, bots)
    const bounds = fc.record({
      max: fc.integer({ min: 1, max: 80 }),
      maxScanned: fc.integer({ min: 1, max: 80 }),
    })
    await fc.assert(
      fc.asyncProperty(
        bounds,
        fc.constantFrom(undefined, ...kinds),
        async ({ max, maxScanned }, kind) => {
          const counts = await countOfReceivers(db, receivers, { kind }, { max, maxScanned })
          for (const status of statuses) {
            const all = matching({ kind, statuses: [status] }, 'asc').length
            const { count, isExact } = counts[status]
            expect(count).toBeLessThanOrEqual(Math.min(max, all))
            if (isExact) expect(count).toBe(all)
            else if (kind === undefined) expect(count).toBe(max)
          }
        },
      ),
      { numRuns: 30 },
    )
  })
})
