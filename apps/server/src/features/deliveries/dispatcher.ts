import { type Batches, createBatches } from '../../platform/batches.js'
import { isoTime, type Timers } from '../../platform/clock.js'
import type { Db } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import {
  createLeases,
  HolderStoppedError,
  LeaseLostError,
  type Leases,
  ownerName,
} from '../../platform/leases/leases.js'
import { createWatch, type Watch } from '../../platform/leases/watch.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import { createOutageLog } from '../../platform/telemetry/log.js'
import { messagingAttributes, type Tracing } from '../../platform/telemetry/tracing.js'
import { type Call, type CallResult, callReceiver } from '../calls/requests/index.js'
import type { Targets } from '../calls/targets/index.js'
import type { Hosting } from '../hosting/index.js'
import type { BuildBodies } from './bodies.js'
import * as claims from './claim-store.js'
import { createInFlight, type InFlight, type Sending, type SendLimits } from './in-flight.js'
import { deliveriesTopic, receiversTopic } from './outbox.js'
import { createPauses, parkPaused } from './pauses.js'
import { orderingKeyOf } from './queue-store.js'
import { createReadySearch, type Scope } from './ready.js'
import { createSettle, maxCodeEnds, type SettleDeps } from './settle.js'
import { type DeliveryRow, receiverIn, receiverKeyOf } from './store.js'

export interface DispatcherDeps extends SettleDeps {
  db: Db
  timers: Timers
  ids: Ids
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
  outgoing: Outgoing
  hosting: Pick<Hosting, 'send'>
  buildBodies: BuildBodies
  targets: Pick<Targets, 'of' | 'forget'>
  /**
   * Whether no other process can be sending, as with SQLite: claims that a crash left are released
   * at once.
   */
  alone: boolean
  limits: SendLimits & {
    /** Milliseconds without a heartbeat after which a process counts as dead. */
    leaseMs: number
    /** Milliseconds without a hint after which the dispatcher looks anyway. */
    pollMs: number
  }
}

/** Tries of a delivery, from which on a suspected one gets a program of its own: the first, and one after others. */
const triesBeforeOwn = 2

/** Restrictions on sending a delivery that may have ended the code before; undefined if it is not suspected. */
function suspectOf({ id, code_ends, attempts, spent: prior }: DeliveryRow): Call['suspect'] {
  if (code_ends === null) return undefined
  return {
    id,
    // Most suspects only were open at the same time: these go on soon, without a start for each.
    isAfterOthers: code_ends === 0 && attempts - prior <= triesBeforeOwn,
    needsProof: code_ends === maxCodeEnds - 1,
  }
}

/** Milliseconds before another look at rows that others had locked. */
const contestedPauseMs = 50
/** Deliveries of one queue in a row before other queues get a turn. */
const maxChain = 20
/** Milliseconds until more deliveries that may have ended the code of their receiver are looked at. */
const suspectsPauseMs = 1000
/** Maximum number of bodies in one batch. */
const maxBodies = 64

