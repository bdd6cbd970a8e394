import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf } from '../../shared.js'

const Limit = Type.Object(
  {
    name: OneOf(
      [
        'storage',
        'indexedStorage',
        'calls',
        'bots',
        'integrations',
        'files',
        'conversations',
        'messages',
        'fileSize',
        'indexedFileSize',
        'passagesPerFile',
        'messageSize',
        'requestSize',
        'adminRequestSize',
        'deliveryAttempts',
        'requestsPerMinute',
      ],
      'Subject of the limit.',
    ),
    description: Type.String({ description: 'The limit in words.' }),
    unit: OneOf(['bytes', 'count'], 'Unit of `used` and `limit`.'),
    used: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Usage by the workspace; absent where the limit is about a single object or request.',
      }),
    ),
    isExact: Type.Optional(
      Type.Boolean({
        description: 'Whether `used` is exact; otherwise there is at least so much.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The limit; absent where there is none.' }),
    ),
    setting: Type.Optional(
      Type.String({ description: 'Setting with which the operator of the server changes it.' }),
    ),
  },
  { title: 'WorkspaceLimit', description: 'A limit with what is used of it.' },
)

/** The limits of a workspace. */
export const limits = {
  list: operation({
    id: 'listWorkspaceLimits',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/limits',
    tag: 'Workspaces',
    summary: 'List the limits of a workspace with what it uses',
    description:
      'Quotas of the workspace, numbers that have no limit, and limits of single objects and requests. Numbers are exact up to 100,000.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'workspace',
    params: Type.Object({ id: Id('Id of a workspace of the caller.') }),
    response: json(
      Type.Object({
        limits: Type.Array(Limit, { description: 'All limits, quotas first.' }),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
}
