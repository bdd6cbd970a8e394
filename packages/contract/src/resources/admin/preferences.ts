import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Text } from '../../shared.js'

const params = Type.Object({ key: Text(200, 'Name of the preference, 1 to 200 characters.', 1) })

const Preference = Type.Object({
  value: Type.Optional(
    Type.Unknown({ description: 'The value; absent if the preference is not set.' }),
  ),
})

const body = Type.Object({
  value: Type.Optional(
    Type.Unknown({
      description: 'Any JSON value, at most 16,384 bytes. Without one, the preference is removed.',
    }),
  ),
})

/** What programs keep for a person or a workspace, such as the choice of a language. */
export const preferences = {
  getOfAccount: operation({
    id: 'getAccountPreference',
    method: 'GET',
    path: '/v1/admin/account/preferences/{key}',
    tag: 'Account',
    summary: 'Get a preference of the caller',
    auth: 'account',
    permission: 'account:read',
    params,
    response: json(Preference),
  }),
  setOfAccount: operation({
    id: 'setAccountPreference',
    method: 'POST',
    path: '/v1/admin/account/preferences/{key}',
    tag: 'Account',
    summary: 'Set a preference of the caller',
    description: 'Replaces the value. An account has at most 200 preferences.',
    auth: 'account',
    permission: 'account:write',
    audit: { none: 'A program keeps it for one person; nobody else has it or is affected.' },
    params,
    body,
    response: json(Empty),
    errors: ['LimitExceeded'],
  }),
  getOfWorkspace: operation({
    id: 'getWorkspacePreference',
    method: 'GET',
    path: '/v1/admin/workspaces/preferences/{key}',
    tag: 'Workspaces',
    summary: 'Get a preference of the workspace',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'workspace',
    params,
    response: json(Preference),
  }),
  setOfWorkspace: operation({
    id: 'setWorkspacePreference',
    method: 'POST',
    path: '/v1/admin/workspaces/preferences/{key}',
    tag: 'Workspaces',
    summary: 'Set a preference of the workspace',
    description:
      'Replaces the value, for all of its members. A workspace has at most 200 preferences.',
    auth: 'workspace',
    permission: 'workspace:write',
    audit: 'workspace',
    concerns: 'workspace',
    params,
    body,
    response: json(Empty),
    errors: ['LimitExceeded'],
  }),
}
