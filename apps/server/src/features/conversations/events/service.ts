import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { aliasOf } from '../../../domain/caller.js'
import type { NeededSubjects } from '../../../domain/delivery-request.js'
import { encodePayload } from '../../../domain/payload.js'
import { dueTimeOf } from '../../../domain/times.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/remember.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Audience, Audiences } from '../../bots/bots/index.js'
import { createMissedEvents, type SecondLook } from './missed.js'
import { createEventRecorder, type EventRecorderDeps } from './recorder.js'
import { requireEventShape } from './shapes.js'
import * as store from './store.js'
import { requireSubjects, type SubjectLookups, type Subjects } from './subjects.js'

type NewWireEvent = Body<typeof contract.events.create>
type EventQuery = Query<typeof contract.events.list>

/** An event with its content, as the bot sees it. */
export interface EventRecord {
  row: store.EventRow
  payload: Record<string, unknown>
}

/** What an event says it is about. */
export type EventSubjects = Pick<
  NewWireEvent,
  'conversationId' | 'userId' | 'messageId' | 'workflowId'
>

export interface EventsDeps extends EventRecorderDeps {
  db: Db
  run: Run
  queue: Queue
  pager: Pager
  audiences: Audiences
  /** Milliseconds that a bot is told of before it got an address; 0 for nothing. */
  missedEventsMs: number
  /** Most bytes of a payload. */
  maxPayloadBytes: number
  /** Messages with their user and conversation, by id, for those that are still there. */
  describeMessages: (
    executor: Db | Tx,
    botId: string,
    messageIds: readonly string[],
  ) => Promise<ReadonlyMap<string, object>>
  subjects: SubjectLookups
  /** Told when an event that a recurring one made has reached the bot, or has not. */
  onRecurringSettled: (tx: Tx, botId: string, name: string, failure: string | null) => Promise<void>
}

/** Name of the job that lets a scheduled event happen; its key is the id of the event. */
export const releaseEventJob = 'events.release'

const longestReason = 2000

export type EventsService = ReturnType<typeof createEventsService>

