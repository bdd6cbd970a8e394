import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, PageMeta, paging, Text } from '../../shared.js'

/** What clients of other servers know. */
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

/** What only this server counts: in responses only to those who ask for it. */
const ownTypes = ['message_count', 'action_calls', 'listener_time', 'hosted_time'] as const

/** All that is counted, or limited. */
export const usageTypes = [...knownTypes, ...ownTypes] as const

export type UsageType = (typeof usageTypes)[number]

/** The types that people can limit, for a workspace and for each of its bots, or for a workspace only. */
export const quotaTypes = [
  'invocation_calls',
  'storage_count',
  'knowledgebase_vector_storage',
  'bot_count',
  'workspace_member_count',
  'integrations_owned_count',
] as const

export const botQuotaTypes = [
  'invocation_calls',
  'storage_count',
  'knowledgebase_vector_storage',
] as const

/** The quota of what has none: clients expect a number. */
export const noQuota = Number.MAX_SAFE_INTEGER

const meanings =
  '`invocation_calls`: messages from users and other events of bots, in the month, those that are scheduled when they are created. `message_count`: messages from and to users, in the month. `action_calls`: calls of actions of integrations, in the month. `listener_time`: seconds that programs listened to conversations, added up, in the month. `hosted_time`: seconds that code of bots ran here, added up, in the month. `storage_count`, `knowledgebase_vector_storage`: bytes of files, of indexed files. `bot_count`, `workspace_member_count`, `integrations_owned_count`, `indexed_file_count`, `always_alive`: numbers of bots, members, integrations, indexed files, and bots whose code always runs. `workspace_ratelimit` (requests in a minute), `file_max_size_bytes` and `invocation_timeout` (milliseconds) are limits of one request, of which nothing is used up. Nothing is charged here, and there are no tables: the others are 0.'

const UsageTypeField = OneOf([...usageTypes], 'What is counted.')

const period = Type.Optional(
  Type.String({
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
    maxLength: 7,
    description: 'Month in UTC, such as `2026-03`; default: this month.',
  }),
)

const quotaValue = Type.Integer({
  minimum: 0,
  description: `The most that is allowed; ${noQuota} if there is no quota.`,
})

const Usage = Type.Object(
  {
    id: Id('Id of the workspace or bot.'),
    period: Type.String({ description: 'Month in UTC, such as `2026-03`.' }),
    value: Type.Integer({
      minimum: 0,
      description:
        'What was used in the month, for what is counted by the month; otherwise what was used last in it.',
    }),
    quota: quotaValue,
    type: UsageTypeField,
  },
  { title: 'Usage', description: 'What a workspace or a bot used in a month.' },
)

const Quota = Type.Object(
  {
    period: Type.String({ description: 'Month in UTC, such as `2026-03`.' }),
    value: quotaValue,
    type: OneOf([...knownTypes], 'What is limited.'),
  },
  {
    title: 'Quota',
    description:
      'The most that a workspace or a bot may use in a month. Of months that are over, it is that of now.',
  },
)

const usages = Type.Object({
  usages: Type.Array(Usage, { description: 'Usage, in the order of the request.' }),
})

const quotas = Type.Object({ quotas: Type.Array(Quota, { description: 'One for each type.' }) })

const usageOwner = Type.Object({
  id: Id('Id of a workspace of the caller, or of a bot in the workspace of the call.'),
})
const workspaceId = Type.Object({ id: Id('Id of a workspace of the caller.') })
const botId = Type.Object({ id: Id('Id of a bot.') })
const typeAndPeriod = Type.Object({ type: UsageTypeField, period })
const quotaAndPeriod = Type.Object({ type: OneOf([...knownTypes], 'What is limited.'), period })

const activityOf = (edge: string, example: string) =>
  Type.Optional(Text(40, `${edge} in UTC, such as \`${example}\`.`))

const quotaBody = <const Types extends string[]>(types: readonly [...Types]) =>
  Type.Object({
    type: OneOf([...types], 'What is limited.'),
    value: Type.Union([Type.Integer({ minimum: 0, maximum: noQuota - 1 }), Type.Null()], {
      description: 'The most that is allowed; null removes the quota.',
    }),
  })

const quotaEffect =
  'What is used already stays. What would exceed the quota is refused with `QuotaExceeded`; a line in the log of the bot tells when four fifths of it are used, and another when all of it is. Where the server has a quota too, the smaller one counts.'

/** What workspaces and bots used, and how much they may. */
export const usage = {
  get: operation({
    id: 'getUsage',
    method: 'GET',
    path: '/v1/admin/usages/{id}',
    tag: 'Workspaces',
    summary: 'Get what a workspace or a bot used in a month',
    description: `${meanings} A bot that moved to another workspace begins there with nothing.`,
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
    summary: 'Get several kinds of usage of several workspaces and bots',
    auth: 'workspace',
    permission: 'workspace:read',
    concerns: 'bots',
    query: Type.Object({
      types: Type.Array(Text(50, 'What is counted: a type as `getUsage` takes it.', 1), {
        minItems: 1,
        maxItems: usageTypes.length,
        description: 'What is counted.',
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
    summary: 'List what a workspace or a bot used in the last twelve months',
    description: 'Newest first, without months before the first that was counted.',
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
    summary: 'List what a workspace or a bot used, by day, with times',
    description: 'Newest first; a day on which nothing was used is left out.',
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
              value: Type.Integer({ minimum: 0, description: 'What was used on the day.' }),
              period: Type.String({ description: 'Month of the day, such as `2026-03`.' }),
              metadata: Type.Object(
                { botId: Type.Optional(Id('Id of the bot; absent for the whole workspace.')) },
                { description: 'Who used it.' },
              ),
            },
            { description: 'What a bot used on a day.' },
          ),
          { description: 'Days and bots.' },
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
    summary: 'List what a workspace or a bot used, by day',
    description: 'Newest first; a day on which nothing was used is left out.',
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
              key: Id('Id of the bot, or of the workspace for what no single bot uses.'),
              date: Type.String({ description: 'Day in UTC, such as `2026-03-01`.' }),
              value: Type.Integer({ minimum: 0, description: 'What was used on the day.' }),
            },
            { description: 'What a bot used on a day.' },
          ),
          { description: 'Days and bots.' },
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
    summary: 'List what a workspace and each of its bots used in a month',
    description: 'The workspace first, then the bots that you may see and that used something.',
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
    summary: 'List what each bot of a workspace used in a month',
    description:
      'Bots that used most first, at most 1,000. Bots that were deleted are among them for members who may see all bots.',
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
              value: Type.Integer({ minimum: 0, description: 'What it used.' }),
            },
            { description: 'A bot and what it used.' },
          ),
          { description: 'Bots that used something.' },
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
    summary: 'Export what the bots of a workspace used, by day',
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
    summary: 'Get the quota of each workspace of the caller that is used most',
    description:
      'By the id of the workspace. `completion` is the used part of the quota: 0.5 is half of it.',
    auth: 'account',
    permission: 'account:read',
    response: json(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            type: OneOf([...quotaTypes], 'What is limited.'),
            completion: Type.Number({ minimum: 0, description: 'Used part; 1 is all of it.' }),
          },
          { description: 'The quota of a workspace that is used most.' },
        ),
      ),
    ),
  }),
}

/** How much workspaces and bots may use. */
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
    summary: 'Limit what a workspace may use',
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
    summary: 'Limit what a bot may use',
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