/**
 * Sends pending deliveries until it is stopped. The life of a delivery in this process: a hint wakes the
 * dispatcher, it looks for ready deliveries, claims them, sends each, settles it, and goes on with the next
 * of its queue.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps
  readonly #owner: string
  readonly #inFlight: InFlight
  readonly #ready: ReturnType<typeof createReadySearch>
  readonly #leases: Leases
  readonly #watch: Watch
  readonly #bodies: Batches<DeliveryRow, Awaited<ReturnType<BuildBodies>>[number]>
  readonly #settle: ReturnType<typeof createSettle>
  readonly #pauses: ReturnType<typeof createPauses>
  /** Keys of receivers in flight that have failed lately: a success resets them. */
  readonly #failing = new Set<string>()
  /** Scope of the next look. */
  #scope: Scope = new Set()
  #pausesWanted = false
  #closed = false
  /** Whether the time that a stop leaves for deliveries in flight has passed. */
  #isTimeUp = false
  /** Called when nothing is in flight any more. */
  #onIdle = () => {}
  #unsubscribe: (() => void)[] = []

  constructor(deps: DispatcherDeps) {
    const { run, timers, log, limits } = deps
    this.#deps = deps
    this.#owner = ownerName(deps.ids)
    this.#inFlight = createInFlight(limits)
    this.#ready = createReadySearch(deps.db, this.#inFlight)
    this.#leases = createLeases<{ entry: Sending; row: DeliveryRow }>({
      clock: deps.clock,
      timers,
      log,
      leaseMs: limits.leaseMs,
      held: () => Array.from(this.#inFlight.entries, (entry) => ({ entry, row: entry.row })),
      prolong: async (held, until) => {
        const ids = held.map(({ row }) => row.id)
        const kept = await run((tx) => claims.prolong(tx, this.#owner, ids, until))
        return ({ row }) => kept.has(row.id)
      },
      lose({ entry, row }) {
        // By now it may be settled, and the next one of its queue in flight.
        if (entry.row === row) entry.abort.abort(new LeaseLostError())
      },
      fault: 'the leases of deliveries could not be prolonged',
    })
    this.#watch = createWatch({
      timers,
      name: 'deliveries',
      outages: createOutageLog(log, {
        begins: 'deliveries cannot be claimed, trying again later',
        ends: 'deliveries are claimed again',
      }),
      look: () => this.#look(),
      pauseAfterFault: () => limits.pollMs,
      onAlarm: () => this.#wakeForReceivers(),
    })
    this.#bodies = createBatches(maxBodies, deps.buildBodies)
    this.#settle = createSettle(deps)
    this.#pauses = createPauses({
      ...deps,
      claimFirst: (receiver) =>
        run((tx) => claims.claimFirst(tx, receiver, this.#owner, this.#leases.end())),
      send: (row) => this.#sendAlone(row),
      wake: () => this.#wakeForReceivers(),
    })
  }

  async start(): Promise<void> {
    if (this.#deps.alone) {
      await this.#deps.run((tx) => claims.freeAll(tx, isoTime(this.#deps.clock.now())), {
        mayUseReserve: true,
      })
    }
    this.#unsubscribe = [
      this.#deps.bus.subscribe(
        { topic: deliveriesTopic },
        { onHint: ({ key }) => this.#wake(new Set([key])), onGap: () => this.#wake('everything') },
      ),
      this.#deps.bus.subscribe(
        { topic: receiversTopic },
        { onHint: ({ key }) => this.#reconsider(key), onGap: () => this.#wakeForReceivers() },
      ),
    ]
    this.#leases.start()
    this.#wakeForReceivers()
  }

  /**
   * Stops claiming and waits `timeLeft` milliseconds for deliveries in flight; then releases them.
   */
  async stop(timeLeft: number): Promise<void> {
    this.#closed = true
    for (const end of this.#unsubscribe) end()
    const lookEnds = this.#watch.close()
    const pausesEnd = this.#pauses.stop()
    await lookEnds
    const ended = new Promise<void>((resolve) => {
      if (this.#inFlight.entries.size === 0) resolve()
      else this.#onIdle = resolve
    })
    await this.#leases.finish(timeLeft, ended, () => {
      this.#isTimeUp = true
      for (const { abort } of this.#inFlight.entries) abort.abort(new HolderStoppedError())
    })
    await pausesEnd
  }

  #wake(requested: Scope): void {
    if (requested === 'everything') this.#scope = requested
    else if (this.#scope !== 'everything') this.#scope = new Set([...this.#scope, ...requested])
    this.#watch.wake()
  }

  /** Also wakes for pauses that begin or end. */
  #wakeForReceivers(): void {
    this.#pausesWanted = true
    this.#wake('everything')
  }

  /**
   * Claims ready deliveries and begins to send them; those to paused receivers are parked.
   * @returns the milliseconds until there may be more
   */
  async #look(): Promise<number> {
    const requested = this.#scope
    this.#scope = new Set()
    if (this.#pausesWanted) {
      this.#pausesWanted = false
      await this.#pauses.look()
    }
    const now = isoTime(this.#deps.clock.now())
    const { found, more } = await this.#ready.find(requested, now)
    const toPark = found.filter((row) => row.receiver_state === 'paused')
    const toSend = found.filter((row) => row.receiver_state !== 'paused')
    const parked = toPark.length > 0 ? await this.#deps.run((tx) => parkPaused(tx, toPark, now)) : 0
    const ids = JSON.stringify(toSend.map(({ id }) => id))
    const claimed =
      toSend.length > 0
        ? await this.#deps.run((tx) =>
            claims.claimDue(tx, { ids, owner: this.#owner, now, leaseUntil: this.#leases.end() }),
          )
        : []
    const failed = new Set(
      found.filter((row) => row.receiver_state === 'failing').map(receiverKeyOf),
    )
    for (const row of claimed) {
      if (failed.has(receiverKeyOf(row))) this.#failing.add(receiverKeyOf(row))
      this.#sendQueue(row)
    }
    // Others had locked all of it. Another look at once would find the same rows, in a busy loop.
    const isContested = found.length > 0 && claimed.length + parked === 0
    // The rows read are claimed now, here or by another process: there may be more behind them.
    const isMore = claimed.length < toSend.length || parked > 0 || more
    if (isMore && !isContested) this.#wake('everything')
    if (this.#watch.isAwake()) return 0
    // Measured from the beginning of this look, so that deliveries that became due meanwhile are
    // found.
    const next = [await claims.findNextDue(this.#deps.db, now), this.#pauses.nextLook]
    const waits = next.flatMap((time) => (time ? Date.parse(time) - this.#deps.clock.now() : []))
    const pause = Math.max(0, Math.min(this.#deps.limits.pollMs, ...waits))
    return isContested ? Math.min(pause, contestedPauseMs) : pause
  }

  /** Starts the next delivery after a call has ended, if one may be ready. */
  #startNext({ receiver }: Sending): void {
    const left = this.#ready.unclaimed(receiver)
    if (left === undefined || this.#closed) return
    if (this.#inFlight.room() > 0 && this.#inFlight.roomAt(receiver) > 0) this.#wake(left)
  }

  /**
   * Sends a claimed delivery and, while they succeed, those behind it in its queue.
   * @param chain whether to send those behind it
   * @returns whether the receiver responded to the last call; undefined without a call
   */
  async #sendQueue(row: DeliveryRow, chain = true): Promise<boolean | undefined> {
    const receiver = receiverKeyOf(row)
    const abort = new AbortController()
    const entry: Sending = {
      row,
      receiver,
      abort,
      chain,
      responded: undefined,
      isSettling: false,
    }
    this.#inFlight.add(entry)
    try {
      for (let length = 1; ; length++) {
        const next = await this.#send(entry, length < maxChain)
        if (next === undefined) break
        entry.row = next
        this.#inFlight.setSettling(entry, false)
        // A heartbeat during settling no longer found the claim of the last delivery.
        if (entry.abort.signal.reason instanceof LeaseLostError) entry.abort = new AbortController()
      }
    } catch (err) {
      this.#deps.log.error(
        { err, delivery: entry.row.id },
        'a delivery failed for a reason of the server',
      )
    }
    this.#inFlight.remove(entry)
    const left = this.#ready.unclaimed(receiver)
    // The next claim reads whether the receiver fails; a deleted receiver must not stay in the set
    // forever.
    if (!this.#inFlight.has(receiver)) {
      this.#failing.delete(receiver)
      this.#ready.forget(receiver)
    }
    if (this.#inFlight.entries.size === 0) this.#onIdle()
    this.#wake(left ?? new Set([receiver]))
    return entry.responded
  }

  /** Sends one delivery and settles it; returns the next of its queue if it was claimed. */
  async #send(entry: Sending, mayChain: boolean): Promise<DeliveryRow | undefined> {
    const { row, receiver } = entry
    if (row.code_ends !== null && this.#inFlight.hasTooManySuspects(receiver)) {
      await this.#settle.release(row, { called: false, afterMs: suspectsPauseMs })
      return undefined
    }
    const turn = this.#inFlight.takePlace(entry)
    if (turn !== undefined && !(await this.#isStillWanted(entry, turn))) {
      this.#inFlight.freePlace(entry)
      await this.#settle.release(row, { called: false })
      return undefined
    }
    let result: CallResult | undefined
    try {
      result =
        this.#deps.tracing !== undefined && row.traceparent !== null
          ? await this.#callTraced(this.#deps.tracing, entry)
          : await this.#call(entry)
    } catch (error) {
      if (error instanceof LeaseLostError) return undefined
      if (!(error instanceof HolderStoppedError)) throw error
      await this.#settle.release(row, { called: true })
    } finally {
      this.#inFlight.freePlace(entry)
    }
    if (result === undefined) return undefined
    this.#inFlight.setSettling(entry, true)
    this.#startNext(entry)
    const settled = await this.#settle.attempt({
      row,
      result,
      wasFailing: this.#failing.has(receiver),
      nextClaim:
        mayChain && entry.chain && !this.#closed
          ? { owner: this.#owner, leaseUntil: this.#leases.end() }
          : undefined,
    })
    const isBack = result.verdict.result !== 'retry'
    entry.responded = settled !== undefined && isBack
    if (isBack) this.#failing.delete(receiver)
    else this.#failing.add(receiver)
    if (settled?.pausedNow) this.#pausesWanted = true
    return settled?.next
  }

  /**
   * Waits for a place; returns whether the delivery may still be sent. The server may stop meanwhile, and
   * the receiver may be changed or paused.
   */
  async #isStillWanted(entry: Sending, turn: Promise<void>): Promise<boolean> {
    const { chain } = entry
    await turn
    return !this.#closed && entry.chain === chain
  }

  /** Calls the receiver; undefined if that is not possible, and the claim has ended without a call. */
  async #call(entry: Sending): Promise<CallResult | undefined> {
    const { row } = entry
    const target = await this.#deps.targets.of(receiverIn(row))
    if (target === undefined) {
      await this.#settle.awaitAddress(row)
      return undefined
    }
    const body = await this.#bodies.add(row)
    if (body === undefined) {
      await this.#settle.cancel(row)
      return undefined
    }
    // A process that stalled for so long may have lost its claim to another one that is already
    // calling. If it has not, this was not an attempt, and must not count towards giving the
    // delivery up. Once the time is up, the stop has already aborted the deliveries in flight.
    const isExpired = isoTime(this.#deps.clock.now()) >= (row.next_attempt_at ?? '')
    if (this.#isTimeUp || isExpired) {
      await this.#settle.release(row, { called: false })
      return undefined
    }
    return await callReceiver(this.#deps, target, {
      operation: row.kind,
      type: body.type,
      body: body.body,
      headers: { 'x-botstead-delivery': row.id, 'x-botstead-attempt': String(row.attempts) },
      suspect: suspectOf(row),
      signal: entry.abort.signal,
    })
  }

  /** As `call`, in the trace of the call that led to the delivery. */
  async #callTraced(tracing: Tracing, entry: Sending): Promise<CallResult | undefined> {
    const { row } = entry
    const conversation = orderingKeyOf(row)
    const span = tracing.begin('process deliveries', {
      kind: 'consumer',
      parent: row.traceparent,
      attributes: messagingAttributes('process', 'deliveries', {
        'messaging.message.id': row.id,
        ...(conversation !== undefined && { 'messaging.message.conversation_id': conversation }),
        'botstead.bot.id': row.bot_id,
        'botstead.delivery.kind': row.kind,
        'botstead.delivery.attempt': row.attempts,
      }),
    })
    if (conversation !== undefined) tracing.delivered.put(conversation, span.traceparent)
    try {
      const result = await span.run(() => this.#call(entry))
      if (result !== undefined && result.verdict.result !== 'delivered') {
        span.fail(result.verdict.result)
      }
      return result
    } finally {
      span.end()
    }
  }

  /** Sends one delivery of a paused receiver, without the rest of its queue. */
  async #sendAlone(row: DeliveryRow): Promise<boolean | undefined> {
    if (this.#closed) {
      await this.#settle.release(row, { called: false })
      return false
    }
    this.#failing.add(receiverKeyOf(row))
    return await this.#sendQueue(row, false)
  }

  /**
   * Called when the caches of a bot are stale, also because it may have been paused: its queues stop
   * after the current delivery.
   */
  #reconsider(botId: string): void {
    this.#deps.targets.forget(botId)
    for (const entry of this.#inFlight.entries) if (entry.row.bot_id === botId) entry.chain = false
    this.#wakeForReceivers()
  }
}
