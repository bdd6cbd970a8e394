import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { roles } from '../../permissions.js'
import { Empty, Id, MapOf, OneOf, pageOf, paging, Text, Timestamp } from '../../shared.js'
import { NewPassword } from './sign-in.js'

const role = OneOf(
  [...roles],
  'Role of the member: the guide "Team" has the permissions of each. Only owners can make others owners.',
)

const memberFields = {
  id: Id('Id of the membership.'),
  userId: Type.Optional(
    Id('Id of the account of the member; absent while the invitation is open.'),
  ),
  email: Type.String({ description: 'Email address of the person.' }),
  createdAt: Timestamp('Time at which the person was invited or became a member.'),
  role,
  profilePicture: Type.Optional(Type.String({ description: 'URL of a picture.' })),
  displayName: Type.Optional(Type.String({ description: 'Name of the person.' })),
}

/** A person with a role in a workspace, or an invitation to become one. */
export const WorkspaceMember = Type.Object(memberFields, {
  title: 'WorkspaceMember',
  description: 'A person with a role in a workspace, or an open invitation.',
})

const invitationFields = {
  invitationUrl: Type.String({
    description:
      'Link to the page on which the invited person joins. Send it to them. It works once, and is returned only here: the server stores only a hash, and the encrypted mail until it is sent.',
  }),
  invitationExpiresAt: Timestamp('Time at which the link stops working.'),
  isMailed: Type.Boolean({ description: 'Whether the server emails the link to the person.' }),
}

const sendEmail = Type.Optional(
  Type.Boolean({
    description:
      'Whether the server emails `invitationUrl` to the person. Ignored by a server that sends no mail: send it yourself. After three mails to a mailbox, or 50 of an account, further ones are refused with 429 for a while, and nobody is invited.',
  }),
)

const memberId = Type.Object({ id: Id('Id of the membership, as `listWorkspaceMembers` has it.') })

