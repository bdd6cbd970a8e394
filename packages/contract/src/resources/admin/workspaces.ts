import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, OneOf, pageOf, paging, Text, Timestamp, Url } from '../../shared.js'

/** Rules of handles. */
export const workspaceHandle = { maxLength: 100, pattern: '^[a-z0-9][a-z0-9_-]*$' } as const

/** A tenant: bots, their files and conversations, and the people who have access to them. */
export const Workspace = Type.Object(
  {
    id: Id('Id of the workspace; value of the header `x-workspace-id`.'),
    name: Type.String({ description: 'Name of the workspace.' }),
    ownerId: Id('Id of the account that owns the workspace.'),
    createdAt: Timestamp('Time at which the workspace was created.'),
    updatedAt: Timestamp('Time at which the workspace last changed.'),
    botCount: Type.Integer({ minimum: 0, description: 'Number of bots in the workspace.' }),
    billingVersion: OneOf(['v1', 'v2', 'v3', 'v4'], 'Kept for existing clients; always `v4`.'),
    plan: OneOf(
      ['community', 'team', 'enterprise', 'plus', 'managed'],
      'Kept for existing clients; has no effect.',
    ),
    blocked: Type.Boolean({ description: 'Kept for existing clients; always false.' }),
    spendingLimit: Type.Number({ description: 'Kept for existing clients; nothing is charged.' }),
    activeTrialId: Type.Union([Type.String(), Type.Null()], {
      description: 'Kept for existing clients; always null.',
    }),
    about: Type.Optional(Type.String({ description: 'Description of the workspace.' })),
    profilePicture: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    contactEmail: Type.Optional(Type.String({ description: 'Email address for questions.' })),
    website: Type.Optional(Type.String({ description: 'URL of a website.' })),
    socialAccounts: Type.Optional(
      Type.Array(Type.String({ description: 'URL of a social media account.' }), {
        description: 'Social media accounts.',
      }),
    ),
    isPublic: Type.Optional(
      Type.Boolean({ description: 'Whether the workspace is visible to others.' }),
    ),
    handle: Type.Optional(
      Type.String({
        description: 'Unique short name; prefix of the names that the workspace publishes.',
      }),
    ),
  },
  {
    title: 'Workspace',
    description: 'A tenant: bots, their data and the people who have access to them.',
  },
)

const publicFields = [
  'id',
  'name',
  'createdAt',
  'updatedAt',
  'about',
  'profilePicture',
  'contactEmail',
  'website',
  'socialAccounts',
  'handle',
] as const

/** What everybody with an account on the server may see of a public workspace. */
const PublicWorkspace = Type.Pick(Workspace, publicFields, {
  title: 'PublicWorkspace',
  description: 'What everybody with an account on this server may see of a public workspace.',
})

const workspaceId = Type.Object({
  id: Id('Id of a workspace of the caller.'),
})

