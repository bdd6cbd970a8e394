import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, PageMeta, paging, Text } from '../../shared.js'

/** Types that existing clients know. */
const knownTypes = [
  'invocation_timeout',
  'invocation_calls',
  'storage_count',
  'bot_count',
  'knowledgebase_vector_storage',
  'workspace_ratelimit',
  'table_row_count',
  'workspace_member_count',
  'integrations_owned_count',
  'ai_spend',
  'openai_spend',
  'bing_search_spend',
  'always_alive',
  'indexed_file_count',
  'file_max_size_bytes',
] as const

/** Types of this server alone: a response has one only if the request names it. */
const ownTypes = ['message_count', 'action_calls', 'listener_time', 'hosted_time'] as const

/** Everything that is counted or limited. */
export const usageTypes = [...knownTypes, ...ownTypes] as const

export type UsageType = (typeof usageTypes)[number]

/** The types that people can limit for a workspace. */
export const quotaTypes = [
  'invocation_calls',
  'storage_count',
  'knowledgebase_vector_storage',
  'bot_count',
  'workspace_member_count',
  'integrations_owned_count',
] as const

/** Those of them that people can limit for a single bot too. */
export const botQuotaTypes = [
  'invocation_calls',
  'storage_count',
  'knowledgebase_vector_storage',
] as const

/** The value that stands for no quota: clients expect a number. */
export const noQuota = Number.MAX_SAFE_INTEGER

const meanings =
  'Totals of the month: `invocation_calls` (messages from users and other events of bots; scheduled ones count when they are created), `message_count` (messages from and to users), `action_calls` (calls of actions of integrations), `listener_time` (seconds for which clients listened to conversations, all clients added up), `hosted_time` (seconds for which the server ran code of bots, all programs added up). Sizes in bytes: `storage_count` (files), `knowledgebase_vector_storage` (indexed files). Numbers: `bot_count`, `workspace_member_count` (with open invitations), `integrations_owned_count`, `indexed_file_count`, `always_alive` (bots whose code always runs). `workspace_ratelimit` (requests per minute), `file_max_size_bytes` and `invocation_timeout` (milliseconds) limit single requests; their usage is 0. Nothing is charged here, and there are no tables: the usage of all other types is 0.'

const UsageTypeField = OneOf([...usageTypes], 'Type of usage.')

const period = Type.Optional(
  Type.String({
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
    maxLength: 7,
    description: 'Month in UTC, such as `2026-03`; default: this month.',
  }),
)

const quotaValue = Type.Integer({
  minimum: 0,
  description: `Maximum, in the unit of the type; ${noQuota} if there is no quota.`,
})

const Usage = Type.Object(
  {
    id: Id('Id of the workspace or bot.'),
    period: Type.String({ description: 'Month in UTC, such as `2026-03`.' }),
    value: Type.Integer({
      minimum: 0,
      description:
        'Total of the month; of sizes and numbers, the last one in the month. In the unit of the type, see `getUsage`.',
    }),
    quota: quotaValue,
    type: UsageTypeField,
  },
  { title: 'Usage', description: 'Usage of one type by a workspace or a bot in a month.' },
)

const Quota = Type.Object(
  {
    period: Type.String({ description: 'Month in UTC, such as `2026-03`.' }),
    value: quotaValue,
    type: OneOf([...knownTypes], 'Type of usage that is limited.'),
  },
  {
    title: 'Quota',
    description:
      'Maximum that a workspace or a bot may use of one type. Quotas have no history: those of past months are the present ones.',
  },
)

const usages = Type.Object({
  usages: Type.Array(Usage, { description: 'Usage of each type and owner.' }),
})

const quotas = Type.Object({ quotas: Type.Array(Quota, { description: 'One for each type.' }) })

const usageOwner = Type.Object({
  id: Id('Id of a workspace of the caller, or of a bot in the workspace of the call.'),
})
const workspaceId = Type.Object({ id: Id('Id of a workspace of the caller.') })
const botId = Type.Object({ id: Id('Id of a bot.') })
const typeAndPeriod = Type.Object({ type: UsageTypeField, period })
const quotaAndPeriod = Type.Object({
  type: OneOf([...knownTypes], 'Type of usage that is limited.'),
  period,
})

const activityOf = (edge: string, example: string) =>
  Type.Optional(Text(40, `${edge} in UTC, such as \`${example}\`.`))

const quotaBody = <const Types extends string[]>(types: readonly [...Types]) =>
  Type.Object({
    type: OneOf([...types], 'Type of usage that is limited.'),
    value: Type.Union([Type.Integer({ minimum: 0, maximum: noQuota - 1 }), Type.Null()], {
      description: 'Maximum, in the unit of the type; null removes the quota.',
    }),
  })

