import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { fieldError } from '../../../domain/refusals.js'
import { timeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { createGate } from '../../../platform/workers/gate.js'
import type { BotsService } from '../../bots/bots/index.js'
import { sumCounts } from '../observations/index.js'
import { countDay, type Figures, findActiveDay, noFigures, periodOf } from './counting.js'
import * as store from './store.js'

/** The figures of a bot on a day, with what the bot itself counted. */
export interface DayRecord {
  /** Day in UTC, such as `2026-03-01`. */
  day: string
  figures: Figures
  /** Sums of what the bot counted, by name. */
  customEvents: Record<string, number>
}

export interface AnalyticsDeps {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  bots: Pick<BotsService, 'requireIn' | 'workspaceOf' | 'listIdsAfter'>
}

const dayMs = 24 * 60 * 60 * 1000
/** Maximum number of days of a query. */
const maxDays = 93
/** Milliseconds after a day until everything that was created on it has committed. */
const settledMs = 5 * 60 * 1000
/** Milliseconds that one request may count. */
const patienceMs = 20_000
/** Maximum number of requests of one process that count at a time, and that wait. */
const countsAtOnce = 2
const waitingCounts = 20
/** Days that the nightly job counts, in case that it did not run for a night or two. */
const daysBack = 3
/** Bots that the nightly job lists at once. */
const botsAtOnce = 200

/** Figures of bots by day. Days that are over are counted once, from the messages, events and users of that day. */
export function createAnalyticsService({ db, run, clock, ids, bots }: AnalyticsDeps) {
  const gate = createGate(
    countsAtOnce,
    waitingCounts,
    () =>
      new ApiError('RateLimited', 'Too many requests for analytics are being counted: repeat it.'),
  )

  const dayOf = (time: number): string => isoTime(time).slice(0, 10)
  const isOver = (day: string): boolean =>
    clock.now() >= Date.parse(periodOf(day).before) + settledMs

  /** Counts a day, and stores the result if the day is over and no import changed it meanwhile. */
  async function count(botId: string, day: string, throwIfEnded: () => void): Promise<Figures> {
    if (!isOver(day)) return await countDay(db, botId, day, throwIfEnded)
    // The rows of a deleted bot are deleted a moment after it: no row may be added then.
    if ((await bots.workspaceOf(botId)) === undefined) return noFigures
    const countId = ids.next('usage')
    await run((tx) => store.putDay(tx, { botId, day, figures: countId }))
    const figures = await countDay(db, botId, day, throwIfEnded)
    await run((tx) => store.finishDay(tx, { botId, day, figures: encodeJson(figures) }, countId))
    return figures
  }

  /** The figures of the days on which something happened, from `first` to `last`, by day. */
  async function figuresOf(
    botId: string,
    first: string,
    last: string,
    throwIfEnded: () => void,
  ): Promise<Map<string, Figures>> {
    const days = new Map<string, Figures>()
    for (const { day, figures } of await store.listDays(db, botId, first, last)) {
      if (figures.startsWith('{')) days.set(day, decodeJson<Figures>(figures))
    }
    const { before } = periodOf(last)
    let since = periodOf(first).since
    while (since < before) {
      const day = since.slice(0, 10)
      if (!days.has(day)) {
        const active = await findActiveDay(db, botId, { since, before })
        if (active === undefined) break
        if (!days.has(active)) days.set(active, await count(botId, active, throwIfEnded))
        since = periodOf(active).before
      } else since = periodOf(day).before
    }
    return days
  }

  return {
    async list(
      actor: WorkspaceActor,
      botId: string,
      query: Query<typeof contract.botAnalytics.get>,
      signal: AbortSignal,
    ): Promise<DayRecord[]> {
      await bots.requireIn(actor, botId)
      const { first, last } = rangeOf(query, dayOf(clock.now()))
      if (first > last) return []
      const leave = await gate.enter(signal)
      try {
        const deadline = performance.now() + patienceMs
        const figures = await figuresOf(botId, first, last, () => {
          signal.throwIfAborted()
          if (performance.now() < deadline) return
          throw new ApiError(
            'OperationTimeout',
            'Not all days could be counted in time. Those that were are stored: repeat the call.',
          )
        })
        const counts = await sumCounts(db, botId, first, last)
        return daysFrom(first, last).map((day) => ({
          day,
          figures: figures.get(day) ?? noFigures,
          customEvents: counts.get(day) ?? {},
        }))
      } finally {
        leave()
      }
    },

    /** Discards the figures of days to which messages were added later, so that these days are counted again. */
    async recount(tx: Tx, botId: string, days: Iterable<string>): Promise<void> {
      const today = dayOf(clock.now())
      for (const day of [...days].sort()) {
        if (day < today) await store.putDay(tx, { botId, day, figures: ids.next('usage') })
      }
    },

    /** Counts the last days of all bots, before events of them are deleted. */
    async countAll(signal: AbortSignal): Promise<void> {
      const last = dayOf(clock.now() - dayMs)
      const first = dayOf(clock.now() - daysBack * dayMs)
      let found: string[] = []
      do {
        found = await bots.listIdsAfter(found.at(-1) ?? '', botsAtOnce)
        for (const botId of found) {
          await figuresOf(botId, first, last, () => signal.throwIfAborted())
          signal.throwIfAborted()
        }
      } while (found.length === botsAtOnce)
    },

    /** Time at which today is over and can be counted, in milliseconds since the Unix epoch. */
    nextCountAt(): number {
      return Date.parse(periodOf(dayOf(clock.now())).before) + 2 * settledMs
    },

    /** Deletes the rows of a deleted bot. */
    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => store.deleteSomeOf(tx, botId, limit))
    },
  }
}

/** The days of a query, without those in the future. */
function rangeOf(
  { startDate, endDate }: Query<typeof contract.botAnalytics.get>,
  today: string,
): { first: string; last: string } {
  const first = (timeOf('startDate', startDate, 'beginning') ?? today).slice(0, 10)
  const last = (timeOf('endDate', endDate, 'end') ?? today).slice(0, 10)
  if (last < first) throw fieldError('query.endDate', 'must not be before query.startDate.')
  if (Date.parse(last) - Date.parse(first) >= maxDays * dayMs) {
    throw fieldError('query.endDate', `must be at most ${maxDays - 1} days after query.startDate.`)
  }
  return { first, last: last < today ? last : today }
}

function daysFrom(first: string, last: string): string[] {
  const days: string[] = []
  for (let time = Date.parse(first); time <= Date.parse(last); time += dayMs) {
    days.push(isoTime(time).slice(0, 10))
  }
  return days
}
