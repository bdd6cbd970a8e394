import { onTestFinished } from 'vitest'
import type { DeliveryRequest, Receiver } from '../src/domain/deliveries.js'
import type { LogLine } from '../src/features/bots/logs/index.js'
import { createTargets } from '../src/features/calls/targets/index.js'
import { Dispatcher, type DispatcherDeps } from '../src/features/deliveries/dispatcher.js'
import { announceReceiver, createOutbox } from '../src/features/deliveries/outbox.js'
import * as receivers from '../src/features/deliveries/receiver-store.js'
import type { DeliveryRow } from '../src/features/deliveries/store.js'
import { createLocalBus } from '../src/platform/bus/local.js'
import { isoTime } from '../src/platform/clock.js'
import type { Database } from '../src/platform/db/open.js'
import type { Run } from '../src/platform/db/schema.js'
import { afterCommit } from '../src/platform/db/transaction.js'
import { createEventDispatcher } from '../src/platform/domain-events.js'
import { createIds } from '../src/platform/ids.js'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingResponse,
} from '../src/platform/outgoing/outgoing.js'
import { createLog } from '../src/platform/telemetry/log.js'
import { pass } from './jobs.js'
import { ManualTime } from './manual-time.js'
import { watchWork } from './work.js'

/** Milliseconds without a heartbeat after which the dispatchers of a bench lose their claims. */
export const lease = 30_000

/** A call to a receiver, which the test responds to. */
export interface OpenCall {
  /** Name of the dispatcher that calls. */
  by: string
  botId: string
  operation: string
  deliveryId: string
  attempt: number
  /** Subject of the delivery. */
  subject: string
  /** Start by the clock of the bench. */
  at: number
  signal: AbortSignal | undefined
  respond(status: number, body?: string, headers?: Record<string, string>): void
  /** Ends the call without a response. */
  fail(failure: OutgoingError['failure']): void
}

export interface BenchOptions {
  run?: Run
  timers?: ManualTime
  name?: string
  pausing?: DispatcherDeps['pausing']
  limits?: Partial<DispatcherDeps['limits']>
  maxAttempts?: number
  /** Called when bodies are read, between a claim and its call. */
  onRead?: (subjects: readonly string[]) => void
  /** Whether receivers are webhooks of apps, which do not support pings. */
  plain?: boolean
}

