import { type botQuotaTypes, permissionsOf } from '@botstead/contract'
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { call, change, list, read, useFurtherPages } from '../../api/queries.js'
import type { SetQuota } from '../../api/usage.js'

type Client = import('@botstead/contract').Client
type UpdateBot = Omit<NonNullable<Parameters<Client['updateBot']>[0]>, 'id'>
type CreateBot = NonNullable<Parameters<Client['createBot']>[0]>

/** A bot with its definition and installations. */
export type Bot = Awaited<ReturnType<Client['getBot']>>['bot']

/**
 * The bots of the workspace, newest first.
 * @param name part of it
 */
export function useBots(name = '') {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery(
    list({ workspaceId }, 'listBots', { pageSize: 100, ...(name !== '' && { name }) }),
  )
  return { query, bots: query.data?.pages.flatMap(({ bots }) => bots) ?? [] }
}

/** The keys of a bot, without their values. */
export function useBotKeys(botId: string) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'listBotApiKeys', { botId }))
}

/** A version of a bot. */
export type BotVersion = Awaited<ReturnType<Client['createBotVersion']>>['version']

/** A problem of a bot. */
export type BotIssue = Awaited<ReturnType<Client['getBotIssue']>>['issue']

/** The versions of a bot, newest first. */
export function useBotVersions(id: string) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'listBotVersions', { id }))
}

/** Changes of the versions of a bot. */
export function useVersionActions(id: string) {
  const { workspaceId } = useScope()
  const scope = { workspaceId }
  return {
    create: async (input: { name: string; description?: string }): Promise<void> => {
      await change(scope, 'createBotVersion', { id, ...input })
    },
    deploy: async (versionId: string): Promise<void> => {
      await change(scope, 'deployBotVersion', { id, versionId })
    },
    remove: async (versionId: string): Promise<void> => {
      await change(scope, 'deleteBotVersion', { id, versionId })
    },
    /** The address of its code, for an hour. */
    addressOf: async (versionId: string): Promise<string> =>
      (await call(scope, 'getBotVersion', { id, versionId })).url,
  }
}

/** Milliseconds between two looks at issues. */
const issuesEvery = 5000

/** The issues of a bot, the one that happened last first. */
export function useBotIssues(id: string) {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery({
    ...list({ workspaceId }, 'listBotIssues', { id, pageSize: 20 }),
    // Its events are read when it is opened: the number beside them must not be an older one.
    refetchInterval: issuesEvery,
  })
  return { query, issues: query.data?.pages.flatMap(({ issues }) => issues) ?? [] }
}

/** The events of an issue, newest first. */
export function useIssueEvents(id: string, issueId: string) {
  const { workspaceId } = useScope()
  return useQuery({
    ...read({ workspaceId }, 'listBotIssueEvents', { id, issueId }),
    refetchInterval: issuesEvery,
  })
}

/** Changes of the issues of a bot. */
export function useIssueActions(id: string) {
  const { workspaceId } = useScope()
  return {
    remove: async (issueId: string): Promise<void> => {
      await change({ workspaceId }, 'deleteBotIssue', { id, issueId })
    },
  }
}

/** The web chat of a bot. */
export type BotWebchat = Awaited<ReturnType<Client['getBotWebchatSettings']>>['webchat']

/** The changes of an update of a web chat. */
export type WebchatPatch = Omit<Parameters<Client['updateBotWebchatSettings']>[0], 'id'>
type WebchatCodeType = Parameters<Client['getBotWebchat']>[0]['type']

/** The settings of the web chat of a bot, and the web sites that may use it. */
export function useWebchat(id: string) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getBotWebchatSettings', { id }))
}

/** Loads the code that puts the web chat of a bot on a page. */
export function useWebchatCode(id: string, type: WebchatCodeType) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getBotWebchat', { id, type }))
}

