import { Type } from 'typebox'
import { Id, OneOf, Timestamp } from '../../shared.js'

/** What is told to a bot or an integration, once. */
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
  '`pending`: waits or is being sent; `delivered`: the receiver took it; `failed`: refused, or given up; `canceled`: what it told of was deleted.'

/** Something that a bot or an integration is told. */
export const Delivery = Type.Object(
  {
    id: Id('Id of the delivery; `x-botstead-delivery` of its calls.'),
    createdAt: Timestamp('When it was put into the outbox.'),
    updatedAt: Timestamp('When its status last changed.'),
    kind: OneOf(
      deliveryKinds,
      'Operation that the receiver is called with; `signal`: what the webhook of the chat is posted.',
    ),
    status: OneOf(deliveryStatuses, statusMeaning),
    subjectId: Id(
      'Id of the event (`event_received`) or the message (`message_created`), or of the change that is told; of a `signal`: the conversation and the number in its log, as in `conv_01J.../17`, with `/complete` behind it for `message_stream_complete`.',
    ),
    integration: Type.Optional(
      Type.String({ description: 'Alias of the installation that is told; absent: the bot.' }),
    ),
    orderKey: Type.Optional(
      Type.String({
        description:
          'Id of the conversation or workflow whose deliveries are made one after the other; absent: it waits for no other.',
      }),
    ),
    attempts: Type.Integer({ description: 'Attempts begun so far.' }),
    nextAttemptAt: Type.Optional(
      Timestamp(
        'When it is tried next at the earliest; absent when it is finished or not its turn.',
      ),
    ),
    lastError: Type.Optional(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { title: 'Delivery', description: 'Something that a bot or an integration is told.' },
)

/** What came of one attempt at a delivery. */
const DeliveryAttempt = Type.Object(
  {
    number: Type.Integer({ description: 'From 1; `x-botstead-attempt` of the call.' }),
    startedAt: Timestamp('When the call began.'),
    durationMs: Type.Integer({ description: 'Milliseconds to the end of the answer.' }),
    status: Type.Optional(
      Type.Integer({ description: 'HTTP status of the answer; absent without one.' }),
    ),
    error: Type.Optional(Type.String({ description: 'Why it failed; absent if it did not.' })),
    answer: Type.Optional(
      Type.String({ description: 'The first 4 KB of the body of the answer; absent without one.' }),
    ),
  },
  { title: 'DeliveryAttempt', description: 'One call to the receiver.' },
)

/** A delivery with all that was tried. */
export const DeliveryWithAttempts = Type.Object(
  {
    ...Delivery.properties,
    attemptLog: Type.Array(DeliveryAttempt, { description: 'Its attempts, the first one first.' }),
  },
  { title: 'DeliveryWithAttempts', description: 'A delivery with what came of each attempt.' },
)

/** How it stands with somebody who is told. */
export const DeliveryReceiver = Type.Object(
  {
    integration: Type.Optional(
      Type.String({ description: 'Alias of the installation; absent: the bot.' }),
    ),
    failures: Type.Integer({ description: 'Attempts that failed since the last success.' }),
    failingSince: Type.Optional(Timestamp('When the first of them was; absent without any.')),
    paused: Type.Optional(
      OneOf(
        ['failures', 'operator'],
        '`failures`: it failed for long, or has no address, and is pinged until it answers; `operator`: until somebody resumes it. Absent: it is not paused.',
      ),
    ),
    pausedAt: Type.Optional(Timestamp('When the pause began.')),
    reason: Type.Optional(Type.String({ description: 'The last failure.' })),
    nextPingAt: Type.Optional(Timestamp('When it is pinged next.')),
  },
  { title: 'DeliveryReceiver', description: 'How it stands with a bot or an installation.' },
)