/** Workspaces of the caller. */
export const workspaces = {
  list: operation({
    id: 'listWorkspaces',
    method: 'GET',
    path: '/v1/admin/workspaces',
    tag: 'Workspaces',
    summary: 'List the workspaces of the caller',
    auth: 'account',
    permission: 'account:read',
    query: Type.Object({
      ...paging,
      handle: Type.Optional(Text(100, 'Only the workspace with exactly this handle.')),
    }),
    response: json(pageOf('workspaces', Workspace, 'Workspaces of the caller, newest first.')),
  }),
  create: operation({
    id: 'createWorkspace',
    method: 'POST',
    path: '/v1/admin/workspaces',
    tag: 'Workspaces',
    summary: 'Create a workspace',
    description: 'The caller becomes its owner.',
    auth: 'account',
    permission: 'account:write',
    audit: 'workspace',
    body: Type.Object({
      name: Text(200, 'Name of the workspace, 1 to 200 characters.', 1),
      billingVersion: Type.Optional(OneOf(['v4'], 'Accepted for existing clients; has no effect.')),
    }),
    response: json(Workspace),
    status: 201,
    errors: ['LimitExceeded'],
    idempotent: true,
  }),
  get: operation({
    id: 'getWorkspace',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}',
    tag: 'Workspaces',
    summary: 'Get a workspace',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'bots',
    params: workspaceId,
    response: json(Workspace),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateWorkspace',
    method: 'PUT',
    path: '/v1/admin/workspaces/{id}',
    tag: 'Workspaces',
    summary: 'Update a workspace',
    description: 'Omitted fields keep their value.',
    auth: 'workspace',
    permission: 'workspace:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: workspaceId,
    body: Type.Object({
      name: Type.Optional(Text(200, 'Name of the workspace, 1 to 200 characters.', 1)),
      spendingLimit: Type.Optional(
        Type.Number({ minimum: 0, description: 'Stored and returned; nothing is charged.' }),
      ),
      about: Type.Optional(Text(2000, 'Description of the workspace, at most 2,000 characters.')),
      profilePicture: Type.Optional(Url('URL of a picture, at most 65,536 characters.')),
      contactEmail: Type.Optional(
        Text(320, 'Email address for questions, at most 320 characters.'),
      ),
      website: Type.Optional(Url('URL of a website, at most 65,536 characters.')),
      socialAccounts: Type.Optional(
        Type.Array(Url('URL of a social media account.'), {
          maxItems: 5,
          description: 'Social media accounts, at most 5. Replaces the list.',
        }),
      ),
      isPublic: Type.Optional(
        Type.Boolean({ description: 'Whether the workspace is visible to others.' }),
      ),
      handle: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: workspaceHandle.maxLength,
          pattern: workspaceHandle.pattern,
          description:
            'Unique short name: 1 to 100 lowercase letters, digits, `-` and `_`, starting with a letter or digit. A handle that is in use is refused.',
        }),
      ),
    }),
    response: json(Workspace),
    errors: ['ResourceNotFound', 'AlreadyExists'],
  }),
  listPublic: operation({
    id: 'listPublicWorkspaces',
    method: 'GET',
    path: '/v1/admin/workspaces/public',
    tag: 'Workspaces',
    summary: 'List the public workspaces of this server',
    description: 'Those with `isPublic`.',
    auth: 'account',
    permission: 'account:read',
    query: Type.Object({
      ...paging,
      workspaceIds: Type.Optional(
        Type.Array(Id('Id of a workspace.'), {
          maxItems: 100,
          description: 'Only these workspaces, at most 100.',
        }),
      ),
      search: Type.Optional(Text(200, 'Only workspaces with this text in their name or handle.')),
    }),
    response: json(pageOf('workspaces', PublicWorkspace, 'Public workspaces, newest first.')),
  }),
  getPublic: operation({
    id: 'getPublicWorkspace',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/public',
    tag: 'Workspaces',
    summary: 'Get a public workspace',
    auth: 'account',
    permission: 'account:read',
    params: Type.Object({ id: Id('Id of a public workspace.') }),
    response: json(PublicWorkspace),
    errors: ['ResourceNotFound'],
  }),
  checkHandle: operation({
    id: 'checkHandleAvailability',
    method: 'PUT',
    path: '/v1/admin/workspaces/handle-availability',
    tag: 'Workspaces',
    summary: 'Check whether a handle can be taken',
    description:
      'Changes nothing. A handle that breaks the rules of `updateWorkspace` is not available, and the suggestions are close to it.',
    auth: 'account',
    permission: 'account:read',
    body: Type.Object({ handle: Text(100, 'The wanted handle, 1 to 100 characters.', 1) }),
    response: json(
      Type.Object({
        available: Type.Boolean({ description: 'Whether the handle can be taken now.' }),
        suggestions: Type.Array(Type.String({ description: 'A handle that can be taken.' }), {
          maxItems: 3,
          description: 'Up to 3 similar handles that can be taken; empty if this one can.',
        }),
        usedBy: Type.Optional(
          Id('Workspace that has the handle, if the caller is a member of it.'),
        ),
      }),
    ),
  }),
  remove: operation({
    id: 'deleteWorkspace',
    method: 'DELETE',
    path: '/v1/admin/workspaces/{id}',
    tag: 'Workspaces',
    summary: 'Delete a workspace and everything in it',
    description: 'Only the owner can delete a workspace.',
    auth: 'workspace',
    permission: 'workspace:delete',
    audit: 'workspace',
    concerns: 'workspace',
    params: workspaceId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}
