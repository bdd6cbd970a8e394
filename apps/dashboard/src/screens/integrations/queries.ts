import type { Client } from '@botstead/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { byAlias } from '../../api/bot.js'
import { call, change, list, read } from '../../api/queries.js'

export type Integration = Awaited<ReturnType<Client['getIntegration']>>['integration']

export type Installation = Awaited<
  ReturnType<Client['listIntegrationInstallations']>
>['installations'][number]

/** Days of its log that the screen shows: lines are kept for a week. */
const shownDays = 7
const day = 86_400_000

/** The integrations of the workspace. */
export function useIntegrations(filter: { name?: string; search?: string }) {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery(
    list({ workspaceId }, 'listIntegrations', { ...filter, pageSize: 100 }),
  )
  return {
    query,
    integrations: query.data?.pages.flatMap(({ integrations }) => integrations) ?? [],
  }
}

export function useIntegration(id: string) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getIntegration', { id }))
}

/** The installations of the integration. */
export function useInstallations(id: string) {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery(
    list({ workspaceId }, 'listIntegrationInstallations', { id, pageSize: 50 }),
  )
  return {
    query,
    installations: query.data?.pages.flatMap(({ installations }) => installations) ?? [],
  }
}

/** The address at which an installation is set up, as the script of its integration makes it; undefined if there is none. */
export function useSetUpLink(script: string, webhookUrl: string): string | undefined {
  const { workspaceId } = useScope()
  const slash = webhookUrl.lastIndexOf('/')
  const data = {
    webhookId: webhookUrl.slice(slash + 1),
    webhookUrl: webhookUrl.slice(0, slash),
    env: 'production',
  }
  const query = useQuery({
    ...read({ workspaceId }, 'runVrl', { script, data }),
    enabled: script !== '',
  })
  const link = query.data?.result
  return typeof link === 'string' ? link : undefined
}

export function useIntegrationKeys(integrationId: string) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'listIntegrationApiKeys', { integrationId }))
}

/** The newest lines of its log; the page links to the screen of logs for more. */
export function useIntegrationLogs(id: string, level: string | undefined) {
  const { workspaceId } = useScope()
  // Whole days, so that the key of the query stays the same for a while.
  const timeStart = new Date(Math.floor(Date.now() / day - shownDays) * day).toISOString()
  return useQuery(
    read({ workspaceId }, 'getIntegrationLogs', { id, timeStart, ...(level && { level }) }),
  )
}

/** Changes of integrations; each rejects with the refusal of the server. */
export function useIntegrationActions() {
  const { workspaceId } = useScope()
  const scope = { workspaceId }
  return {
    remove: async (id: string): Promise<void> => {
      await change(scope, 'deleteIntegration', { id })
    },
    rotateSecret: async (id: string): Promise<string> => {
      const { newSigningSecret } = await call(scope, 'rotateIntegrationSigningSecrets', { id })
      return newSigningSecret
    },
    createKey: async (integrationId: string, note: string): Promise<string> => {
      const { value } = await change(scope, 'createIntegrationApiKey', { integrationId, note })
      return value
    },
    removeKey: async (id: string): Promise<void> => {
      await change(scope, 'deleteIntegrationApiKey', { id })
    },
    /** Installs it in a bot under an alias, or changes its settings there. */
    install: async (
      botId: string,
      alias: string,
      integrationId: string,
      configuration: Record<string, unknown>,
    ): Promise<void> => {
      await change(
        scope,
        'updateBot',
        { id: botId, integrations: { [alias]: { integrationId, enabled: true, configuration } } },
        byAlias,
      )
    },
  }
}
