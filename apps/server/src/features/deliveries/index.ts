import { signalReceiver } from '../../domain/deliveries.js'
import type { Port, Ports } from '../../domain/ports.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Pager } from '../../platform/db/pager.js'
import { purge } from '../../platform/db/purge.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Family, Metric } from '../../platform/telemetry/metrics.js'
import { type BotsService, createFollowing } from '../bots/bots/index.js'
import type { IssuesService } from '../bots/issues/index.js'
import type { BotLogsService } from '../bots/logs/index.js'
import type { EventsService } from '../conversations/events/index.js'
import type { MessagesService } from '../conversations/messages/index.js'
import type { Changes } from '../conversations/object-changes/index.js'
import type { Feature } from '../feature.js'
import { listAttemptsFrom, moveAttempts, pageAttempts } from './attempt-store.js'
import { createBuildBodies, type DescribeSignal } from './bodies.js'
import { Dispatcher, type DispatcherDeps } from './dispatcher.js'
import { keepWaitingSignals, requestedEvents } from './history-store.js'
import { announceReceiver, createOutbox } from './outbox.js'
import { overviewRoutes } from './overview/index.js'
import { countPaused, retryNow } from './receiver-store.js'
import { createReplayIn } from './replaying.js'
import {
  createReplays,
  deleteOfWorkspace,
  deleteSomeOfBot as deleteReplaysOfBot,
  moveReplays,
} from './replays/index.js'
import { createRetention, createSubjectRetention } from './retention.js'
import { deliveriesRoutes } from './routes.js'
import { createDeliveriesService } from './service.js'
import { countPending, deleteSomeOfBot } from './store.js'

export { attemptReader } from './attempt-line-store.js'
export {
  type DeliveryStates,
  type DeliveryWithResult,
  deliveryStatesOf,
  listDeliveriesAbout,
  listFailedConversations,
} from './conversation-store.js'
export {
  type FailedDelivery,
  findTroubledReceivers,
  listFailed,
  listReceivers,
  listSuccesses,
  listWaiting,
  type ReceiverState,
  type WaitingDeliveries,
} from './health-store.js'
export { createSubjectRetention } from './retention.js'
export { countPending } from './store.js'

export { toDelivery } from './view.js'

/** The slice of deliveries, as others see it. */
export interface Deliveries extends Feature {
  /** Builds the bodies of signals. */
  signals: Port<DescribeSignal>
  purge(botId: string): Promise<void>
}

interface DeliveriesDeps
  extends Omit<
    DispatcherDeps,
    'buildBodies' | 'reportIssue' | 'workspaceIn' | 'retry' | 'pausing' | 'random' | 'limits'
  > {
  ports: Pick<Ports, 'open'>
  bots: Pick<
    BotsService,
    | 'requireIn'
    | 'isIn'
    | 'hold'
    | 'installationsOf'
    | 'idsIn'
    | 'workspaceOf'
    | 'workspaceIn'
    | 'keepWorkspaceOf'
  >
  botLogs: Pick<BotLogsService, 'attempts'>
  issues: Pick<IssuesService, 'report'>
  events: Pick<EventsService, 'findAll' | 'requestedEvents' | 'trim'>
  messages: Pick<MessagesService, 'describe'>
  changes: Pick<Changes, 'findAll' | 'trim'>
  pager: Pager
  queue: Pick<Queue, 'enqueue'>
  /**
   * Milliseconds for which finished deliveries are kept, and pending ones wait for their receiver.
   */
  retentionMs: number
  /** Milliseconds without a heartbeat after which others take over the deliveries of a process. */
  leaseMs: number
  limits: {
    /** Deliveries in flight at a time, and to one receiver. */
    deliveries: number
    deliveriesPerReceiver: number
    /** Attempts before a delivery is given up. */
    deliveryAttempts: number
  }
}

/** Deliveries that are made due in one transaction. */
const batchSize = 500
/** Attempts that one transaction moves to another workspace, about. */
const movedAtOnce = 500
const second = 1000
const minute = 60 * second

