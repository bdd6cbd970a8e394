import { ApiError, type Body, type contract } from '@botstead/contract'
import semver from 'semver'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Ids } from '../../../platform/ids.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { mergeSecrets, requireServerAddress, type SealedSecrets } from '../definitions/index.js'
import { emptyDefinition, type IntegrationDefinition, patchDefinition } from './definition.js'
import type { IntegrationRow } from './store.js'

export type NewIntegration = Body<typeof contract.integrations.create>
export type IntegrationPatch = Body<typeof contract.integrations.update>

const namePattern = /^([a-z0-9][a-z0-9_-]{0,99}\/)?[a-z][a-zA-Z0-9_-]{1,99}$/

/** The row of a new integration. Throws if a member is invalid. */
export function newIntegration(
  actor: WorkspaceActor,
  input: NewIntegration,
  { clock, ids, sealer, signingSecret }: MakingDeps & { signingSecret: string },
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
    code: null,
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
  return { ...row, ...changesOf(row, patch, now, sealer) }
}

interface MakingDeps {
  clock: Clock
  ids: Ids
  sealer: Sealer
}

/** The columns that a patch changes. Throws if a member is invalid. */
export function changesOf(
  current: IntegrationRow,
  patch: IntegrationPatch,
  now: string,
  sealer: Sealer,
) {
  requireServerAddress(patch.url)
  const visibility =
    patch.visibility ??
    (patch.public === undefined ? undefined : patch.public ? 'public' : 'private')
  return {
    ...(patch.url !== undefined && { url: patch.url }),
    ...(patch.title !== undefined && { title: patch.title }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.icon !== undefined && { icon: patch.icon }),
    ...(patch.readme !== undefined && { readme: patch.readme }),
    ...(visibility !== undefined && { visibility }),
    ...(patch.code !== undefined && { code: patch.code }),
    ...(patch.maxExecutionTime !== undefined && { max_execution_time: patch.maxExecutionTime }),
    definition: encodeJson(
      patchDefinition(decodeJson<IntegrationDefinition>(current.definition), patch),
    ),
    secrets: encodeJson(
      mergeSecrets(sealer, decodeJson<SealedSecrets>(current.secrets), patch.secrets),
    ),
    updated_at: now,
  }
}

function requireName(name: string): string {
  if (namePattern.test(name)) return name
  throw new ApiError(
    'InvalidIdentifier',
    'body.name must be a lower-case letter with 1 to 99 letters, digits, - or _ behind it; a handle and a / may stand before it.',
    { metadata: { in: 'body', field: 'name' } },
  )
}

/**
 * Throws `Forbidden` for a name that begins with the handle of another workspace.
 * @param own handle of the workspace; null if it has none
 */
export function requireOwnHandle(name: string, own: string | null): void {
  const end = name.indexOf('/')
  if (end < 0 || name.slice(0, end) === own) return
  const advice =
    own === null
      ? 'has no handle: give it one with PUT /v1/admin/workspaces/{id}'
      : `has the handle ${own}`
  throw new ApiError(
    'Forbidden',
    `body.name must not begin with ${name.slice(0, end + 1)}, because this workspace ${advice}.`,
    { metadata: { in: 'body', field: 'name' } },
  )
}

/** Normalises a version: `v1.2.3` becomes `1.2.3`. Throws `InvalidPayload` if it is not one. */
function requireVersion(given: string): string {
  const version = semver.valid(given)
  if (version !== null) return version
  throw new ApiError('InvalidPayload', 'body.version must be a semantic version such as 1.4.0.', {
    metadata: { in: 'body', field: 'version' },
  })
}

/** The highest version that matches an exact version, `latest` or a range. */
export function highestOf<Item extends { version: string }>(
  items: readonly Item[],
  wanted: string,
): Item | undefined {
  const exact = semver.valid(wanted)
  const found = items.filter(({ version }) =>
    exact === null
      ? semver.satisfies(version, wanted === 'latest' ? '*' : wanted, { includePrerelease: true })
      : version === exact,
  )
  // A prerelease is never `latest` while there is a release.
  const released = found.filter(({ version }) => semver.prerelease(version) === null)
  const choice = released.length > 0 ? released : found
  return choice.toSorted((a, b) => semver.rcompare(a.version, b.version)).at(0)
}
