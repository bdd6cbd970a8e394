import { ApiError, type Body, type contract } from '@botstead/contract'
import { encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import type { Sealer } from '../../platform/sealing.js'
import { builtInChat, postsSignals, requireChatConfiguration } from './built-in-chat.js'
import type { InstallationRow } from './store.js'

export type InstallationPatches = NonNullable<Body<typeof contract.bots.update>['integrations']>

const maxConfigurationBytes = 20_480

/** The chat installation that is made with every bot. */
export function newChatInstallation(input: {
  botId: string
  webhookId: string
  now: string
  sealer: Sealer
}): InstallationRow {
  return {
    bot_id: input.botId,
    alias: builtInChat.alias,
    integration_id: builtInChat.id,
    name: builtInChat.name,
    version: builtInChat.version,
    webhook_id: input.webhookId,
    enabled: 1,
    configuration_type: null,
    configuration: input.sealer.seal(encodeJson({})),
    disabled_channels: encodeJson([]),
    posts_signals: 0,
    status: 'registered',
    status_reason: null,
    created_at: input.now,
    updated_at: input.now,
  }
}

/** The changes that a patch of `integrations` makes to what is installed. */
export function patchesOf(
  installed: readonly InstallationRow[],
  patches: InstallationPatches | undefined,
  now: string,
  sealer: Sealer,
): { alias: string; patch: Partial<InstallationRow> }[] {
  return Object.entries(patches ?? {}).map(([key, patch]) => {
    const field = `body.integrations.${key}`
    const current = requireInstalled(installed, key, patch?.integrationId, field)
    if (patch === null) {
      throw new ApiError(
        'ReferenceConstraint',
        `${field} is built in and cannot be removed: switch it off with enabled: false.`,
      )
    }
    return {
      alias: current.alias,
      patch: {
        ...(patch.enabled !== undefined && {
          enabled: encodeBoolean(patch.enabled),
          status: patch.enabled ? 'registered' : 'unregistered',
        }),
        ...(patch.configuration !== undefined && {
          configuration: sealer.seal(configurationOf(field, patch.configuration)),
          posts_signals: encodeBoolean(postsSignals(patch.configuration)),
        }),
        ...(patch.configurationType !== undefined && {
          configuration_type: patch.configurationType,
        }),
        ...(patch.disabledChannels !== undefined && {
          disabled_channels: encodeJson(patch.disabledChannels),
        }),
        updated_at: now,
      },
    }
  })
}

/** With `integrationId` the key of an entry is its alias; without it the key is the id or an alias. */
function requireInstalled(
  installed: readonly InstallationRow[],
  key: string,
  integrationId: string | undefined,
  field: string,
): InstallationRow {
  const current = installed.find(
    (row) =>
      (row.alias === key && (integrationId ?? row.integration_id) === row.integration_id) ||
      (integrationId === undefined && row.integration_id === key),
  )
  if (current !== undefined) return current
  const id = integrationId ?? key
  throw new ApiError('ReferenceNotFound', `${field}: there is no integration ${id}.`)
}

function configurationOf(field: string, configuration: Record<string, unknown>): string {
  const text = encodeJson(requireChatConfiguration(`${field}.configuration`, configuration))
  if (Buffer.byteLength(text) > maxConfigurationBytes) {
    throw new ApiError(
      'LimitExceeded',
      `${field}.configuration must have at most ${maxConfigurationBytes} bytes of JSON.`,
    )
  }
  return text
}