/** Notifies bots and integrations by webhooks that are repeated until they are accepted. */
export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  const { run, bus, log, clock, limits, ports } = deps
  const signals = ports.open<DescribeSignal>('deliveries: the bodies of signals')
  const outbox = createOutbox(deps)
  deps.events.requestedEvents.fill(requestedEvents)
  deps.botLogs.attempts.fill(pageAttempts)
  const buildBodies = createBuildBodies({
    ...deps,
    describeSignal: signals.call,
  })
  const dispatcher = new Dispatcher({
    ...deps,
    buildBodies,
    reportIssue: deps.issues.report,
    workspaceIn: deps.bots.workspaceIn,
    random: Math.random,
    retry: {
      maxAttempts: limits.deliveryAttempts,
      firstMs: second,
      maxMs: 10 * minute,
    },
    pausing: { afterMs: 5 * minute, afterFailures: 5, probeEveryMs: 30 * second },
    limits: {
      concurrency: limits.deliveries,
      perReceiver: limits.deliveriesPerReceiver,
      leaseMs: deps.leaseMs,
      pollMs: 5 * second,
    },
  })

  async function retryFailing(botId: string): Promise<void> {
    const now = isoTime(clock.now())
    while (await run((tx) => retryNow(tx, botId, now, batchSize)));
    announceReceiver(bus, botId)
  }

  const following = createFollowing(deps, { kind: 'deliveries.move', moveSome: moveSomeAttempts })
  const replays = createReplays({ ...deps, replayIn: createReplayIn(deps) })

  return {
    name: 'deliveries',
    jobs: { ...replays.jobs, ...following.jobs },
    routes: [
      ...deliveriesRoutes(createDeliveriesService(deps)),
      ...overviewRoutes({ ...deps, buildBodies }),
      ...replays.routes,
    ],
    on: {
      'delivery.requested': outbox.enqueue,
      'bot.transferred': async (tx, { botId, to }) => {
        await moveReplays(tx, botId, to)
        await following.request(tx, botId)
      },
      'workspace.removed': (tx, { workspaceId }) => deleteOfWorkspace(tx, workspaceId),
      // A changed receiver that fails, or is paused for failures, is retried at once.
      'bot.changed': async (tx, { botId }) =>
        afterCommit(tx, () => {
          retryFailing(botId).catch((err: unknown) =>
            log.warn({ err, botId }, 'a changed bot waits for its next ping or attempt'),
          )
        }),
    },
    sweeps: [...createRetention(deps), ...createSubjectRetention(deps), ...replays.sweeps],
    metrics: [deliveryMetrics(deps)],
    start: () => dispatcher.start(),
    stop: (timeLeft) => dispatcher.stop(timeLeft),
    // The log of a conversation is kept while its signals are pending.
    keepsEvents: keepWaitingSignals(signalReceiver),
    signals,
    async purge(botId) {
      await purge(run, (tx, limit) => deleteSomeOfBot(tx, botId, limit))
      await purge(run, (tx, limit) => deleteReplaysOfBot(tx, botId, limit))
    },
  }
}

/**
 * Moves some attempts of a bot to the workspace where it is.
 * @param from the earliest time of their ends
 */
async function moveSomeAttempts(
  tx: Tx,
  bot: { id: string; workspaceId: string },
  from = '',
): Promise<string | undefined> {
  const found = await listAttemptsFrom(tx, bot.id, from, movedAtOnce)
  const through = found.at(-1)?.ended_at
  if (through === undefined) return undefined
  await moveAttempts(tx, bot.id, { from, through, to: bot.workspaceId })
  // Those of the last time are all moved, however many they are.
  return found.length < movedAtOnce ? undefined : `${through} `
}

/** Counts deliveries in the database, whichever process sends them. */
function deliveryMetrics({ db, clock }: { db: Db; clock: Clock }): Metric {
  return {
    async collect() {
      const [pending, paused] = await Promise.all([countPending(db), countPaused(db)])
      const of = (parked: number) => pending.find(({ set_aside }) => set_aside === parked)
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
    name,
    help,
    type: 'gauge',
    samples: values.map(([labels, value]) => ({ labels, value })),
  }
}
