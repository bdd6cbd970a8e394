import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { FeatureWith } from '../../feature.js'
import { applyQuota, type QuotasDeps, quotasOf, requireRoomFor, type Use } from './quotas.js'
import { createRunningTime, type RunningTime } from './running.js'
import * as store from './store.js'

export { quotasOf, type ServerQuotas, textOf } from './quotas.js'
export {
  deleteMonths,
  findLevel,
  isOfBots,
  listLevelsOfBots,
  listQuotasOfBots,
  putQuota,
  type StoredLevel,
  type UsageKind,
  type UsageOwner,
} from './store.js'
export type { QuotaType } from './table.js'

interface Deps extends QuotasDeps {
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

/** Kind of the hourly job. */
const recordJob = 'usage.record'
const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs
/** So many that the job survives a longer failure, for example of a full disk. */
const maxAttempts = 1000
/** Days for which usage is kept: the months of `listUsageHistory`, and the one that has begun. */
const keptDays = 400
const rowsAtOnce = 500

/** Counts what bots use, and applies the quotas of workspaces and bots. */
export function createMetering(deps: Deps): FeatureWith<'jobs'> & { meter: Meter } {
  const { run, clock, queue } = deps
  const today = () => isoTime(clock.now()).slice(0, 10)
  const running = createRunningTime({
    ...deps,
    add: (times) =>
      run(async (tx) => {
        const day = today()
        for (const { botId, kind, ms } of times) {
          await store.addToDay(tx, { botId, kind, day, value: ms })
        }
      }),
  })

  async function enqueue(tx: Tx, runAt: number): Promise<void> {
    const job = { kind: recordJob, key: 'all', payload: {}, runAt, maxAttempts, deadlineMs: hourMs }
    await queue.enqueue(tx, job)
  }

  const record: JobHandler = {
    everyMs: hourMs,
    handler: async (_, { signal }) => {
      for (const storeLevels of [store.storeLevelsOfWorkspaces, store.storeLevelsOfBots]) {
        let last: string | undefined = ''
        while (last !== undefined) {
          const after: string = last
          last = await run((tx) => storeLevels(tx, after, rowsAtOnce, today()))
          signal.throwIfAborted()
        }
      }
      // Totals of months are summed up again: also those that a process with other settings did not keep.
      await run((tx) => store.deleteMonths(tx))
    },
    onDone: async (tx) => await enqueue(tx, clock.now() + hourMs),
  }

  return {
    name: 'metering',
    meter: {
      count: async (tx, botId, kind) => {
        await store.addToDay(tx, { botId, kind, day: today(), value: 1 })
      },
      call: (tx, botId, kind, mayRefuse) =>
        countCall(deps, tx, { botId, kind, mayRefuse }, today()),
      begin: running.begin,
      requireStorage: (tx, ...args) => requireStorage(deps, tx, ...args),
      requireRoomFor: (...args) => requireRoomFor(deps, ...args),
    },
    jobs: { [recordJob]: record },
    schedule: (tx) => enqueue(tx, clock.now()),
    sweeps: [
      (tx) => store.mergeShards(tx, rowsAtOnce, isoTime(clock.now() - dayMs).slice(0, 10)),
      (tx) =>
        store.deleteOldDays(tx, rowsAtOnce, isoTime(clock.now() - keptDays * dayMs).slice(0, 10)),
    ],
    on: {
      'bot.transferred': (tx, { botId, from, to }) => store.moveQuotas(tx, botId, { from, to }),
      'bot.removed': (tx, { botId, workspaceId }) =>
        store.deleteQuotasOfBot(tx, workspaceId, botId),
      'workspace.removed': (tx, { workspaceId }) => store.deleteOfWorkspace(tx, workspaceId),
    },
    start: async () => running.start(),
    stop: () => running.stop(),
  }
}

interface Call {
  botId: string
  kind: 'user_messages' | 'events'
  mayRefuse: boolean
}

async function countCall(
  deps: QuotasDeps,
  tx: Tx,
  { botId, kind, mayRefuse }: Call,
  day: string,
): Promise<void> {
  const counted = await store.addToDay.first(tx, { botId, kind, day, value: 1 })
  if (counted === undefined) return
  const type = 'invocation_calls'
  if (counted.hasQuota === 0 && deps.serverQuotas[type] === undefined) return
  const { workspaceId } = counted
  const month = day.slice(0, 7)
  const quotas = await quotasOf(deps, tx, workspaceId, botId)
  for (const of of ['bot', 'workspace'] as const) {
    const allowed = quotas[of].get(type)
    if (allowed === undefined) continue
    const owner = { workspaceId, botId: of === 'bot' ? botId : '' }
    const used = await store.addToMonth(tx, owner, month, 1)
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
