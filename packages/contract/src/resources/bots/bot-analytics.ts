import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, MapOf, TimeBound, Timestamp } from '../../shared.js'

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Unknown = (description: string) =>
  Type.Number({ description: `${description} Always 0: the server calls no language models.` })

const spread = {
  mean: Unknown('Mean.'),
  sd: Unknown('Standard deviation.'),
  min: Unknown('Minimum value.'),
  max: Unknown('Maximum value.'),
}

const LanguageModelUse = Type.Object(
  {
    calls: Unknown('Calls.'),
    errors: Unknown('Calls that failed.'),
    inputTokens: Unknown('Tokens of prompts.'),
    outputTokens: Unknown('Tokens of responses.'),
    latency: Type.Object(spread, { description: 'Milliseconds until a response is complete.' }),
    tokensPerSecond: Type.Object(spread, { description: 'Speed of responses.' }),
    cost: Type.Object({ sum: Unknown('Sum.'), ...spread }, { description: 'Cost in US dollars.' }),
  },
  { title: 'LanguageModelUse', description: 'Use of language models; all values are 0.' },
)

const BotAnalyticsRecord = Type.Object(
  {
    startDateTimeUtc: Timestamp('Start of the day, inclusive.'),
    endDateTimeUtc: Timestamp('End of the day, inclusive.'),
    returningUsers: Count('Users who wrote on that day and were created before it.'),
    newUsers: Count('Users created on that day, whether or not they wrote; not the bot itself.'),
    sessions: Count(
      'Visits: messages of users in one conversation with less than 30 minutes between two of them. A visit over midnight counts on both days.',
    ),
    messages: Count('The same as `userMessages`; deprecated.'),
    userMessages: Count('Messages to the bot.'),
    botMessages: Count('Messages of the bot.'),
    events: Count('Events in the bot, of all types; none before it had a `url` or code.'),
    eventTypes: MapOf(Count('Number of events.'), { description: 'Events by their type.' }),
    customEvents: MapOf(Type.Number({ description: 'Sum of the counts.' }), {
      description: 'Values that the bot counted with `trackAnalytics`, by name.',
    }),
    llm: LanguageModelUse,
  },
  { title: 'BotAnalyticsRecord', description: 'Figures of a bot on one day.' },
)

/** Figures of bots. */
export const botAnalytics = {
  get: operation({
    id: 'getBotAnalytics',
    method: 'GET',
    path: '/v1/admin/bots/{id}/analytics',
    tag: 'Bots',
    summary: 'Get the figures of a bot by day',
    description:
      'One record for each day in UTC, the oldest first; days in the future have none. Days that are over are counted once, so that their figures stay when messages and events are deleted; they are counted again when messages are imported. `OperationTimeout`: not all days of a large bot could be counted in 20 seconds; the next call continues.',
    auth: 'workspace',
    permission: 'conversations:read',
    concerns: 'bots',
    params: Type.Object({ id: Id('Id of the bot.') }),
    query: Type.Object({
      startDate: TimeBound('beginning', 'First day.'),
      endDate: TimeBound('end', 'Last day, at most 92 days after the first one.'),
    }),
    response: json(
      Type.Object({
        records: Type.Array(BotAnalyticsRecord, { description: 'Days, the oldest first.' }),
      }),
    ),
    errors: ['ResourceNotFound', 'InvalidQuery', 'OperationTimeout'],
  }),
}
