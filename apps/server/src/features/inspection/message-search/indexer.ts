import { performance } from 'node:perf_hooks'
import { toIndexText } from '@botstead/documents/text'
import type { Clock, Timers } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { idsSince } from '../../../platform/ids.js'
import type { Log } from '../../../platform/telemetry/log.js'
import {
  listTexts,
  listTextsBetween,
  type MessageText,
  textOf,
} from '../../conversations/messages/index.js'
import * as progress from './progress-store.js'
import type { WordEntry, WordIndex } from './word-index.js'

export interface IndexerDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  timers: Timers
  log: Log
  index: WordIndex
}

/** Messages of one transaction: a few milliseconds of work. */
const batchSize = 100
/** Characters of a message that are indexed. */
export const longestText = 20_000
/**
 * Milliseconds by which an id may be older than it becomes visible, and clocks of processes may differ. What is
 * newer is not indexed yet, because older ids may still appear beside it.
 */
const marginMs = 10_000
/** Milliseconds between two looks when everything is indexed, and after a failure. */
const idleMs = 2000
const failedMs = 30_000
/** A server is busy when its event loop works for more than this share of the time. */
const busyShare = 0.6
const busyMs = 1000
/** Milliseconds by which a start goes back: the clock may have been set back since. */
const stepBackMs = 60 * 60 * 1000
/** Milliseconds after which work that goes on is reported, again and again. */
const reportMs = 30_000

/**
 * Indexes the words of messages behind their backs: new messages cost nothing more. It follows their ids, in small
 * batches, and rests between them for longer than it works, and much longer while the server is busy.
 */
export function createIndexer(deps: IndexerDeps) {
  const { db, run, dialect, clock, timers, log, index } = deps
  let isStopped = false
  let cancel = () => {}
  let working: Promise<void> = Promise.resolve()
  let backlog: { since: number; reportedAt: number; messages: number } | undefined

  function entriesOf(rows: readonly MessageText[]): WordEntry[] {
    return rows.map(({ id, bot_id, conversation_id, payload }) => ({
      message_id: id,
      conversation_id,
      bot_id,
      words: toIndexText(textOf(decodeJson(payload), longestText)),
    }))
  }

  /** Indexes messages that were changed or scheduled; returns how many waited. */
  async function indexDue(): Promise<number> {
    const due = await progress.listDue(db, batchSize)
    if (due.length === 0) return 0
    const rows = await listTexts(db, [...new Set(due.map(({ message_id: id }) => id))])
    const entries = entriesOf(rows)
    await run(async (tx) => {
      await index.remove(tx, entries)
      await index.add(tx, entries)
      await progress.deleteDue(
        tx,
        due.map(({ number }) => number),
      )
    })
    return due.length
  }

  /** Indexes the next messages; returns how many. */
  async function indexNext(): Promise<number> {
    const last = await progress.readProgress(db)
    const writer = await dialect.oldestWriterSince(db)
    const horizon = Math.min(clock.now(), writer ?? Number.POSITIVE_INFINITY) - marginMs
    const rows = await listTextsBetween(db, last, idsSince('msg', horizon), batchSize)
    const end = rows.at(-1)
    if (end === undefined) return 0
    const entries = entriesOf(rows)
    await run(async (tx) => {
      // Another process may have been faster.
      if ((await progress.lockProgress(tx)) !== last) return
      await index.add(tx, entries)
      await progress.writeProgress(tx, end.id)
    })
    return rows.length
  }

  /** Does one batch of everything that waits; returns whether more may be left. */
  async function step(): Promise<boolean> {
    const counts = [await indexDue(), await indexNext()]
    const messages = counts.reduce((sum, count) => sum + count, 0)
    const isMore = counts.some((count) => count === batchSize)
    await report(messages, isMore)
    return isMore
  }

  async function report(messages: number, isMore: boolean): Promise<void> {
    const now = clock.now()
    if (isMore) {
      backlog ??= { since: now, reportedAt: now, messages: 0 }
      backlog.messages += messages
      if (now - backlog.reportedAt < reportMs) return
      backlog.reportedAt = now
      const lastId = await progress.readProgress(db)
      log.info(
        { messages: backlog.messages, lastId },
        'the words of messages are being indexed: older ones are not found by text yet',
      )
    } else if (backlog !== undefined) {
      const { since, reportedAt } = backlog
      backlog.messages += messages
      // What was never reported as being behind needs no end.
      if (reportedAt > since) {
        const durationMs = now - since
        log.info(
          { messages: backlog.messages, durationMs },
          'the words of all messages are indexed',
        )
      }
      backlog = undefined
    }
  }

  function schedule(milliseconds: number): void {
    if (isStopped) return
    const before = performance.eventLoopUtilization()
    cancel = timers.after(milliseconds, () => {
      // Measured while it rested, so that its own work does not count.
      const { utilization } = performance.eventLoopUtilization(before)
      working = work(utilization > busyShare)
    })
  }

  async function work(isBusy: boolean): Promise<void> {
    const start = performance.now()
    try {
      const isMore = await step()
      const worked = performance.now() - start
      schedule(isMore ? Math.max(isBusy ? busyMs : 0, Math.ceil(2 * worked)) : idleMs)
    } catch (err) {
      if (isStopped) return
      log.warn({ err }, 'messages cannot be indexed, trying again later')
      schedule(failedMs)
    }
  }

  return {
    step,

    async start(): Promise<void> {
      const from = idsSince('msg', clock.now() - stepBackMs)
      await run(
        async (tx) => {
          if ((await progress.lockProgress(tx)) > from) await progress.writeProgress(tx, from)
        },
        { mayUseReserve: true },
      )
      schedule(idleMs)
    },

    async stop(): Promise<void> {
      isStopped = true
      cancel()
      await working
    },
  }
}