export function createEventsService(deps: EventsDeps) {
  const { db, run, clock, queue, pager, audiences, maxPayloadBytes } = deps
  const recorder = createEventRecorder(deps)
  const missed = createMissedEvents({ ...deps, recorder, windowMs: deps.missedEventsMs })

  async function withPayloads(
    executor: Db | Tx,
    botId: string,
    rows: readonly store.EventRow[],
  ): Promise<EventRecord[]> {
    const about = rows.flatMap(({ payload, message_id }) =>
      payload === null && message_id !== null ? [message_id] : [],
    )
    const described = await deps.describeMessages(executor, botId, about)
    return rows.map((row) => ({
      row,
      // Of a message that was deleted since, nothing is left to tell.
      payload:
        row.payload === null
          ? { ...described.get(row.message_id ?? '') }
          : decodeJson<Record<string, unknown>>(row.payload),
    }))
  }

  return {
    record: recorder.record,

    /** The same with the handle of a transaction or another one. */
    async requireSubjectsIn(
      executor: Db | Tx,
      actor: BotActor,
      subjects: Subjects,
      place: 'body' | 'query',
    ): Promise<void> {
      await requireSubjects(deps.subjects, executor, actor, subjects, place)
    },

    /** Throws `ReferenceNotFound` if what is asked for is not there for the caller to see. */
    async requireSubjects(
      actor: BotActor,
      subjects: Subjects,
      place: 'body' | 'query' = 'query',
    ): Promise<void> {
      await requireSubjects(deps.subjects, db, actor, subjects, place)
    },

    /** Creates an event as a bot, a person or an integration; scheduled, it happens later. */
    async create(
      actor: BotActor,
      input: NewWireEvent,
      remember: Remember<EventRecord>,
    ): Promise<EventRecord> {
      const { botId } = actor
      const alias = aliasOf(actor)
      const dueAt = dueTimeOf(input.schedule, clock.now())
      const { type, payload, schedule: _, ...subjects } = input
      const event = {
        botId,
        integration: alias,
        type: alias === undefined ? type : `${alias}:${type}`,
        payload: encodePayload(payload, maxPayloadBytes),
        ...subjects,
      }
      const audience = await audiences.of(botId)
      requireEventShape(audience, alias, type, payload)
      return await run(async (tx) => {
        await requireSubjects(deps.subjects, tx, actor, subjects)
        const row =
          dueAt === undefined
            ? await recorder.record(tx, audience, event)
            : await recorder.schedule(tx, event)
        if (dueAt !== undefined) {
          await queue.enqueue(tx, {
            kind: releaseEventJob,
            key: row.id,
            payload: { botId },
            runAt: dueAt,
            maxAttempts: 100,
          })
        }
        // Nobody has looked at it yet, also if nobody will.
        const status = dueAt === undefined ? 'pending' : row.status
        const made: EventRecord = { row: { ...row, status }, payload }
        await remember?.(tx, made)
        return made
      })
    },

    async get(actor: BotActor, id: string): Promise<EventRecord> {
      const row = await store.findEvent(db, actor.botId, id)
      const alias = aliasOf(actor)
      if (row === undefined || (alias !== undefined && row.integration !== alias)) {
        throw new ApiError('ResourceNotFound', `There is no event ${id} in this bot.`)
      }
      const [record] = await withPayloads(db, actor.botId, [row])
      return record ?? { row, payload: {} }
    },

    /** Events with their content, for whoever sends them; without those that are gone. */
    async findAll(
      executor: Db | Tx,
      botId: string,
      ids: readonly string[],
    ): Promise<EventRecord[]> {
      return await withPayloads(executor, botId, await store.findEvents(executor, botId, ids))
    },

    /** The same for one; undefined if there is none. */
    async find(executor: Db | Tx, botId: string, id: string): Promise<EventRecord | undefined> {
      const [record] = await this.findAll(executor, botId, [id])
      return record
    },

    async list(actor: BotActor, query: EventQuery): Promise<Page<EventRecord>> {
      const { nextToken, pageSize, type, ...filter } = query
      const alias = aliasOf(actor)
      const page = pager.page({
        operation: 'listEvents',
        scope: `${actor.botId}/${alias ?? ''}`,
        filter: { ...filter, type },
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize,
      })
      const { conversationId, userId, messageId, workflowId } = filter
      await this.requireSubjects(actor, { conversationId, userId, messageId })
      // A workflow that does not exist is no error: events are kept longer than their workflows.
      const found = await store.pageEvents(
        db,
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
      return { ...found, rows: await withPayloads(db, actor.botId, found.rows) }
    },

    /** Cancels an event that has not happened yet. */
    async cancelScheduled(actor: BotActor, id: string): Promise<void> {
      const { row } = await this.get(actor, id)
      const canceled = await run(
        (tx) => store.patchEvent(tx, actor.botId, id, ['scheduled'], { status: 'canceled' }),
        { freesRoom: true },
      )
      if (canceled === undefined && row.status !== 'canceled') {
        throw new ApiError('RelationConflict', `The event ${id} is not scheduled any more.`)
      }
    },

    /** Tells a bot that gets its address in this transaction of what it missed without one. */
    async tellMissed(tx: Tx, botId: string, wants: Audience['wants']): Promise<void> {
      await missed.begin(tx, botId, { wants })
    },

    /** Looks once more for what a bot missed, as a job. */
    async tellRest({ botId, since }: SecondLook): Promise<void> {
      const audience = await audiences.of(botId)
      if (audience.listens) await run((tx) => missed.tell(tx, botId, audience, since))
    },

    /** Lets a scheduled event happen, as its job. */
    async release(botId: string, id: string): Promise<void> {
      const audience = await audiences.of(botId)
      await run((tx) => recorder.release(tx, audience, botId, id))
    },

    /**
     * Notes what became of telling the bot of events.
     * @param failure why the bot did not take them; null if it did
     */
    async settle(
      tx: Tx,
      botId: string,
      ids: readonly string[],
      failure: string | null,
    ): Promise<void> {
      const reason = failure === null ? null : failure.slice(0, longestReason)
      const recurringNames = await store.settleEvents(tx, botId, ids, reason)
      // In one order: others may be settling events of the same names.
      for (const recurring of recurringNames.sort()) {
        await deps.onRecurringSettled(tx, botId, recurring, reason)
      }
    },

    /** Lets an event wait for its bot again, because it is sent once more. */
    async reopen(tx: Tx, botId: string, id: string): Promise<void> {
      await store.patchEvent(tx, botId, id, ['processed', 'failed'], {
        status: 'pending',
        failure_reason: null,
      })
    },

    /**
     * Deletes events that happened before an ISO 8601 time, at most `limit`, except for those of
     * `needed`; returns how many.
     */
    async trim(tx: Tx, before: string, limit: number, needed: NeededSubjects): Promise<number> {
      return await store.deleteOldEvents(tx, before, limit, needed)
    },

    /** Removes the events that a deleted bot left behind. */
    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => store.deleteSomeEvents(tx, botId, limit))
    },
  }
}
