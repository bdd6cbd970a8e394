import type { Body, contract } from '@botstead/contract'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { mergeSecrets, requireServerAddress, type SealedSecrets } from '../definitions/index.js'
import type { PreparedDeployment } from '../deployments/index.js'
import type { InstallationPatches } from '../installations/index.js'
import { type BotDefinition, mergeTags, patchDefinition } from './definition.js'
import type * as store from './store.js'

export type NewBot = Body<typeof contract.bots.create>
export type BotPatch = Body<typeof contract.bots.update> & { integrations?: InstallationPatches }

interface Making {
  id: string
  workspaceId: string
  accountId: string
  definition: BotDefinition
  /** In clear; stored sealed. */
  signingSecret: string
  now: string
  sealer: Sealer
  /** The code that runs for it here. */
  deployment: PreparedDeployment | undefined
}

/** The row of a new bot. */
export function newBot(
  input: NewBot,
  { id, workspaceId, accountId, definition, signingSecret, now, sealer, deployment }: Making,
): store.BotRow {
  requireServerAddress(input.url)
  return {
    id,
    workspace_id: workspaceId,
    name: input.name ?? `bot-${id.slice(0, 8)}`,
    description: input.description ?? null,
    type: input.type ?? 'studio',
    dev: encodeBoolean(input.dev ?? false),
    url: input.url ?? null,
    deployment_id: deployment?.id ?? null,
    authentication: null,
    blocked: 0,
    always_alive: 0,
    max_execution_time: input.maxExecutionTime ?? null,
    tags: encodeJson(input.tags ?? {}),
    definition: encodeJson(definition),
    secrets: encodeJson(mergeSecrets(sealer, {}, input.secrets)),
    signing_secret: sealer.seal(signingSecret),
    previous_signing_secret: null,
    previous_secret_until: null,
    created_by: accountId,
    deployed_at: deployment !== undefined || input.url !== undefined ? now : null,
    created_at: now,
    updated_at: now,
  }
}

/** The columns that a patch changes in the row of a bot. */
export function changesOf(
  current: store.BotRow,
  patch: BotPatch,
  { now, sealer, deployment }: Pick<Making, 'now' | 'sealer' | 'deployment'>,
) {
  requireServerAddress(patch.url)
  const deployed = deployment !== undefined || typeof patch.url === 'string'
  return {
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.type !== undefined && { type: patch.type }),
    ...(patch.url !== undefined && { url: patch.url }),
    ...(deployment !== undefined && { deployment_id: deployment.id, url: null }),
    ...(patch.authentication !== undefined && { authentication: patch.authentication }),
    ...(patch.blocked !== undefined && { blocked: encodeBoolean(patch.blocked) }),
    ...(patch.alwaysAlive !== undefined && { always_alive: encodeBoolean(patch.alwaysAlive) }),
    ...(patch.maxExecutionTime !== undefined && { max_execution_time: patch.maxExecutionTime }),
    tags: encodeJson(mergeTags(decodeJson(current.tags), patch.tags)),
    definition: encodeJson(patchDefinition(decodeJson<BotDefinition>(current.definition), patch)),
    secrets: encodeJson(
      mergeSecrets(sealer, decodeJson<SealedSecrets>(current.secrets), patch.secrets),
    ),
    ...(deployed && { deployed_at: now }),
    updated_at: now,
  }
}
