import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../domain/actor.js'
import type { Receiver } from '../../domain/deliveries.js'
import { notFound } from '../../domain/refusals.js'
import { bound } from '../../platform/bound.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page, PageRequest } from '../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { Ids } from '../../platform/ids.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import type { BotsService } from '../bots/bots/index.js'
import { lineOfReceiver } from '../bots/logs/index.js'
import { type CallResult, callReceiver } from '../calls/requests/index.js'
import type { Targets } from '../calls/targets/index.js'
import type { Hosting } from '../hosting/index.js'
import { recordAct } from '../tenancy/audit/index.js'
import { type AttemptRow, listAttempts } from './attempt-store.js'
import * as history from './history-store.js'
import * as listing from './listing-store.js'
import { announceReceiver } from './outbox.js'
import { inLockOrder } from './queue-store.js'
import * as receivers from './receiver-store.js'
import { createReplayIn, type ReplayIn } from './replaying.js'
import type { EndingDeps } from './settle.js'
import type { DeliveryRow } from './store.js'

type DeliveryQuery = Query<typeof contract.deliveries.list>
type Replay = Body<typeof contract.deliveries.replayFailed>
type TestEvent = Body<typeof contract.deliveries.test>

export interface DeliveriesServiceDeps extends EndingDeps {
  db: Db
  run: Run
  bus: EventBus
  clock: Clock
  ids: Ids
  pager: Pager
  outgoing: Outgoing
  hosting: Pick<Hosting, 'send'>
  targets: Pick<Targets, 'of'>
  bots: Pick<BotsService, 'requireIn' | 'installationsOf'>
}

interface DeliveriesParts extends DeliveriesServiceDeps {
  replayIn: ReplayIn
}

/** Maximum number of deliveries that one call replays. */
const maxReplays = 1000

export type DeliveriesService = ReturnType<typeof createDeliveriesService>

/** Operations on deliveries: list, replay, pause and resume receivers. */
export function createDeliveriesService(deps: DeliveriesServiceDeps) {
  return bound(
    { ...deps, replayIn: createReplayIn(deps) },
    {
      list: listDeliveries,
      get: getDelivery,
      replay: replayDelivery,
      replayFailed,
      listReceivers,
      pause: pauseReceiver,
      resume: resumeReceiver,
      test: testDelivery,
    },
  )
}

async function requireReceiver(
  { bots }: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  botId: string,
  integration: string | undefined,
): Promise<Receiver> {
  await bots.requireIn(actor, botId)
  if (integration === undefined) return { botId, integration: '' }
  const installed = await bots.installationsOf(botId)
  if (installed.some(({ alias }) => alias === integration)) return { botId, integration }
  throw new ApiError(
    'ResourceNotFound',
    `body.integration: nothing is installed in this bot as ${integration}.`,
  )
}

async function pageOfBot(
  executor: Db | Tx,
  botId: string,
  { integration, status, ...filter }: Omit<DeliveryQuery, 'nextToken' | 'pageSize'>,
  page: PageRequest<'created_at'>,
): Promise<Page<DeliveryRow>> {
  // Those of a conversation are to the bot unless the filter names an installation.
  const only = integration ?? (filter.conversationId === undefined ? undefined : '')
  const receivers =
    only === undefined
      ? await listing.listReceiversOf(executor, [botId])
      : [{ bot_id: botId, integration: only }]
  const listed = { ...filter, ...listing.inUtc(filter), statuses: status && [status] }
  return await listing.pageOfReceivers(executor, receivers, listed, page)
}

/** Pauses or resumes a receiver, and writes a line into the log of its bot if that changed it. */
async function changeByHand(
  deps: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  receiver: Receiver,
  text: string,
  change: (tx: Tx) => Promise<boolean>,
): Promise<void> {
  const { run, writeLogLine, bus } = deps
  await run(
    async (tx) => {
      if (await change(tx)) await writeLogLine(tx, lineOfReceiver(receiver, 'info', text))
      const { botId, integration } = receiver
      const changes = { integration: { to: integration } }
      recordAct(deps, tx, actor, { resourceId: botId, changes })
      afterCommit(tx, () => announceReceiver(bus, receiver.botId))
    },
    { mayUseReserve: true },
  )
}

