import { hostname } from 'node:os'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Ids } from '../../platform/ids.js'
import type { Log } from '../../platform/log.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import type { Timers } from '../../platform/timers.js'
import type { Db, Run } from '../../schema.js'
import type { DeliveryBodies } from './bodies.js'
import { callReceiver } from './call.js'
import * as claims from './claims.js'
import { announceDelivery, deliveriesTopic, receiversTopic } from './hints.js'
import { createPauses } from './pauses.js'
import { listReceivers } from './receivers.js'
import { createRoom, keyOf } from './room.js'
import { setAsidePaused } from './set-aside.js'
import { createSettle, type SettleDeps } from './settle.js'
import type { DeliveryRow } from './store.js'
import type { Targets } from './targets.js'

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
  targets: Targets
  /** Whether no other process can be sending, as with SQLite: what a crash left is taken up at once. */
  alone: boolean
  limits: {
    /** Deliveries on the way at a time. */
    concurrency: number
    /** Of those, to one receiver. */
    perReceiver: number
    /** Milliseconds without a sign of life after which a process counts as gone. */
    leaseMs: number
    /** Milliseconds without a hint before looking all the same. */
    pollMs: number
  }
}

/** Sends what waits in the outbox until it is stopped. */
export interface Dispatcher {
  start(): Promise<void>
  /** Claims nothing more and waits `deadlineMs` for what is on the way; then gives the rest back. */
  stop(deadlineMs: number): Promise<void>
}

/** Deliveries of one line in a row before others get the place. */
const longestChain = 20
/** Rows that are looked at for one claim. */
const longestLook = 500

class ClaimLostError extends Error {}
class StoppedError extends Error {}

