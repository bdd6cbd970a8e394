import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import type { NeededSubjects } from '../../../domain/deliveries.js'
import { encodePayload, requireShape } from '../../../domain/payload.js'
import type { Port, Ports } from '../../../domain/ports.js'
import { notFound } from '../../../domain/refusals.js'
import { dueTimeOf } from '../../../domain/times.js'
import { bound } from '../../../platform/bound.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { DomainEvents } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import { createBackfill, type ListUnreported, type SecondLook } from './backfill.js'
import { createEventRecorder, type EventRecorderDeps } from './recorder.js'
import * as store from './store.js'
import { createSubjects } from './subjects.js'

type NewWireEvent = Body<typeof contract.events.create>
type EventQuery = Query<typeof contract.events.list>

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /**
     * The delivery of an event of a recurring event ended. `failure` is why the bot did not accept
     * it; null if it did.
     */
    'recurringEvent.settled': { botId: string; name: string; failure: string | null }
  }
}

/** An event with its content, as sent to the bot. */
export interface EventRecord {
  row: store.EventRow
  payload: Record<string, unknown>
}

/** Returns messages with their user and conversation, by id; deleted ones are left out. */
type DescribeMessages = (
  executor: Db | Tx,
  botId: string,
  messageIds: readonly string[],
) => Promise<ReadonlyMap<string, object>>

export interface EventsDeps extends EventRecorderDeps {
  ports: Pick<Ports, 'open'>
  db: Db
  run: Run
  queue: Queue
  pager: Pager
  botProfiles: BotProfiles
  /**
   * Age limit, in milliseconds, of the events that are sent to a bot when it gets an address; 0 for
   * none.
   */
  missedEventsMs: number
  /** Maximum bytes of a payload. */
  maxPayloadBytes: number
}

/** The parts of the service that its functions use. */
interface EventParts extends EventsDeps {
  requireSubjects: ReturnType<typeof createSubjects>['requireSubjects']
  messages: Port<DescribeMessages>
  recorder: ReturnType<typeof createEventRecorder>
  backfill: ReturnType<typeof createBackfill>
}

/** Name of the job that releases a scheduled event; its key is the id of the event. */
export const releaseEventJob = 'events.release'

const maxReasonLength = 2000

export type EventsService = ReturnType<typeof createEventsService>

/**
 * Joins the operations of events: they record them, release scheduled ones, notify the bot of them and
 * list them. Slices that are built later fill its ports: the messages and other subjects that events refer to.
 */
export function createEventsService(deps: EventsDeps) {
  const { clock, queue, ports } = deps
  const { subjects, subjectExists, requireSubjects } = createSubjects(ports)
  const messages = ports.open<DescribeMessages>('events: messages')
  const unreported = ports.open<ListUnreported>('events: messages without an event')
  const requestedEvents = ports.open<store.RequestedEvents>('events: those that await delivery')
  const recorder = createEventRecorder(deps)
  const backfill = createBackfill({
    clock,
    queue,
    recorder,
    listUnreported: unreported.call,
    requestedEvents: requestedEvents.call,
    windowMs: deps.missedEventsMs,
  })

  return {
    ...bound(
      { ...deps, requireSubjects, messages, recorder, backfill },
      {
        create: createEvent,
        get: getEvent,
        list: listEvents,
        cancelScheduled: cancelScheduledEvent,
        findAll: findEvents,
        find: findEvent,
        release: releaseEvent,
        backfillRest,
        settle: settleEvents,
        purge: purgeEvents,
      },
    ),
    subjects,
    messages,
    unreported,
    requestedEvents,
    subjectExists,
    requireSubjects,
    record: recorder.record,
    /** Sends a bot that gets its address in this transaction the events that it missed. */
    backfill: backfill.begin,
    reopen: reopenEvent,
    trim: trimEvents,
  }
}

