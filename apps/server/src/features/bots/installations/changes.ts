import { ApiError, type Body, type contract, installationMembers } from '@botstead/contract'
import { findViolation } from '@botstead/json-schema'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import { nearest } from '../../../platform/nearest.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { builtInChat, postsSignals, requireChatConfiguration } from '../built-in-chat/index.js'
import { type InstallableIntegration, integrationIdOf, isBuiltIn, storedIdOf } from './built-in.js'
import { type InstallationRow, isWaiting } from './store.js'

/** A change of an installation: a creation without `before`, a removal without `after`. */
export interface InstallationChange {
  before?: InstallationRow
  after?: InstallationRow
}

export type InstallationPatches = NonNullable<Body<typeof contract.bots.update>['integrations']>
type InstallationPatch = NonNullable<InstallationPatches[string]>

const maxConfigurationBytes = 20_480
const maxInstallations = 30
const aliasPattern = /^[a-zA-Z0-9][a-zA-Z0-9/_.-]{0,199}$/

interface NewInstallation {
  botId: string
  workspaceId: string
  now: string
  sealer: Sealer
  newWebhookId: () => string
}

/** The chat installation that every bot starts with. */
export function newChatInstallation(
  input: Omit<NewInstallation, 'newWebhookId'> & { webhookId: string },
) {
  return {
    ...emptyRow(builtInChat, { ...input, alias: builtInChat.alias }),
    enabled: 1,
    status: 'registered',
  } as const
}

function emptyRow(
  integration: Pick<InstallableIntegration, 'id' | 'name' | 'version'>,
  made: Omit<NewInstallation, 'newWebhookId'> & { alias: string; webhookId: string },
): InstallationRow {
  return {
    bot_id: made.botId,
    alias: made.alias,
    workspace_id: made.workspaceId,
    integration_id: integration.id,
    name: integration.name,
    version: integration.version,
    webhook_id: made.webhookId,
    enabled: 0,
    configuration_type: null,
    configuration: made.sealer.seal(encodeJson({})),
    disabled_channels: encodeJson([]),
    posts_signals: 0,
    status: 'unregistered',
    status_reason: null,
    identifier: null,
    identified_at: null,
    account_is_proven: 0,
    account_served_elsewhere: 0,
    register_every: null,
    created_at: made.now,
    updated_at: made.now,
  }
}

/** Ids of the integrations that a patch of `integrations` may refer to. */
export function integrationsIn(patches: InstallationPatches | undefined): string[] {
  return Object.entries(patches ?? {}).map(([key, patch]) => patch?.integrationId ?? key)
}

/**
 * The changes that a patch of `integrations` makes to what is installed. Existing tools that key it by id move an
 * installation to another version by adding one id and removing the other: that is one change, of the one installation.
 */
export function changesOf(
  installed: readonly InstallationRow[],
  patches: InstallationPatches | undefined,
  integrations: ReadonlyMap<string, InstallableIntegration>,
  defaults: NewInstallation,
): InstallationChange[] {
  const entries = Object.entries(patches ?? {})
  const removed = new Set<InstallationRow>()
  for (const [key, patch] of entries) {
    const before = patch === null ? findInstalled(installed, key, undefined) : undefined
    // Existing tools remove whatever their project does not declare: the chat, which is built in, stays.
    if (before !== undefined && !isBuiltIn(before)) removed.add(before)
  }
  const changes: InstallationChange[] = []
  for (const [key, patch] of entries) {
    if (patch === null) continue
    const field = `body.integrations.${key}`
    const found = findInstalled(installed, key, patch.integrationId)
    refuseMisspelt(patch, field)
    const id = patch.integrationId ?? (found?.alias === key ? integrationIdOf(found) : key)
    const integration = integrations.get(id)
    if (integration === undefined) {
      throw new ApiError('ReferenceNotFound', `${field}: there is no integration ${id}.`)
    }
    const before =
      found ??
      (patch.integrationId === undefined
        ? findReplaced(removed, integration, integrations)
        : undefined)
    if (before) removed.delete(before)
    requireSameKind(before, integration, field)
    const alias = patch.integrationId === undefined ? integration.name : requireAlias(key, field)
    const fresh = () => ({
      ...emptyRow(integration, { ...defaults, alias, webhookId: defaults.newWebhookId() }),
      enabled: 1,
    })
    const base =
      before === undefined
        ? fresh()
        : isVersionOf(integration, before, integrations)
          ? before
          : { ...before, ...noAccount }
    changes.push({
      ...(before && { before }),
      after: patched(base, before, patch, integration, field, defaults),
    })
  }
  const all = [...Array.from(removed, (before) => ({ before })), ...changes]
  requireCapacity(installed, all)
  return all
}

