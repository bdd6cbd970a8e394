import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime, type Timers } from '../../platform/clock.js'
import type { Db, Run } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import {
  createLeases,
  HolderStoppedError,
  LeaseLostError,
  ownerName,
} from '../../platform/leases/leases.js'
import { createWatch } from '../../platform/leases/watch.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import { createOutageLog, type Log } from '../../platform/telemetry/log.js'
import type { Targets } from '../calls/targets/index.js'
import type { DeliveryBodies } from './bodies.js'
import * as claims from './claim-store.js'
import { createFindReady, createReceiverConcurrency, type ReadyScope } from './find-ready.js'
import { deliveriesTopic, receiversTopic } from './outbox.js'
import { createPauses, parkPaused } from './pauses.js'
import { listReceivers } from './receiver-store.js'
import { createSender, type Sending } from './sender.js'
import { createSettle, type SettleDeps } from './settle.js'
import { type DeliveryRow, receiverKeyOf } from './store.js'

export interface DispatcherDeps extends SettleDeps {
  db: Db
  run: Run
  bus: EventBus
  clock: Clock
  timers: Timers
  log: Log
  ids: Ids
  outgoing: Outgoing
  bodies: DeliveryBodies
  targets: Pick<Targets, 'of' | 'forget'>
  /**
   * Whether no other process can be sending, as with SQLite: claims that a crash left are released
   * at once.
   */
  alone: boolean
  limits: {
    /** Deliveries in flight at a time. */
    concurrency: number
    /** Deliveries in flight to one receiver. */
    perReceiver: number
    /** Milliseconds without a heartbeat after which a process counts as dead. */
    leaseMs: number
    /** Milliseconds without a hint after which the dispatcher looks anyway. */
    pollMs: number
  }
}

/** Milliseconds before another look at rows that others had locked. */
const contestedPauseMs = 50

