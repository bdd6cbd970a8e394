import type { Port, Ports } from '../../../domain/ports.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import { purge } from '../../../platform/db/purge.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { FeatureWith } from '../../feature.js'
import { applyQuota, type QuotasDeps, quotasOf, requireRoomFor, type Use } from './quotas.js'
import { createRunningTime, type RunningTime } from './running.js'
import * as store from './store.js'

export { type QuotaType, quotasOf, type ServerQuotas, textOf } from './quotas.js'
export {
  type DayFilter,
  deleteMonths,
  findDay,
  type Level,
  lastByBot,
  listDay,
  listQuotasOfBots,
  monthsBefore,
  pageDays,
  putLevels,
  putQuota,
  type SeenBots,
  type StoredLevel,
  sumByBot,
  sumByDay,
  type UsageKind,
  type UsageOwner,
} from './store.js'

interface Deps extends QuotasDeps {
  ports: Pick<Ports, 'open'>
  run: Run
  clock: Clock
  timers: Timers
  log: Log
  queue: Queue
}

/** Bytes of files. */
interface FileBytes {
  storage: number
  vector: number
}

/** What bots use is counted with it, and what is too much refused. */
export interface Meter {
  /** Finds the workspace of a bot. */
  placeOf: Port<store.PlaceOfBot>
  /** Counts something that has no quota, in the transaction in which it happens. */
  count(tx: Tx, botId: string, kind: 'bot_messages' | 'action_calls'): Promise<void>
  /**
   * Counts a message of a user or another event of a bot, in the transaction that stores it.
   * @param mayRefuse false for what the server itself promised: it is counted, and never refused
   * @throws ApiError `QuotaExceeded`
   */
  call(tx: Tx, botId: string, kind: 'user_messages' | 'events', mayRefuse: boolean): Promise<void>
  /** Counts the time until the function that it returns is called. */
  begin: RunningTime['begin']
  /**
   * Applies the quotas of files to a change of a bot in a workspace, which holds the totals locked.
   * @throws ApiError `QuotaExceeded`
   */
  requireStorage(
    tx: Tx,
    owner: store.UsageOwner,
    change: FileBytes,
    totals: { bot?: FileBytes; workspace: FileBytes },
  ): Promise<void>
  /** See `requireRoomFor`. */
  requireRoomFor(
    ...args: Parameters<typeof requireRoomFor> extends [unknown, ...infer Rest] ? Rest : never
  ): Promise<void>
}

const dayMs = 24 * 60 * 60 * 1000
/** Kind of the job that deletes the days of a deleted workspace, whose id is its key. */
const purgeJob = 'usage.purge'
/** Milliseconds after which what was counted at the same time is stored. */
const purgeDelay = 10_000
/** Days for which usage is kept: the months of `listUsageHistory`, and the one that has begun. */
const keptDays = 400
const rowsAtOnce = 500

/** Counts what bots use, and applies the quotas of workspaces and bots. */
export function createMetering(deps: Deps): FeatureWith<'jobs'> & { meter: Meter } {
  const { run, clock, queue } = deps
  const placeOf = deps.ports.open<store.PlaceOfBot>('metering: the workspaces of bots')
  const addToDay = store.createAddToDay((...args) => placeOf.call(...args))
  const dayBefore = (days: number) => isoTime(clock.now() - days * dayMs).slice(0, 10)
  const running = createRunningTime({
    ...deps,
    add: (times) =>
      run(async (tx) => {
        const day = dayBefore(0)
        for (const { botId, kind, ms } of times) {
          await addToDay(tx, { botId, kind, day, value: ms })
        }
      }),
  })

  const purgeDays: JobHandler<{ workspaceId: string }> = {
    mayUseReserve: true,
    handler: async ({ payload: { workspaceId } }) =>
      await purge(run, (tx, limit) => store.deleteDaysOf(tx, workspaceId, limit)),
  }

  async function removeWorkspace(tx: Tx, workspaceId: string): Promise<void> {
    await store.deleteOfWorkspace(tx, workspaceId)
    const runAt = clock.now() + purgeDelay
    await queue.enqueue(tx, { kind: purgeJob, key: workspaceId, payload: { workspaceId }, runAt })
  }

  return {
    name: 'metering',
    meter: {
      placeOf,
      count: async (tx, botId, kind) => {
        await addToDay(tx, { botId, kind, day: dayBefore(0), value: 1 })
      },
      call: async (tx, botId, kind, mayRefuse) => {
        const day = dayBefore(0)
        const counted = await addToDay.first(tx, { botId, kind, day, value: 1 })
        if (counted !== undefined) await applyCall(deps, tx, { ...counted, botId, mayRefuse }, day)
      },
      begin: running.begin,
      requireStorage: (tx, ...args) => requireStorage(deps, tx, ...args),
      requireRoomFor: (...args) => requireRoomFor(deps, ...args),
    },
    jobs: { [purgeJob]: purgeDays },
    sweeps: [
      // The transactions that wrote into the rows of yesterday and before have ended.
      (tx) => store.mergeShards(tx, rowsAtOnce, dayBefore(1)),
      (tx) => store.deleteOldDays(tx, rowsAtOnce, dayBefore(keptDays)),
    ],
    on: {
      'bot.transferred': (tx, { botId, from, to }) => store.moveQuotas(tx, botId, { from, to }),
      'bot.removed': (tx, { botId }) => store.deleteQuotasOfBot(tx, botId),
      'workspace.removed': (tx, { workspaceId }) => removeWorkspace(tx, workspaceId),
    },
    start: async () => running.start(),
    stop: () => running.stop(),
  }
}

interface Call extends store.Counted {
  botId: string
  mayRefuse: boolean
}

/** Applies the quotas of calls to one that was counted. */
async function applyCall(
  deps: QuotasDeps,
  tx: Tx,
  { botId, workspaceId, hasQuota, mayRefuse }: Call,
  day: string,
): Promise<void> {
  const type = 'invocation_calls'
  if (hasQuota === 0 && deps.serverQuotas[type] === undefined) return
  const quotas = await quotasOf(deps, tx, workspaceId, botId)
  for (const of of ['bot', 'workspace'] as const) {
    const allowed = quotas[of].get(type)
    if (allowed === undefined) continue
    const owner = { workspaceId, botId: of === 'bot' ? botId : '' }
    const used = await store.addToMonth(tx, owner, day.slice(0, 7), 1)
    await applyQuota(deps, tx, botId, { type, of, used, added: 1, allowed }, mayRefuse)
  }
}

const fileQuotas = [
  ['storage_count', 'storage'],
  ['knowledgebase_vector_storage', 'vector'],
] as const

/** See `Meter`. */
export async function requireStorage(
  deps: QuotasDeps,
  tx: Tx,
  { workspaceId, botId }: store.UsageOwner,
  change: FileBytes,
  totals: { bot?: FileBytes; workspace: FileBytes },
): Promise<void> {
  if (change.storage <= 0 && change.vector <= 0) return
  const quotas = await quotasOf(deps, tx, workspaceId, botId)
  for (const [type, member] of fileQuotas) {
    for (const of of ['bot', 'workspace'] as const) {
      const allowed = quotas[of].get(type)
      const total = totals[of]
      if (allowed === undefined || total === undefined) continue
      const use: Use = { type, of, used: total[member], added: change[member], allowed }
      await applyQuota(deps, tx, botId, use)
    }
  }
}
