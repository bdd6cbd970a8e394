import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, pageOf, paging, Timestamp, wrap } from '../../shared.js'
import { maxCounted, workspaceNarrowing } from './workspace-deliveries.js'

const replayableStatuses: ['failed', 'delivered', 'canceled'] = ['failed', 'delivered', 'canceled']

const selection = {
  ...workspaceNarrowing,
  status: Type.Optional(
    Type.Array(OneOf(replayableStatuses, 'A status.'), {
      maxItems: 3,
      description:
        'Only deliveries with one of these statuses; if omitted or empty, those that failed.',
    }),
  ),
  ids: Type.Optional(
    Type.Array(Id('Id of a delivery.'), {
      maxItems: 1000,
      description:
        'Only these deliveries, at most 1,000; those of other workspaces are ignored. No filter but `status` may be given with it.',
    }),
  ),
}

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const DeliveryReplay = Type.Object(
  {
    id: Id('Id of the replay.'),
    createdAt: Timestamp('Time at which it was started.'),
    updatedAt: Timestamp('Time at which its progress last changed.'),
    endedAt: Type.Optional(Timestamp('Time at which it ended; absent while it runs.')),
    createdBy: Id('Id of the account that started it.'),
    state: OneOf(
      ['running', 'done', 'canceled', 'failed'],
      '`running`: deliveries are being replayed, or wait for their results; `done`: all have results; `canceled`: no more are replayed; `failed`: the server gave it up, see `error`.',
    ),
    filter: Type.Object(selection, {
      title: 'DeliveryReplayFilter',
      description: 'Selection of the replayed deliveries, as requested.',
    }),
    total: Count('Deliveries that matched when it was started.'),
    totalIsExact: Type.Boolean({
      description: `Whether \`total\` is exact; otherwise there are at least as many: it ends at ${maxCounted} of each status.`,
    }),
    replayed: Count('Deliveries that were made pending again.'),
    skipped: Count('Deliveries that were not replayed, because they were pending or gone by then.'),
    done: Count('Replayed deliveries that were accepted.'),
    failedAgain: Count('Replayed deliveries that failed again.'),
    canceled: Count('Replayed deliveries whose subject was deleted.'),
    waiting: Count('Replayed deliveries that have no result yet.'),
    error: Type.Optional(Type.String({ description: 'Reason why the server gave it up.' })),
  },
  { title: 'DeliveryReplay', description: 'A replay of many deliveries, with its progress.' },
)

const one = Type.Object({ replayId: Id('Id of the replay.') })

/** Replays of many deliveries of a workspace, which run in the background. */
export const deliveryReplays = {
  create: operation({
    id: 'createDeliveryReplay',
    method: 'POST',
    path: '/v1/admin/delivery-replays',
    tag: 'Bots',
    summary: 'Replay many deliveries in the background',
    description:
      'Replays the deliveries that match and were created before this call, oldest first: each keeps its id and that of its event, is signed again, and moves to the end of the queue of its ordering key. At most 500 of one replay are pending at a time, so that it waits while a receiver is paused. It survives a restart of the server, and replays none twice. At most 10 replays of a workspace run at a time.',
    auth: 'workspace',
    permission: 'deliveries:write',
    audit: 'workspace',
    concerns: 'bots',
    body: Type.Object(selection),
    response: json(wrap('replay', DeliveryReplay)),
    status: 201,
    idempotent: true,
    errors: ['ReferenceNotFound', 'LimitExceeded'],
  }),
  list: operation({
    id: 'listDeliveryReplays',
    method: 'GET',
    path: '/v1/admin/delivery-replays',
    tag: 'Bots',
    summary: 'List the replays of a workspace',
    description: 'Ended replays are kept as long as deliveries.',
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    query: Type.Object(paging),
    response: json(pageOf('replays', DeliveryReplay, 'Replays, newest first.')),
  }),
  get: operation({
    id: 'getDeliveryReplay',
    method: 'GET',
    path: '/v1/admin/delivery-replays/{replayId}',
    tag: 'Bots',
    summary: 'Get the progress of a replay',
    auth: 'workspace',
    permission: 'deliveries:read',
    concerns: 'bots',
    params: one,
    response: json(wrap('replay', DeliveryReplay)),
    errors: ['ResourceNotFound'],
  }),
  cancel: operation({
    id: 'cancelDeliveryReplay',
    method: 'POST',
    path: '/v1/admin/delivery-replays/{replayId}/cancel',
    tag: 'Bots',
    summary: 'Cancel a replay',
    description:
      'No more deliveries are replayed. Those that are pending already stay pending. Does nothing to a replay that has ended.',
    auth: 'workspace',
    permission: 'deliveries:write',
    audit: 'workspace',
    concerns: 'bots',
    params: one,
    response: json(wrap('replay', DeliveryReplay)),
    errors: ['ResourceNotFound'],
  }),
}
