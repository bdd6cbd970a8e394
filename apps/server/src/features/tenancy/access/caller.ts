import type { Caller } from '../../../domain/actor.js'
import type { ScopeHeaders } from '../../../domain/authenticator.js'

/** An integration as it is installed in a bot. */
export interface InstalledIntegration {
  id: string
  alias: string
  name: string
}

/**
 * On whose behalf a call is made, by its headers: a caller with access to the whole bot may act as one
 * of its integrations. Undefined if the headers name an integration that is not installed. An alias
 * without an id is ignored unless the bot has it: callers send aliases of their own.
 */
export function callerOf(
  scope: ScopeHeaders,
  installed: readonly InstalledIntegration[],
): Caller | undefined {
  const { integrationId, integrationAlias, userId, userRole } = scope
  const named = installationOf(integrationId, integrationAlias, installed)
  if (integrationId !== undefined) return named
  if (integrationAlias !== undefined && named !== undefined) return named
  if (userId !== undefined) return { type: 'user', id: userId, role: userRole }
  return { type: 'bot' }
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
  return integrationId === id ? installationOf(id, integrationAlias, installed) : undefined
}

/** The first installation with this id and alias; an undefined one matches any. */
function installationOf(
  id: string | undefined,
  alias: string | undefined,
  installed: readonly InstalledIntegration[],
): Caller | undefined {
  const instance = installed.find(
    (integration) =>
      (id === undefined || integration.id === id) &&
      (alias === undefined || integration.alias === alias),
  )
  return instance && { type: 'integration', ...instance }
}
