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
 * named too: whoever has the whole bot only narrows their own reach by it.
 */
export function callerOf(scope: ScopeHeaders, installed: readonly InstalledIntegration[]): Caller {
  if (scope.integrationId !== undefined) return integrationOf(scope.integrationId, scope, installed)
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
