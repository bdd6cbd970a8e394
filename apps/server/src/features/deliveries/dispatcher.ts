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
import { deliveriesTopic } from './hints.js'
import { createPauses } from './pauses.js'
import { listReceivers, receiverKey } from './receivers.js'
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
  /** Looks at once whether a paused receiver is back, for one that has just been changed. */
  nudge(botId: string): Promise<void>
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
  done: Promise<void>
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, run, bus, clock, timers, log, bodies, targets, limits } = deps
  const owner = `${hostname()}/${process.pid}/${deps.ids.uuid()}`
  const settle = createSettle(deps)
  const pauses = createPauses({ ...deps, wake: () => wake() })
  const sending = new Map<string, Sending>()
  const perReceiver = new Map<string, number>()
  /** Receivers that had failed when last looked at: their success is worth a note. */
  let failing = new Set<string>()
  let wanted = false
  let closed = false
  let looking: Promise<void> | undefined
  let cancelAlarm = () => {}
  let cancelBeat = () => {}
  let unsubscribe = () => {}

  const leaseEnd = () => isoTime(clock.now() + limits.leaseMs)
  const keyOf = (row: { bot_id: string; integration: string }) =>
    receiverKey({ botId: row.bot_id, integration: row.integration })

  function wake(): void {
    wanted = true
    if (!closed) looking ??= look()
  }

  /** Fills the free places until nobody asks for another look; then sets the alarm. */
  async function look(): Promise<void> {
    cancelAlarm()
    let pause = limits.pollMs
    try {
      while (wanted && !closed) {
        wanted = false
        await pauses.look()
        pause = await fill()
      }
    } catch (err) {
      log.warn({ err }, 'deliveries cannot be claimed, trying again later')
    }
    looking = undefined
    if (!closed) cancelAlarm = timers.after(pause, wake)
  }

  /** Claims what is due; answers the milliseconds until there may be more. */
  async function fill(): Promise<number> {
    const free = limits.concurrency - sending.size
    if (free <= 0) return limits.pollMs
    const limit = Math.min(free * 2, longestLook)
    const now = isoTime(clock.now())
    const due = await claims.listDue(db, now, busyReceivers(), limit)
    const states = await listReceivers(
      db,
      due.map(({ bot_id }) => bot_id),
    )
    const paused = new Set(states.filter((state) => state.paused !== null).map(keyOf))
    failing = new Set(states.filter((state) => state.failures > 0).map(keyOf))
    const aside = due.filter((row) => paused.has(keyOf(row)))
    const chosen = choose(
      due.filter((row) => !paused.has(keyOf(row))),
      free,
    )
    if (due.length > 0) {
      const rows = await run(async (tx) => {
        await claims.setAside(
          tx,
          aside.map(({ id }) => id),
          now,
        )
        return await claims.claim(tx, chosen, owner, now, leaseEnd())
      })
      for (const row of rows) begin(row)
      // Whatever was looked at is out of the way now, so that there may be more behind it.
      if (due.length === limit && rows.length + aside.length > 0) wanted = true
    }
    return Math.min(limits.pollMs, await untilNext())
  }

  /** As many of the due ones as there is room for, here and at their receivers. */
  function choose(due: readonly claims.DueDelivery[], free: number): string[] {
    const room = new Map<string, number>()
    const chosen: string[] = []
    for (const row of due) {
      if (chosen.length === free) break
      const key = keyOf(row)
      const left = room.get(key) ?? limits.perReceiver - (perReceiver.get(key) ?? 0)
      if (left <= 0 || sending.has(row.id)) continue
      room.set(key, left - 1)
      chosen.push(row.id)
    }
    return chosen
  }

  function busyReceivers(): claims.BusyReceivers {
    return [...sending.values()]
      .map(({ row }) => row)
      .filter((row, at, all) => {
        const key = keyOf(row)
        const isFull = (perReceiver.get(key) ?? 0) >= limits.perReceiver
        return isFull && all.findIndex((other) => keyOf(other) === key) === at
      })
  }

  async function untilNext(): Promise<number> {
    const next = [await claims.findNextDue(db), await pauses.nextLook()]
    const times = next.flatMap((time) => (time === undefined ? [] : [Date.parse(time)]))
    const wait = Math.min(...times) - clock.now()
    // Due and yet not claimed: its receiver is busy, and the end of a delivery looks again.
    return wait > 0 ? wait : limits.pollMs
  }

  function begin(row: DeliveryRow): void {
    const key = keyOf(row)
    perReceiver.set(key, (perReceiver.get(key) ?? 0) + 1)
    const abort = new AbortController()
    const entry: Sending = { row, abort, done: Promise.resolve() }
    sending.set(row.id, entry)
    entry.done = deliverLine(entry)
      .catch((err: unknown) => {
        log.error({ err, delivery: row.id }, 'a delivery failed for a reason of the server')
      })
      .finally(() => {
        sending.delete(entry.row.id)
        const left = (perReceiver.get(key) ?? 1) - 1
        if (left > 0) perReceiver.set(key, left)
        else perReceiver.delete(key)
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
      const nextClaim = chain && !closed ? { owner, leaseUntil: leaseEnd() } : undefined
      const settled = await settle.attempt(row, result, failing.has(key), nextClaim)
      if (result.verdict.result === 'retry') failing.add(key)
      return settled?.next
    } catch (error) {
      if (error instanceof ClaimLostError) return undefined
      if (!(error instanceof StoppedError)) throw error
      await settle.release(entry.row)
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
    if (!closed) scheduleBeat()
  }

  function scheduleBeat(): void {
    cancelBeat = timers.after(limits.leaseMs / 3, () => void beat())
  }

  return {
    async start() {
      if (deps.alone) await run((tx) => claims.freeAll(tx, isoTime(clock.now())))
      unsubscribe = bus.subscribe({ topic: deliveriesTopic }, { onHint: wake, onGap: wake })
      scheduleBeat()
      wake()
    },

    async stop(deadlineMs) {
      closed = true
      unsubscribe()
      cancelAlarm()
      cancelBeat()
      await looking
      const onTheWay = [...sending.values()]
      const cancelLate = timers.after(deadlineMs, () => {
        for (const { abort } of onTheWay) abort.abort(new StoppedError())
      })
      await Promise.all(onTheWay.map(({ done }) => done))
      cancelLate()
      await pauses.settled()
    },

    async nudge(botId) {
      targets.forget(botId)
      await pauses.probeSoon(botId)
      wake()
    },
  }
}
