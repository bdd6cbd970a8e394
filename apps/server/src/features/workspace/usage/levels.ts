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
  type Level,
  putLevels,
  type StoredLevel,
  type UsageOwner,
} from '../../tenancy/metering/index.js'
import { keepWorkspace, listIdsAfter } from '../../tenancy/workspaces/index.js'

export interface LevelsDeps {
  db: Db
  bots: Pick<BotsService, 'idsIn' | 'countByWorkspace' | 'countAlwaysAlive'>
  integrations: Pick<IntegrationsService, 'idsIn'>
  members: Pick<MembersService, 'count'>
}

/** The levels of files, which bots have too. */
const fileLevels = {
  storage: 'storage',
  vectors: 'vector',
  indexed_files: 'indexedFiles',
} as const satisfies Partial<Record<StoredLevel, string>>

function isOfFiles(kind: StoredLevel): kind is keyof typeof fileLevels {
  return Object.hasOwn(fileLevels, kind)
}

/** What a workspace has now, or one of its bots. */
export async function levelOf(
  deps: LevelsDeps,
  { workspaceId, botId }: UsageOwner,
  kind: StoredLevel,
): Promise<number> {
  const { db, bots, integrations, members } = deps
  if (botId !== '') {
    const used = (await listBotUsage(db, [botId])).get(botId)
    return (isOfFiles(kind) && used?.[fileLevels[kind]]) || 0
  }
  switch (kind) {
    case 'storage':
    case 'vectors':
      return (await findFileUsage(db, workspaceId))[fileLevels[kind]]
    case 'indexed_files': {
      const all = await levelsOfBots(deps, workspaceId, kind)
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

/** What the bots of a workspace have now, by their ids; those that have nothing may be left out. */
export async function levelsOfBots(
  { db, bots }: Pick<LevelsDeps, 'db' | 'bots'>,
  workspaceId: string,
  kind: StoredLevel,
): Promise<Map<string, number>> {
  if (!isOfFiles(kind)) return new Map()
  const used = await listBotUsage(db, await bots.idsIn(allBotsOf(workspaceId)))
  return new Map([...used].map(([botId, usage]) => [botId, usage[fileLevels[kind]]]))
}

const workspacesAtOnce = 200
const levelsAtOnce = 500
const workspaceLevels: readonly StoredLevel[] = [
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

/** Stores what all workspaces and their bots have today. */
export async function recordLevels(
  deps: LevelsDeps & { run: Run; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const { db, run, clock } = deps
  let ids: string[] = []
  do {
    ids = await listIdsAfter(db, ids.at(-1) ?? '', workspacesAtOnce)
    for (const workspaceId of ids) {
      const levels = await levelsIn(deps, workspaceId)
      for (let at = 0; at < levels.length; at += levelsAtOnce) {
        signal.throwIfAborted()
        const day = isoTime(clock.now()).slice(0, 10)
        await run(async (tx) => {
          if (!(await keepWorkspace(tx, workspaceId))) return
          await putLevels(tx, workspaceId, day, levels.slice(at, at + levelsAtOnce))
        })
      }
    }
  } while (ids.length === workspacesAtOnce)
  // Totals of months are summed up again: also those that a process with other settings did not keep.
  await run((tx) => deleteMonths(tx))
}

async function levelsIn(deps: LevelsDeps, workspaceId: string): Promise<Level[]> {
  const levels: Level[] = []
  for (const kind of workspaceLevels) {
    const value = await levelOf(deps, { workspaceId, botId: '' }, kind)
    levels.push({ botId: '', kind, value })
    for (const [botId, ofBot] of await levelsOfBots(deps, workspaceId, kind)) {
      levels.push({ botId, kind, value: ofBot })
    }
  }
  return levels
}