const quotaEffect =
  'Nothing is deleted if more is used already. Requests that would exceed the quota are refused with `QuotaExceeded`. When 80 % of a quota of messages and events or of bytes are used, the log of the bot gets a warning, and another at 100 %. Where the server has a quota too, the smaller one counts.'

/** Usage of workspaces and bots. */
export const usage = {
  get: operation({
    id: 'getUsage',
    method: 'GET',
    path: '/v1/admin/usages/{id}',
    tag: 'Workspaces',
    summary: 'Get the usage of a workspace or a bot in a month',
    description: `${meanings} The totals of a bot that moved to another workspace begin at 0 there.`,
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'bots',
    params: usageOwner,
    query: typeAndPeriod,
    response: json(Type.Object({ usage: Usage })),
    errors: ['ResourceNotFound'],
  }),
  getMultiple: operation({
    id: 'getMultipleUsages',
    method: 'GET',
    path: '/v1/admin/usages/multiple',
    tag: 'Workspaces',
    summary: 'Get several types of usage of several workspaces and bots',
    description: 'In the order of `ids`, and for each id in the order of `types`.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'bots',
    query: Type.Object({
      types: Type.Array(Text(50, 'Type of usage, as in `getUsage`.', 1), {
        minItems: 1,
        maxItems: usageTypes.length,
        description: 'Types of usage.',
      }),
      ids: Type.Array(Id('Id of a workspace or bot.'), {
        minItems: 1,
        maxItems: 100,
        description: 'Workspaces of the caller and bots in the workspace of the call, 1 to 100.',
      }),
      period,
    }),
    response: json(usages),
    errors: ['ResourceNotFound'],
  }),
  history: operation({
    id: 'listUsageHistory',
    method: 'GET',
    path: '/v1/admin/usages/{id}/history',
    tag: 'Workspaces',
    summary: 'List the usage of a workspace or a bot in the last twelve months',
    description:
      'Newest first, beginning with the present month. Months without figures are left out.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'bots',
    params: usageOwner,
    query: Type.Object({ type: UsageTypeField }),
    response: json(usages),
    errors: ['ResourceNotFound'],
  }),
  activity: operation({
    id: 'listUsageActivity',
    method: 'GET',
    path: '/v1/admin/usages/{id}/activity',
    tag: 'Workspaces',
    summary: 'List the usage of a workspace or a bot by day, with times',
    description: 'Newest first; days without usage are left out.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'bots',
    params: usageOwner,
    query: Type.Object({
      type: UsageTypeField,
      timestampFrom: activityOf('First moment', '2026-03-01T00:00:00Z'),
      timestampUntil: activityOf('Last moment', '2026-03-31T23:59:59Z'),
      ...paging,
    }),
    response: json(
      Type.Object({
        data: Type.Array(
          Type.Object(
            {
              timestamp: Type.String({ description: 'Beginning of the day.' }),
              value: Type.Integer({
                minimum: 0,
                description: 'Usage on the day, in the unit of the type.',
              }),
              period: Type.String({ description: 'Month of the day, such as `2026-03`.' }),
              metadata: Type.Object(
                { botId: Type.Optional(Id('Id of the bot; absent for the whole workspace.')) },
                { description: 'The bot.' },
              ),
            },
            { description: 'Usage of a bot, or of the workspace, on a day.' },
          ),
          { description: 'An entry for each day and bot.' },
        ),
        meta: PageMeta,
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  dailyActivity: operation({
    id: 'listUsageActivityDaily',
    method: 'GET',
    path: '/v1/admin/usages/{id}/daily-activity',
    tag: 'Workspaces',
    summary: 'List the usage of a workspace or a bot by day',
    description: 'Newest first; days without usage are left out.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'bots',
    params: usageOwner,
    query: Type.Object({
      type: UsageTypeField,
      dateFrom: activityOf('First day', '2026-03-01'),
      dateUntil: activityOf('Last day', '2026-03-31'),
      ...paging,
    }),
    response: json(
      Type.Object({
        data: Type.Array(
          Type.Object(
            {
              key: Id(
                'Id of the bot; of the workspace for types that no single bot has, such as `bot_count`.',
              ),
              date: Type.String({ description: 'Day in UTC, such as `2026-03-01`.' }),
              value: Type.Integer({
                minimum: 0,
                description: 'Usage on the day, in the unit of the type.',
              }),
            },
            { description: 'Usage of a bot, or of the workspace, on a day.' },
          ),
          { description: 'An entry for each day and bot.' },
        ),
        meta: PageMeta,
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  ofWorkspace: operation({
    id: 'listWorkspaceUsages',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/usages',
    tag: 'Workspaces',
    summary: 'List the usage of a workspace and of each of its bots in a month',
    description:
      'The workspace first, then at most 1,000 bots with usage that you may see, those with the highest usage first.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'workspace',
    params: workspaceId,
    query: typeAndPeriod,
    response: json(usages),
    errors: ['ResourceNotFound'],
  }),
  byBot: operation({
    id: 'breakDownWorkspaceUsageByBot',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/usages/by-bot',
    tag: 'Workspaces',
    summary: 'List the usage of each bot of a workspace in a month',
    description:
      'At most 1,000 bots, those with the highest usage first. Members who may see all bots also see those that were deleted or moved away.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'workspace',
    params: workspaceId,
    query: typeAndPeriod,
    response: json(
      Type.Object({
        data: Type.Array(
          Type.Object(
            {
              botId: Id('Id of the bot.'),
              value: Type.Integer({ minimum: 0, description: 'Usage, in the unit of the type.' }),
            },
            { description: 'A bot and its usage.' },
          ),
          { description: 'Bots with usage.' },
        ),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  export: operation({
    id: 'exportWorkspaceUsage',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/usages/export',
    tag: 'Workspaces',
    summary: 'Export the usage of a workspace and its bots by day',
    description: 'Oldest first, streamed.',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'workspace',
    params: workspaceId,
    query: Type.Object({
      dateFrom: activityOf('First day', '2026-03-01'),
      dateUntil: activityOf('Last day', '2026-03-31'),
    }),
    response: {
      kind: 'download',
      description:
        'CSV with `date`, `botId` (empty for the workspace), `botName` (empty if it was deleted), `type` and `value`.',
    },
    errors: ['ResourceNotFound'],
  }),
  completion: operation({
    id: 'getAllWorkspaceQuotaCompletion',
    method: 'GET',
    path: '/v1/admin/workspaces/usages/quota-completion',
    tag: 'Workspaces',
    summary: 'Get the most used quota of each workspace of the caller',
    description:
      'Keys are ids of workspaces; those without a quota are left out. `completion` is the used part of the quota: 0.5 is half of it.',
    auth: 'account',
    permission: 'account:read',
    response: json(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            type: OneOf([...quotaTypes], 'Type of usage that is limited.'),
            completion: Type.Number({
              minimum: 0,
              description:
                'Used part: 1 is all of it, and more than 1 if more is used than is allowed now.',
            }),
          },
          { description: 'The most used quota of a workspace.' },
        ),
      ),
    ),
  }),
}

/** Quotas of workspaces and bots. */
export const quota = {
  get: operation({
    id: 'getWorkspaceQuota',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/quota',
    tag: 'Workspaces',
    summary: 'Get a quota of a workspace',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'workspace',
    params: workspaceId,
    query: quotaAndPeriod,
    response: json(Type.Object({ quota: Quota })),
    errors: ['ResourceNotFound'],
  }),
  list: operation({
    id: 'listWorkspaceQuotas',
    method: 'GET',
    path: '/v1/admin/workspaces/{id}/quotas',
    tag: 'Workspaces',
    summary: 'List the quotas of a workspace',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'workspace',
    params: workspaceId,
    query: Type.Object({ period }),
    response: json(quotas),
    errors: ['ResourceNotFound'],
  }),
  set: operation({
    id: 'setWorkspaceQuota',
    method: 'PUT',
    path: '/v1/admin/workspaces/{id}/quota',
    tag: 'Workspaces',
    summary: 'Set or remove a quota of a workspace',
    description: `${quotaEffect} \`id\` must be the workspace of the call.`,
    auth: 'workspace',
    permission: 'workspace:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: workspaceId,
    body: quotaBody(quotaTypes),
    response: json(Type.Object({ quota: Quota })),
    errors: ['ResourceNotFound'],
  }),
  listOfBot: operation({
    id: 'listBotQuotas',
    method: 'GET',
    path: '/v1/admin/bots/{id}/quotas',
    tag: 'Bots',
    summary: 'List the quotas of a bot',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: botId,
    query: Type.Object({ period }),
    response: json(quotas),
    errors: ['ResourceNotFound'],
  }),
  setOfBot: operation({
    id: 'setBotQuota',
    method: 'PUT',
    path: '/v1/admin/bots/{id}/quota',
    tag: 'Bots',
    summary: 'Set or remove a quota of a bot',
    description: quotaEffect,
    auth: 'workspace',
    permission: 'bots:manage',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    body: quotaBody(botQuotaTypes),
    response: json(Type.Object({ quota: Quota })),
    errors: ['ResourceNotFound'],
  }),
}
