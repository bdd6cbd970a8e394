import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { Empty, Id, OneOf, Text, TimeBound, Timestamp } from '../../shared.js'

const levels: ['debug', 'info', 'warn', 'error'] = ['debug', 'info', 'warn', 'error']

const NewLogLine = Type.Object(
  {
    level: OneOf(levels, 'How important it is.'),
    message: Text(4000, 'What happened, 1 to 4,000 characters.', 1),
    timestamp: Type.Optional(
      Timestamp('When it happened, at most five minutes ahead; now if left out.'),
    ),
    userId: Type.Optional(Id('Id of the user that it is about.')),
    workflowId: Type.Optional(Id('Id of the workflow that it is about.')),
    conversationId: Type.Optional(Id('Id of the conversation that it is about.')),
  },
  { title: 'NewBotLog', description: 'One line.' },
)

const BotLog = Type.Object(
  {
    timestamp: Timestamp('When it happened.'),
    level: Type.String({ description: '`debug`, `info`, `warn` or `error`.' }),
    message: Type.String({ description: 'What happened.' }),
    userId: Type.Optional(Id('Id of the user that it is about.')),
    workflowId: Type.Optional(Id('Id of the workflow that it is about.')),
    conversationId: Type.Optional(Id('Id of the conversation that it is about.')),
  },
  { title: 'BotLog', description: 'One line.' },
)

/** What happened in a bot, as the server and the bot itself tell it. */
export const botLogs = {
  get: operation({
    id: 'getBotLogs',
    method: 'GET',
    path: '/v1/admin/bots/{id}/logs',
    tag: 'Bots',
    summary: 'See what happened in a bot',
    description:
      'Every attempt at a delivery, what was given up, pauses, and the lines that the bot wrote itself; newest first, 100 lines a page.',
    auth: 'workspace',
    params: Type.Object({ id: Id('Id of the bot.') }),
    query: Type.Object({
      timeStart: TimeBound('beginning', 'Only lines from this time on.'),
      timeEnd: Type.Optional(TimeBound('end', 'Only lines up to this time.')),
      level: Type.Optional(
        Text(20, 'Only lines of this level: `debug`, `info`, `warn` or `error`.'),
      ),
      userId: Type.Optional(Id('Only lines about this user.')),
      workflowId: Type.Optional(Id('Only lines about this workflow.')),
      conversationId: Type.Optional(Id('Only lines about this conversation.')),
      messageContains: Type.Optional(
        Text(200, 'Only lines with this in the message, in any case of letters.'),
      ),
      nextToken: Type.Optional(Text(4096, 'Value of `nextToken` of the page before.')),
    }),
    answer: {
      kind: 'json',
      schema: Type.Object({
        logs: Type.Array(BotLog, { description: 'Lines, newest first.' }),
        nextToken: Type.Optional(
          Type.String({ description: 'For the next page, if there is one.' }),
        ),
      }),
    },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  write: operation({
    id: 'writeBotLogs',
    method: 'POST',
    path: '/v1/chat/logs',
    tag: 'Bots',
    summary: 'Write lines into the log of a bot',
    description:
      'They are read with `getBotLogs`. One bot may make 600 such calls a minute, 100 of them at once. Ids are not checked: a line may be about what is gone.',
    auth: 'bot',
    body: Type.Object({
      logs: Type.Array(NewLogLine, {
        minItems: 1,
        maxItems: 100,
        description: 'Lines, 1 to 100.',
      }),
    }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['RateLimited'],
  }),
}
