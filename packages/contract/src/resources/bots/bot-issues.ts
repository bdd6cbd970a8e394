import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, MapOf, OneOf, pageOf, paging, Timestamp, wrap } from '../../shared.js'

const botId = Type.Object({ id: Id('Id of the bot.') })
const issueId = Type.Object({ id: Id('Id of the bot.'), issueId: Id('Id of the issue.') })

/** Categories of issues. */
const issueCategories: ['user_code', 'limits', 'configuration', 'other'] = [
  'user_code',
  'limits',
  'configuration',
  'other',
]

const data = (description: string) =>
  MapOf(
    Type.Object(
      {
        raw: Type.String({ description: 'The value.' }),
        pretty: Type.Optional(Type.String({ description: 'The value for people.' })),
      },
      { description: 'One value.' },
    ),
    { description },
  )

/** A problem of a bot: what went wrong once or many times for one reason. */
const BotIssue = Type.Object(
  {
    id: Id('Id of the issue.'),
    code: Type.String({
      description:
        'Kind of the problem. The server itself reports `unhandled_error`, `code_stopped`, `memory_exceeded`, `code_unresponsive`, `delivery_ended_code`, `request_timed_out` and `output_dropped`; code reports its own.',
    }),
    category: OneOf(
      issueCategories,
      '`user_code`: an error of the code; `limits`: too much time, memory or output; `configuration`, `other`: as the code says.',
    ),
    title: Type.String({ description: 'The problem in one line, as it was reported last.' }),
    description: Type.String({ description: 'The problem, as it was reported last.' }),
    groupedData: data('Data that all its events have in common, by name.'),
    eventsCount: Type.Integer({
      minimum: 1,
      description: 'Number of occurrences, with the events that are no longer kept.',
    }),
    resolutionLink: Type.Union([Type.String(), Type.Null()], {
      description: 'URL of a page that says what to do; null, because the server knows none.',
    }),
    createdAt: Timestamp('Time at which it was noticed first.'),
    lastSeenAt: Timestamp('Time at which it happened last.'),
  },
  { title: 'BotIssue', description: 'A problem of a bot.' },
)

const BotIssueEvent = Type.Object(
  {
    id: Id('Id of the event.'),
    createdAt: Timestamp('Time at which it happened.'),
    data: data('Data about it, by name: for errors the stack and the request that was handled.'),
  },
  { title: 'BotIssueEvent', description: 'One time that a problem of a bot happened.' },
)

/** Problems of bots whose code runs here. */
export const botIssues = {
  list: operation({
    id: 'listBotIssues',
    method: 'GET',
    path: '/v1/admin/bots/{id}/issues',
    tag: 'Bots',
    summary: 'List the issues of a bot',
    description:
      'Problems of code that runs here: errors that it did not handle, ends by itself, exceeded limits, and what it reports itself. The one that happened last comes first. A bot has at most 100; the one whose last occurrence is oldest is deleted. Issues are kept as long as log lines after they happened last.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    params: botId,
    query: Type.Object(paging),
    response: json(pageOf('issues', BotIssue, 'Issues, the one that happened last first.')),
    errors: ['ResourceNotFound'],
  }),
  get: operation({
    id: 'getBotIssue',
    method: 'GET',
    path: '/v1/admin/bots/{id}/issues/{issueId}',
    tag: 'Bots',
    summary: 'Get an issue of a bot',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    params: issueId,
    response: json(wrap('issue', BotIssue)),
    errors: ['ResourceNotFound'],
  }),
  remove: operation({
    id: 'deleteBotIssue',
    method: 'DELETE',
    path: '/v1/admin/bots/{id}/issues/{issueId}',
    tag: 'Bots',
    summary: 'Delete an issue of a bot',
    description: 'With its events. If the problem happens again, it is a new issue.',
    auth: 'workspace',
    permission: 'logs:write',
    audit: 'workspace',
    concerns: 'bots',
    params: issueId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  listEvents: operation({
    id: 'listBotIssueEvents',
    method: 'GET',
    path: '/v1/admin/bots/{id}/issues/{issueId}/events',
    tag: 'Bots',
    summary: 'List the events of an issue of a bot',
    description:
      'The newest 50 at most. When a problem happens often in a short time, only some of its events are kept.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    params: issueId,
    response: json(
      Type.Object({
        issueEvents: Type.Array(BotIssueEvent, { description: 'Events, the newest first.' }),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
}