/** Sends pending deliveries until it is stopped. */
export interface Dispatcher {
  start(): Promise<void>
  /**
   * Stops claiming and waits `timeLeft` milliseconds for deliveries in flight; then releases them.
   */
  stop(timeLeft: number): Promise<void>
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, run, bus, clock, timers, log, targets, limits } = deps
  const owner = ownerName(deps.ids)
  const sending = new Map<string, Sending>()
  const concurrency = createReceiverConcurrency(limits.perReceiver)
  const findReady = createFindReady(db, concurrency)
  /** Receivers in flight that were failing when last read: a success resets them. */
  const failing = new Set<string>()
  /** Scope of the next look. */
  let scope: ReadyScope = new Set()
  let pausesWanted = false
  /** Whether deliveries may be left because the concurrency was exhausted. */
  let saturated = false
  let closed = false
  /** Whether the time that a stop leaves for deliveries in flight is over. */
  let over = false
  let unsubscribe: (() => void)[] = []

  const leases = createLeases<[string, Sending]>({
    clock,
    timers,
    log,
    leaseMs: limits.leaseMs,
    held: () => [...sending],
    async prolong(held, until) {
      const ids = held.map(([id]) => id)
      const kept = await run((tx) => claims.prolong(tx, owner, ids, until))
      return ([id]) => kept.has(id)
    },
    lose([id, entry]) {
      // A delivery that was settled meanwhile may be in flight again, with another claim.
      if (sending.get(id) === entry) entry.abort.abort(new LeaseLostError())
    },
    fault: 'the leases of deliveries could not be prolonged',
  })
  const watch = createWatch({
    timers,
    name: 'deliveries',
    outages: createOutageLog(log, {
      begins: 'deliveries cannot be claimed, trying again later',
      ends: 'deliveries are claimed again',
    }),
    look,
    pauseAfterFault: () => limits.pollMs,
    onAlarm: wakeForReceivers,
  })
  const settle = createSettle(deps)
  const pauses = createPauses({
    ...deps,
    claimFirst: ({ botId, integration }) =>
      run((tx) => claims.claimFirst(tx, botId, integration, owner, leases.end())),
    send: sendAlone,
    wake: wakeForReceivers,
  })
  const sendQueue = createSender({
    ...deps,
    settle,
    sending,
    failing,
    nextClaim: () => (closed ? undefined : { owner, leaseUntil: leases.end() }),
    isOver: () => over,
    onPaused: () => {
      pausesWanted = true
    },
  })

  function wake(asked: ReadyScope): void {
    if (asked === 'everything') scope = asked
    else if (scope !== 'everything') scope = new Set([...scope, ...asked])
    watch.wake()
  }

  function wakeForAll(): void {
    wake('everything')
  }

  /** Also wakes for pauses that begin or end. */
  function wakeForReceivers(): void {
    pausesWanted = true
    wakeForAll()
  }

  /**
   * Called when caches of a bot are stale and it may be paused: its queues stop after the current
   * delivery.
   */
  function reconsider(botId: string): void {
    targets.forget(botId)
    for (const entry of sending.values()) if (entry.row.bot_id === botId) entry.chain = false
    wakeForReceivers()
  }

  /** Claims ready deliveries; returns the milliseconds until there may be more. */
  async function look(): Promise<number> {
    const asked = scope
    scope = new Set()
    if (pausesWanted) {
      pausesWanted = false
      await pauses.look()
    }
    const now = isoTime(clock.now())
    const isContested = !(await fill(asked, now))
    if (watch.isAwake()) return 0
    // Measured from the beginning of this look, so that deliveries that became due meanwhile are
    // found.
    const pause = await untilNext(now)
    return isContested ? Math.min(pause, contestedPauseMs) : pause
  }

  /** Claims due deliveries and begins to send them; false if others had locked all of them. */
  async function fill(asked: ReadyScope, now: string): Promise<boolean> {
    const free = limits.concurrency - sending.size
    if (asked === 'everything') saturated = false
    if (free <= 0) {
      saturated = true
      return true
    }
    const { due, more } = await findReady(asked, now, free)
    if (due.length === 0) return true
    const states = await listReceivers(
      db,
      due.map(({ bot_id }) => bot_id),
    )
    const paused = new Set(states.filter((state) => state.paused !== null).map(receiverKeyOf))
    const failed = new Set(states.filter((state) => state.failures > 0).map(receiverKeyOf))
    const toPark = due.filter((row) => paused.has(receiverKeyOf(row)))
    const open = due.filter((row) => !paused.has(receiverKeyOf(row)) && !sending.has(row.id))
    const chosen = concurrency.choose(open, free)
    if (chosen.length === free) saturated = true
    if (chosen.length + toPark.length === 0) return true
    for (const row of chosen) {
      concurrency.begin(row)
      const key = receiverKeyOf(row)
      if (failed.has(key)) failing.add(key)
      else failing.delete(key)
    }
    const { claimed, parked } = await claimAndBegin(chosen, toPark, now)
    // Another look at once would find the same rows, in a busy loop.
    if (claimed + parked === 0) return false
    // The rows read are claimed now, here or by another process: there may be more behind them.
    const isContested = claimed < chosen.length
    if (isContested || parked > 0 || more) wakeForAll()
    return true
  }

  async function claimAndBegin(
    chosen: readonly claims.ReadyDelivery[],
    toPark: readonly claims.ReadyDelivery[],
    now: string,
  ): Promise<{ claimed: number; parked: number }> {
    const ids = chosen.map(({ id }) => id)
    const begun = new Set<string>()
    try {
      const { rows, parked } = await run(async (tx) => {
        const parked = await parkPaused(tx, toPark, now)
        return { rows: await claims.claim(tx, ids, owner, now, leases.end()), parked }
      })
      for (const row of rows) {
        begun.add(row.id)
        begin(row)
      }
      return { claimed: rows.length, parked }
    } finally {
      for (const row of chosen) if (!begun.has(row.id)) leave(row)
    }
  }

  /** Milliseconds until there may be more deliveries. */
  async function untilNext(lookedAt: string): Promise<number> {
    const times = [await claims.findNextDue(db, lookedAt), pauses.nextLook]
    const now = clock.now()
    const waits = times.flatMap((time) => (time === undefined ? [] : [Date.parse(time) - now]))
    return Math.max(0, Math.min(limits.pollMs, ...waits))
  }

  /** Sends one delivery of a paused receiver, without the rest of its queue. */
  async function sendAlone(row: DeliveryRow): Promise<boolean | undefined> {
    if (closed) {
      await settle.release(row, { called: false })
      return false
    }
    concurrency.begin(row)
    failing.add(receiverKeyOf(row))
    const entry = begin(row, false)
    await entry.done
    return entry.responded
  }

  /** Begins to send a delivery that already counts as in flight. */
  function begin(row: DeliveryRow, chain = true): Sending {
    const abort = new AbortController()
    const entry: Sending = { row, abort, chain, responded: undefined, done: Promise.resolve() }
    sending.set(row.id, entry)
    entry.done = sendQueue(entry)
      .catch((err: unknown) => {
        log.error({ err, delivery: row.id }, 'a delivery failed for a reason of the server')
      })
      .finally(() => {
        sending.delete(entry.row.id)
        leave(row)
        wake(saturated ? 'everything' : new Set([receiverKeyOf(row)]))
      })
    return entry
  }

  function leave(row: Pick<DeliveryRow, 'bot_id' | 'integration'>): void {
    concurrency.end(row)
    const key = receiverKeyOf(row)
    // The next claim reads whether the receiver fails; a deleted receiver must not stay in the set
    // forever.
    if (!concurrency.isBusy(key)) failing.delete(key)
  }

  return {
    async start() {
      if (deps.alone) {
        await run((tx) => claims.freeAll(tx, isoTime(clock.now())), { mayUseReserve: true })
      }
      unsubscribe = [
        bus.subscribe(
          { topic: deliveriesTopic },
          { onHint: ({ key }) => wake(new Set([key])), onGap: wakeForAll },
        ),
        bus.subscribe(
          { topic: receiversTopic },
          { onHint: ({ key }) => reconsider(key), onGap: wakeForReceivers },
        ),
      ]
      leases.start()
      wakeForReceivers()
    },

    async stop(timeLeft) {
      closed = true
      for (const end of unsubscribe) end()
      const lookEnds = watch.close()
      const pausesEnd = pauses.stop()
      await lookEnds
      const ended = Promise.all(Array.from(sending.values(), ({ done }) => done))
      await leases.finish(timeLeft, ended, () => {
        over = true
        for (const { abort } of sending.values()) abort.abort(new HolderStoppedError())
      })
      await pausesEnd
    },
  }
}
