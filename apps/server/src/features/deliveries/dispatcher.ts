import { hostname } from 'node:os'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Db, Run } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import type { Log } from '../../platform/telemetry/log.js'
import { createOutageLog } from '../../platform/telemetry/outage-log.js'
import type { Timers } from '../../platform/timers.js'
import type { Targets } from '../calls/targets/index.js'
import type { DeliveryBodies } from './bodies.js'
import * as claims from './claim-store.js'
import { findNextDue } from './due-store.js'
import { type Asked, createFindDue } from './find-due.js'
import { deliveriesTopic, receiversTopic } from './hints.js'
import { createPauses } from './pauses.js'
import { listReceivers } from './receiver-store.js'
import { createRoom, keyOf } from './room.js'
import { ClaimLostError, createSender, type Sending, StoppedError } from './sender.js'
import { setAsidePaused } from './set-aside.js'
import { createSettle, type SettleDeps } from './settle.js'
import type { DeliveryRow } from './store.js'

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

/** Milliseconds before another look at what others held. */
const contestedPauseMs = 50

/** Sends what waits in the outbox until it is stopped. */
export interface Dispatcher {
  start(): Promise<void>
  /** Claims nothing more and waits `deadlineMs` for what is on the way; then gives the rest back. */
  stop(deadlineMs: number): Promise<void>
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, run, bus, clock, timers, log, targets, limits } = deps
  const owner = `${hostname()}/${process.pid}/${deps.ids.uuid()}`
  const settle = createSettle(deps)
  const pauses = createPauses({
    ...deps,
    claimFirst: ({ botId, integration }) =>
      run((tx) => claims.claimFirst(tx, botId, integration, owner, leaseEnd())),
    send: sendAlone,
    wake: () => wakeForReceivers(),
  })
  const sending = new Map<string, Sending>()
  const room = createRoom(limits.perReceiver)
  const findDue = createFindDue(db, room)
  /** Receivers that had failed when last looked at: their success is worth a note. */
  const failing = new Set<string>()
  const outages = createOutageLog(log, {
    begins: 'deliveries cannot be claimed, trying again later',
    ends: 'deliveries are claimed again',
  })
  const leaseEnd = () => isoTime(clock.now() + limits.leaseMs)
  const deliverLine = createSender({
    ...deps,
    settle,
    sending,
    failing,
    nextClaim: () => (closed ? undefined : { owner, leaseUntil: leaseEnd() }),
    isOver: () => over,
    onPaused: () => {
      pausesWanted = true
    },
  })
  /** What the next look is to find; undefined if nobody asks for one. */
  let wanted: 'everything' | Set<string> | undefined
  let pausesWanted = false
  /** Whether something may have been left because all places were taken. */
  let crowded = false
  let closed = false
  /** Whether the time is over that a stop leaves for what is on the way. */
  let over = false
  let looking: Promise<void> | undefined
  let cancelAlarm = () => {}
  let cancelBeat = () => {}
  let unsubscribe: (() => void)[] = []

  function wake(asked: Asked): void {
    if (asked === 'everything') wanted = asked
    else if (wanted !== 'everything') wanted = new Set([...(wanted ?? []), ...asked])
    if (!closed) looking ??= look()
  }

  const wakeForAll = () => wake('everything')

  /** Wakes also for what changes rarely: pauses that begin or end. */
  function wakeForReceivers(): void {
    pausesWanted = true
    wakeForAll()
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
      while (wanted !== undefined && !closed) {
        const asked: Asked = wanted
        wanted = undefined
        if (pausesWanted) {
          pausesWanted = false
          await pauses.look()
        }
        const now = clock.now()
        const isFruitless = !(await fill(asked, isoTime(now)))
        // Seen from the moment of this look: what fell due meanwhile is found too.
        if (wanted === undefined) pause = await untilNext(isoTime(now))
        if (isFruitless) pause = Math.min(pause, contestedPauseMs)
      }
      outages.worked('deliveries')
    } catch (err) {
      outages.failed('deliveries', err)
      wanted = undefined
    }
    looking = undefined
    if (closed) return
    if (wanted !== undefined) looking = look()
    else cancelAlarm = timers.after(pause, wakeForReceivers)
  }

  /** Claims what is due and begins to send it; false if all that it found was held by others. */
  async function fill(asked: Asked, now: string): Promise<boolean> {
    const free = limits.concurrency - sending.size
    if (asked === 'everything') crowded = false
    if (free <= 0) {
      crowded = true
      return true
    }
    const { due, more } = await findDue(asked, now, free)
    if (due.length === 0) return true
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
    if (chosen.length === free) crowded = true
    if (chosen.length + aside.length === 0) return true
    const { rows, moved } = await run(async (tx) => {
      const moved = await setAsidePaused(tx, aside, now)
      return { rows: await claims.claim(tx, chosen, owner, now, leaseEnd()), moved }
    })
    for (const row of rows) begin(row)
    // Looking again at once would find the same, as often as there is time.
    if (rows.length + moved === 0) return false
    // What was looked at is out of the way now, or another process has it: there may be more behind.
    const isContested = rows.length < chosen.length
    if (isContested || moved > 0 || more) wanted = 'everything'
    return true
  }

  /** Milliseconds until there may be more to do. */
  async function untilNext(lookedAt: string): Promise<number> {
    const times = [await findNextDue(db, lookedAt), pauses.nextLook]
    const now = clock.now()
    const waits = times.flatMap((time) => (time === undefined ? [] : [Date.parse(time) - now]))
    return Math.max(0, Math.min(limits.pollMs, ...waits))
  }

  /** Sends one delivery of a paused receiver, and nothing that stands behind it. */
  async function sendAlone(row: DeliveryRow): Promise<boolean | undefined> {
    if (closed) {
      await settle.release(row, { called: false })
      return false
    }
    const entry = begin(row, false)
    await entry.done
    return entry.answered
  }

  function begin(row: DeliveryRow, chain = true): Sending {
    room.take(row)
    const abort = new AbortController()
    const entry: Sending = { row, abort, chain, answered: undefined, done: Promise.resolve() }
    sending.set(row.id, entry)
    entry.done = deliverLine(entry)
      .catch((err: unknown) => {
        log.error({ err, delivery: row.id }, 'a delivery failed for a reason of the server')
      })
      .finally(() => {
        sending.delete(entry.row.id)
        room.leave(row)
        wake(crowded ? 'everything' : new Set([keyOf(row)]))
      })
    return entry
  }

  /** Gives a sign of life for everything on the way, and ends what others have taken. */
  async function beat(): Promise<void> {
    const held = [...sending]
    if (held.length > 0) {
      const ids = held.map(([id]) => id)
      try {
        const kept = await run((tx) => claims.prolong(tx, owner, ids, leaseEnd()))
        for (const [id, entry] of held) {
          // One that was settled meanwhile may be on its way anew, with another claim.
          if (!kept.has(id) && sending.get(id) === entry) entry.abort.abort(new ClaimLostError())
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
      if (deps.alone) {
        await run((tx) => claims.freeAll(tx, isoTime(clock.now())), { freesRoom: true })
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
      scheduleBeat()
      wakeForReceivers()
    },

    async stop(deadlineMs) {
      closed = true
      for (const end of unsubscribe) end()
      cancelAlarm()
      const pausesEnd = pauses.stop()
      await looking
      const onTheWay = [...sending.values()]
      const cancelLate = timers.after(deadlineMs, () => {
        over = true
        for (const { abort } of sending.values()) abort.abort(new StoppedError())
      })
      await Promise.all(onTheWay.map(({ done }) => done))
      cancelLate()
      cancelBeat()
      await pausesEnd
    },
  }
}
