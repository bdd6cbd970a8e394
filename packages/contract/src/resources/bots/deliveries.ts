import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  AnyMapInput,
  Empty,
  Id,
  OneOf,
  pageOf,
  paging,
  Text,
  Timestamp,
  wrap,
} from '../../shared.js'
import {
  Delivery,
  DeliveryReceiver,
  DeliveryWithAttempts,
  deliveryKinds,
  deliveryStatuses,
} from './delivery-entities.js'

const bot = { id: Id('Id of the bot.') }
const one = { ...bot, deliveryId: Id('Id of the delivery.') }

const integration = Type.Optional(
  Text(200, 'Alias of the installation; if omitted, the bot itself.', 1),
)

const narrowing = {
  conversationId: Type.Optional(Id('Only deliveries of this conversation.')),
  since: Type.Optional(Timestamp('Only deliveries created at or after this time.')),
  until: Type.Optional(Timestamp('Only deliveries created before this time.')),
}

const receiver = {
  kind: Type.Optional(OneOf(deliveryKinds, 'Only deliveries of this kind.')),
  integration: Type.Optional(
    Text(
      200,
      'Only deliveries to this installation, for example `chat` for its webhook; if omitted, deliveries to the bot and to every installation.',
      1,
    ),
  ),
}

/** The deliveries to bots and integrations, and their results. */
export const deliveries = {
  list: operation({
    id: 'listDeliveries',
    method: 'GET',
    path: '/v1/admin/bots/{id}/deliveries',
    tag: 'Bots',
    summary: 'List the deliveries to a bot and its integrations',
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    params: Type.Object(bot),
    query: Type.Object({
      ...paging,
      ...narrowing,
      status: Type.Optional(OneOf(deliveryStatuses, 'Only deliveries with this status.')),
      ...receiver,
    }),
    response: json(pageOf('deliveries', Delivery, 'Deliveries, newest first.')),
    errors: ['ResourceNotFound'],
  }),
  get: operation({
    id: 'getDelivery',
    method: 'GET',
    path: '/v1/admin/bots/{id}/deliveries/{deliveryId}',
    tag: 'Bots',
    summary: 'Get a delivery with its attempts',
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    params: Type.Object(one),
    response: json(wrap('delivery', DeliveryWithAttempts)),
    errors: ['ResourceNotFound'],
  }),
  replay: operation({
    id: 'replayDelivery',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/{deliveryId}/replay',
    tag: 'Bots',
    summary: 'Replay a finished delivery',
    description:
      'The delivery moves to the end of the queue of its ordering key, and its calls are marked as repeats. A pending delivery is refused.',
    auth: 'workspace',
    permission: 'deliveries:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object(one),
    response: json(wrap('delivery', Delivery)),
    errors: ['ResourceNotFound', 'RelationConflict'],
  }),
  replayFailed: operation({
    id: 'replayFailedDeliveries',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/replay',
    tag: 'Bots',
    summary: 'Replay failed deliveries',
    description:
      'Oldest first. While the response has a `nextToken`, call again with it: deliveries that fail again in the meantime are not replayed a second time.',
    auth: 'workspace',
    permission: 'deliveries:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object(bot),
    body: Type.Object({
      ...narrowing,
      ...receiver,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: 'Maximum number of deliveries in this call; 1,000 if omitted.',
        }),
      ),
      nextToken: Type.Optional(
        Text(2000, 'Pagination token of the previous call, with the same other fields.'),
      ),
    }),
    response: json(
      Type.Object({
        replayed: Type.Integer({ description: 'Number of deliveries that are pending again.' }),
        nextToken: Type.Optional(
          Type.String({
            description: 'Pagination token for the next call; absent when nothing is left.',
          }),
        ),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  receivers: operation({
    id: 'listDeliveryReceivers',
    method: 'GET',
    path: '/v1/admin/bots/{id}/delivery-receivers',
    tag: 'Bots',
    summary: 'List the failing or paused receivers of a bot',
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    params: Type.Object(bot),
    response: json(
      Type.Object({
        receivers: Type.Array(DeliveryReceiver, {
          description:
            'The bot and its installations that failed recently or are paused; working receivers are not listed.',
        }),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  pause: operation({
    id: 'pauseDeliveries',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/pause',
    tag: 'Bots',
    summary: 'Pause deliveries to a bot or an installation',
    description:
      'Calls in progress are completed; all other deliveries are kept, in order, until they are resumed by hand.',
    auth: 'workspace',
    permission: 'deliveries:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object(bot),
    body: Type.Object({ integration }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  resume: operation({
    id: 'resumeDeliveries',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/resume',
    tag: 'Bots',
    summary: 'Resume deliveries to a bot or an installation',
    description: 'Also ends a pause caused by failures, without waiting for the next ping.',
    auth: 'workspace',
    permission: 'deliveries:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object(bot),
    body: Type.Object({ integration }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  test: operation({
    id: 'sendTestEvent',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/test',
    tag: 'Bots',
    summary: 'Send a test event to a bot without storing it',
    description:
      'Shows whether the bot is reachable and what it returns. The call is signed like every other call, and is made even during a pause.',
    auth: 'workspace',
    permission: 'deliveries:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object(bot),
    body: Type.Object({
      type: Type.Optional(Text(200, 'Type of the event; `test` by default.', 1)),
      payload: Type.Optional(AnyMapInput('Payload of the event; empty by default.')),
    }),
    response: json(
      wrap(
        'result',
        Type.Object(
          {
            delivered: Type.Boolean({ description: 'Whether the bot accepted the event.' }),
            durationMs: Type.Integer({
              description: 'Milliseconds until the end of the response.',
            }),
            status: Type.Optional(
              Type.Integer({ description: 'HTTP status of the response; absent without one.' }),
            ),
            answer: Type.Optional(Type.String({ description: 'First 4 KB of the response body.' })),
            error: Type.Optional(Type.String({ description: 'Reason why the call failed.' })),
          },
          { title: 'TestResult', description: 'The result of the call.' },
        ),
      ),
    ),
    errors: ['ResourceNotFound', 'ReferenceNotFound'],
  }),
}
