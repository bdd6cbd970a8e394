import type { Receiver } from '../../domain/receiver.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Db, Run } from '../../platform/db/schema.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import type { Log } from '../../platform/telemetry/log.js'
import { lineOfReceiver } from '../bots/logs/index.js'
import { callReceiver } from '../calls/requests/index.js'
import type { Target, Targets } from '../calls/targets/index.js'
import * as receivers from './receiver-store.js'
import type { PausePolicy, SettleDeps } from './settle.js'
import type { DeliveryRow } from './store.js'

interface PausesDeps {
  db: Db
  run: Run
  clock: Clock
  log: Log
  outgoing: Outgoing
  targets: Targets
  pausing: PausePolicy
  note: SettleDeps['note']
  /** Claims the oldest of what waits for a paused receiver; undefined if nothing does. */
  claimFirst: (receiver: Receiver) => Promise<DeliveryRow | undefined>
  /** Sends a delivery and answers whether the receiver is there; undefined if it was not called. */
  send: (row: DeliveryRow) => Promise<boolean | undefined>
  /** Called when there may be something to send again. */
  wake: () => void
}

/** Deliveries that are put back in one transaction. */
const batchSize = 500
/** Deliveries that one probe tries where none of them gets as far as a call. */
const mostTries = 20
/** A ping says only that somebody is there. */
const pingTimeoutMs = 10_000

/** Ends the pauses of receivers: pings those that failed, and puts back what was set aside. */
export function createPauses({
  db,
  run,
  clock,
  log,
  outgoing,
  targets,
  pausing,
  note,
  claimFirst,
  send,
  wake,
}: PausesDeps) {
  const probes = new Set<Promise<void>>()
  const stopping = new AbortController()
  let nextAt: string | undefined

  async function answersPing(target: Target): Promise<boolean> {
    const { status } = await callReceiver(
      { outgoing, clock },
      { ...target, timeoutMs: Math.min(target.timeoutMs, pingTimeoutMs) },
      { operation: 'ping', type: 'ping', body: '{}', signal: stopping.signal },
    )
    return status !== null && status < 500
  }

  /** Whether the webhook of an app, which knows no pings, takes what waits first. */
  async function takesFirst(receiver: Receiver): Promise<boolean> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const first = await claimFirst(receiver)
      if (first === undefined) return true
      const isThere = await send(first)
      // What had nothing to tell any more says nothing of the receiver either.
      if (isThere !== undefined) return isThere
      // Who has lost its address meanwhile would be handed the same delivery again and again.
      if ((await targets.of(receiver)) === undefined) return false
    }
    return false
  }

  async function probe(receiver: Receiver): Promise<void> {
    // What is remembered may be older than the change that asked for this ping.
    targets.forget(receiver.botId)
    const target = await targets.of(receiver)
    if (target === undefined) return
    if (!(await (target.plain ? takesFirst(receiver) : answersPing(target)))) return
    const resumed = await run(async (tx) => {
      // Whoever paused it by hand meanwhile is not overruled.
      if (!(await receivers.resume(tx, receiver, 'failures'))) return false
      await note(tx, lineOfReceiver(receiver, 'info', 'it answers again, they go on.'))
      return true
    })
    if (!resumed) return
    log.info(receiver, 'the receiver answers again, deliveries go on')
    wake()
  }

  function begin(receiver: Receiver): void {
    const running = probe(receiver)
      .catch((err: unknown) => {
        if (stopping.signal.aborted) return
        log.warn({ err, ...receiver }, 'a paused receiver cannot be pinged')
      })
      .finally(() => probes.delete(running))
    probes.add(running)
  }

  /**
   * Moves what was set aside back to where it is claimed, some per transaction; what is left when the
   * server stops, the next one moves.
   */
  async function release(receiver: Receiver): Promise<void> {
    const now = isoTime(clock.now())
    const some = () => run((tx) => receivers.releaseSome(tx, receiver, now, batchSize))
    while (!stopping.signal.aborted && (await some()));
  }

  return {
    /** Does what is due now; pings go on beside. */
    async look(): Promise<void> {
      for (const receiver of await receivers.listReleasing(db)) await release(receiver)
      nextAt = await receivers.findNextProbe(db)
      const now = clock.now()
      if (nextAt === undefined || Date.parse(nextAt) > now) return
      const after = isoTime(now + pausing.probeEveryMs)
      for (const receiver of await run((tx) => receivers.claimProbes(tx, isoTime(now), after))) {
        begin(receiver)
      }
      nextAt = await receivers.findNextProbe(db)
    },

    /** ISO 8601 time of the next ping, as the last look found it. */
    get nextLook(): string | undefined {
      return nextAt
    },

    /** Breaks off the pings that are on the way. */
    async stop(): Promise<void> {
      stopping.abort(new Error('The server stops.'))
      await Promise.all(probes)
    },
  }
}
