import type { Body, contract } from '@botstead/contract'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { mergeSecrets, requireServerAddress, type SealedSecrets } from '../definitions/index.js'
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
}

/** The row of a new bot. */
export function newBot(
  input: NewBot,
  { id, workspaceId, accountId, definition, signingSecret, now, sealer }: Making,
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
    code: input.code ?? null,
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
    deployed_at: input.code !== undefined || input.url !== undefined ? now : null,
    created_at: now,
    updated_at: now,
  }
}

/** The columns that a patch changes in the row of a bot. */
export function changesOf(current: store.BotRow, patch: BotPatch, now: string, sealer: Sealer) {
  requireServerAddress(patch.url)
  const deployed = patch.code !== undefined || typeof patch.url === 'string'
  return {
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.type !== undefined && { type: patch.type }),
    ...(patch.url !== undefined && { url: patch.url }),
    ...(patch.code !== undefined && { code: patch.code }),
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
