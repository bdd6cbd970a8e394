import { Type } from 'typebox'
import { operation } from '../../operation.js'
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
  Text(200, 'Alias of the installation that is meant; left out: the bot itself.', 1),
)

const narrowing = {
  conversationId: Type.Optional(Id('Only those of this conversation.')),
  since: Type.Optional(Timestamp('Only those made at this time or later.')),
  until: Type.Optional(Timestamp('Only those made before this time.')),
}

const receiver = {
  kind: Type.Optional(OneOf(deliveryKinds, 'Only those of this kind.')),
  integration: Type.Optional(
    Text(
      200,
      'Only those to this installation, as `chat` for its webhook; left out: all of them, and those to the bot.',
      1,
    ),
  ),
}

/** What bots and integrations are told, and what became of it. */
export const deliveries = {
  list: operation({
    id: 'listDeliveries',
    method: 'GET',
    path: '/v1/admin/bots/{id}/deliveries',
    tag: 'Bots',
    summary: 'List what a bot and its integrations were told or are to be told',
    auth: 'workspace',
    params: Type.Object(bot),
    query: Type.Object({
      ...paging,
      ...narrowing,
      status: Type.Optional(OneOf(deliveryStatuses, 'Only those with this status.')),
      ...receiver,
    }),
    answer: { kind: 'json', schema: pageOf('deliveries', Delivery, 'Deliveries, newest first.') },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  get: operation({
    id: 'getDelivery',
    method: 'GET',
    path: '/v1/admin/bots/{id}/deliveries/{deliveryId}',
    tag: 'Bots',
    summary: 'Get a delivery with its attempts',
    auth: 'workspace',
    params: Type.Object(one),
    answer: { kind: 'json', schema: wrap('delivery', DeliveryWithAttempts) },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  replay: operation({
    id: 'replayDelivery',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/{deliveryId}/replay',
    tag: 'Bots',
    summary: 'Send a finished delivery once more',
    description:
      'It takes a new place at the end of its conversation, and its calls say that they are repeats. One that is pending already is refused.',
    auth: 'workspace',
    params: Type.Object(one),
    answer: { kind: 'json', schema: wrap('delivery', Delivery) },
    status: 200,
    errors: ['ResourceNotFound', 'RelationConflict'],
  }),
  replayFailed: operation({
    id: 'replayFailedDeliveries',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/replay',
    tag: 'Bots',
    summary: 'Send once more what failed',
    description:
      'The oldest first. While the answer has a `nextToken`, call again with it: what fails anew meanwhile is not sent a third time.',
    auth: 'workspace',
    params: Type.Object(bot),
    body: Type.Object({
      ...narrowing,
      ...receiver,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: 'How many at most in this call; 1,000 if left out.',
        }),
      ),
      nextToken: Type.Optional(
        Text(2000, 'Where the call before ended, with the same other members.'),
      ),
    }),
    answer: {
      kind: 'json',
      schema: Type.Object({
        replayed: Type.Integer({ description: 'How many are pending again.' }),
        nextToken: Type.Optional(
          Type.String({ description: 'For the next call; left out when nothing is left.' }),
        ),
      }),
    },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  receivers: operation({
    id: 'listDeliveryReceivers',
    method: 'GET',
    path: '/v1/admin/bots/{id}/delivery-receivers',
    tag: 'Bots',
    summary: 'List who of a bot and its integrations is failing or paused',
    auth: 'workspace',
    params: Type.Object(bot),
    answer: {
      kind: 'json',
      schema: Type.Object({
        receivers: Type.Array(DeliveryReceiver, {
          description: 'Those that failed lately or are paused; one that works is not there.',
        }),
      }),
    },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  pause: operation({
    id: 'pauseDeliveries',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/pause',
    tag: 'Bots',
    summary: 'Stop sending to a bot or an installation',
    description:
      'What is on the way is ended; everything else is kept, in order, until the pause is ended by hand.',
    auth: 'workspace',
    params: Type.Object(bot),
    body: Type.Object({ integration }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  resume: operation({
    id: 'resumeDeliveries',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/resume',
    tag: 'Bots',
    summary: 'Send to a bot or an installation again',
    description: 'Also ends a pause for failures without waiting for the next ping.',
    auth: 'workspace',
    params: Type.Object(bot),
    body: Type.Object({ integration }),
    answer: { kind: 'json', schema: Empty },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  test: operation({
    id: 'sendTestEvent',
    method: 'POST',
    path: '/v1/admin/bots/{id}/deliveries/test',
    tag: 'Bots',
    summary: 'Call a bot at once with an event that is not stored',
    description:
      'Shows whether the bot can be reached and what it answers. It is signed as every call, and sent also during a pause.',
    auth: 'workspace',
    params: Type.Object(bot),
    body: Type.Object({
      type: Type.Optional(Text(200, 'Type of the event; `test` by default.', 1)),
      payload: Type.Optional(AnyMapInput('Payload of the event; empty by default.')),
    }),
    answer: {
      kind: 'json',
      schema: wrap(
        'result',
        Type.Object(
          {
            delivered: Type.Boolean({ description: 'Whether the bot took it.' }),
            durationMs: Type.Integer({ description: 'Milliseconds to the end of the answer.' }),
            status: Type.Optional(
              Type.Integer({ description: 'HTTP status of the answer; absent without one.' }),
            ),
            answer: Type.Optional(
              Type.String({ description: 'The first 4 KB of the body of the answer.' }),
            ),
            error: Type.Optional(Type.String({ description: 'Why it failed.' })),
          },
          { title: 'TestResult', description: 'What came of the call.' },
        ),
      ),
    },
    status: 200,
    errors: ['ResourceNotFound', 'ReferenceNotFound'],
  }),
}
