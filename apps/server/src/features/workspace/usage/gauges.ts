import { allBotsOf } from '../../../domain/rights.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotsService } from '../../bots/bots/index.js'
import type { IntegrationsService } from '../../bots/integrations/index.js'
import { findFileUsage, listBotUsage } from '../../files/index.js'
import type { MembersService } from '../../tenancy/members/index.js'
import {
  deleteMonths,
  type Gauge,
  type GaugeKind,
  putGauges,
  type UsageOwner,
} from '../../tenancy/metering/index.js'
import { keepWorkspace, listIdsAfter } from '../../tenancy/workspaces/index.js'

export interface GaugesDeps {
  db: Db
  bots: Pick<BotsService, 'idsIn' | 'countByWorkspace' | 'countAlwaysAlive'>
  integrations: Pick<IntegrationsService, 'idsIn'>
  members: Pick<MembersService, 'count'>
}

/** The gauges of files, which bots have too. */
const fileGauges = {
  storage: 'storage',
  vectors: 'vector',
  indexed_files: 'indexedFiles',
} as const satisfies Partial<Record<GaugeKind, string>>

function isOfFiles(kind: GaugeKind): kind is keyof typeof fileGauges {
  return Object.hasOwn(fileGauges, kind)
}

/** The present value of a workspace or of one of its bots. */
export async function gaugeOf(
  deps: GaugesDeps,
  { workspaceId, botId }: UsageOwner,
  kind: GaugeKind,
): Promise<number> {
  const { db, bots, integrations, members } = deps
  if (botId !== '') {
    const used = (await listBotUsage(db, [botId])).get(botId)
    return (isOfFiles(kind) && used?.[fileGauges[kind]]) || 0
  }
  switch (kind) {
    case 'storage':
    case 'vectors':
      return (await findFileUsage(db, workspaceId))[fileGauges[kind]]
    case 'indexed_files': {
      const all = await gaugesOfBots(deps, workspaceId, kind)
      return [...all.values()].reduce((sum, value) => sum + value, 0)
    }
    case 'bots':
      return (await bots.countByWorkspace([workspaceId])).get(workspaceId) ?? 0
    case 'always_alive':
      return await bots.countAlwaysAlive(workspaceId)
    case 'members':
      return await members.count(workspaceId)
    case 'integrations':
      return (await integrations.idsIn(workspaceId)).length
  }
}

/** The present values of the bots of a workspace, by their ids; those with 0 may be left out. */
export async function gaugesOfBots(
  { db, bots }: Pick<GaugesDeps, 'db' | 'bots'>,
  workspaceId: string,
  kind: GaugeKind,
): Promise<Map<string, number>> {
  if (!isOfFiles(kind)) return new Map()
  const used = await listBotUsage(db, await bots.idsIn(allBotsOf(workspaceId)))
  return new Map([...used].map(([botId, usage]) => [botId, usage[fileGauges[kind]]]))
}

const workspacesAtOnce = 200
const gaugesAtOnce = 500
const workspaceGauges: readonly GaugeKind[] = [
  'storage',
  'vectors',
  'indexed_files',
  'bots',
  'always_alive',
  'members',
  'integrations',
]

/** Kind of the job that stores what workspaces and bots have. */
export const recordJob = 'usage.record'
export const hourMs = 60 * 60 * 1000
/** So many that the job survives a longer failure, for example of a full disk. */
const maxAttempts = 1000

export async function enqueueRecording(
  queue: Pick<Queue, 'enqueue'>,
  tx: Tx,
  runAt: number,
): Promise<void> {
  const job = { kind: recordJob, key: 'all', payload: {}, runAt, maxAttempts, deadlineMs: hourMs }
  await queue.enqueue(tx, job)
}

/** Stores the present values of all workspaces and their bots as those of today. */
export async function recordGauges(
  deps: GaugesDeps & { run: Run; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const { db, run, clock } = deps
  let ids: string[] = []
  do {
    ids = await listIdsAfter(db, ids.at(-1) ?? '', workspacesAtOnce)
    for (const workspaceId of ids) {
      const gauges = await gaugesIn(deps, workspaceId)
      for (let at = 0; at < gauges.length; at += gaugesAtOnce) {
        signal.throwIfAborted()
        const day = isoTime(clock.now()).slice(0, 10)
        await run(async (tx) => {
          if (!(await keepWorkspace(tx, workspaceId))) return
          await putGauges(tx, workspaceId, day, gauges.slice(at, at + gaugesAtOnce))
        })
      }
    }
  } while (ids.length === workspacesAtOnce)
  // Totals of months are summed up again: also those that a process with other settings did not keep.
  await run((tx) => deleteMonths(tx))
}

async function gaugesIn(deps: GaugesDeps, workspaceId: string): Promise<Gauge[]> {
  const gauges: Gauge[] = []
  for (const kind of workspaceGauges) {
    const value = await gaugeOf(deps, { workspaceId, botId: '' }, kind)
    gauges.push({ botId: '', kind, value })
    for (const [botId, ofBot] of await gaugesOfBots(deps, workspaceId, kind)) {
      gauges.push({ botId, kind, value: ofBot })
    }
  }
  return gauges
}