/** The people of a workspace. */
export const members = {
  list: operation({
    id: 'listWorkspaceMembers',
    method: 'GET',
    path: '/v1/admin/workspace-members',
    tag: 'Workspaces',
    summary: 'List the members of a workspace',
    auth: 'workspace',
    permission: 'members:read',
    concerns: 'workspace',
    query: Type.Object(paging),
    response: json(
      pageOf('members', WorkspaceMember, 'Members and open invitations, oldest first.'),
    ),
  }),
  getOwn: operation({
    id: 'getWorkspaceMember',
    method: 'GET',
    path: '/v1/admin/workspace-members/me',
    tag: 'Workspaces',
    summary: 'Get the membership of the caller',
    auth: 'workspace',
    permission: 'members:read',
    concerns: 'bots',
    response: json(WorkspaceMember),
  }),
  create: operation({
    id: 'createWorkspaceMember',
    method: 'POST',
    path: '/v1/admin/workspace-members',
    tag: 'Workspaces',
    summary: 'Invite a person to a workspace',
    description:
      'The person becomes a member by opening the invitation, whether they have an account or not. An invitation is valid for seven days.',
    auth: 'workspace',
    permission: 'members:write',
    audit: 'workspace',
    concerns: 'workspace',
    body: Type.Object({
      email: Type.String({
        pattern: '^[^\\s@]+@[^\\s@]+$',
        maxLength: 320,
        description: 'Email address of the person, at most 320 characters; case does not count.',
      }),
      role,
      sendEmail,
    }),
    response: json(
      Type.Object(
        { ...memberFields, ...invitationFields },
        {
          title: 'InvitedMember',
          description: 'An open invitation, with the address that accepts it.',
        },
      ),
    ),
    status: 201,
    errors: ['AlreadyExists', 'LimitExceeded', 'QuotaExceeded'],
    idempotent: true,
  }),
  renewInvitation: operation({
    id: 'renewWorkspaceInvitation',
    method: 'POST',
    path: '/v1/admin/workspace-members/{id}/invitation',
    tag: 'Workspaces',
    summary: 'Replace the address of an open invitation',
    description: 'The previous address stops working.',
    auth: 'workspace',
    permission: 'members:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: memberId,
    body: Type.Object({ sendEmail }),
    bodyOptional: true,
    response: json(Type.Object(invitationFields)),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateWorkspaceMember',
    method: 'PUT',
    path: '/v1/admin/workspace-members/{id}',
    tag: 'Workspaces',
    summary: 'Change the role of a member',
    description:
      'Takes effect within a second on every server process, open streams included. The last owner keeps their role.',
    auth: 'workspace',
    permission: 'members:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: memberId,
    body: Type.Object({ role: Type.Optional(role) }),
    response: json(WorkspaceMember),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  remove: operation({
    id: 'deleteWorkspaceMember',
    method: 'DELETE',
    path: '/v1/admin/workspace-members/{id}',
    tag: 'Workspaces',
    summary: 'Remove a member, or withdraw an invitation',
    description:
      'Members may leave; removing others needs `members:write`. The open streams of the member end within a second, and their tokens that are limited to this workspace are deleted. The last owner cannot leave.',
    auth: 'workspace',
    permission: 'members:leave',
    audit: 'workspace',
    concerns: 'workspace',
    params: memberId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
}

const code = Text(512, 'Code of an invitation: the part of its address after `#`.', 1)

/** Invitations, for those who have the address of one. */
export const invitations = {
  get: operation({
    id: 'getInvitation',
    method: 'POST',
    path: '/v1/admin/invitations/lookup',
    tag: 'Workspaces',
    summary: 'Get the invitation with a code',
    description: 'Changes nothing. It is a `POST`, so that the code appears in no log of URLs.',
    auth: 'public',
    body: Type.Object({ code }),
    response: json(
      Type.Object({
        workspaceName: Type.String({ description: 'Name of the workspace.' }),
        email: Type.String({ description: 'Email address that was invited.' }),
        role,
        expiresAt: Timestamp('Time at which the invitation ends.'),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  accept: operation({
    id: 'acceptInvitation',
    method: 'POST',
    path: '/v1/admin/invitations/accept',
    tag: 'Workspaces',
    summary: 'Join a workspace with the account of the caller',
    description: 'Whoever has the code may use it once, whatever the address of their account.',
    auth: 'account',
    permission: 'account:write',
    audit: 'workspace',
    body: Type.Object({ code }),
    response: json(Type.Object({ workspaceId: Id('Id of the workspace.') })),
    errors: ['ResourceNotFound', 'AlreadyExists'],
  }),
  signUp: operation({
    id: 'signUpWithInvitation',
    method: 'POST',
    path: '/v1/admin/invitations/sign-up',
    tag: 'Workspaces',
    summary: 'Join a workspace with a new account',
    description:
      'For pages of the server itself: makes an account with the address of the invitation and a password, and signs the browser in as `createSession` does.',
    auth: 'public',
    audit: 'workspace',
    session: 'begins',
    body: Type.Object({
      code,
      displayName: Text(200, 'Name shown to others, 1 to 200 characters.', 1),
      password: NewPassword,
    }),
    response: json(Type.Object({ workspaceId: Id('Id of the workspace.') })),
    status: 201,
    errors: ['ResourceNotFound', 'AlreadyExists', 'Forbidden', 'Unauthorized'],
  }),
}

const botId = Type.Object({ botId: Id('Id of the bot.') })

const setting = OneOf(
  ['ALL_WORKSPACE_USERS', 'SELECTED_USERS'],
  'Whether all members may see the bot, or only those of the list and those with the permission `bots:manage`.',
)

/** The members who may see a bot. */
export const botAllowlists = {
  get: operation({
    id: 'getBotAllowlist',
    method: 'GET',
    path: '/v1/admin/bots/{botId}/allowlist',
    tag: 'Bots',
    summary: 'Get the list of members who may see a bot',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: botId,
    response: json(
      Type.Object({
        setting,
        users: Type.Array(
          Type.Object(
            { id: Id('Id of the account of a member.') },
            { description: 'A member on the list.' },
          ),
          { description: 'Members on the list; it counts only with `SELECTED_USERS`.' },
        ),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateBotAllowlist',
    method: 'PUT',
    path: '/v1/admin/bots/{botId}/allowlist',
    tag: 'Bots',
    summary: 'Limit a bot to some members',
    description:
      'For all other members the bot does not exist, and lists leave it out; their open streams about it end within a second. Keys of the bot keep working.',
    auth: 'workspace',
    permission: 'bots:manage',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    body: Type.Object({
      setting: Type.Optional(setting),
      users: Type.Optional(
        MapOf(Type.Boolean({ description: 'Whether the member is on the list.' }), {
          maxProperties: 1000,
          propertyNames: { minLength: 1, maxLength: 128 },
          description:
            'Changes of the list, by the id of the account: `true` adds a member, `false` removes one, others stay. At most 1,000.',
        }),
      ),
    }),
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceNotFound'],
  }),
}
