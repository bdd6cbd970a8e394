import {
  ApiError,
  isReading,
  type Permission,
  permissionsOf,
  type Role,
  roles,
  type WorkspacePermission,
} from '@botstead/contract'

export type { Role }

/** The bots of a workspace that a member may see: all, one, or all but some. */
export type BotReach =
  | { readonly kind: 'all' }
  | { readonly kind: 'only'; readonly botId: string }
  | { readonly kind: 'except'; readonly botIds: readonly string[] }

/** The rights of a member in a workspace, by their role, the lists of bots, and the limits of their token. */
export interface Rights {
  readonly role: Role
  readonly permissions: ReadonlySet<WorkspacePermission>
  readonly bots: BotReach
  /** Limits of the token. */
  readonly limits: TokenLimits
}

/** The bots of a workspace that a caller may see. */
export interface BotScope {
  readonly workspaceId: string
  readonly rights: Pick<Rights, 'bots'>
}

/** The limits of a personal token; those of a session are none. */
export interface TokenLimits {
  readonly readOnly: boolean
  /** The only workspace of the token. */
  readonly workspaceId: string | undefined
  /** The only bot of the token, which is in that workspace. */
  readonly botId: string | undefined
}

export const noLimits: TokenLimits = { readOnly: false, workspaceId: undefined, botId: undefined }

const everyBot: BotReach = { kind: 'all' }

const byRole = new Map(roles.map((role) => [role, new Set(permissionsOf(role))] as const))
const readingByRole = new Map(
  roles.map((role) => [role, new Set(permissionsOf(role).filter(isReading))] as const),
)

/** @param hidden the bots that are limited to others */
export function rightsOf(
  role: Role,
  hidden: readonly string[] = [],
  limits: TokenLimits = noLimits,
): Rights {
  const permissions = (limits.readOnly ? readingByRole : byRole).get(role) ?? new Set()
  return { role, permissions, bots: reachOf(hidden, limits.botId), limits }
}

/** The rights of a member with a token that has limits. */
export function limitRights({ role, bots }: Rights, limits: TokenLimits): Rights {
  return rightsOf(role, bots.kind === 'except' ? bots.botIds : [], limits)
}

function reachOf(hidden: readonly string[], only: string | undefined): BotReach {
  if (only !== undefined && !hidden.includes(only)) return { kind: 'only', botId: only }
  // A token for a bot that its owner may no longer see reaches none; lines of logs about no bot have an empty id.
  if (only !== undefined) return { kind: 'only', botId: 'none' }
  return hidden.length === 0 ? everyBot : { kind: 'except', botIds: hidden }
}

/** All bots of a workspace: for work that no member requested. */
export function allBotsOf(workspaceId: string): BotScope {
  return { workspaceId, rights: { bots: everyBot } }
}

/** Whether a bot of the workspace is one that the member may see. */
export function reaches({ bots }: Pick<Rights, 'bots'>, botId: string): boolean {
  switch (bots.kind) {
    case 'all':
      return true
    case 'only':
      return bots.botId === botId
    case 'except':
      return !bots.botIds.includes(botId)
    default:
      return bots satisfies never
  }
}

/** @throws ApiError `Forbidden` unless the rights include the permission */
export function requirePermission(
  { role, permissions }: Rights,
  permission: WorkspacePermission,
): void {
  if (permissions.has(permission)) return
  if (byRole.get(role)?.has(permission)) throw readOnlyToken()
  throw new ApiError(
    'Forbidden',
    `The role ${role} in this workspace does not include ${permission}, which this operation needs.`,
    { metadata: { permission, role } },
  )
}

/** @throws ApiError `Forbidden` for a token that is limited to one bot, which has no access to the rest of the workspace */
export function requireWholeWorkspace({ limits }: Pick<Rights, 'limits'>): void {
  if (limits.botId === undefined) return
  throw new ApiError(
    'Forbidden',
    'The token in Authorization is limited to one bot, and this operation concerns the workspace.',
  )
}

/** @throws ApiError `Forbidden` for a token that is limited to one workspace, for an operation on two workspaces */
export function requireAllWorkspaces({ limits }: Rights): void {
  if (limits.workspaceId === undefined) return
  throw new ApiError(
    'Forbidden',
    'The token in Authorization is limited to one workspace, and this operation concerns two.',
  )
}

/** @throws ApiError `Forbidden` for a token whose limits exclude what concerns the account itself */
export function requireAccountPermission(limits: TokenLimits, permission: Permission): void {
  if (
    isReading(permission) &&
    (permission === 'account:read' || limits.workspaceId === undefined)
  ) {
    return
  }
  if (limits.readOnly) throw readOnlyToken()
  if (limits.workspaceId !== undefined) {
    throw new ApiError(
      'Forbidden',
      'The token in Authorization is limited to one workspace: it can neither change the account nor see the server.',
    )
  }
}

/** Whether the bots that a member may see include all of others. */
export function covers(rights: Pick<Rights, 'bots'>, others: BotReach): boolean {
  const { bots } = rights
  if (bots.kind === 'all') return true
  if (others.kind === 'only') return reaches(rights, others.botId)
  if (bots.kind === 'only' || others.kind === 'all') return false
  return bots.botIds.every((id) => others.botIds.includes(id))
}

function readOnlyToken(): ApiError {
  return new ApiError('Forbidden', 'The token in Authorization may only read.')
}
