import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, PageMeta, paging, Text, Timestamp, wrap } from '../../shared.js'
import { DeliveryDetails } from './delivery-details.js'
import { Delivery, DeliveryReceiver, deliveryKinds, deliveryStatuses } from './delivery-entities.js'

/** Maximum of a count of deliveries. */
export const maxCounted = 10_000
/** Maximum number of deliveries that one page of a list by `eventType` or `kind` examines. */
export const maxScanned = 10_000

/** Fields that narrow the deliveries of a workspace; all of them must match. */
export const workspaceNarrowing = {
  botId: Type.Optional(Id('Only deliveries of this bot; if omitted, of all bots.')),
  kind: Type.Optional(OneOf(deliveryKinds, 'Only deliveries of this kind.')),
  eventType: Type.Optional(
    Text(
      200,
      'Only deliveries of events of this type to bots, such as `message_created`: they have the kind `event_received`.',
      1,
    ),
  ),
  receiver: Type.Optional(
    OneOf(
      ['bot', 'integrations'],
      '`bot`: only deliveries to bots; `integrations`: only deliveries to their installations. If omitted, both.',
    ),
  ),
  integration: Type.Optional(
    Text(200, 'Only deliveries to installations with this alias, such as `chat`.', 1),
  ),
  receiverPaused: Type.Optional(
    Type.Boolean({
      description:
        '`true`: only deliveries to receivers that are paused now; `false`: only to those that are not.',
    }),
  ),
  conversationId: Type.Optional(
    Id('Only deliveries whose ordering key is this conversation, to any receiver.'),
  ),
  since: Type.Optional(Timestamp('Only deliveries created at or after this time.')),
  until: Type.Optional(Timestamp('Only deliveries created before this time.')),
}

/** A delivery in a list over several bots. */
const WorkspaceDelivery = Type.Object(
  {
    ...Delivery.properties,
    botId: Id('Id of the bot that it is for, or whose installation it is for.'),
    eventType: Type.Optional(
      Type.String({
        description:
          'Type of the event, of deliveries of the kind `event_received`; absent if the event was deleted.',
      }),
    ),
  },
  { title: 'WorkspaceDelivery', description: 'A delivery to a bot or an integration.' },
)

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const DeliveryCounts = Type.Object(
  {
    pending: Count('Pending deliveries.'),
    delivered: Count('Deliveries that the receiver accepted.'),
    failed: Count('Deliveries that were refused or given up.'),
    canceled: Count('Deliveries whose subject was deleted.'),
    total: Count('The sum of these.'),
    isExact: Type.Boolean({
      description: `Whether these are all. Otherwise there are at least as many: each count ends at ${maxCounted}, and, with \`eventType\` or \`kind\`, after the newest ${maxScanned} deliveries of a status.`,
    }),
  },
  {
    title: 'DeliveryCounts',
    description:
      'Deliveries that match the filter, on any page, by status. Absent on pages after the first one.',
  },
)

const WorkspaceDeliveryReceiver = Type.Object(
  {
    ...DeliveryReceiver.properties,
    botId: Id('Id of the bot.'),
    oldestWaiting: Type.Optional(
      Type.Object(
        {
          id: Id('Id of the delivery.'),
          createdAt: Timestamp('Time at which it was added to the outbox.'),
        },
        {
          title: 'OldestWaitingDelivery',
          description: 'The oldest pending delivery to the receiver; absent if there is none.',
        },
      ),
    ),
  },
  {
    title: 'WorkspaceDeliveryReceiver',
    description: 'The delivery status of a bot or an installation.',
  },
)

/** The deliveries of all bots of a workspace, for its members. */
export const workspaceDeliveries = {
  list: operation({
    id: 'listWorkspaceDeliveries',
    method: 'GET',
    path: '/v1/admin/deliveries',
    tag: 'Bots',
    summary: 'List the deliveries of all bots of the workspace',
    description: `Every filter narrows the list. With \`eventType\`, or with a \`kind\` other than \`event_received\`, one call looks at up to ${maxScanned} deliveries, so that a page may be short, or empty, and still have a \`nextToken\`: call again with it.`,
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    query: Type.Object({
      ...paging,
      ...workspaceNarrowing,
      status: Type.Optional(
        Type.Array(OneOf(deliveryStatuses, 'A status.'), {
          maxItems: 4,
          description: 'Only deliveries with one of these statuses; if omitted or empty, with any.',
        }),
      ),
    }),
    response: json(
      Type.Object({
        deliveries: Type.Array(WorkspaceDelivery, { description: 'Deliveries, newest first.' }),
        counts: Type.Optional(DeliveryCounts),
        meta: PageMeta,
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
  get: operation({
    id: 'getWorkspaceDelivery',
    method: 'GET',
    path: '/v1/admin/deliveries/{deliveryId}',
    tag: 'Bots',
    summary: 'Get a delivery with the request and the response of each attempt',
    description:
      'Stored: what names the delivery, and for each attempt its time, its URL, the signature, the status, some headers and the first 4 KB of the response, and the error. Built again for this response: the body and the other headers of the request. `bodyIs` of an attempt says whether the body was proven to be what was sent.',
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    params: Type.Object({ deliveryId: Id('Id of the delivery.') }),
    response: json(wrap('delivery', DeliveryDetails)),
    errors: ['ResourceNotFound'],
  }),
  receivers: operation({
    id: 'listWorkspaceDeliveryReceivers',
    method: 'GET',
    path: '/v1/admin/delivery-receivers',
    tag: 'Bots',
    summary: 'List the failing or paused receivers of all bots of the workspace',
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    query: Type.Object({
      ...paging,
      botId: Type.Optional(Id('Only receivers of this bot; if omitted, of all bots.')),
      paused: Type.Optional(
        Type.Boolean({
          description: '`true`: only paused receivers; `false`: only failing ones that are not.',
        }),
      ),
    }),
    response: json(
      Type.Object({
        receivers: Type.Array(WorkspaceDeliveryReceiver, {
          description:
            'Bots and installations that failed recently or are paused, by bot and alias; working receivers are not listed.',
        }),
        meta: PageMeta,
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
}
