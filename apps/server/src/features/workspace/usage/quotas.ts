import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { BotsService } from '../../bots/bots/index.js'
import { type AuditDeps, recordAct } from '../../tenancy/audit/index.js'
import {
  deleteMonths,
  putQuota,
  type QuotaType,
  type UsageOwner,
} from '../../tenancy/metering/index.js'
import { holdWorkspace } from '../../tenancy/workspaces/index.js'

interface QuotasDeps extends AuditDeps {
  run: Run
  bots: Pick<BotsService, 'hold'>
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
  if (id !== workspaceId) throw notFound('workspace', id, 'of this call')
  await deps.run(async (tx) => {
    await holdWorkspace(tx, actor)
    await setQuota(deps, tx, actor, { workspaceId, botId: '' }, change)
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
    await setQuota(deps, tx, actor, { workspaceId: actor.workspaceId, botId }, change)
  })
}

async function setQuota(
  deps: QuotasDeps,
  tx: Tx,
  actor: WorkspaceActor,
  owner: UsageOwner,
  { type, value }: QuotaChange,
): Promise<void> {
  await putQuota(tx, owner, type, value ?? undefined)
  // A total that was kept while there was a quota may lack what came after it was removed.
  if (type === 'invocation_calls') await deleteMonths(tx, owner)
  recordAct(deps, tx, actor, {
    resourceId: owner.botId || owner.workspaceId,
    changes: { [type]: { to: value } },
  })
}
