import { type Receiver, receiverOf } from '../../domain/deliveries.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Db, Run, Tx } from '../../platform/db/schema.js'
import { groupBy } from '../../platform/group-by.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import type { Log } from '../../platform/telemetry/log.js'
import { lineOfReceiver } from '../bots/logs/index.js'
import { callReceiver } from '../calls/requests/index.js'
import type { Target, Targets } from '../calls/targets/index.js'
import type { Hosting } from '../hosting/index.js'
import * as claims from './claim-store.js'
import * as receivers from './receiver-store.js'
import type { EndingDeps, PausePolicy } from './settle.js'
import { type DeliveryRow, receiverKeyOf } from './store.js'

interface PausesDeps extends Pick<EndingDeps, 'writeLogLine'> {
  db: Db
  run: Run
  clock: Clock
  log: Log
  outgoing: Outgoing
  hosting: Pick<Hosting, 'send'>
  targets: Pick<Targets, 'of' | 'forget'>
  pausing: PausePolicy
  /** Claims the first delivery to a paused receiver; undefined if there is none. */
  claimFirst: (receiver: Receiver) => Promise<DeliveryRow | undefined>
  /** Sends a delivery; returns whether the receiver responded, undefined if it was not called. */
  send: (row: DeliveryRow) => Promise<boolean | undefined>
  /** Called when there may be deliveries to send again. */
  wake: () => void
}

/** Deliveries that are resumed in one transaction. */
const batchSize = 500
/** Maximum number of deliveries that one probe tries when none of them gets as far as a call. */
const maxTries = 20
/** A ping only checks whether the receiver responds. */
const pingTimeoutMs = 10_000

/** Ends the pauses of receivers: pings failed ones, and resumes parked deliveries. */
export function createPauses({
  db,
  run,
  clock,
  log,
  outgoing,
  hosting,
  targets,
  pausing,
  writeLogLine,
  claimFirst,
  send,
  wake,
}: PausesDeps) {
  const probes = new Set<Promise<void>>()
  const stopping = new AbortController()
  let nextAt: string | undefined

  async function respondsToPing(target: Target): Promise<boolean> {
    const { status } = await callReceiver(
      { outgoing, hosting, clock },
      { ...target, timeoutMs: Math.min(target.timeoutMs, pingTimeoutMs) },
      { operation: 'ping', type: 'ping', body: '{}', signal: stopping.signal },
    )
    return status !== null && status < 500
  }

  /** Whether the webhook of an app, which does not support pings, accepts its first delivery. */
  async function acceptsFirst(receiver: Receiver): Promise<boolean> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const first = await claimFirst(receiver)
      // While all that are left are in flight, nothing shows yet that the receiver is back.
      if (first === undefined) return !(await claims.hasPending(db, receiver))
      const isThere = await send(first)
      // A delivery whose subject was deleted says nothing about the receiver.
      if (isThere !== undefined) return isThere
      // Without an address the same delivery would be claimed again and again.
      if ((await targets.of(receiver)) === undefined) return false
    }
    return false
  }

  async function probe(receiver: Receiver): Promise<void> {
    // The cache may be older than the change that requested this ping.
    targets.forget(receiver.botId)
    const target = await targets.of(receiver)
    if (target === undefined) return
    if (!(await (target.plain ? acceptsFirst(receiver) : respondsToPing(target)))) return
    const resumed = await run(async (tx) => {
      // A manual pause that began meanwhile stays.
      if (!(await receivers.resume(tx, receiver, 'failures'))) return false
      await writeLogLine(tx, lineOfReceiver(receiver, 'info', 'it responds again, they continue.'))
      return true
    })
    if (!resumed) return
    log.info(receiver, 'the receiver responds again, deliveries continue')
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
   * Makes parked deliveries due again, some per transaction; the next start continues if the server
   * stops.
   */
  async function release(receiver: Receiver): Promise<void> {
    const now = isoTime(clock.now())
    const some = () => run((tx) => receivers.releaseSome(tx, receiver, now, batchSize))
    while (!stopping.signal.aborted && (await some()));
  }

  return {
    /** Starts due pings, which run in the background, and resumes parked deliveries. */
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

    /** ISO 8601 time of the next ping, as of the last look. */
    get nextLook(): string | undefined {
      return nextAt
    },

    /** Aborts pings in flight. */
    async stop(): Promise<void> {
      stopping.abort(new Error('The server stops.'))
      await Promise.all(probes)
    },
  }
}

/** Parks deliveries to paused receivers, unless their pause has just ended; returns how many. */
export async function parkPaused(
  tx: Tx,
  rows: readonly claims.ReadyDelivery[],
  now: string,
): Promise<number> {
  const groups = [...groupBy(rows, receiverKeyOf)]
  let parked = 0
  // In one order, so that processes do not deadlock.
  for (const [key, group] of groups.sort(([one], [other]) => (one < other ? -1 : 1))) {
    const ids = group.map(({ id }) => id)
    if (await receivers.holdPause(tx, receiverOf(key))) parked += await receivers.park(tx, ids, now)
  }
  return parked
}