/** Creates an event as a bot, a person or an integration; scheduled, it happens later. */
async function createEvent(
  deps: EventParts,
  actor: BotActor,
  input: NewWireEvent,
  remember: Remember<EventRecord>,
): Promise<EventRecord> {
  const { botId } = actor
  const alias = aliasOf(actor)
  const dueAt = dueTimeOf(input.schedule, deps.clock.now())
  const { type, payload, schedule: _, ...subjects } = input
  const event = {
    botId,
    integration: alias,
    type: alias === undefined ? type : `${alias}:${type}`,
    payload: encodePayload(payload, deps.maxPayloadBytes),
    ...subjects,
  }
  const profile = await deps.botProfiles.of(botId)
  requireEventShape(profile, alias, type, payload)
  return await deps.run(async (tx) => {
    await deps.requireSubjects(tx, actor, subjects, 'body')
    const row =
      dueAt === undefined
        ? await deps.recorder.record(tx, profile, event)
        : await deps.recorder.schedule(tx, profile, event)
    if (dueAt !== undefined) {
      await deps.queue.enqueue(tx, {
        kind: releaseEventJob,
        key: row.id,
        payload: { botId },
        runAt: dueAt,
        maxAttempts: 100,
      })
    }
    // A new event is shown as pending even if it has no receiver.
    const status = dueAt === undefined ? 'pending' : row.status
    const made: EventRecord = { row: { ...row, status }, payload }
    await remember?.(tx, made)
    return made
  })
}

async function getEvent(deps: EventParts, actor: BotActor, id: string): Promise<EventRecord> {
  const row = await store.findEvent(deps.db, actor.botId, id)
  const alias = aliasOf(actor)
  if (row === undefined || (alias !== undefined && row.integration !== alias)) {
    throw notFound('event', id, 'in this bot')
  }
  const [record] = await withPayloads(deps, deps.db, actor.botId, [row])
  return record ?? { row, payload: {} }
}

