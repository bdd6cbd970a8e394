import {
  type Client,
  type quotaTypes,
  type Role,
  toApiError,
  type UsageType,
} from '@botstead/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type Search, useScope } from '../../api/address.js'
import { fetchFromServer, headersOf, serverUrl } from '../../api/client.js'
import { call, change, list, read } from '../../api/queries.js'
import type { SetQuota } from '../../api/usage.js'

type UpdateWorkspace = Omit<NonNullable<Parameters<Client['updateWorkspace']>[0]>, 'id'>

export function useWorkspace() {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getWorkspace', { id: workspaceId }))
}

/** A member of the workspace, or an open invitation. */
export type Member = Awaited<ReturnType<Client['getWorkspaceMember']>>

/** The members and open invitations, oldest first. */
export function useMembers() {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery(list({ workspaceId }, 'listWorkspaceMembers', { pageSize: 100 }))
  return { query, members: query.data?.pages.flatMap(({ members }) => members) ?? [] }
}

/** Changes of members; each rejects with the refusal of the server. */
export function useMemberActions() {
  const { workspaceId } = useScope()
  const scope = { workspaceId }
  return {
    /** @returns the address of the invitation */
    invite: async (email: string, role: Role, sendEmail: boolean): Promise<MadeAddress> =>
      toAddress(await change(scope, 'createWorkspaceMember', { email, role, sendEmail })),
    /** @returns the new address of the invitation */
    renew: async (id: string, sendEmail: boolean): Promise<MadeAddress> =>
      toAddress(await call(scope, 'renewWorkspaceInvitation', { id, sendEmail })),
    changeRole: async (id: string, role: Role): Promise<void> => {
      await change(scope, 'updateWorkspaceMember', { id, role })
    },
    remove: async (id: string): Promise<void> => {
      await change(scope, 'deleteWorkspaceMember', { id })
    },
    /** As `remove`, of the reader, who may read nothing of the workspace afterwards. */
    leave: async (id: string): Promise<void> => {
      await call(scope, 'deleteWorkspaceMember', { id })
    },
  }
}

/** One act in the audit log. */
export type AuditRecord = Awaited<ReturnType<Client['getAuditRecords']>>['records'][number]

/** The filters of the audit log in an address. */
export function toAuditFilter(search: Search) {
  const { userId, operation, afterDate, beforeDate } = search
  return {
    userId: userId || undefined,
    operation: operation || undefined,
    afterDate: afterDate || undefined,
    beforeDate: beforeDate || undefined,
  }
}

type AuditFilter = ReturnType<typeof toAuditFilter>

/** The audit log, newest first. */
export function useAudit(filter: AuditFilter) {
  const { workspaceId } = useScope()
  const input = { id: workspaceId, pageSize: 50, ...given(filter) }
  const query = useInfiniteQuery(list({ workspaceId }, 'getAuditRecords', input))
  return { query, records: query.data?.pages.flatMap(({ records }) => records) ?? [] }
}

/** Reads an export of the audit log to its end. */
export function useAuditExport() {
  const { workspaceId } = useScope()
  return async (filter: AuditFilter, format: 'csv' | 'jsonl'): Promise<Blob> => {
    return await download(workspaceId, 'audit-records/export', { ...given(filter), format })
  }
}

function given(filter: AuditFilter): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Reads the usage of the bots in some days, such as `2026-03-01`, to its end. */
export function useUsageExport() {
  const { workspaceId } = useScope()
  return async (days: { dateFrom: string; dateUntil: string }): Promise<Blob> =>
    await download(workspaceId, 'usages/export', days)
}

/** Reads a download of the workspace to its end. */
async function download(
  workspaceId: string,
  path: string,
  query: Record<string, string>,
): Promise<Blob> {
  const address = `${serverUrl}/v1/admin/workspaces/${encodeURIComponent(workspaceId)}/${path}`
  const response = await fetchFromServer(`${address}?${new URLSearchParams(query)}`, {
    headers: headersOf({ workspaceId }),
  })
  if (!response.ok) throw toApiError(response.status, await response.text())
  return await response.blob()
}

/** The bots that used something in a month, those that used most first. */
export function useUsageByBot(type: UsageType, period: string) {
  const { workspaceId } = useScope()
  return useQuery({
    ...read({ workspaceId }, 'breakDownWorkspaceUsageByBot', { id: workspaceId, type, period }),
    // That of another type has another unit.
    placeholderData: undefined,
  })
}

/** Sets a quota of the workspace, or removes it with null; rejects with the refusal of the server. */
export function useSetQuota(): SetQuota<(typeof quotaTypes)[number]> {
  const { workspaceId } = useScope()
  return async (type, value) => {
    const { quota } = await change({ workspaceId }, 'setWorkspaceQuota', {
      id: workspaceId,
      type,
      value,
    })
    return quota.value
  }
}

/** The limits of the workspace with what is used of them. */
export function useLimits() {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'listWorkspaceLimits', { id: workspaceId }))
}

/** The server itself; refused to everybody but its operator. */
export function useServer() {
  return useQuery(read({}, 'getServer', {}))
}

/** Changes of the workspace; each rejects with the refusal of the server. */
export function useWorkspaceActions() {
  const { workspaceId } = useScope()
  return {
    update: async (input: UpdateWorkspace): Promise<void> => {
      await change({ workspaceId }, 'updateWorkspace', { id: workspaceId, ...input })
    },
  }
}

/** The address of an invitation, and whether the server mails it. */
export interface MadeAddress {
  url: string
  isMailed: boolean
}

function toAddress(made: { invitationUrl: string; isMailed: boolean }): MadeAddress {
  return { url: made.invitationUrl, isMailed: made.isMailed }
}
