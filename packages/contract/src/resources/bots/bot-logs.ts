import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, OneOf, Text, TimeBound, Timestamp } from '../../shared.js'

/** Severities of log lines, the least severe first. */
export const logLevels: ['debug', 'info', 'warn', 'error'] = ['debug', 'info', 'warn', 'error']

const NewLogLine = Type.Object(
  {
    level: OneOf(logLevels, 'Severity of the line.'),
    message: Text(4000, 'Text of the line, 1 to 4,000 characters.', 1),
    timestamp: Type.Optional(
      Timestamp('Time at which it happened, at most five minutes in the future; now if omitted.'),
    ),
    userId: Type.Optional(Id('Id of the user that the line is about.')),
    workflowId: Type.Optional(Id('Id of the workflow that the line is about.')),
    conversationId: Type.Optional(Id('Id of the conversation that the line is about.')),
  },
  { title: 'NewBotLog', description: 'One log line.' },
)

/** One line of the log of a bot. */
export const BotLog = Type.Object(
  {
    timestamp: Timestamp('Time at which it happened.'),
    level: Type.String({ description: '`debug`, `info`, `warn` or `error`.' }),
    message: Type.String({ description: 'Text of the line.' }),
    userId: Type.Optional(Id('Id of the user that the line is about.')),
    workflowId: Type.Optional(Id('Id of the workflow that the line is about.')),
    conversationId: Type.Optional(Id('Id of the conversation that the line is about.')),
    messageId: Type.Optional(
      Id(
        'Id of the message that the code handled when it wrote the line; only of code that runs here.',
      ),
    ),
    eventId: Type.Optional(
      Id(
        'Id of the event that the code handled when it wrote the line; only of code that runs here.',
      ),
    ),
  },
  { title: 'BotLog', description: 'One log line.' },
)

/** The log of a bot, written by the server and by the bot itself. */
export const botLogs = {
  get: operation({
    id: 'getBotLogs',
    method: 'GET',
    path: '/v1/admin/bots/{id}/logs',
    tag: 'Bots',
    summary: 'List the log lines of a bot',
    description:
      'Every delivery attempt, deliveries that were given up, pauses, the lines that the bot wrote, and what its code printed that runs here; newest first, 100 lines per page.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    params: Type.Object({ id: Id('Id of the bot.') }),
    query: Type.Object({
      timeStart: TimeBound('beginning', 'Only lines from this time on.'),
      timeEnd: Type.Optional(TimeBound('end', 'Only lines up to this time.')),
      level: Type.Optional(
        Text(20, 'Only lines with this level: `debug`, `info`, `warn` or `error`.'),
      ),
      userId: Type.Optional(Id('Only lines about this user.')),
      workflowId: Type.Optional(Id('Only lines about this workflow.')),
      conversationId: Type.Optional(Id('Only lines about this conversation.')),
      messageContains: Type.Optional(
        Text(200, 'Only lines whose message contains this text, ignoring case.'),
      ),
      nextToken: Type.Optional(Text(4096, 'Pagination token: `nextToken` of the previous page.')),
    }),
    response: json(
      Type.Object({
        logs: Type.Array(BotLog, { description: 'Lines, newest first.' }),
        nextToken: Type.Optional(
          Type.String({
            description: 'Pagination token of the next page; absent on the last page.',
          }),
        ),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  write: operation({
    id: 'writeBotLogs',
    method: 'POST',
    path: '/v1/chat/logs',
    tag: 'Bots',
    summary: 'Write lines to the log of a bot',
    description:
      '`getBotLogs` returns them. A bot may make 600 such calls per minute, 100 of them at once. Ids are not checked: a line may refer to a deleted object.',
    auth: 'bot',
    permission: 'logs:write',
    body: Type.Object({
      logs: Type.Array(NewLogLine, {
        minItems: 1,
        maxItems: 100,
        description: 'Lines, 1 to 100.',
      }),
    }),
    response: json(Empty),
    errors: ['RateLimited'],
  }),
}
