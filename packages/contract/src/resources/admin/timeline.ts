import { type TProperties, Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMap, Id, OneOf, paging, Text, Timestamp } from '../../shared.js'
import { BotLog } from '../bots/bot-logs.js'
import { Delivery } from '../bots/delivery-entities.js'
import { Event } from '../runtime/events.js'
import { Message } from '../runtime/messages.js'
import { State } from '../runtime/states.js'
import { Workflow } from '../runtime/workflows.js'
import { Person } from './conversation-people.js'

const entryKinds = [
  'message',
  'deletion',
  'participant',
  'customEvent',
  'event',
  'workflow',
  'state',
  'change',
  'log',
] as const

const TimelineDelivery = Type.Object(
  {
    ...Delivery.properties,
    isInProgress: Type.Boolean({
      description:
        'Whether an attempt was being made; `nextAttemptAt` is then when it counts as interrupted.',
    }),
    durationMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Milliseconds that the last attempt took; absent before the first has ended.',
      }),
    ),
    responseStatus: Type.Optional(
      Type.Integer({ description: 'HTTP status of the last response; absent without one.' }),
    ),
  },
  {
    title: 'TimelineDelivery',
    description: 'A delivery with the result of its last attempt; `getDelivery` has all of them.',
  },
)

const deliveries = Type.Array(TimelineDelivery, {
  description: 'The deliveries that notify receivers of the entry, oldest first.',
})

/** An entry of one kind. */
const entry = <const Kind extends (typeof entryKinds)[number], Fields extends TProperties>(
  kind: Kind,
  fields: Fields,
  description: string,
) =>
  Type.Object(
    {
      kind: Type.Literal(kind, { description: `\`${kind}\`.` }),
      id: Id('Id of the entry, unique in the timeline.'),
      at: Timestamp('Time at which it happened; for a state, when it last changed.'),
      ...fields,
    },
    { title: `Timeline${kind[0]?.toUpperCase()}${kind.slice(1)}`, description },
  )

/** An entry of the timeline of a conversation. */
const TimelineEntry = Type.Union(
  [
    entry('message', { message: Message, author: Person, deliveries }, 'A message was written.'),
    entry(
      'deletion',
      {
        messageId: Id('Id of the deleted message.'),
        author: Type.Optional(Person),
        deliveries,
      },
      'A message was deleted.',
    ),
    entry(
      'participant',
      {
        change: OneOf(['added', 'removed'], 'Kind of the change.'),
        participant: Person,
        deliveries,
      },
      'A user was added to the conversation or removed from it.',
    ),
    entry(
      'customEvent',
      { author: Person, payload: AnyMap('Content of the event.'), deliveries },
      'The bot sent a custom event to the listeners of the conversation.',
    ),
    entry('event', { event: Event, deliveries }, 'An event other than a new message.'),
    entry('workflow', { workflow: Workflow }, 'A workflow was created; as it is now.'),
    entry('state', { state: State }, 'A state of the conversation was set; its present value.'),
    entry(
      'change',
      {
        before: AnyMap('The conversation before the change, as the integration sees it.'),
        after: AnyMap('The conversation after the change.'),
        deliveries,
      },
      'The conversation was changed, and its integration was notified.',
    ),
    entry('log', { log: BotLog }, 'A line about the conversation in the log of its bot.'),
  ],
  {
    title: 'TimelineEntry',
    description: 'Entry of the timeline of a conversation, by its `kind`.',
  },
)

const conversation = Type.Object({ id: Id('Id of the conversation.') })
const kinds = Type.Optional(
  Type.Array(OneOf([...entryKinds], 'A kind of entries.'), {
    maxItems: entryKinds.length,
    description: 'Only entries of these kinds; all if omitted.',
  }),
)

/** The timeline of a conversation, for people. */
export const timeline = {
  get: operation({
    id: 'getConversationTimeline',
    method: 'GET',
    path: '/v1/admin/conversations/{id}/timeline',
    tag: 'Conversations',
    summary: 'Get the timeline of a conversation',
    description:
      'Messages with their deliveries, events, workflows, participants, states and log lines, merged, oldest first. Participants, deletions and custom events of the bot are known as long as events are kept. A page ends before it has 2 MB of payloads. At most one of `around`, `nextToken` and `previousToken` may be given.',
    auth: 'workspace',
    permission: 'conversations:read',
    concerns: 'bots',
    params: conversation,
    query: Type.Object({
      kinds,
      from: Type.Optional(
        OneOf(
          ['start', 'end'],
          'Whether the first page has the oldest entries (`start`, the default) or the newest ones (`end`).',
        ),
      ),
      around: Type.Optional(
        Id('Id of a message: the page has this message and entries before and after it.'),
      ),
      ...paging,
      previousToken: Type.Optional(
        Text(4096, 'Pagination token: `meta.previousToken` of the following page.'),
      ),
    }),
    response: json(
      Type.Object({
        entries: Type.Array(TimelineEntry, { description: 'Entries, oldest first.' }),
        meta: Type.Object(
          {
            nextToken: Type.Optional(
              Type.String({
                description: 'Pass it as `nextToken` to get later entries; absent at the end.',
              }),
            ),
            previousToken: Type.Optional(
              Type.String({
                description:
                  'Pass it as `previousToken` to get earlier entries; absent at the beginning.',
              }),
            ),
          },
          { title: 'TimelineMeta', description: 'Position in the timeline.' },
        ),
      }),
    ),
    errors: ['ResourceNotFound', 'ReferenceNotFound'],
  }),
}
