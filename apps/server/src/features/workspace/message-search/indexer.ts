import { performance } from 'node:perf_hooks'
import { toIndexText, unifyForms } from '@botstead/documents/text'
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

/** Messages of one transaction at most, and characters of their payloads: a few milliseconds of work. */
const batchSize = 100
const batchCharacters = 100_000
/** Characters of a message that are indexed. */
export const maxTextLength = 20_000
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

  /** Other work has its turn between two messages: some scripts take much time. */
  async function entriesOf(rows: readonly MessageText[]): Promise<WordEntry[]> {
    const entries: WordEntry[] = []
    for (const { id, bot_id, conversation_id, payload } of rows) {
      const words = toIndexText(indexedText(payload))
      entries.push({ message_id: id, conversation_id, bot_id, words })
      await new Promise((resolve) => setImmediate(resolve))
    }
    return entries
  }

  /** Indexes messages that were changed or scheduled. */
  async function indexDue(): Promise<Batch> {
    const due = await progress.listDue(db, batchSize)
    if (due.length === 0) return nothing
    const all = await listTexts(db, [...new Set(due.map(({ message_id: id }) => id))])
    const rows = batchOf(all)
    const left = new Set(all.slice(rows.length).map(({ id }) => id))
    const done = due.filter(({ message_id: id }) => !left.has(id))
    const entries = await entriesOf(rows)
    await run(async (tx) => {
      await index.remove(tx, entries)
      await index.add(tx, entries)
      await progress.deleteDue(
        tx,
        done.map(({ number }) => number),
      )
    })
    return { messages: done.length, isMore: due.length === batchSize || left.size > 0 }
  }

  /** Indexes the next messages. */
  async function indexNext(): Promise<Batch> {
    const last = await progress.readProgress(db)
    const writer = await dialect.oldestWriterSince(db)
    const horizon = Math.min(clock.now(), writer ?? Number.POSITIVE_INFINITY) - marginMs
    const all = await listTextsBetween(db, last, idsSince('msg', horizon), batchSize)
    const rows = batchOf(all)
    const end = rows.at(-1)
    if (end === undefined) return nothing
    const entries = await entriesOf(rows)
    await run(async (tx) => {
      // Another process may have been faster.
      if ((await progress.lockProgress(tx)) !== last) return
      await index.add(tx, entries)
      await progress.writeProgress(tx, end.id)
    })
    const isMore = all.length === batchSize || rows.length < all.length
    return { messages: rows.length, isMore }
  }

  /** Does one batch of everything that waits; returns whether more may be left. */
  async function step(): Promise<boolean> {
    const batches = [await indexDue(), await indexNext()]
    const messages = batches.reduce((sum, batch) => sum + batch.messages, 0)
    const isMore = batches.some((batch) => batch.isMore)
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
      // A lag that was never reported needs no report of its end.
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

interface Batch {
  messages: number
  /** Whether more may be left. */
  isMore: boolean
}

const nothing: Batch = { messages: 0, isMore: false }

/** The messages for one transaction, at least one. */
function batchOf(rows: readonly MessageText[]): readonly MessageText[] {
  let characters = 0
  const end = rows.findIndex(({ payload }) => {
    characters += payload.length
    return characters > batchCharacters
  })
  return end < 0 ? rows : rows.slice(0, Math.max(end, 1))
}

/** The text of a message that is indexed. Unified first, in which some characters become many. */
function indexedText(payload: string): string {
  return unifyForms(textOf(decodeJson(payload), maxTextLength)).slice(0, maxTextLength)
}
