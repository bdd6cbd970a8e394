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

/** A delivery in flight; while a queue is sent, its deliveries one after the other. */
interface Sending {
  row: DeliveryRow
  /** Key of its receiver. */
  receiver: string
  abort: AbortController
  /** Whether the next delivery of its queue may be sent right after it. */
  chain: boolean
  /** Whether the receiver responded to the last call; undefined without a call. */
  responded: boolean | undefined
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
  const inFlight = new Set<Sending>()
  /** Keys of receivers in flight that have failed lately: a success resets them. */
  const failing = new Set<string>()
  /** Scope of the next look. */
  let scope: Scope = new Set()
  let pausesWanted = false
  /** Whether deliveries may be left because the concurrency was exhausted. */
  let saturated = false
  let closed = false
  /** Whether the time that a stop leaves for deliveries in flight has passed. */
  let isTimeUp = false
  /** Called when nothing is in flight any more. */
  let onIdle = () => {}
  let unsubscribe: (() => void)[] = []

  const leases = createLeases<{ entry: Sending; row: DeliveryRow }>({
    clock,
    timers,
    log,
    leaseMs: limits.leaseMs,
    held: () => Array.from(inFlight, (entry) => ({ entry, row: entry.row })),
    async prolong(held, until) {
      const ids = held.map(({ row }) => row.id)
      const kept = await run((tx) => claims.prolong(tx, owner, ids, until))
      return ({ row }) => kept.has(row.id)
    },
    lose({ entry, row }) {
      // By now it may be settled, and the next one of its queue in flight.
      if (entry.row === row) entry.abort.abort(new LeaseLostError())
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

  function wake(requested: Scope): void {
    if (requested === 'everything') scope = requested
    else if (scope !== 'everything') scope = new Set([...scope, ...requested])
    watch.wake()
  }

  /** Also wakes for pauses that begin or end. */
  function wakeForReceivers(): void {
    pausesWanted = true
    wake('everything')
  }

  /**
   * Claims ready deliveries and begins to send them; those to paused receivers are parked.
   * @returns the milliseconds until there may be more
   */
  async function look(): Promise<number> {
    const requested = scope
    scope = new Set()
    if (pausesWanted) {
      pausesWanted = false
      await pauses.look()
    }
    const now = isoTime(clock.now())
    const { found, more } = await find(requested, now)
    const toPark = found.filter((row) => row.receiver_state === 'paused')
    const toSend = found.filter((row) => row.receiver_state !== 'paused')
    const parked = toPark.length > 0 ? await run((tx) => parkPaused(tx, toPark, now)) : 0
    const ids = JSON.stringify(toSend.map(({ id }) => id))
    const claimed =
      toSend.length > 0
        ? await run((tx) => claims.claimDue(tx, { ids, owner, now, leaseUntil: leases.end() }))
        : []
    const failed = new Set(
      found.filter((row) => row.receiver_state === 'failing').map(receiverKeyOf),
    )
    for (const row of claimed) {
      if (failed.has(receiverKeyOf(row))) failing.add(receiverKeyOf(row))
      sendQueue(row)
    }
    // Others had locked all of it. Another look at once would find the same rows, in a busy loop.
    const isContested = found.length > 0 && claimed.length + parked === 0
    // The rows read are claimed now, here or by another process: there may be more behind them.
    const isMore = claimed.length < toSend.length || parked > 0 || more
    if (isMore && !isContested) wake('everything')
    if (watch.isAwake()) return 0
    // Measured from the beginning of this look, so that deliveries that became due meanwhile are
    // found.
    const next = [await claims.findNextDue(db, now), pauses.nextLook]
    const waits = next.flatMap((time) => (time ? Date.parse(time) - clock.now() : []))
    const pause = Math.max(0, Math.min(limits.pollMs, ...waits))
    return isContested ? Math.min(pause, contestedPauseMs) : pause
  }

  /**
   * Finds deliveries that may be sent now, within the concurrency of each receiver. It does not read
   * the backlog of saturated receivers, which can be long and would be read again after every
   * delivery.
   * @returns also whether there may be more after these are claimed
   */
  async function find(
    requested: Scope,
    now: string,
  ): Promise<{ found: claims.ReadyDelivery[]; more: boolean }> {
    const free = limits.concurrency - inFlight.size
    if (requested === 'everything') saturated = false
    if (free <= 0) {
      saturated = true
      return { found: [], more: false }
    }
    const found = new Map<string, claims.ReadyDelivery>()
    const taken = new Map<string, number>()
    const take = (receiver: string) => taken.set(receiver, (taken.get(receiver) ?? 0) + 1)
    const freeAt = (receiver: string) =>
      Math.min(limits.perReceiver - (taken.get(receiver) ?? 0), free - found.size)
    const sent = new Set<string>()
    for (const { row, receiver } of inFlight) {
      sent.add(row.id)
      take(receiver)
    }

    function add(rows: readonly claims.ReadyDelivery[]): void {
      for (const row of rows) {
        const receiver = receiverKeyOf(row)
        // The lease of one that is sent may have expired.
        if (freeAt(receiver) <= 0 || found.has(row.id) || sent.has(row.id)) continue
        take(receiver)
        found.set(row.id, row)
      }
    }

    let receivers = requested === 'everything' ? [] : [...requested].map(receiverOf)
    let more = false
    if (requested === 'everything') {
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
    if (found.size === free) saturated = true
    return { found: [...found.values()], more: more && found.size > 0 }
  }

  /**
   * Sends a claimed delivery and, while they succeed, those behind it in its queue.
   * @param chain whether to send those behind it
   * @returns whether the receiver responded to the last call; undefined without a call
   */
  async function sendQueue(row: DeliveryRow, chain = true): Promise<boolean | undefined> {
    const receiver = receiverKeyOf(row)
    const abort = new AbortController()
    const entry: Sending = { row, receiver, abort, chain, responded: undefined }
    inFlight.add(entry)
    try {
      for (let length = 1; ; length++) {
        const next = await send(entry, length < maxChain)
        if (next === undefined) break
        entry.row = next
        // A heartbeat during settling no longer found the claim of the last delivery.
        if (entry.abort.signal.reason instanceof LeaseLostError) entry.abort = new AbortController()
      }
    } catch (err) {
      log.error({ err, delivery: entry.row.id }, 'a delivery failed for a reason of the server')
    }
    inFlight.delete(entry)
    // The next claim reads whether the receiver fails; a deleted receiver must not stay in the set
    // forever.
    const isBusy = [...inFlight].some((other) => other.receiver === receiver)
    if (!isBusy) failing.delete(receiver)
    if (inFlight.size === 0) onIdle()
    wake(saturated ? 'everything' : new Set([receiver]))
    return entry.responded
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
    // delivery up. Once the time is up, the stop has already aborted the deliveries in flight.
    if (isTimeUp || isoTime(clock.now()) >= (row.next_attempt_at ?? '')) {
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
    return await sendQueue(row, false)
  }

  /**
   * Called when the caches of a bot are stale, also because it may have been paused: its queues stop
   * after the current delivery.
   */
  function reconsider(botId: string): void {
    targets.forget(botId)
    for (const entry of inFlight) if (entry.row.bot_id === botId) entry.chain = false
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
      const ended = new Promise<void>((resolve) => {
        if (inFlight.size === 0) resolve()
        else onIdle = resolve
      })
      await leases.finish(timeLeft, ended, () => {
        isTimeUp = true
        for (const { abort } of inFlight) abort.abort(new HolderStoppedError())
      })
      await pausesEnd
    },
  }
}
