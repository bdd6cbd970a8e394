import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, pageOf, paging, Text, Timestamp, timeRange } from '../../shared.js'

/** The kinds of records that clients know; all others are `UNKNOWN`, and `operation` says which. */
const auditActions = [
  'UNKNOWN',
  'ADD_WORKSPACE_MEMBER',
  'REMOVE_WORKSPACE_MEMBER',
  'UPDATE_WORKSPACE_MEMBER',
  'CLOSE_WORKSPACE',
  'CREATE_BOT',
  'CREATE_WORKSPACE',
  'DELETE_BOT',
  'DEPLOY_BOT',
  'TRANSFER_BOT',
  'DOWNLOAD_BOT_ARCHIVE',
  'UPDATE_BOT',
  'UPDATE_BOT_CHANNEL',
  'UPDATE_BOT_CONFIG',
  'UPDATE_PAYMENT_METHOD',
  'UPDATE_WORKSPACE',
  'SET_SPENDING_LIMIT',
  'SET_AI_SPENDING_LIMIT',
  'UPDATE_WORKSPACE_BILLING_READONLY',
  'UPDATE_WORKSPACE_PLAN_READONLY',
  'UPDATE_WORKSPACE_ADDONS_READONLY',
  'EXECUTE_AUTO_RECHARGE_SUCCESS',
  'EXECUTE_AUTO_RECHARGE_FAILED',
] as const

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const AuditRecord = Type.Object(
  {
    id: Id('Id of the record.'),
    recordedAt: Timestamp('Time at which it was recorded; never before that of the record before.'),
    sequence: Type.Integer({
      minimum: 1,
      description: 'Number of the record in its workspace: without gaps, from 1.',
    }),
    action: OneOf([...auditActions], 'Kind of the act, as clients of other servers know it.'),
    operation: Type.String({
      description:
        'Id of the operation that was called, such as `updateBot`; for acts that no call made, a name with a dot, such as `audit.retention`.',
    }),
    userId: nullable('Id of the account that acted; null if no person did.'),
    userEmail: Type.Optional(nullable('Email address that the account has now.')),
    authority: OneOf(
      ['session', 'token', 'operator', 'server'],
      'Proof of the person: the session of a browser, a personal access token, a command of the operator; `server` if no person acted.',
    ),
    tokenId: nullable('Id of the session or token.'),
    tokenNote: nullable('Note of the token.'),
    address: nullable('Network address of the caller; of IPv6 the network of 64 bits.'),
    resourceId: nullable('Id of what was changed or read; null if it has none.'),
    resourceName: Type.Optional(nullable('Name that it had at that time.')),
    value: Type.Optional(
      nullable(
        'What changed, as a JSON object of the names of fields: `{"from":...,"to":...}`, or `{}` where the values are kept out because they may contain secrets.',
      ),
    ),
    hash: Type.String({
      description:
        'SHA-256 in hex of the record and the hash before. The operator can compare one that was kept elsewhere: `botstead check --audit-head`.',
    }),
  },
  { title: 'AuditRecord', description: 'One act in a workspace, and who did it.' },
)

const filters = {
  userId: Type.Optional(Id('Only acts of this account.')),
  operation: Type.Optional(Text(100, 'Only calls of this operation, such as `updateBot`.', 1)),
  ...timeRange('records made'),
}

const workspaceId = Type.Object({ id: Id('Id of the workspace.') })

/** The audit log of a workspace. */
export const audit = {
  list: operation({
    id: 'getAuditRecords',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/audit-records',
    tag: 'Workspaces',
    summary: 'List the audit log of a workspace',
    description:
      'Newest first: administrative acts, sign-ins of members, and readings of conversations, files and logs by people. Readings of the same thing by the same person are one record in ten minutes. It contains no secrets.',
    auth: 'workspace',
    permission: 'audit:read',
    concerns: 'workspace',
    params: workspaceId,
    query: Type.Object({ ...paging, ...filters }),
    response: json(pageOf('records', AuditRecord, 'Records, newest first.')),
    errors: ['ResourceNotFound'],
  }),
  export: operation({
    id: 'exportAuditRecords',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/audit-records/export',
    tag: 'Workspaces',
    summary: 'Export the audit log of a workspace',
    description:
      'Oldest first, streamed. The export is itself recorded, as the last record of an export without filters. `id` must be the workspace of the call.',
    auth: 'workspace',
    permission: 'audit:read',
    concerns: 'workspace',
    params: workspaceId,
    query: Type.Object({
      ...filters,
      format: Type.Optional(
        OneOf(
          ['jsonl', 'csv'],
          'JSON Lines (the default) or CSV. In CSV, text that looks like a formula starts with an apostrophe.',
        ),
      ),
    }),
    response: {
      kind: 'download',
      description:
        'Records as `getAuditRecords` has them, one for each line; CSV has the names of the fields in the first line.',
    },
    errors: ['ResourceNotFound'],
    audit: 'workspace',
  }),
}
