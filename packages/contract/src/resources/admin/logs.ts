import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, Text, TimeBound, Timestamp } from '../../shared.js'
import { logLevels } from '../bots/bot-logs.js'

const logSources = ['bot', 'delivery', 'integration'] as const

const LogLine = Type.Object(
  {
    id: Id('Id of the line.'),
    timestamp: Timestamp('Time at which it happened, according to the writer.'),
    source: OneOf(
      [...logSources],
      'Log that contains the line: that of a bot, the attempts at its deliveries, or that of an integration.',
    ),
    level: OneOf(logLevels, 'Severity of the line. An attempt is `info`, a failed one `warn`.'),
    message: Type.String({ description: 'Text of the line.' }),
    botId: Type.Optional(
      Id(
        'Id of the bot in which it happened; absent in lines of the code of an integration about no bot.',
      ),
    ),
    integrationId: Type.Optional(Id('Id of the integration, if the line is from its log.')),
    integrationAlias: Type.Optional(
      Type.String({
        description: 'Alias of the installation that an attempt called; absent for the bot.',
      }),
    ),
    deliveryId: Type.Optional(Id('Id of the delivery, if the line is an attempt.')),
    userId: Type.Optional(Id('Id of the user that the line is about.')),
    workflowId: Type.Optional(Id('Id of the workflow that the line is about.')),
    conversationId: Type.Optional(Id('Id of the conversation that the line is about.')),
  },
  { title: 'LogLine', description: 'One line of the logs of a workspace.' },
)

const filters = {
  botId: Type.Optional(Id('Only lines about this bot of the workspace.')),
  integrationId: Type.Optional(
    Id('Only lines from the log of this integration, and attempts to call its installations.'),
  ),
  source: Type.Optional(OneOf([...logSources], 'Only lines from these logs.')),
  level: Type.Optional(OneOf(logLevels, 'Only lines with this level.')),
  minLevel: Type.Optional(OneOf(logLevels, 'Only lines with this level or a more severe one.')),
  text: Type.Optional(
    Text(
      200,
      'Only lines whose message contains this text, ignoring case, 1 to 200 characters.',
      1,
    ),
  ),
  userId: Type.Optional(Id('Only lines about this user.')),
  workflowId: Type.Optional(Id('Only lines about this workflow.')),
  conversationId: Type.Optional(Id('Only lines about this conversation.')),
}

/** Names the event of the stream after which to continue. */
const positionPattern = '^[0-9TZ:.-]{24}/[ -~]{0,150}$'

/** The logs of all bots and integrations of a workspace. */
export const logs = {
  list: operation({
    id: 'listLogs',
    method: 'GET',
    path: '/v1/admin/logs',
    tag: 'Workspaces',
    summary: 'List the log lines of all bots and integrations of a workspace',
    description:
      'All filters that are given must match. One call reads about 20,000 lines: with a filter that few of them pass, a page may have fewer lines than requested, or none, and still a `nextToken`. `meta.readUntil` says how far back it looked.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    query: Type.Object({
      ...filters,
      since: Type.Optional(TimeBound('beginning', 'Only lines at or after this time.')),
      until: Type.Optional(TimeBound('end', 'Only lines at or before this time.')),
      nextToken: Type.Optional(
        Text(4096, 'Pagination token: `meta.nextToken` of the previous page.'),
      ),
      pageSize: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          default: 50,
          description: 'Most lines of the page, 50 by default and at most 100.',
        }),
      ),
    }),
    response: json(
      Type.Object({
        logs: Type.Array(LogLine, { description: 'Lines, newest first.' }),
        meta: Type.Object(
          {
            nextToken: Type.Optional(
              Type.String({
                description: 'Pagination token of the next page; absent on the last page.',
              }),
            ),
            readUntil: Type.Optional(
              Timestamp('Time of the last line that was read; absent on the last page.'),
            ),
            position: Type.String({
              description:
                'Position of the newest line of the page: `streamLogs` continues after it with `lastEventId`.',
            }),
          },
          { title: 'LogPageMeta', description: 'Position in the logs.' },
        ),
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
  counts: operation({
    id: 'countLogs',
    method: 'GET',
    path: '/v1/admin/logs/counts',
    tag: 'Workspaces',
    summary: 'Count the log lines of a workspace by level over time',
    description:
      'For a chart. The buckets have equal lengths, which are round numbers, and begin at multiples of that length, the first in 1970 or later. A call counts a bounded number of lines, newest first; if there are more, `countedFrom` says how far back the counts are complete.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    query: Type.Object({
      ...filters,
      since: Type.Optional(
        TimeBound('beginning', 'Start of the range; 24 hours before its end if omitted.'),
      ),
      until: Type.Optional(TimeBound('end', 'End of the range, included; now if omitted.')),
      buckets: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 120,
          default: 60,
          description: 'Most buckets, 60 by default and at most 120.',
        }),
      ),
    }),
    response: json(
      Type.Object({
        bucketMs: Type.Integer({ minimum: 1, description: 'Length of a bucket in milliseconds.' }),
        buckets: Type.Array(
          Type.Object(
            {
              start: Timestamp('Start of the bucket.'),
              debug: Type.Integer({ minimum: 0, description: 'Lines with the level `debug`.' }),
              info: Type.Integer({ minimum: 0, description: 'Lines with the level `info`.' }),
              warn: Type.Integer({ minimum: 0, description: 'Lines with the level `warn`.' }),
              error: Type.Integer({ minimum: 0, description: 'Lines with the level `error`.' }),
            },
            { title: 'LogCounts', description: 'Log lines of a period by level.' },
          ),
          { description: 'All buckets of the range, oldest first, also those without lines.' },
        ),
        countedFrom: Type.Optional(
          Timestamp('Lines before this time are not counted; absent if all are.'),
        ),
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
  stream: operation({
    id: 'streamLogs',
    method: 'GET',
    path: '/v1/admin/logs/stream',
    tag: 'Workspaces',
    summary: 'Follow the log lines of a workspace',
    description:
      'Server-sent events, or WebSocket if the request asks for it. Without a position, the stream begins with the present. With one, it begins with the lines after it; lines of the last seconds before it may come once more, with the same `id`. If more than 1,000 lines are missing, it sends `reset` instead: list the logs. A line appears within about two seconds, and only if its time is less than five seconds before that of lines sent already. An idle stream sends `ping` every 30 seconds.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    query: Type.Object({
      ...filters,
      lastEventId: Type.Optional(
        Type.String({
          maxLength: 200,
          pattern: positionPattern,
          description:
            'Id of the last event that was received, or `meta.position` of a list; takes precedence over `Last-Event-ID`.',
        }),
      ),
    }),
    headers: Type.Object({
      'last-event-id': Type.Optional(
        Type.String({
          maxLength: 200,
          pattern: positionPattern,
          description: 'Id of the last event that was received, as browsers send it.',
        }),
      ),
    }),
    response: {
      kind: 'stream',
      description:
        'Events named `message`, each `{ type, data }`: `log_line` with a line as in lists, or `reset`.',
    },
    errors: ['ReferenceNotFound', 'RateLimited'],
  }),
}
