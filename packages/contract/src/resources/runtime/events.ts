import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  AnyMap,
  AnyMapInput,
  Empty,
  Id,
  OneOf,
  pageOf,
  paging,
  Schedule,
  Text,
  Timestamp,
  wrap,
} from '../../shared.js'

/** Something that happened in a bot. */
export const Event = Type.Object(
  {
    id: Id('Id of the event.'),
    createdAt: Timestamp(
      'Time at which the event was created; for a scheduled event, when it was requested.',
    ),
    type: Type.String({
      description: 'Type of the event; event types of integrations are named `<alias>:<name>`.',
    }),
    payload: AnyMap('Content of the event.'),
    conversationId: Type.Optional(Id('Id of the conversation that the event is about.')),
    userId: Type.Optional(Id('Id of the user that the event is about.')),
    messageId: Type.Optional(Id('Id of the message that the event is about.')),
    status: OneOf(
      ['pending', 'processed', 'ignored', 'failed', 'scheduled', 'canceled'],
      'Status of the delivery to the bot.',
    ),
    failureReason: Type.Union([Type.String(), Type.Null()], {
      description: 'Reason why the bot did not accept the event; null if nothing failed.',
    }),
  },
  { title: 'Event', description: 'Something that happened in a bot.' },
)

const eventId = Type.Object({ id: Id('Id of the event.') })

/** Events of a bot. */
export const events = {
  create: operation({
    id: 'createEvent',
    method: 'POST',
    path: '/v1/chat/events',
    tag: 'Events',
    summary: 'Create an event',
    description:
      'The bot is notified at once, or at the scheduled time. An event that an integration creates as `name` reaches the bot as `<alias>:name`.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      type: Text(200, 'Type of the event, 1 to 200 characters.', 1),
      payload: AnyMapInput('Content of the event, at most 128 KiB of JSON.'),
      schedule: Type.Optional(Schedule),
      conversationId: Type.Optional(Id('Id of the conversation that the event is about.')),
      userId: Type.Optional(Id('Id of the user that the event is about.')),
      workflowId: Type.Optional(Id('Id of the workflow that the event is about.')),
      messageId: Type.Optional(Id('Id of the message that the event is about.')),
    }),
    response: json(wrap('event', Event)),
    status: 201,
    errors: ['ReferenceNotFound', 'LimitExceeded', 'InvalidDataFormat', 'QuotaExceeded'],
    idempotent: true,
  }),
  get: operation({
    id: 'getEvent',
    method: 'GET',
    path: '/v1/chat/events/{id}',
    tag: 'Events',
    summary: 'Get an event',
    auth: 'bot',
    permission: 'conversations:read',
    params: eventId,
    response: json(wrap('event', Event)),
    errors: ['ResourceNotFound'],
  }),
  list: operation({
    id: 'listEvents',
    method: 'GET',
    path: '/v1/chat/events',
    tag: 'Events',
    summary: 'List the events of a bot',
    auth: 'bot',
    permission: 'conversations:read',
    query: Type.Object({
      ...paging,
      type: Type.Optional(Text(401, 'Only events of this type.')),
      conversationId: Type.Optional(Id('Only events about this conversation.')),
      userId: Type.Optional(Id('Only events about this user.')),
      messageId: Type.Optional(Id('Only events about this message.')),
      workflowId: Type.Optional(
        Id('Only events about this workflow. An unknown workflow has no events.'),
      ),
      status: Type.Optional(
        OneOf(
          ['pending', 'ignored', 'processed', 'failed', 'scheduled'],
          'Only events with this status.',
        ),
      ),
    }),
    response: json(pageOf('events', Event, 'Events, newest first.')),
    errors: ['ReferenceNotFound'],
  }),
  cancelScheduled: operation({
    id: 'cancelScheduledEvent',
    method: 'DELETE',
    path: '/v1/chat/events/scheduled/{id}',
    tag: 'Events',
    summary: 'Cancel an event that is not due yet',
    auth: 'bot',
    permission: 'conversations:write',
    params: eventId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'RelationConflict'],
  }),
}

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
    permission: 'conversations:write',
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
    permission: 'conversations:write',
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
