import type { Clock } from '../../platform/clock.js'
import type { Db } from '../../platform/db/schema.js'
import type { Family, Metric } from '../../platform/telemetry/metric.js'
import { countPaused } from './receiver-store.js'
import { countPending } from './store.js'

/** What the database holds for bots and integrations, whichever process sends it. */
export function deliveryMetrics({ db, clock }: { db: Db; clock: Clock }): Metric {
  return {
    async collect() {
      const [pending, paused] = await Promise.all([countPending(db), countPaused(db)])
      const of = (aside: number) => pending.find(({ set_aside }) => set_aside === aside)
      const oldest = of(0)?.oldest
      const age = oldest == null ? 0 : Math.max(0, clock.now() - Date.parse(oldest))
      return [
        gaugeOf('botstead_deliveries', 'Deliveries that are not made, set aside while paused.', [
          [{ state: 'waiting' }, of(0)?.count ?? 0],
          [{ state: 'set_aside' }, of(1)?.count ?? 0],
        ]),
        gaugeOf(
          'botstead_delivery_oldest_waiting_seconds',
          'Age of the oldest delivery that waits, retries included; 0 if none does.',
          [[{}, age / 1000]],
        ),
        gaugeOf(
          'botstead_delivery_receivers_paused',
          'Bots and integrations that are not sent anything, by what paused them.',
          (['failures', 'operator'] as const).map((by) => [
            { by },
            paused.find((each) => each.paused === by)?.count ?? 0,
          ]),
        ),
      ]
    },
  }
}

function gaugeOf(
  name: string,
  help: string,
  values: readonly (readonly [Record<string, string>, number])[],
): Family {
  return {
    ...{ name, help, type: 'gauge' },
    samples: values.map(([labels, value]) => ({ labels, value })),
  }
}
