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
  /** Whether no other process can be sending, as with SQLite: what a crash left is claimed at once. */
  alone: boolean
  limits: {
    /** Deliveries in flight at a time. */
    concurrency: number
    /** Of those, to one receiver. */
    perReceiver: number
    /** Milliseconds without a heartbeat after which a process counts as gone. */
    leaseMs: number
    /** Milliseconds without a hint before looking all the same. */
    pollMs: number
  }
}

/** Milliseconds before another look at what others had locked. */
const contestedPauseMs = 50

/** Sends what is pending until it is stopped. */
export interface Dispatcher {
  start(): Promise<void>
  /** Claims nothing more and waits `timeLeft` milliseconds for what is in flight; then gives it back. */
  stop(timeLeft: number): Promise<void>
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, run, bus, clock, timers, log, targets, limits } = deps
  const owner = ownerName(deps.ids)
  const sending = new Map<string, Sending>()
  const concurrency = createReceiverConcurrency(limits.perReceiver)
  const findReady = createFindReady(db, concurrency)
  /** Receivers with something in flight that had failed when last looked at: a success resets them. */
  const failing = new Set<string>()
  /** What the next look is for. */
  let scope: ReadyScope = new Set()
  let pausesWanted = false
  /** Whether something may have been left because all places were taken. */
  let saturated = false
  let closed = false
  /** Whether the time is over that a stop leaves for what is in flight. */
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
      // One that was settled meanwhile may be in flight anew, with another claim.
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

  /** Wakes also for what changes rarely: pauses that begin or end. */
  function wakeForReceivers(): void {
    pausesWanted = true
    wakeForAll()
  }

  /** What is cached of a bot is stale, and its pause may have begun: its queues stop after this delivery. */
  function reconsider(botId: string): void {
    targets.forget(botId)
    for (const entry of sending.values()) if (entry.row.bot_id === botId) entry.chain = false
    wakeForReceivers()
  }

  /** Claims what is ready; returns the milliseconds until there may be more. */
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
    // Seen from the beginning of this look: what fell due meanwhile is found too.
    const pause = await untilNext(now)
    return isContested ? Math.min(pause, contestedPauseMs) : pause
  }

  /** Claims what is due and begins to send it; false if others had locked all that it found. */
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
    // Looking again at once would find the same, as often as there is time.
    if (claimed + parked === 0) return false
    // What was looked at is out of the way now, or another process has it: there may be more behind.
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

  /** Milliseconds until there may be more to do. */
  async function untilNext(lookedAt: string): Promise<number> {
    const times = [await claims.findNextDue(db, lookedAt), pauses.nextLook]
    const now = clock.now()
    const waits = times.flatMap((time) => (time === undefined ? [] : [Date.parse(time) - now]))
    return Math.max(0, Math.min(limits.pollMs, ...waits))
  }

  /** Sends one delivery of a paused receiver, and nothing that is behind it. */
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

  /** Begins to send a delivery, which counts as in flight already. */
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
    // The next claim reads whether it fails; a receiver that is gone must not be remembered for ever.
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
