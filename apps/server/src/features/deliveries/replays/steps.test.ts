import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deliveryRow } from '../../../../test/delivery-rows.js'
import { describeSlow, useDatabase } from '../../../../test/engines.js'
import { createLocalBus } from '../../../platform/bus/local.js'
import { systemClock } from '../../../platform/clock.js'
import type { Run } from '../../../platform/db/schema.js'
import { createEventDispatcher } from '../../../platform/domain-events.js'
import { createLog } from '../../../platform/telemetry/log.js'
import { createReplayIn } from '../replaying.js'
import type { DeliveryRow } from '../store.js'
import { createReplayHandler } from './steps.js'
import { findReplay, insertReplay, type ReplayRow } from './store.js'

class Crash extends Error {}

let tries = 0

describeSlow('the steps of a replay', (engine) => {
  const database = useDatabase(engine)

  it('replay everything once and in order, wherever the process ends in between', async () => {
    const log = await createLog({ level: 'silent' })
    const inputs = fc.record({
      deliveries: fc.array(
        fc.record({
          queue: fc.constantFrom(null, 'conv_a', 'conv_b'),
          status: fc.constantFrom('failed' as const, 'failed' as const, 'delivered', 'pending'),
          second: fc.integer({ min: 0, max: 50 }),
        }),
        { maxLength: 130 },
      ),
      crashes: fc.array(fc.constantFrom('no', 'no', 'before' as const, 'after' as const), {
        maxLength: 12,
      }),
      outcomes: fc.array(fc.constantFrom('delivered' as const, 'failed', 'none'), {
        minLength: 1,
        maxLength: 40,
      }),
    })
    await fc.assert(
      fc.asyncProperty(inputs, async ({ deliveries, crashes, outcomes }) => {
        const { db, run } = database()
        tries += 1
        const botId = `bot_${tries}`
        const rows = deliveries.map(({ queue, status, second }, i): DeliveryRow => {
          const created_at = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
          const order_key = queue === null ? null : `${botId}//${queue}`
          return deliveryRow({ bot_id: botId, status, created_at, order_key, position: i })
        })
        const replay: ReplayRow = {
          id: `replay_${tries}`,
          workspace_id: 'ws',
          bot_id: botId,
          account_id: 'accnt',
          filter: '{}',
          state: 'running',
          total: 0,
          total_is_exact: 1,
          replayed: 0,
          skipped: 0,
          delivered: 0,
          failed: 0,
          canceled: 0,
          position: null,
          is_at_end: 0,
          error: null,
          created_at: '2026-02-01T00:00:00.000Z',
          updated_at: '2026-02-01T00:00:00.000Z',
          ended_at: null,
        }
        await run(async (tx) => {
          for (const row of rows) await tx.insertInto('deliveries').values(row).execute()
          await insertReplay(tx, replay)
        })

        const reopened: string[] = []
        const replayIn = createReplayIn({
          clock: systemClock,
          bus: createLocalBus(log),
          domainEvents: createEventDispatcher(),
        })
        let transactions = 0
        const crashing: Run = async (work, options) => {
          const crash = crashes[transactions]
          transactions += 1
          let begun: string[] = []
          const result = await run(async (tx) => {
            begun = []
            noted = begun
            const value = await work(tx)
            if (crash === 'before') throw new Crash()
            return value
          }, options)
          reopened.push(...begun)
          if (crash === 'after') throw new Crash()
          return result
        }
        let noted: string[] = []
        const handler = createReplayHandler({
          db,
          run: crashing,
          clock: systemClock,
          queue: { enqueue: async () => '' },
          bots: { idsIn: async () => [botId], isIn: async () => true },
          replayIn: async (tx, delivery) => {
            noted.push(delivery.id)
            await replayIn(tx, delivery)
          },
        })
        const job = {
          id: 'job',
          kind: 'k',
          key: replay.id,
          payload: { replayId: replay.id },
          attempt: 1,
          maxAttempts: 5,
        }
        const context = { signal: new AbortController().signal, heartbeat: async () => {} }
        let asked = 0
        for (let round = 0; ; round += 1) {
          expect(round).toBeLessThan(100)
          const following = await handler.handler(job, context).catch((error: unknown) => {
            if (!(error instanceof Crash)) throw error
            return 'again'
          })
          if (following === 'nothing') break
          // The receiver responds to some.
          await run(async (tx) => {
            const pending = await tx
              .selectFrom('deliveries')
              .select('id')
              .where('bot_id', '=', botId)
              .where('status', '=', 'pending')
              .where('id', 'in', reopened.length > 0 ? reopened : [''])
              .execute()
            for (const { id } of pending) {
              const status = round > 50 ? 'delivered' : (outcomes[asked++ % outcomes.length] ?? '')
              if (status !== 'delivered' && status !== 'failed') continue
              await tx.updateTable('deliveries').set({ status }).where('id', '=', id).execute()
            }
          })
        }

        const wanted = rows
          .filter(({ status }) => status === 'failed')
          .sort((a, b) => (`${a.created_at}/${a.id}` < `${b.created_at}/${b.id}` ? -1 : 1))
        expect(reopened.toSorted()).toEqual(wanted.map(({ id }) => id).toSorted())
        for (const queue of [`${botId}//conv_a`, `${botId}//conv_b`]) {
          const own = new Set(rows.filter((row) => row.order_key === queue).map(({ id }) => id))
          const inQueue = wanted.filter(({ id }) => own.has(id)).map(({ id }) => id)
          expect(reopened.filter((id) => own.has(id))).toEqual(inQueue)
        }
        const ended = await findReplay(db, replay.id)
        expect(ended).toMatchObject({ state: 'done', replayed: wanted.length, skipped: 0 })
        expect((ended?.delivered ?? 0) + (ended?.failed ?? 0)).toBe(wanted.length)
      }),
      { numRuns: 25 },
    )
  })
})