/** Throws if the chat, which is built in, would be replaced, or installed twice. */
function requireSameKind(
  before: InstallationRow | undefined,
  integration: InstallableIntegration,
  field: string,
): void {
  if (before && isBuiltIn(before) && !integration.isBuiltIn) {
    throw new ApiError(
      'ReferenceConstraint',
      `${field} is built in and cannot be replaced: switch it off with enabled: false.`,
    )
  }
  if (integration.isBuiltIn && !(before && isBuiltIn(before))) {
    throw new ApiError(
      'ReferenceConstraint',
      `${field}: the integration ${integration.name} is installed already, as ${builtInChat.alias}.`,
    )
  }
}

/**
 * The removed installation whose place an integration takes that is added by its id: the one whose alias it would get,
 * or else the only one of another version, which has the alias that somebody gave it.
 */
function findReplaced(
  removed: ReadonlySet<InstallationRow>,
  integration: InstallableIntegration,
  integrations: ReadonlyMap<string, InstallableIntegration>,
): InstallationRow | undefined {
  const rows = [...removed]
  const namesake = rows.find(({ alias }) => alias === integration.name)
  if (namesake !== undefined) return namesake
  const versions = rows.filter((row) => isVersionOf(integration, row, integrations))
  return versions.length === 1 ? versions[0] : undefined
}

/** Another integration must not take over the account: requests of the other service are found by it. */
const noAccount = {
  identifier: null,
  identified_at: null,
  account_is_proven: 0,
  account_served_elsewhere: 0,
}

/** Whether an integration is the installed one, or another version of it. */
function isVersionOf(
  { id, name, publisherId }: InstallableIntegration,
  before: InstallationRow,
  integrations: ReadonlyMap<string, InstallableIntegration>,
): boolean {
  if (storedIdOf(id) === before.integration_id) return true
  const installed = integrations.get(before.integration_id)
  return name === before.name && publisherId === installed?.publisherId
}

function patched(
  base: InstallationRow,
  before: InstallationRow | undefined,
  patch: InstallationPatch,
  integration: InstallableIntegration,
  field: string,
  { now, sealer }: NewInstallation,
): InstallationRow {
  const { id, name, version } = integration
  const enabled = patch.enabled ?? base.enabled === 1
  const type =
    patch.configurationType === undefined ? base.configuration_type : patch.configurationType
  const configuration =
    patch.configuration ?? decodeJson<Record<string, unknown>>(sealer.open(base.configuration))
  checkConfiguration(field, integration, type, configuration, enabled || !!patch.configuration)
  // Settings that were stored before they were validated stay, and can be switched on and off.
  if (integration.isBuiltIn && patch.configuration) {
    requireChatConfiguration(`${field}.configuration`, configuration)
  }
  const row: InstallationRow = {
    ...base,
    integration_id: storedIdOf(id),
    name,
    version,
    configuration_type: type,
    updated_at: now,
    enabled: encodeBoolean(enabled),
    ...(patch.configuration && {
      configuration: sealer.seal(encodeJson(configuration)),
      posts_signals: encodeBoolean(integration.isBuiltIn && postsSignals(configuration)),
    }),
    ...(patch.disabledChannels && { disabled_channels: encodeJson(patch.disabledChannels) }),
  }
  const status = statusAfter(before, row, patch, integration.isBuiltIn)
  return status === undefined ? row : { ...row, status, status_reason: null }
}

