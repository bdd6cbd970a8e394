import { Type } from 'typebox'
import { operation } from '../../operation.js'
import { AnyMapInput, Empty, Id, Text } from '../../shared.js'

/** What a bot reports about itself. */
export const observations = {
  trackAnalytics: operation({
    id: 'trackAnalytics',
    method: 'POST',
    path: '/v1/chat/analytics',
    tag: 'Events',
    summary: 'Count something that a bot wants to know about itself',
    description: 'Counts of one name are added up by day, in UTC.',
    auth: 'bot',
    body: Type.Object({
      name: Text(200, 'What is counted, 1 to 200 characters.', 1),
      count: Type.Number({
        minimum: -1e12,
        maximum: 1e12,
        description: 'What to add, at most a trillion either way.',
      }),
    }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: [],
  }),
  capture: operation({
    id: 'captureObservation',
    method: 'POST',
    path: '/v1/chat/observations',
    tag: 'Events',
    summary: 'Write down what a bot noticed while it ran',
    description: 'Kept for 30 days. The same id again replaces what was written under it.',
    auth: 'bot',
    body: Type.Object({
      name: Text(200, 'What was noticed, 1 to 200 characters.', 1),
      data: AnyMapInput('The facts, at most 128 KiB of JSON.'),
      id: Type.Optional(Id('Id of the observation; made up if left out.')),
      messageId: Type.Optional(Id('Id of the message that was handled.')),
      eventId: Type.Optional(Id('Id of the event that was handled.')),
      conversationId: Type.Optional(Id('Id of the conversation.')),
      userId: Type.Optional(Id('Id of the user.')),
      errorId: Type.Optional(Id('Id of the error that was met.')),
      traceId: Type.Optional(Id('Id of the trace.')),
    }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['LimitExceeded'],
  }),
}
