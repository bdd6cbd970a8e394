import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMapInput, Empty, Id, Text } from '../../shared.js'

/** Observations that a bot reports about itself. */
export const observations = {
  trackAnalytics: operation({
    id: 'trackAnalytics',
    method: 'POST',
    path: '/v1/chat/analytics',
    tag: 'Events',
    summary: 'Add to a counter of a bot',
    description: 'Values with the same name are added up per day, in UTC.',
    auth: 'bot',
    body: Type.Object({
      name: Text(200, 'Name of the counter, 1 to 200 characters.', 1),
      count: Type.Number({
        minimum: -1e12,
        maximum: 1e12,
        description: 'Value to add, at most one trillion in either direction.',
      }),
    }),
    response: json(Empty),
  }),
  capture: operation({
    id: 'captureObservation',
    method: 'POST',
    path: '/v1/chat/observations',
    tag: 'Events',
    summary: 'Record an observation of a bot',
    description: 'Kept for 30 days. Another call with the same id replaces the observation.',
    auth: 'bot',
    body: Type.Object({
      name: Text(200, 'Name of the observation, 1 to 200 characters.', 1),
      data: AnyMapInput('The data, at most 128 KiB of JSON.'),
      id: Type.Optional(Id('Id of the observation; generated if omitted.')),
      messageId: Type.Optional(Id('Id of the message that was being handled.')),
      eventId: Type.Optional(Id('Id of the event that was being handled.')),
      conversationId: Type.Optional(Id('Id of the conversation.')),
      userId: Type.Optional(Id('Id of the user.')),
      errorId: Type.Optional(Id('Id of the error that occurred.')),
      traceId: Type.Optional(Id('Id of the trace.')),
    }),
    response: json(Empty),
    errors: ['LimitExceeded'],
  }),
}
