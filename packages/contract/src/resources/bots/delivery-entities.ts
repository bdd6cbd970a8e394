import { Type } from 'typebox'
import { Id, OneOf, Timestamp } from '../../shared.js'

/** The kinds of deliveries to a bot or an integration. */
export const deliveryKinds: [
  'event_received',
  'message_created',
  'message_updated',
  'conversation_updated',
  'signal',
] = ['event_received', 'message_created', 'message_updated', 'conversation_updated', 'signal']

export const deliveryStatuses: ['pending', 'delivered', 'failed', 'canceled'] = [
  'pending',
  'delivered',
  'failed',
  'canceled',
]

const statusMeaning =
  '`pending`: waiting or being sent; `delivered`: accepted by the receiver; `failed`: refused or given up; `canceled`: its subject was deleted.'

/** One delivery to a bot or an integration. */
export const Delivery = Type.Object(
  {
    id: Id('Id of the delivery; `x-botstead-delivery` of its calls.'),
    createdAt: Timestamp('Time at which the delivery was added to the outbox.'),
    updatedAt: Timestamp('Time at which the status last changed.'),
    kind: OneOf(
      deliveryKinds,
      'Operation with which the receiver is called; `signal`: a signal that is posted to the webhook of the chat.',
    ),
    status: OneOf(deliveryStatuses, statusMeaning),
    subjectId: Id(
      'Id of the event (`event_received`), of the message (`message_created`) or of the change (other operations); for a `signal`, the conversation and the number in its log, as in `conv_01J.../17`, followed by `/complete` for `message_stream_complete`.',
    ),
    integration: Type.Optional(
      Type.String({ description: 'Alias of the installation that receives it; absent: the bot.' }),
    ),
    orderKey: Type.Optional(
      Type.String({
        description:
          'Ordering key: id of the conversation or workflow whose deliveries are made one after the other; absent: the delivery waits for no other.',
      }),
    ),
    attempts: Type.Integer({ description: 'Delivery attempts started so far.' }),
    nextAttemptAt: Type.Optional(
      Timestamp(
        'Earliest time of the next attempt; absent if the delivery is finished or waits for its turn.',
      ),
    ),
    lastError: Type.Optional(Type.String({ description: 'Reason why the last attempt failed.' })),
  },
  { title: 'Delivery', description: 'One delivery to a bot or an integration.' },
)

/** The result of one delivery attempt. */
const DeliveryAttempt = Type.Object(
  {
    number: Type.Integer({
      description: 'Attempt number, from 1; `x-botstead-attempt` of the call.',
    }),
    startedAt: Timestamp('Time at which the call started.'),
    durationMs: Type.Integer({ description: 'Milliseconds until the end of the response.' }),
    status: Type.Optional(
      Type.Integer({ description: 'HTTP status of the response; absent without one.' }),
    ),
    error: Type.Optional(
      Type.String({ description: 'Reason why the attempt failed; absent if it succeeded.' }),
    ),
    answer: Type.Optional(
      Type.String({ description: 'First 4 KB of the response body; absent without one.' }),
    ),
  },
  { title: 'DeliveryAttempt', description: 'One call to the receiver.' },
)

/** A delivery with all its attempts. */
export const DeliveryWithAttempts = Type.Object(
  {
    ...Delivery.properties,
    attemptLog: Type.Array(DeliveryAttempt, { description: 'Attempts, oldest first.' }),
  },
  { title: 'DeliveryWithAttempts', description: 'A delivery with the result of each attempt.' },
)

/** The delivery status of a bot or an installation. */
export const DeliveryReceiver = Type.Object(
  {
    integration: Type.Optional(
      Type.String({ description: 'Alias of the installation; absent: the bot.' }),
    ),
    failures: Type.Integer({ description: 'Failed attempts since the last success.' }),
    failingSince: Type.Optional(
      Timestamp('Time at which the first of these failures occurred; absent if there are none.'),
    ),
    paused: Type.Optional(
      OneOf(
        ['failures', 'operator'],
        '`failures`: the receiver failed for a long time or has no URL, and is pinged until it responds; `operator`: paused by hand until resumed by hand. Absent: not paused.',
      ),
    ),
    pausedAt: Type.Optional(Timestamp('Time at which the pause began.')),
    reason: Type.Optional(Type.String({ description: 'Reason for the last failure.' })),
    nextPingAt: Type.Optional(Timestamp('Time at which the receiver is pinged next.')),
  },
  { title: 'DeliveryReceiver', description: 'The delivery status of a bot or an installation.' },
)
