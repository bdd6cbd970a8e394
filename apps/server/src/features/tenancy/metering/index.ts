import type { Port, Ports } from '../../../domain/ports.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { addToTotal, type Totals } from '../../../platform/db/transaction.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { FeatureWith } from '../../feature.js'
import {
  applyQuota,
  type QuotasDeps,
  type QuotaType,
  quotasOf,
  requireRoomFor,
  type Use,
} from './quotas.js'
import { createRunningTime, type RunningTime } from './running.js'
import * as store from './store.js'

export { type QuotaType, quotasOf, type ServerQuotas, textOf } from './quotas.js'
export {
  callKinds,
  type DayFilter,
  daysOfMonth,
  deleteMonths,
  findDay,
  type Gauge,
  type GaugeKind,
  lastByBot,
  listDay,
  listQuotasOfBots,
  monthsBefore,
  pageDays,
  putGauges,
  putQuota,
  type SeenBots,
  sumByBot,
  sumByDay,
  sumCalls,
  type UsageKind,
  type UsageOwner,
} from './store.js'

interface Deps extends QuotasDeps {
  db: Db
  ports: Pick<Ports, 'open'>
  run: Run
  clock: Clock
  timers: Timers
  log: Log
  queue: Queue
}

/** Bytes of files, or a change of them. */
interface FileBytes {
  storage: number
  /** Of indexed files. */
  vector: number
}

/** A message of a user, or another event of a bot. */
interface Call {
  botId: string
  kind: 'user_messages' | 'events'
  /** Whether it has a quota that people set, by the profile of the bot. */
  hasQuota: boolean
  /** Whether the server itself promised it: it is counted, and never refused. */
  isPromised?: boolean
}

/** Counts the usage of bots, and refuses what exceeds their quotas. */
export interface Meter {
  /** Selects the workspace of a bot. */
  workspaceOfBot: Port<store.SelectWorkspaceOfBot>
  /** Counts something that has no quota, in the transaction in which it happens. */
  count(tx: Tx, botId: string, kind: 'bot_messages' | 'action_calls'): void
  /**
   * Counts a message of a user or another event of a bot, in the transaction that stores it.
   * @throws ApiError `QuotaExceeded`
   */
  call(tx: Tx, call: Call): Promise<void>
  /** Whether the calls of a bot have a quota that people set. */
  hasCallQuota(owner: store.UsageOwner): Promise<boolean>
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
  /**
   * Applies the quota of a workspace to the creation of one more object of a type.
   * @param count counts the objects that there are
   * @throws ApiError `QuotaExceeded`
   */
  requireRoomFor(
    tx: Tx,
    workspaceId: string,
    type: QuotaType,
    count: () => Promise<number>,
  ): Promise<void>
}

const dayMs = 24 * 60 * 60 * 1000
/** Kind of the job that deletes the days of a deleted workspace, whose id is its key. */
const purgeJob = 'usage.purge'
/** Milliseconds after which counts of concurrent transactions are stored. */
const purgeDelay = 10_000
/** Days for which usage is kept: the months of `listUsageHistory`, and the one that has begun. */
const keptDays = 400
const rowsAtOnce = 500

/** Counts what bots use, and applies the quotas of workspaces and bots. */
export function createMetering(deps: Deps): FeatureWith<'jobs'> & { meter: Meter } {
  const { run, clock, queue } = deps
  const workspaceOfBot = deps.ports.open<store.SelectWorkspaceOfBot>(
    'metering: the workspaces of bots',
  )
  const addToDay = store.createAddToDay((...args) => workspaceOfBot.call(...args))
  const dayBefore = (days: number) => isoTime(clock.now() - days * dayMs).slice(0, 10)
  const totals: Totals = {
    async store(tx, sums) {
      for (const [key, value] of sums) await addToDay(tx, { ...partsOf(key), value })
    },
  }
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
      workspaceOfBot,
      count: (tx, botId, kind) => addToTotal(tx, totals, keyOf(dayBefore(0), kind, botId), 1),
      call: async (tx, call) => {
        const { botId, kind } = call
        const day = dayBefore(0)
        if (!call.hasQuota && deps.serverQuotas.invocation_calls === undefined) {
          return addToTotal(tx, totals, keyOf(day, kind, botId), 1)
        }
        const counted = await addToDay.first(tx, { botId, kind, day, value: 1 })
        if (counted !== undefined) await applyCall(deps, tx, call, counted.workspaceId, day)
      },
      hasCallQuota: (owner) => store.hasCallQuota(deps.db, owner),
      begin: running.begin,
      requireStorage: (tx, ...args) => requireStorage(deps, tx, ...args),
      requireRoomFor: (...args) => requireRoomFor(deps, ...args),
    },
    jobs: { [purgeJob]: purgeDays },
    sweeps: [
      // The transactions that wrote into the rows of days before yesterday have ended.
      (tx) => store.mergeShards(tx, rowsAtOnce, dayBefore(1)),
      (tx) => store.deleteOldDays(tx, rowsAtOnce, dayBefore(keptDays)),
    ],
    on: {
      'bot.transferred': (tx, { botId, from, to }) => store.moveQuotas(tx, botId, { from, to }),
      'bot.removed': (tx, { botId }) => store.deleteQuotasOfBot(tx, botId),
      'workspace.removed': (tx, { workspaceId }) => removeWorkspace(tx, workspaceId),
    },
    // Not `start`: processes without background work have listeners and programs, too.
    ready: () => running.start(),
    stop: () => running.stop(),
  }
}

/** The key of a counter among the totals of transactions. */
function keyOf(day: string, kind: store.UsageKind, botId: string): string {
  return `${day} ${kind} ${botId}`
}

function partsOf(key: string): Omit<store.Count, 'value'> {
  const [day = '', kind = '', botId = ''] = key.split(' ')
  return { day, kind: kind as store.UsageKind, botId }
}

/** Applies the quotas of calls to one that was counted. */
async function applyCall(
  deps: QuotasDeps,
  tx: Tx,
  { botId, isPromised = false }: Call,
  workspaceId: string,
  day: string,
): Promise<void> {
  const type = 'invocation_calls'
  const quotas = await quotasOf(deps, tx, workspaceId, botId)
  for (const of of ['bot', 'workspace'] as const) {
    const allowed = quotas[of].get(type)
    if (allowed === undefined) continue
    const owner = { workspaceId, botId: of === 'bot' ? botId : '' }
    const used = await store.addToMonth(tx, owner, day.slice(0, 7), 1)
    await applyQuota(deps, tx, botId, { type, of, used, added: 1, allowed }, !isPromised)
  }
}

const fileQuotas = [
  ['storage_count', 'storage'],
  ['knowledgebase_vector_storage', 'vector'],
] as const

/** Applies the quotas of a bot and its workspace to a change of the bytes of files. Exported for tests of files. */
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
