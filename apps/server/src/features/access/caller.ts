import type { Caller } from '../../platform/actor.js'
import type { ScopeHeaders } from '../../platform/authenticator.js'

/** An integration as it is installed in a bot. */
export interface InstalledIntegration {
  id: string
  alias: string
  name: string
}

/**
 * On whose behalf a call is made, by its headers. An integration that is not installed may be
 * named by its id too: whoever has the whole bot only narrows their own reach by it.
 */
export function callerOf(scope: ScopeHeaders, installed: readonly InstalledIntegration[]): Caller {
  // An alias alone names an integration too, if it is one of the bot.
  const named = installed.find(({ alias }) => alias === scope.integrationAlias)
  const id = scope.integrationId ?? named?.id
  if (id !== undefined) return integrationOf(id, scope, installed)
  if (scope.userId !== undefined) {
    return { type: 'user', id: scope.userId, role: scope.userRole }
  }
  return { type: 'bot' }
}

function integrationOf(
  id: string,
  scope: ScopeHeaders,
  installed: readonly InstalledIntegration[],
): Caller {
  const instances = installed.filter((integration) => integration.id === id)
  const instance =
    instances.find(({ alias }) => alias === scope.integrationAlias) ?? instances.at(0)
  const alias = scope.integrationAlias ?? instance?.alias ?? scope.integrationName ?? id
  return {
    type: 'integration',
    id,
    alias,
    name: scope.integrationName ?? instance?.name ?? alias,
  }
}

/**
 * The installation that the holder of an integration's own key acts for; undefined if the headers
 * name another, or none is there.
 */
export function ownInstallation(
  id: string,
  { integrationId = id, integrationAlias }: ScopeHeaders,
  installed: readonly InstalledIntegration[],
): Caller | undefined {
  if (integrationId !== id) return undefined
  const instances = installed.filter((integration) => integration.id === id)
  const instance =
    integrationAlias === undefined
      ? instances.at(0)
      : instances.find(({ alias }) => alias === integrationAlias)
  return instance && { type: 'integration', ...instance }
}