async function listDeliveries(
  { bots, pager, db }: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  botId: string,
  query: DeliveryQuery,
): Promise<Page<DeliveryRow>> {
  await bots.requireIn(actor, botId)
  const { nextToken, pageSize, ...filter } = query
  const page = pager.page({
    operation: 'listDeliveries',
    scope: botId,
    filter,
    sort: 'created_at',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  return await pageOfBot(db, botId, filter, page)
}

async function getDelivery(
  { bots, db }: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<{ delivery: DeliveryRow; attempts: AttemptRow[] }> {
  await bots.requireIn(actor, botId)
  const delivery = await history.findDelivery(db, botId, id)
  if (delivery === undefined) throw notFound('delivery', id, 'of this bot')
  return { delivery, attempts: await listAttempts(db, botId, id) }
}

/** Sends a finished delivery once more, at the end of its queue. */
async function replayDelivery(
  deps: DeliveriesParts,
  actor: WorkspaceActor,
  botId: string,
  id: string,
): Promise<DeliveryRow> {
  const { bots, run, replayIn } = deps
  await bots.requireIn(actor, botId)
  return await run(async (tx) => {
    const delivery = await history.lockDelivery(tx, botId, id)
    if (delivery === undefined) throw notFound('delivery', id, 'of this bot')
    if (delivery.status === 'pending') {
      throw new ApiError('RelationConflict', `The delivery ${id} is already pending.`)
    }
    await replayIn(tx, delivery)
    recordAct(deps, tx, actor, { resourceId: id, changes: { botId: { to: botId } } })
    return (await history.findDelivery(tx, botId, id)) ?? delivery
  })
}

/**
 * Replays failed deliveries, oldest first. The token continues after those of this call, so
 * that deliveries that fail again meanwhile are not replayed twice.
 */
async function replayFailed(
  deps: DeliveriesParts,
  actor: WorkspaceActor,
  botId: string,
  input: Replay,
) {
  const { bots, pager, run, replayIn } = deps
  await bots.requireIn(actor, botId)
  const { nextToken, limit, ...narrowing } = input
  const filter = { ...narrowing, status: 'failed' as const }
  const page = pager.page({
    operation: 'replayFailedDeliveries',
    scope: botId,
    filter,
    sort: 'created_at',
    direction: 'asc',
    nextToken,
  })
  return await run(async (tx) => {
    const failed = await pageOfBot(tx, botId, filter, {
      ...page,
      size: limit ?? maxReplays,
    })
    const ids = failed.rows.map(({ id }) => id)
    const held = await history.lockFinished(tx, botId, ids)
    for (const delivery of inLockOrder(held)) await replayIn(tx, delivery)
    recordAct(deps, tx, actor, { resourceId: botId, changes: { replayed: { to: held.length } } })
    return { replayed: held.length, nextToken: failed.nextToken }
  })
}

async function listReceivers(
  { bots, db }: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  botId: string,
): Promise<receivers.ReceiverRow[]> {
  await bots.requireIn(actor, botId)
  const rows = await receivers.listReceivers(db, [botId])
  return rows.filter(({ paused, failures }) => paused !== null || failures > 0)
}

async function pauseReceiver(
  deps: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  botId: string,
  integration: string | undefined,
): Promise<void> {
  const receiver = await requireReceiver(deps, actor, botId, integration)
  const now = isoTime(deps.clock.now())
  await changeByHand(deps, actor, receiver, 'paused by hand.', (tx) =>
    receivers.pause(tx, receiver, 'operator', now, null),
  )
}

async function resumeReceiver(
  deps: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  botId: string,
  integration: string | undefined,
): Promise<void> {
  const receiver = await requireReceiver(deps, actor, botId, integration)
  await changeByHand(deps, actor, receiver, 'resumed by hand.', (tx) =>
    receivers.resume(tx, receiver),
  )
}

/** Calls the bot with an event that is not stored. */
async function testDelivery(
  deps: DeliveriesServiceDeps,
  actor: WorkspaceActor,
  botId: string,
  { type = 'test', payload = {} }: TestEvent,
): Promise<CallResult> {
  await deps.bots.requireIn(actor, botId)
  const target = await deps.targets.of({ botId, integration: '' })
  if (target === undefined) {
    throw new ApiError('ReferenceNotFound', 'The bot has no address: set its url first.')
  }
  const event = {
    id: deps.ids.next('evt'),
    createdAt: isoTime(deps.clock.now()),
    type,
    payload,
    status: 'pending',
    failureReason: null,
  }
  await deps.run(async (tx) =>
    recordAct(deps, tx, actor, { resourceId: botId, changes: { type: { to: type } } }),
  )
  const call = { operation: 'event_received', type, body: JSON.stringify({ event }) }
  return await callReceiver(deps, target, call)
}
