import type { EventBus } from '../bus/event-bus.js'
import { type Clock, isoTime } from '../clock.js'
import { encodeJson } from '../db/columns.js'
import type { Db, Tx } from '../db/schema.js'
import { afterCommit } from '../db/transaction.js'
import type { Ids } from '../ids.js'
import { messagingAttributes, type Tracing } from '../telemetry/tracing.js'
import { countJobs, deleteDeadJobs, findDeadJobs, reviveJob } from './dead-store.js'
import { storeJob } from './enqueue.js'
import { readPayload } from './payload.js'

/** Order among jobs of one kind that are due. A lower one runs only when no higher one is due. */
type JobPriority = 'high' | 'normal' | 'low'

const storedPriority: Record<JobPriority, number> = { high: 0, normal: 1, low: 2 }

/** A job to enqueue, as its caller describes it. */
export interface NewJob {
  /** Kind of the handler. */
  kind: string
  /** Subject of the work, such as the id of a file: there is one job per kind and key. */
  key?: string
  /** Input of the handler, as JSON can express it. Ids, not contents. */
  payload: unknown
  /** Earliest time to run, in milliseconds since the Unix epoch. Default now. */
  runAt?: number
  /** Attempts before the job is given up, 1 or more. Default 5. */
  maxAttempts?: number
  /** Milliseconds that one attempt may take. Default 600,000. */
  deadlineMs?: number
  /** Default `normal`. */
  priority?: JobPriority
  /** For whom the work is, if the handler of the kind has `perScope`. */
  scope?: string
}

/** The jobs of one kind, counted. */
interface JobStats {
  kind: string
  /** Those that wait for their time or for a worker. */
  waiting: number
  running: number
  dead: number
  /** Milliseconds that the first of the waiting jobs has been due; 0 if none is. */
  oldestWaitingAge: number
}

/** A job that was given up. */
export interface DeadJob {
  id: string
  kind: string
  /** Undefined if it was enqueued without. */
  key: string | undefined
  payload: unknown
  attempts: number
  lastError: string
  /** ISO 8601 time of its end. */
  diedAt: string
}

/** The jobs of a database. */
export interface Queue {
  /**
   * Adds a job in the transaction of the change that calls for it; workers are woken after the
   * commit. Returns its id. With a key there is never more than one job: enqueued again while it
   * waits, or after it was given up, it gets the new payload, time and all attempts (the earlier time
   * and the better priority win); enqueued again while it runs, it runs once more afterwards, with
   * the last payload, however often that was. The same key never runs twice at once.
   */
  enqueue(tx: Tx, job: NewJob): Promise<string>
  /** The kinds of jobs there are, by name. */
  stats(): Promise<JobStats[]>
  /** Jobs that were given up, last first: at most `limit`, by default 100. */
  listDead(filter?: { kind?: string; limit?: number }): Promise<DeadJob[]>
  /** Gives a job that was given up all its attempts back. False if it is not there or not dead. */
  requeueDead(tx: Tx, id: string): Promise<boolean>
  /** Deletes jobs given up before an ISO 8601 time, at most `limit`. Returns how many. */
  trimDead(tx: Tx, before: string, limit: number): Promise<number>
}

/** Topic of the hints that there is something to do; the key is the kind of the jobs. */
export const jobsTopic = 'jobs'

/** Wakes the workers of a kind. Called after the commit. */
export function announceJobs(bus: EventBus, kind: string): void {
  bus.publish({ topic: jobsTopic, key: kind })
}

export interface QueueDeps {
  db: Db
  bus: EventBus
  clock: Clock
  ids: Ids
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
}

/** Makes the queue of a database. Jobs are worked off by the runners of all processes. */
export function createQueue({ db, bus, clock, ids, tracing }: QueueDeps): Queue {
  function wakeAfter(tx: Tx, kind: string): void {
    afterCommit(tx, () => announceJobs(bus, kind))
  }

  return {
    async enqueue(tx, job) {
      const { kind, key, payload, maxAttempts = 5, deadlineMs = 600_000 } = job
      requireCount('maxAttempts', maxAttempts)
      requireCount('deadlineMs', deadlineMs)
      const now = isoTime(clock.now())
      const own = ids.next('job')
      // A job for later is often one that enqueues itself again, whose trace would never end.
      const isPartOfTrace = tracing?.current() !== undefined && job.runAt === undefined
      const span = isPartOfTrace
        ? tracing?.begin('send jobs', {
            kind: 'producer',
            attributes: messagingAttributes('send', 'jobs', {
              'messaging.message.id': own,
              'botstead.job.kind': kind,
            }),
          })
        : undefined
      if (span !== undefined) afterCommit(tx, () => span.end())
      const id = await storeJob(tx, {
        id: own,
        kind,
        key: key ?? null,
        payload: encodeJson(payload),
        scope: job.scope ?? '',
        priority: storedPriority[job.priority ?? 'normal'],
        dueAt: job.runAt === undefined ? now : isoTime(job.runAt),
        maxAttempts,
        deadlineMilliseconds: deadlineMs,
        traceparent: span?.traceparent ?? null,
        now,
      })
      // Also for a later time: the worker has to set its alarm.
      wakeAfter(tx, kind)
      return id
    },
    async stats() {
      const now = clock.now()
      const kinds = new Map<string, JobStats>()
      for (const { kind, state, count, earliest } of await countJobs(db)) {
        const empty = { kind, waiting: 0, running: 0, dead: 0, oldestWaitingAge: 0 }
        const stats = kinds.get(kind) ?? empty
        stats[state] = count
        if (state === 'waiting' && earliest !== null) {
          stats.oldestWaitingAge = Math.max(0, now - Date.parse(earliest))
        }
        kinds.set(kind, stats)
      }
      return [...kinds.values()]
    },
    async listDead({ kind, limit = 100 } = {}) {
      const rows = await findDeadJobs(db, kind, limit)
      return rows.map((row) => ({
        id: row.id,
        kind: row.kind,
        key: row.key ?? undefined,
        payload: readPayload(row.payload).payload,
        attempts: row.attempts,
        lastError: row.last_error ?? '',
        diedAt: row.updated_at,
      }))
    },
    async requeueDead(tx, id) {
      const kind = await reviveJob(tx, id, isoTime(clock.now()))
      if (kind !== undefined) wakeAfter(tx, kind)
      return kind !== undefined
    },
    trimDead: deleteDeadJobs,
  }
}

function requireCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`${name} is a whole number from 1, not ${value}`)
  }
}
