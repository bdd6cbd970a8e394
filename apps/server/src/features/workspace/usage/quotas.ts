import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { allBotsOf } from '../../../domain/rights.js'
import type { Clock } from '../../../platform/clock.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import { factLifetime } from '../../../platform/fact-cache.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotsService } from '../../bots/bots/index.js'
import { type AuditDeps, recordAct } from '../../tenancy/audit/index.js'
import {
  deleteMonths,
  putQuota,
  type QuotaType,
  type UsageOwner,
} from '../../tenancy/metering/index.js'
import { holdWorkspace } from '../../tenancy/workspaces/index.js'
import { enqueueRecording } from './gauges.js'

interface QuotasDeps extends AuditDeps {
  run: Run
  clock: Clock
  queue: Queue
  bots: Pick<BotsService, 'hold' | 'idsIn' | 'raiseChanged'>
}

export interface QuotaChange {
  type: QuotaType
  /** Null removes the quota. */
  value: number | null
}

/** Sets the quota of a workspace, which is that of the call. */
export async function setQuotaOfWorkspace(
  deps: QuotasDeps,
  actor: WorkspaceActor,
  id: string,
  change: QuotaChange,
): Promise<void> {
  const { workspaceId } = actor
  if (id !== workspaceId)
    throw notFound('workspace', id, 'in this call: the header x-workspace-id names another one')
  const botIds = await deps.bots.idsIn(allBotsOf(workspaceId))
  await deps.run(async (tx) => {
    await holdWorkspace(tx, actor)
    await setQuota(deps, tx, actor, { workspaceId, botId: '' }, change, botIds)
  })
}

/** Sets the quota of a bot. */
export async function setQuotaOfBot(
  deps: QuotasDeps,
  actor: WorkspaceActor,
  botId: string,
  change: QuotaChange,
): Promise<void> {
  await deps.run(async (tx) => {
    if (!(await deps.bots.hold(tx, actor, botId))) throw notFound('bot', botId, 'in this workspace')
    const owner = { workspaceId: actor.workspaceId, botId }
    await setQuota(deps, tx, actor, owner, change, [botId])
  })
}

async function setQuota(
  deps: QuotasDeps,
  tx: Tx,
  actor: WorkspaceActor,
  owner: UsageOwner,
  { type, value }: QuotaChange,
  botIds: readonly string[],
): Promise<void> {
  await putQuota(tx, owner, type, value ?? undefined)
  if (type === 'invocation_calls') await announceCallQuota(deps, tx, owner, botIds)
  recordAct(deps, tx, actor, {
    resourceId: owner.botId || owner.workspaceId,
    changes: { [type]: { to: value } },
  })
}

/**
 * Tells this process at once that a quota of calls was set or removed; others learn it within five seconds. What came
 * without a quota is not in the totals, which are summed up again now and when all have heard of it.
 */
async function announceCallQuota(
  { bots, queue, clock }: QuotasDeps,
  tx: Tx,
  owner: UsageOwner,
  botIds: readonly string[],
): Promise<void> {
  await deleteMonths(tx, owner)
  await enqueueRecording(queue, tx, clock.now() + 2 * factLifetime)
  for (const botId of botIds) await bots.raiseChanged(tx, botId)
}
