/** The roles of the members of a workspace. Only owners may delete it, and there is always one. */
export const roles = [
  'viewer',
  'billing',
  'developer',
  'manager',
  'administrator',
  'owner',
] as const

export type Role = (typeof roles)[number]

/** Descriptions of the roles, for people who choose or have one. The table of permissions has the particulars. */
export const roleTexts: Record<Role, string> = {
  viewer: 'Sees bots, conversations and files, and changes nothing.',
  billing: 'Sees the workspace, its usage, limits and members. Nothing is charged here.',
  developer:
    'Creates, changes and deploys bots; changes conversations and files; sees configuration, keys, logs and deliveries. Deletes only bots of their own.',
  manager:
    'As a developer; also deletes the bots of others, sets quotas of bots, and decides who may see a bot.',
  administrator:
    'As a manager; also changes the workspace and its quotas, and invites and removes members.',
  owner: 'As an administrator; also makes others owners, and deletes the workspace.',
}

const everyone: readonly Role[] = roles
const readers: readonly Role[] = ['viewer', 'developer', 'manager', 'administrator', 'owner']
const builders: readonly Role[] = ['developer', 'manager', 'administrator', 'owner']
const managers: readonly Role[] = ['manager', 'administrator', 'owner']
const administrators: readonly Role[] = ['administrator', 'owner']

/** The description of a permission, and the roles that have it. */
interface PermissionEntry {
  /** Completes "Members with this permission may …". */
  allows: string
  roles: readonly Role[]
}

/**
 * The permissions in a workspace. Every operation of a workspace or a bot names the one that it needs, so that this is the
 * whole table of who may do what. Keys of bots and integrations have no role: they may do what their operations allow.
 */
export const workspacePermissions = {
  'workspace:read': {
    allows: 'see the workspace, its usage, its limits and the hub',
    roles: everyone,
  },
  'workspace:write': { allows: 'change the workspace and its quotas', roles: administrators },
  'workspace:delete': { allows: 'delete the workspace', roles: ['owner'] },
  'members:read': { allows: 'see the members and their roles', roles: everyone },
  'members:write': {
    allows: 'invite and remove members, and change their roles',
    roles: administrators,
  },
  'members:leave': { allows: 'leave the workspace', roles: everyone },
  'audit:read': { allows: 'read and export the audit log', roles: administrators },
  'bots:read': { allows: 'see bots, integrations, interfaces and plugins', roles: readers },
  'configuration:read': {
    allows: 'see the code of bots, and the configuration of bots and installations',
    roles: builders,
  },
  'bots:write': {
    allows:
      'create, change and deploy bots, integrations, interfaces and plugins, and delete the bots that they created',
    roles: builders,
  },
  'bots:manage': {
    allows: 'delete the bots of others, set quotas of bots, and decide which members may see a bot',
    roles: managers,
  },
  'keys:read': { allows: 'list keys of bots and integrations', roles: builders },
  'keys:write': {
    allows: 'create, replace and delete keys and secrets of bots and integrations',
    roles: builders,
  },
  'conversations:read': {
    allows: 'read conversations, with their messages, users, events and states',
    roles: readers,
  },
  'conversations:write': {
    allows: 'write and delete conversations, messages, users, events and states',
    roles: builders,
  },
  'files:read': { allows: 'read and search files', roles: readers },
  'files:write': { allows: 'upload, change and delete files', roles: builders },
  'logs:read': { allows: 'read logs, errors and issues', roles: builders },
  'logs:write': { allows: 'write log lines, and resolve errors and issues', roles: builders },
  'deliveries:read': { allows: 'see deliveries to bots and integrations', roles: builders },
  'deliveries:write': { allows: 'replay, pause and test deliveries', roles: builders },
  'actions:call': { allows: 'call actions of integrations', roles: builders },
} as const satisfies Record<string, PermissionEntry>

/** The permissions of a person outside of any workspace; those of the server are the operator's. */
export const accountPermissions = {
  'account:read': { allows: 'see their account and its workspaces' },
  'account:write': { allows: 'change their account, and create workspaces' },
  'server:read': { allows: 'see the server' },
  'server:write': { allows: 'retry and drop jobs of the server' },
} as const

export type WorkspacePermission = keyof typeof workspacePermissions
export type AccountPermission = keyof typeof accountPermissions
export type Permission = WorkspacePermission | AccountPermission

/** Whether an operation with this permission changes nothing, so that tokens that may only read can use it. */
export function isReading(permission: Permission): boolean {
  return permission.endsWith(':read')
}

/** The permissions of a role in a workspace. */
export function permissionsOf(role: Role): WorkspacePermission[] {
  return names.filter((name) =>
    (workspacePermissions[name].roles as readonly Role[]).includes(role),
  )
}

/** The roles with a permission, weakest first; those of accounts belong to none. */
export function rolesWith(permission: Permission): readonly Role[] {
  const entries: Partial<Record<Permission, PermissionEntry>> = workspacePermissions
  return entries[permission]?.roles ?? []
}

const names = Object.keys(workspacePermissions) as WorkspacePermission[]
