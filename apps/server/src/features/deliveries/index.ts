import type { Route } from '../../http/mount.js'
import { isoTime } from '../../platform/clock.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Tx } from '../../platform/db/schema.js'
import type { KeepStream } from '../../platform/events/trim.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { BotsService } from '../bots/bots/index.js'
import { builtInChat } from '../bots/installations/index.js'
import { createDispatcher, type Dispatcher, type DispatcherDeps } from './dispatcher.js'
import { announceReceiver } from './hints.js'
import { hasten } from './receiver-store.js'
import { createRetention } from './retention.js'
import { deliveriesRoutes } from './routes.js'
import { createDeliveriesService, type DeliveriesServiceDeps } from './service.js'
import { keepWaitingSignals } from './signal-log-store.js'

export { createDeliveryBodies, type DeliveryBodiesDeps } from './bodies.js'
export { pageAttempts } from './log-store.js'
export { deliveryMetrics } from './metrics.js'
export { createOutbox, type Outbox } from './outbox.js'

export interface Deliveries {
  /** Sends what waits; to be started by the processes that work in the background. */
  dispatcher: Dispatcher
  routes: Route[]
  /** Which conversations keep their log, because signals of them wait. */
  keepsSignals: KeepStream
  /** Remove what has served its time, some per call, and answer how much it was. */
  sweeps: readonly ((tx: Tx) => Promise<number>)[]
  /**
   * To be told when a bot or what is installed in it was changed or removed: memories of it are
   * stale, and one that fails, or was left alone for it, is asked at once whether it is back.
   */
  changed(botId: string): void
}

type DeliveriesDeps = Omit<DispatcherDeps, 'retry' | 'pausing' | 'random' | 'limits'> & {
  queue: Queue
  bots: Pick<BotsService, 'findServer' | 'requireIn' | 'installationsOf'>
  pager: Pager
  onReopened: DeliveriesServiceDeps['onReopened']
  /** Milliseconds that finished deliveries are kept, and that others wait for their receiver. */
  retentionMs: number
  /** Milliseconds without a sign of life after which others take up what a process was sending. */
  leaseMs: number
  limits: {
    /** Deliveries on the way at a time, and of those to one receiver. */
    deliveries: number
    deliveriesPerReceiver: number
    /** Attempts before a delivery is given up. */
    deliveryAttempts: number
  }
}

/** Deliveries that are made due in one transaction. */
const batchSize = 500
const second = 1000
const minute = 60 * second

/** How bots and integrations are told what they have to know. */
export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  const { run, bus, log, clock, targets, limits } = deps
  const dispatcher = createDispatcher({
    ...deps,
    targets,
    random: Math.random,
    retry: {
      maximumAttempts: limits.deliveryAttempts,
      firstPauseMs: second,
      longestPauseMs: 10 * minute,
    },
    pausing: { afterMs: 5 * minute, afterFailures: 5, probeEveryMs: 30 * second },
    limits: {
      concurrency: limits.deliveries,
      perReceiver: limits.deliveriesPerReceiver,
      leaseMs: deps.leaseMs,
      pollMs: 5 * second,
    },
  })
  async function askAgain(botId: string): Promise<void> {
    const now = isoTime(clock.now())
    while (await run((tx) => hasten(tx, botId, now, batchSize)));
    announceReceiver(bus, botId)
  }

  return {
    dispatcher,
    routes: deliveriesRoutes(createDeliveriesService({ ...deps, targets })),
    keepsSignals: keepWaitingSignals(builtInChat.alias),
    sweeps: createRetention(deps),
    changed(botId) {
      askAgain(botId).catch((err: unknown) =>
        log.warn({ err, botId }, 'a changed bot waits for its next ping or attempt'),
      )
    },
  }
}
