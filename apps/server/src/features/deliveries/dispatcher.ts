import { receiverKey, receiverOf } from '../../domain/deliveries.js'
import { createBatches } from '../../platform/batches.js'
import { isoTime, type Timers } from '../../platform/clock.js'
import type { Db } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import {
  createLeases,
  HolderStoppedError,
  LeaseLostError,
  ownerName,
} from '../../platform/leases/leases.js'
import { createWatch } from '../../platform/leases/watch.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import { createOutageLog } from '../../platform/telemetry/log.js'
import { callReceiver } from '../calls/requests/index.js'
import type { Targets } from '../calls/targets/index.js'
import type { BuildBodies } from './bodies.js'
import * as claims from './claim-store.js'
import { deliveriesTopic, receiversTopic } from './outbox.js'
import { createPauses, parkPaused } from './pauses.js'
import { listReceivers } from './receiver-store.js'
import { createSettle, type SettleDeps } from './settle.js'
import { type DeliveryRow, receiverIn, receiverKeyOf } from './store.js'

export interface DispatcherDeps extends SettleDeps {
  db: Db
  timers: Timers
  ids: Ids
  outgoing: Outgoing
  buildBodies: BuildBodies
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

/** Sends pending deliveries until it is stopped. */
export interface Dispatcher {
  start(): Promise<void>
  /**
   * Stops claiming and waits `timeLeft` milliseconds for deliveries in flight; then releases them.
   */
  stop(timeLeft: number): Promise<void>
}

/** A delivery in flight. */
interface Sending {
  row: DeliveryRow
  /** Key of its receiver. */
  receiver: string
  abort: AbortController
  /** Whether the next delivery of its queue may be sent right after it. */
  chain: boolean
  /** Whether the receiver responded to the last call; undefined without a call. */
  responded: boolean | undefined
  done: Promise<void>
}

/** Scope of a look: all receivers, or those with these keys. */
type Scope = 'everything' | ReadonlySet<string>

/** Rows that are read for one claim. */
const maxRows = 500
/** Milliseconds before another look at rows that others had locked. */
const contestedPauseMs = 50
/** Deliveries of one queue in a row before other queues get a turn. */
const maxChain = 20
/** Most bodies in one batch. */
const maxBodies = 64

/**
 * The life of a delivery in this process: a hint wakes the dispatcher, it looks for ready deliveries,
 * claims them, sends each, settles it, and goes on with the next of its queue.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, run, bus, clock, timers, log, targets, limits } = deps
  const owner = ownerName(deps.ids)
  /** By the id of the delivery. */
  const inFlight = new Map<string, Sending>()
  /** Keys of receivers in flight that have failed lately: a success resets them. */
  const failing = new Set<string>()
  /** Scope of the next look. */
  let scope: Scope = new Set()
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
    held: () => [...inFlight],
    async prolong(held, until) {
      const ids = held.map(([id]) => id)
      const kept = await run((tx) => claims.prolong(tx, owner, ids, until))
      return ([id]) => kept.has(id)
    },
    lose([id, entry]) {
      // A delivery that was settled meanwhile may be in flight again, with another claim.
      if (inFlight.get(id) === entry) entry.abort.abort(new LeaseLostError())
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
  const bodies = createBatches(maxBodies, deps.buildBodies)
  const settle = createSettle(deps)
  const pauses = createPauses({
    ...deps,
    claimFirst: (receiver) => run((tx) => claims.claimFirst(tx, receiver, owner, leases.end())),
    send: sendAlone,
    wake: wakeForReceivers,
  })

  function wake(asked: Scope): void {
    if (asked === 'everything') scope = asked
    else if (scope !== 'everything') scope = new Set([...scope, ...asked])
    watch.wake()
  }

  /** Also wakes for pauses that begin or end. */
  function wakeForReceivers(): void {
    pausesWanted = true
    wake('everything')
  }

  /** Finds what is ready and begins to send it; returns the milliseconds until there may be more. */
  async function look(): Promise<number> {
    const asked = scope
    scope = new Set()
    if (pausesWanted) {
      pausesWanted = false
      await pauses.look()
    }
    const now = isoTime(clock.now())
    const isContested = !(await claim(asked, now))
    if (watch.isAwake()) return 0
    // Measured from the beginning of this look, so that deliveries that became due meanwhile are
    // found.
    const next = [await claims.findNextDue(db, now), pauses.nextLook]
    const waits = next.flatMap((time) => (time ? Date.parse(time) - clock.now() : []))
    const pause = Math.max(0, Math.min(limits.pollMs, ...waits))
    return isContested ? Math.min(pause, contestedPauseMs) : pause
  }

  /**
   * Finds deliveries that may be sent now, at most `free` and within the concurrency of each
   * receiver. It does not read the backlog of saturated receivers, which can be long and would be
   * read again after every delivery.
   * @returns also whether there may be more after these are claimed
   */
  async function find(
    asked: Scope,
    now: string,
    free: number,
  ): Promise<{ found: claims.ReadyDelivery[]; more: boolean }> {
    const found = new Map<string, claims.ReadyDelivery>()
    const taken = new Map<string, number>()
    const take = (receiver: string) => taken.set(receiver, (taken.get(receiver) ?? 0) + 1)
    const freeAt = (receiver: string) =>
      Math.min(limits.perReceiver - (taken.get(receiver) ?? 0), free - found.size)
    for (const { receiver } of inFlight.values()) take(receiver)

    function add(rows: readonly claims.ReadyDelivery[]): void {
      for (const row of rows) {
        const receiver = receiverKeyOf(row)
        // Its lease expired, but it is still in flight here.
        if (freeAt(receiver) <= 0 || found.has(row.id) || inFlight.has(row.id)) continue
        take(receiver)
        found.set(row.id, row)
      }
    }

    let receivers = asked === 'everything' ? [] : [...asked].map(receiverOf)
    let more = false
    if (asked === 'everything') {
      const limit = Math.min(free * 2, maxRows)
      const rows = await claims.listReady(db, { now, limit })
      add(rows)
      more = rows.length === limit
      // Receivers behind the backlog of others have not been read yet.
      if (more && found.size < free) receivers = await claims.listReadyReceivers(db, now)
    }
    for (const receiver of receivers) {
      const limit = freeAt(receiverKey(receiver))
      if (limit > 0) add(await claims.listReadyOf(db, { ...receiver, now, limit }))
    }
    return { found: [...found.values()], more: more && found.size > 0 }
  }

  /**
   * Claims what is ready and begins to send it; what is for paused receivers is parked.
   * @returns false if others had locked all of it
   */
  async function claim(asked: Scope, now: string): Promise<boolean> {
    const free = limits.concurrency - inFlight.size
    if (asked === 'everything') saturated = false
    if (free <= 0) {
      saturated = true
      return true
    }
    const { found, more } = await find(asked, now, free)
    if (found.length === 0) return true
    if (found.length === free) saturated = true
    const states = await listReceivers(
      db,
      found.map(({ bot_id }) => bot_id),
    )
    const paused = new Set(states.filter((state) => state.paused !== null).map(receiverKeyOf))
    const failed = new Set(states.filter((state) => state.failures > 0).map(receiverKeyOf))
    const toPark = found.filter((row) => paused.has(receiverKeyOf(row)))
    const toSend = found.filter((row) => !paused.has(receiverKeyOf(row)))
    const ids = JSON.stringify(toSend.map(({ id }) => id))
    const { rows, parked } = await run(async (tx) => {
      const parked = await parkPaused(tx, toPark, now)
      const rows = await claims.claimDue(tx, { ids, owner, now, leaseUntil: leases.end() })
      return { rows, parked }
    })
    for (const row of rows) {
      const receiver = receiverKeyOf(row)
      if (failed.has(receiver)) failing.add(receiver)
      begin(row)
    }
    // Another look at once would find the same rows, in a busy loop.
    if (rows.length + parked === 0) return false
    // The rows read are claimed now, here or by another process: there may be more behind them.
    if (rows.length < toSend.length || parked > 0 || more) wake('everything')
    return true
  }

  /** Begins to send a claimed delivery. */
  function begin(row: DeliveryRow, chain = true): Sending {
    const entry: Sending = {
      row,
      receiver: receiverKeyOf(row),
      abort: new AbortController(),
      chain,
      responded: undefined,
      done: Promise.resolve(),
    }
    inFlight.set(row.id, entry)
    entry.done = sendQueue(entry)
    return entry
  }

  /** Sends a delivery and, while they succeed, those behind it in its queue. */
  async function sendQueue(entry: Sending): Promise<void> {
    try {
      for (let length = 1; ; length++) {
        const next = await send(entry, length < maxChain)
        if (next === undefined) break
        inFlight.delete(entry.row.id)
        entry.row = next
        // A heartbeat during settling no longer found the claim of the last delivery.
        if (entry.abort.signal.reason instanceof LeaseLostError) entry.abort = new AbortController()
        inFlight.set(next.id, entry)
      }
    } catch (err) {
      log.error({ err, delivery: entry.row.id }, 'a delivery failed for a reason of the server')
    }
    inFlight.delete(entry.row.id)
    // The next claim reads whether the receiver fails; a deleted receiver must not stay in the set
    // forever.
    const isBusy = [...inFlight.values()].some(({ receiver }) => receiver === entry.receiver)
    if (!isBusy) failing.delete(entry.receiver)
    wake(saturated ? 'everything' : new Set([entry.receiver]))
  }

  /** Sends one delivery and settles it; returns the next of its queue if it was claimed. */
  async function send(entry: Sending, mayChain: boolean): Promise<DeliveryRow | undefined> {
    const { row, receiver } = entry
    const target = await targets.of(receiverIn(row))
    if (target === undefined) {
      await settle.awaitAddress(row)
      return undefined
    }
    const body = await bodies.add(row)
    if (body === undefined) {
      await settle.cancel(row)
      return undefined
    }
    // A process that stalled for so long may have lost its claim to another one that is already
    // calling. If it has not, this was not an attempt, and must not count towards giving the
    // delivery up. A stop that is over has already aborted the deliveries that it saw in flight.
    if (over || isoTime(clock.now()) >= (row.next_attempt_at ?? '')) {
      await settle.release(row, { called: false })
      return undefined
    }
    try {
      const result = await callReceiver(deps, target, {
        operation: row.kind,
        type: body.type,
        body: body.body,
        headers: { 'x-botstead-delivery': row.id, 'x-botstead-attempt': String(row.attempts) },
        signal: entry.abort.signal,
      })
      const settled = await settle.attempt({
        row,
        result,
        wasFailing: failing.has(receiver),
        nextClaim:
          mayChain && entry.chain && !closed ? { owner, leaseUntil: leases.end() } : undefined,
      })
      const isBack = result.verdict.result !== 'retry'
      entry.responded = settled !== undefined && isBack
      if (isBack) failing.delete(receiver)
      else failing.add(receiver)
      if (settled?.pausedNow) pausesWanted = true
      return settled?.next
    } catch (error) {
      if (error instanceof LeaseLostError) return undefined
      if (!(error instanceof HolderStoppedError)) throw error
      await settle.release(row, { called: true })
      return undefined
    }
  }

  /** Sends one delivery of a paused receiver, without the rest of its queue. */
  async function sendAlone(row: DeliveryRow): Promise<boolean | undefined> {
    if (closed) {
      await settle.release(row, { called: false })
      return false
    }
    failing.add(receiverKeyOf(row))
    const entry = begin(row, false)
    await entry.done
    return entry.responded
  }

  /**
   * Called when caches of a bot are stale and it may be paused: its queues stop after the current
   * delivery.
   */
  function reconsider(botId: string): void {
    targets.forget(botId)
    for (const entry of inFlight.values()) if (entry.row.bot_id === botId) entry.chain = false
    wakeForReceivers()
  }

  return {
    async start() {
      if (deps.alone) {
        await run((tx) => claims.freeAll(tx, isoTime(clock.now())), { mayUseReserve: true })
      }
      unsubscribe = [
        bus.subscribe(
          { topic: deliveriesTopic },
          { onHint: ({ key }) => wake(new Set([key])), onGap: () => wake('everything') },
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
      const ended = Promise.all(Array.from(inFlight.values(), ({ done }) => done))
      await leases.finish(timeLeft, ended, () => {
        over = true
        for (const { abort } of inFlight.values()) abort.abort(new HolderStoppedError())
      })
      await pausesEnd
    },
  }
}