async function listEvents(
  deps: EventParts,
  actor: BotActor,
  query: EventQuery,
): Promise<Page<EventRecord>> {
  const { nextToken, pageSize, type, ...filter } = query
  const alias = aliasOf(actor)
  const page = deps.pager.page({
    operation: 'listEvents',
    scope: `${actor.botId}/${alias ?? ''}`,
    filter: { ...filter, type },
    sort: 'created_at',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  const { conversationId, userId, messageId, workflowId } = filter
  await deps.requireSubjects(deps.db, actor, { conversationId, userId, messageId }, 'query')
  // A missing workflow is not an error, because events are kept longer than workflows.
  const found = await store.pageEvents(
    deps.db,
    actor.botId,
    {
      integration: alias,
      type: type !== undefined && alias !== undefined ? `${alias}:${type}` : type,
      conversationId,
      userId,
      messageId,
      workflowId,
      status: filter.status,
    },
    page,
  )
  return { ...found, rows: await withPayloads(deps, deps.db, actor.botId, found.rows) }
}

/** Cancels an event that has not happened yet. */
async function cancelScheduledEvent(deps: EventParts, actor: BotActor, id: string): Promise<void> {
  const { row } = await getEvent(deps, actor, id)
  const canceled = await deps.run(
    (tx) => store.patchEvent(tx, actor.botId, id, ['scheduled'], { status: 'canceled' }),
    { mayUseReserve: true },
  )
  if (canceled === undefined && row.status !== 'canceled') {
    throw new ApiError('RelationConflict', `The event ${id} is no longer scheduled.`)
  }
}

/** Events with their content, for delivery; deleted ones are left out. */
async function findEvents(
  deps: EventParts,
  executor: Db | Tx,
  botId: string,
  ids: readonly string[],
): Promise<EventRecord[]> {
  const found = await store.findEvents(executor, { botId, ids: JSON.stringify(ids) })
  return await withPayloads(deps, executor, botId, found)
}

/** An event with its content; undefined if there is none. */
async function findEvent(
  deps: EventParts,
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<EventRecord | undefined> {
  const [record] = await findEvents(deps, executor, botId, [id])
  return record
}

async function withPayloads(
  { messages }: EventParts,
  executor: Db | Tx,
  botId: string,
  rows: readonly store.EventRow[],
): Promise<EventRecord[]> {
  const about = rows.flatMap(({ payload, message_id }) =>
    payload === null && message_id !== null ? [message_id] : [],
  )
  const described = await messages.call(executor, botId, about)
  return rows.map((row) => ({
    row,
    // If the message was deleted since, the payload is empty.
    payload:
      row.payload === null
        ? { ...described.get(row.message_id ?? '') }
        : decodeJson<Record<string, unknown>>(row.payload),
  }))
}

/** Releases a scheduled event, as its job. */
async function releaseEvent(
  { botProfiles, run, recorder }: EventParts,
  botId: string,
  id: string,
): Promise<void> {
  const profile = await botProfiles.of(botId)
  await run((tx) => recorder.release(tx, profile, botId, id))
}

/** Runs the second backfill, as its job. */
async function backfillRest(
  { botProfiles, run, backfill }: EventParts,
  { botId, since }: SecondLook,
): Promise<void> {
  const profile = await botProfiles.of(botId)
  if (profile.listens) await run((tx) => backfill.send(tx, botId, profile, since))
}

/** Records whether bots accepted events, when the deliveries of these have ended. */
async function settleEvents(
  { domainEvents }: EventParts,
  tx: Tx,
  { deliveries, failure }: DomainEvents['delivery.ended'],
): Promise<void> {
  const reason = failure === null ? null : failure.slice(0, maxReasonLength)
  const received = deliveries.filter(({ kind }) => kind === 'event_received')
  // Sorted, because concurrent transactions lock events of the same bots, and the same names.
  for (const botId of [...new Set(received.map((delivery) => delivery.botId))].sort()) {
    const ids = received.flatMap((delivery) => (delivery.botId === botId ? delivery.subjectId : []))
    const recurringNames = await store.settleEvents(tx, botId, ids, reason)
    for (const name of recurringNames.sort()) {
      await domainEvents.raise(tx, 'recurringEvent.settled', { botId, name, failure: reason })
    }
  }
}

/** Makes an event pending again when it is sent once more. */
async function reopenEvent(tx: Tx, botId: string, id: string): Promise<void> {
  await store.patchEvent(tx, botId, id, ['processed', 'failed'], {
    status: 'pending',
    failure_reason: null,
  })
}

/**
 * Deletes events that happened before an ISO 8601 time, at most `limit`, except for `needed`;
 * returns how many.
 */
async function trimEvents(
  tx: Tx,
  before: string,
  limit: number,
  needed: NeededSubjects,
): Promise<number> {
  return await store.deleteOldEvents(tx, before, limit, needed)
}

/** Deletes the events of a deleted bot. */
async function purgeEvents({ run }: EventParts, botId: string): Promise<void> {
  await purgeRows(run, (tx, limit) => store.deleteSomeEvents(tx, botId, limit))
}

/**
 * Throws `InvalidDataFormat` unless an event fits the schema that its creator declares. Undeclared
 * types are not checked.
 * @param alias of the integration that creates it; undefined for the bot
 */
function requireEventShape(
  profile: BotProfile,
  alias: string | undefined,
  type: string,
  payload: unknown,
): void {
  const schema = alias === undefined ? profile.eventOf(type) : ofIntegration(profile, alias, type)
  if (schema !== undefined) requireShape(schema, payload, 'payload', `the event ${type}`)
}

function ofIntegration(profile: BotProfile, alias: string, type: string) {
  const events = profile.installationOf(alias)?.declares?.events ?? {}
  return Object.hasOwn(events, type) ? events[type]?.schema : undefined
}