interface Sending {
  row: DeliveryRow
  abort: AbortController
  /** Whether what stands behind it may be sent right after it. */
  chain: boolean
  done: Promise<void>
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, run, bus, clock, timers, log, bodies, targets, limits } = deps
  const owner = `${hostname()}/${process.pid}/${deps.ids.uuid()}`
  const settle = createSettle(deps)
  const pauses = createPauses({ ...deps, wake: () => wakeForReceivers() })
  const sending = new Map<string, Sending>()
  const room = createRoom(limits.perReceiver)
  /** Receivers that had failed when last looked at: their success is worth a note. */
  const failing = new Set<string>()
  let wanted = false
  let pausesWanted = false
  let closed = false
  let looking: Promise<void> | undefined
  let cancelAlarm = () => {}
  let cancelBeat = () => {}
  let unsubscribe: (() => void)[] = []

  const leaseEnd = () => isoTime(clock.now() + limits.leaseMs)

  function wake(): void {
    wanted = true
    if (!closed) looking ??= look()
  }

  /** Wakes also for what changes rarely: pauses that begin or end. */
  function wakeForReceivers(): void {
    pausesWanted = true
    wake()
  }

  /** What is known of a bot is old, and its pause may have begun: its lines stop after this delivery. */
  function reconsider(botId: string): void {
    targets.forget(botId)
    for (const entry of sending.values()) if (entry.row.bot_id === botId) entry.chain = false
    wakeForReceivers()
  }

  /** Fills the free places until nobody asks for another look; then sets the alarm. */
  async function look(): Promise<void> {
    cancelAlarm()
    let pause = limits.pollMs
    try {
      while (wanted && !closed) {
        wanted = false
        if (pausesWanted) {
          pausesWanted = false
          await pauses.look()
        }
        const now = clock.now()
        await fill(isoTime(now))
        // Seen from the moment of this look: what fell due meanwhile is found too.
        if (!wanted) pause = await untilNext(isoTime(now))
      }
    } catch (err) {
      log.warn({ err }, 'deliveries cannot be claimed, trying again later')
      wanted = false
    }
    looking = undefined
    if (closed) return
    if (wanted) wake()
    else cancelAlarm = timers.after(pause, wakeForReceivers)
  }

  /** Claims what is due and begins to send it. */
  async function fill(now: string): Promise<void> {
    const free = limits.concurrency - sending.size
    if (free <= 0) return
    const limit = Math.min(free * 2, longestLook)
    const due = await claims.listDue(db, now, room.busy(), limit)
    if (due.length === 0) return
    const states = await listReceivers(
      db,
      due.map(({ bot_id }) => bot_id),
    )
    const paused = new Set(states.filter((state) => state.paused !== null).map(keyOf))
    const failed = new Set(states.filter((state) => state.failures > 0).map(keyOf))
    for (const key of new Set(due.map(keyOf))) {
      if (failed.has(key)) failing.add(key)
      else failing.delete(key)
    }
    const aside = due.filter((row) => paused.has(keyOf(row)))
    const open = due.filter((row) => !paused.has(keyOf(row)) && !sending.has(row.id))
    const chosen = room.choose(open, free)
    const rows = await run(async (tx) => {
      await setAsidePaused(tx, aside, now)
      return await claims.claim(tx, chosen, owner, now, leaseEnd())
    })
    for (const row of rows) begin(row)
    // What was looked at is out of the way now, or another process has it: there may be more behind.
    const isContested = rows.length < chosen.length
    if (isContested || (due.length === limit && rows.length + aside.length > 0)) wanted = true
  }

  /** Milliseconds until there may be more to do. */
  async function untilNext(lookedAt: string): Promise<number> {
    const times = [await claims.findNextDue(db, lookedAt), pauses.nextLook]
    const now = clock.now()
    const waits = times.flatMap((time) => (time === undefined ? [] : [Date.parse(time) - now]))
    return Math.max(0, Math.min(limits.pollMs, ...waits))
  }

  function begin(row: DeliveryRow): void {
    room.take(row)
    const abort = new AbortController()
    const entry: Sending = { row, abort, chain: true, done: Promise.resolve() }
    sending.set(row.id, entry)
    entry.done = deliverLine(entry)
      .catch((err: unknown) => {
        log.error({ err, delivery: row.id }, 'a delivery failed for a reason of the server')
      })
      .finally(() => {
        sending.delete(entry.row.id)
        room.leave(row)
        wake()
      })
  }

  /** Sends a delivery and, while it goes well, those that stand behind it. */
  async function deliverLine(entry: Sending): Promise<void> {
    for (let length = 1; ; length++) {
      const next = await deliver(entry, length < longestChain)
      if (next === undefined) return
      sending.delete(entry.row.id)
      entry.row = next
      sending.set(next.id, entry)
    }
  }

  async function deliver(entry: Sending, chain: boolean): Promise<DeliveryRow | undefined> {
    const { row } = entry
    const receiver = { botId: row.bot_id, integration: row.integration }
    const target = await targets.of(receiver)
    if (target === undefined) {
      await settle.park(row)
      return undefined
    }
    const told = await bodies.of(db, row)
    if (told === undefined) {
      await settle.cancel(row)
      return undefined
    }
    try {
      const result = await callReceiver(deps, target, {
        operation: row.kind,
        type: told.type,
        body: JSON.stringify(told.body),
        headers: { 'x-botstead-delivery': row.id, 'x-botstead-attempt': String(row.attempts) },
        signal: entry.abort.signal,
      })
      const key = keyOf(row)
      const mayChain = chain && entry.chain && !closed
      const nextClaim = mayChain ? { owner, leaseUntil: leaseEnd() } : undefined
      const settled = await settle.attempt(row, result, failing.has(key), nextClaim)
      if (result.verdict.result === 'retry') failing.add(key)
      else failing.delete(key)
      if (settled?.pausedNow) pausesWanted = true
      return settled?.next
    } catch (error) {
      if (error instanceof ClaimLostError) return undefined
      if (!(error instanceof StoppedError)) throw error
      await settle.release(row)
      announceDelivery(bus, row.bot_id)
      return undefined
    }
  }

  /** Gives a sign of life for everything on the way, and ends what others have taken. */
  async function beat(): Promise<void> {
    const ids = [...sending.keys()]
    if (ids.length > 0) {
      try {
        const kept = await run((tx) => claims.prolong(tx, owner, ids, leaseEnd()))
        for (const id of ids) {
          if (!kept.has(id)) sending.get(id)?.abort.abort(new ClaimLostError())
        }
      } catch (err) {
        log.warn({ err }, 'the leases of deliveries could not be prolonged')
      }
    }
    if (!closed || sending.size > 0) scheduleBeat()
  }

  function scheduleBeat(): void {
    cancelBeat = timers.after(limits.leaseMs / 3, () => void beat())
  }

  return {
    async start() {
      if (deps.alone) await run((tx) => claims.freeAll(tx, isoTime(clock.now())))
      unsubscribe = [
        bus.subscribe({ topic: deliveriesTopic }, { onHint: wake, onGap: wake }),
        bus.subscribe(
          { topic: receiversTopic },
          { onHint: ({ key }) => reconsider(key), onGap: wakeForReceivers },
        ),
      ]
      scheduleBeat()
      wakeForReceivers()
    },

    async stop(deadlineMs) {
      closed = true
      for (const end of unsubscribe) end()
      cancelAlarm()
      await looking
      const onTheWay = [...sending.values()]
      const cancelLate = timers.after(deadlineMs, () => {
        for (const { abort } of onTheWay) abort.abort(new StoppedError())
      })
      await Promise.all(onTheWay.map(({ done }) => done))
      cancelLate()
      cancelBeat()
      await pauses.stop()
    },
  }
}