/** An outbox on a database, dispatchers with manual time, and receivers that the test controls. */
export async function createDeliveriesBench(database: Database) {
  const { db } = database
  const { run, rest } = watchWork(database)
  const time = new ManualTime()
  const ids = createIds(time)
  const logged: Record<string, unknown>[] = []
  const log = await createLog({
    level: 'info',
    destination: { write: (line) => logged.push(JSON.parse(line)) },
  })
  const bus = createLocalBus(log)
  const outbox = createOutbox({ clock: time, ids, bus })
  const domainEvents = createEventDispatcher()
  const noted: LogLine[] = []
  const calls: OpenCall[] = []
  const begun: OpenCall[] = []
  const finished: { subject: string; failure: string | null }[] = []
  /** Bots without an address. */
  const withoutAddress = new Set<string>()
  /** Subjects that were deleted. */
  const deleted = new Set<string>()

  domainEvents.subscribe({
    'delivery.ended': async (tx, { deliveries, failure }) => {
      const ended = deliveries.map(({ subjectId: subject }) => ({ subject, failure }))
      afterCommit(tx, () => void finished.push(...ended))
    },
  })

  function outgoingOf(by: string): Outgoing {
    return {
      send: (_url, { headers, body, signal }) =>
        new Promise<OutgoingResponse>((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason)
          const end = () => {
            calls.splice(calls.indexOf(call) >>> 0, 1)
            signal?.removeEventListener('abort', abort)
          }
          const abort = () => {
            end()
            reject(signal?.reason)
          }
          const call: OpenCall = {
            by,
            at: time.now(),
            signal,
            botId: headers['x-bot-id'] ?? '',
            operation: headers['x-bp-operation'] ?? '',
            deliveryId: headers['x-botstead-delivery'] ?? '',
            attempt: Number(headers['x-botstead-attempt']),
            subject: JSON.parse(String(body)).subject,
            respond(status, text = '{}', responseHeaders = {}) {
              end()
              resolve({ status, headers: responseHeaders, body: Buffer.from(text), cut: false })
            },
            fail(failure) {
              end()
              reject(new OutgoingError(failure, `It ended with ${failure}.`))
            },
          }
          signal?.addEventListener('abort', abort)
          calls.push(call)
          begun.push(call)
        }),
      [Symbol.asyncDispose]: async () => {},
    }
  }

  return {
    time,
    calls,
    begun,
    finished,
    withoutAddress,
    deleted,
    logged,
    log,
    noted,
    bus,
    db,
    /** Transactions that `rest` waits for. */
    run,
    /** Waits until the dispatchers do nothing without more time or a response. */
    rest,
    domainEvents,
    enqueue: (delivery: Partial<DeliveryRequest> & Pick<DeliveryRequest, 'subjectId'>) =>
      run((tx) => outbox.enqueue(tx, { botId: 'bot', kind: 'event_received', ...delivery })),
    find: async (id: string): Promise<DeliveryRow | undefined> =>
      await db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirst(),
    attemptsOf: async (id: string) =>
      await db
        .selectFrom('delivery_attempts')
        .selectAll()
        .where('delivery_id', '=', id)
        .orderBy('number')
        .execute(),
    receiver: async (botId = 'bot') => (await receivers.listReceivers(db, [botId]))[0],
    async pause(botId: string) {
      const now = isoTime(time.now())
      await run((tx) => receivers.pause(tx, { botId, integration: '' }, 'operator', now, null))
      announceReceiver(bus, botId)
    },
    async resume(botId: string) {
      await run((tx) => receivers.resume(tx, { botId, integration: '' }))
      announceReceiver(bus, botId)
    },
    /** Starts a dispatcher; with timers that never advance it behaves like one that was killed. */
    async start({ timers = time, name = 'one', limits, ...options }: BenchOptions = {}) {
      const findTarget = async ({ botId, integration }: Receiver) =>
        withoutAddress.has(botId)
          ? undefined
          : {
              at: { url: `http://localhost/${botId}/${integration}` },
              headers: { 'x-bot-id': botId },
              secrets: ['secret'],
              timeoutMs: 60_000,
              plain: options.plain ?? false,
            }
      const targets = createTargets({
        clock: time,
        bots: { findServer: async () => undefined },
        findInstallationTarget: findTarget,
      })
      targets.provide('', (botId) => findTarget({ botId, integration: '' }))
      const dispatcher = new Dispatcher({
        db,
        run,
        bus,
        log,
        ids,
        clock: time,
        timers,
        targets,
        outgoing: outgoingOf(name),
        hosting: { send: () => Promise.reject(new Error('No code runs here.')) },
        random: () => 0.5,
        reportIssue: () => {},
        buildBodies: async (rows) => {
          options.onRead?.(rows.map(({ subject_id: subject }) => subject))
          return rows.map(({ subject_id: subject }) =>
            deleted.has(subject) ? undefined : { type: 'test', body: JSON.stringify({ subject }) },
          )
        },
        domainEvents,
        writeLogLine: async (_tx, line) => void noted.push(line),
        workspaceIn: async () => undefined,
        alone: false,
        retry: {
          maxAttempts: options.maxAttempts ?? 5,
          firstMs: 1000,
          maxMs: 60_000,
        },
        pausing: { afterMs: 300_000, afterFailures: 5, probeEveryMs: 30_000, ...options.pausing },
        limits: { concurrency: 64, perReceiver: 16, leaseMs: lease, pollMs: 5000, ...limits },
        ...(options.run && { run: options.run }),
      })
      await dispatcher.start()
      const stop = () => pass(timers, dispatcher.stop(1000), rest)
      onTestFinished(stop)
      return { stop }
    },
  }
}