/** Status of the registration after a change; undefined if the change does not affect it. */
function statusAfter(
  before: InstallationRow | undefined,
  after: InstallationRow,
  patch: InstallationPatch,
  isBuiltIn: boolean,
): InstallationRow['status'] | undefined {
  if (isBuiltIn) return after.enabled === 1 ? 'registered' : 'unregistered'
  if (after.enabled === 0) {
    if (before === undefined || before.enabled === 0) return undefined
    const isUnknown = before.status === 'registration_failed' || isWaiting(before)
    return isUnknown ? 'unregistered' : 'unregistration_pending'
  }
  const needsRegistration =
    before?.enabled !== 1 ||
    before.status === 'registration_failed' ||
    before.integration_id !== after.integration_id ||
    before.configuration_type !== after.configuration_type ||
    patch.configuration !== undefined
  return needsRegistration ? 'registration_pending' : undefined
}

/** With `integrationId` the key of an entry is its alias; without it the key is the id or an alias. */
function findInstalled(
  installed: readonly InstallationRow[],
  key: string,
  integrationId: string | undefined,
): InstallationRow | undefined {
  return (
    installed.find(({ alias }) => alias === key) ??
    (integrationId === undefined
      ? installed.find((row) => row.integration_id === storedIdOf(key))
      : undefined)
  )
}

function requireAlias(alias: string, field: string): string {
  if (aliasPattern.test(alias)) return alias
  throw new ApiError(
    'InvalidIdentifier',
    `${field}: an alias is made of letters, digits, /, _, . and -, and begins with a letter or a digit.`,
  )
}

function requireCapacity(
  installed: readonly InstallationRow[],
  changes: readonly InstallationChange[],
): void {
  const aliases = new Set(installed.map(({ alias }) => alias))
  for (const { before, after } of changes) {
    if (after === undefined && before) aliases.delete(before.alias)
    if (before === undefined && after) {
      if (aliases.has(after.alias)) {
        throw new ApiError('AlreadyExists', `body.integrations: ${after.alias} exists already.`)
      }
      aliases.add(after.alias)
    }
  }
  if (aliases.size <= maxInstallations) return
  throw new ApiError(
    'LimitExceeded',
    `body.integrations: a bot may have ${maxInstallations} installations, not ${aliases.size}.`,
  )
}

function checkConfiguration(
  field: string,
  integration: InstallableIntegration,
  type: string | null,
  configuration: Record<string, unknown>,
  isUsed: boolean,
): void {
  const schema = type === null ? integration.configuration : integration.configurations.get(type)
  if (schema === undefined) {
    throw new ApiError(
      'ReferenceNotFound',
      `${field}.configurationType: ${integration.name} has no configuration ${type}.`,
    )
  }
  if (Buffer.byteLength(encodeJson(configuration)) > maxConfigurationBytes) {
    throw new ApiError(
      'LimitExceeded',
      `${field}.configuration must have at most ${maxConfigurationBytes} bytes of JSON.`,
    )
  }
  // A disabled installation may be configured later.
  const violation = isUsed ? findViolation(schema, configuration) : undefined
  if (violation === undefined) return
  const path = [field, 'configuration', violation.field].filter((part) => part !== '').join('.')
  throw new ApiError(
    'InvalidDataFormat',
    `${path} ${violation.rule}, by the schema of the configuration.`,
  )
}

/** Members in lower case, to find slips in letter case as well. */
const members: ReadonlyMap<string, string> = new Map(
  installationMembers.map((name) => [name.toLowerCase(), name]),
)
/** Longer names are not compared. */
const maxSlipLength = 50

/**
 * Rejects a member whose name resembles that of a known member. Unknown members are ignored
 * elsewhere; here a slip would leave a chat open that its owner believes to be closed.
 * @param field path of the installation in the body
 */
function refuseMisspelt(patch: object, field: string): void {
  for (const name of Object.keys(patch)) {
    if (name.length > maxSlipLength || installationMembers.includes(name)) continue
    const meant = members.get(nearest(name.toLowerCase(), [...members.keys()]) ?? '')
    if (meant === undefined) continue
    throw new ApiError(
      'InvalidPayload',
      `${field}.${name} is no member of an installation. Did you mean ${meant}?`,
    )
  }
}