/** Changes of the web chat of a bot; each rejects with the refusal of the server. */
export function useWebchatActions(id: string) {
  const { workspaceId } = useScope()
  return {
    update: async (patch: WebchatPatch): Promise<BotWebchat> => {
      const { webchat } = await change({ workspaceId }, 'updateBotWebchatSettings', {
        id,
        ...patch,
      })
      return webchat
    },
  }
}

/** A member of the workspace, or an open invitation. */
export type Member = Awaited<ReturnType<Client['getWorkspaceMember']>>

/** The members and open invitations of the workspace, oldest first. */
export function useMembers() {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery(list({ workspaceId }, 'listWorkspaceMembers', { pageSize: 100 }))
  return { query, members: query.data?.pages.flatMap(({ members }) => members) ?? [] }
}

/** The members who may see a bot. */
export type Allowlist = Awaited<ReturnType<Client['getBotAllowlist']>>

/** Loads the list of members who may see a bot. */
export function useAllowlist(botId: string) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getBotAllowlist', { botId }))
}

/** Changes the list of members who may see a bot; rejects with the refusal of the server. */
export function useAllowlistActions(botId: string) {
  const { workspaceId } = useScope()
  return async (
    input: Omit<Parameters<Client['updateBotAllowlist']>[0], 'botId'>,
  ): Promise<void> => {
    await change({ workspaceId }, 'updateBotAllowlist', { botId, ...input })
  }
}

/** Sets a quota of a bot, or removes it with null; rejects with the refusal of the server. */
export function useSetQuota(id: string): SetQuota<(typeof botQuotaTypes)[number]> {
  const { workspaceId } = useScope()
  return async (type, value) => {
    const { quota } = await change({ workspaceId }, 'setBotQuota', { id, type, value })
    return quota.value
  }
}

/** Whether the reader has other workspaces than that of the address, as the menu shows them. */
export function useHasOtherWorkspaces(): boolean {
  const { data } = useQuery(read({}, 'listWorkspaces', { pageSize: 100 }))
  return (data?.workspaces.length ?? 0) > 1
}

/** The other workspaces in which the reader may create bots. */
export function useTargetWorkspaces() {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery(list({}, 'listWorkspaces', { pageSize: 100 }))
  useFurtherPages(query, true)
  const others = (query.data?.pages.flatMap(({ workspaces }) => workspaces) ?? []).filter(
    ({ id }) => id !== workspaceId,
  )
  const members = useQueries({
    queries: others.map(({ id }) => read({ workspaceId: id }, 'getWorkspaceMember', {})),
  })
  return {
    workspaces: others.filter((_, at) => {
      const role = members[at]?.data?.role
      return role !== undefined && permissionsOf(role).includes('bots:write')
    }),
    isComplete:
      query.data !== undefined &&
      !query.hasNextPage &&
      members.every(({ isPending }) => !isPending),
  }
}

/** Changes of bots; each rejects with the refusal of the server. */
export function useBotActions() {
  const { workspaceId } = useScope()
  const scope = { workspaceId }
  return {
    create: async (input: CreateBot): Promise<Bot> => {
      const { bot } = await change(scope, 'createBot', input)
      return bot
    },
    update: async (id: string, input: UpdateBot): Promise<void> => {
      await change(scope, 'updateBot', { id, ...input })
    },
    remove: async (id: string): Promise<void> => {
      await change(scope, 'deleteBot', { id })
    },
    move: async (id: string, targetWorkspaceId: string): Promise<void> => {
      await change(scope, 'transferBot', { id, targetWorkspaceId })
    },
    rotateSecret: async (id: string): Promise<string> => {
      const { newSigningSecret } = await call(scope, 'rotateBotSigningSecrets', { id })
      return newSigningSecret
    },
    ping: async (id: string) => (await change(scope, 'sendTestEvent', { id })).result,
    createKey: async (botId: string, note: string): Promise<string> => {
      const { value } = await change(scope, 'createBotApiKey', { botId, note })
      return value
    },
    removeKey: async (id: string): Promise<void> => {
      await change(scope, 'deleteBotApiKey', { id })
    },
  }
}
