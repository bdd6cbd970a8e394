import type { Body, contract } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Ids } from '../../../platform/ids.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import {
  mergeSecrets,
  requireName,
  requireServerAddress,
  requireVersion,
  type SealedSecrets,
  titlesIn,
  visibilityIn,
} from '../definitions/index.js'
import type { PreparedDeployment } from '../deployments/index.js'
import {
  emptyDefinition,
  patchDefinition,
  readDefinition,
  type UsableInterfaces,
} from './definition.js'
import type { IntegrationRow } from './store.js'

export type NewIntegration = Body<typeof contract.integrations.create>
export type IntegrationPatch = Body<typeof contract.integrations.update>

/** The row of a new integration. Throws if a member is invalid. */
export function newIntegration(
  actor: WorkspaceActor,
  input: NewIntegration,
  { clock, ids, sealer, signingSecret, interfaces }: MakingDeps & { signingSecret: string },
): IntegrationRow {
  requireServerAddress(input.url)
  const now = isoTime(clock.now())
  const row: IntegrationRow = {
    id: ids.uuid(),
    workspace_id: actor.workspaceId,
    name: requireName(input.name),
    version: requireVersion(input.version),
    dev: encodeBoolean(input.dev ?? false),
    url: input.url ?? null,
    title: '',
    description: '',
    icon: '',
    readme: '',
    visibility: 'private',
    deployment_id: null,
    max_execution_time: null,
    definition: encodeJson(emptyDefinition),
    secrets: encodeJson({}),
    signing_secret: sealer.seal(signingSecret),
    former_secret: null,
    former_secret_until: null,
    installs: 0,
    created_at: now,
    updated_at: now,
  }
  const { url: _, ...patch } = input
  return { ...row, ...changesOf(row, patch, { now, sealer, interfaces, deployment: undefined }) }
}

interface MakingDeps {
  clock: Clock
  ids: Ids
  sealer: Sealer
  interfaces: UsableInterfaces
}

interface ChangeDeps {
  now: string
  sealer: Sealer
  interfaces: UsableInterfaces
  /** Its code that runs here, if the patch deploys it. */
  deployment: PreparedDeployment | undefined
}

/** The columns that a patch changes. Throws if a member is invalid. */
export function changesOf(
  current: IntegrationRow,
  patch: IntegrationPatch,
  { now, sealer, interfaces, deployment }: ChangeDeps,
) {
  requireServerAddress(patch.url)
  const visibility = visibilityIn(patch)
  return {
    ...(patch.url !== undefined && { url: patch.url }),
    ...titlesIn(patch),
    ...(visibility !== undefined && { visibility }),
    ...(deployment !== undefined && { deployment_id: deployment.id, url: null }),
    ...(patch.maxExecutionTime !== undefined && { max_execution_time: patch.maxExecutionTime }),
    definition: encodeJson(patchDefinition(readDefinition(current.definition), patch, interfaces)),
    secrets: encodeJson(
      mergeSecrets(sealer, decodeJson<SealedSecrets>(current.secrets), patch.secrets),
    ),
    updated_at: now,
  }
}
