import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { noReference, notFound } from '../../../domain/refusals.js'
import type { Tags } from '../../../domain/tags.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import type { EventsService } from '../events/index.js'
import { deleteTags, newTags, patchedTags, replaceTags, tagMatchOf } from '../tags/index.js'
import { changesOf, isFinished, requireEventId, statusGroups, timeoutOf } from './rules.js'
import * as store from './store.js'
import { notify, notifyParent, showCurrent, type WorkflowUpdatesDeps } from './updates.js'

type NewWorkflow = Body<typeof contract.workflows.create>
type WantedWorkflow = Body<typeof contract.workflows.getOrCreate>
type WorkflowPatch = Body<typeof contract.workflows.update>
type WorkflowQuery = Query<typeof contract.workflows.list>

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A workflow is being deleted; subscribers delete what belongs to it. */
    'workflow.removed': { botId: string; workflowId: string }
  }
}

/** Ids that a workflow refers to. */
interface References {
  conversationId?: string | undefined
  userId?: string | undefined
  parentWorkflowId?: string | undefined
  eventId?: string | undefined
}

export interface WorkflowsDeps extends WorkflowUpdatesDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  queue: Queue
  pager: Pager
  botProfiles: BotProfiles
  domainEvents: Pick<EventDispatcher, 'raise'>
  events: Pick<EventsService, 'record' | 'find' | 'subjects' | 'requireSubjects'>
  /** Maximum bytes of an input or output. */
  maxPayloadBytes: number
}

/** Name of the job that ends a workflow at its timeout; its key is the id of the workflow. */
export const timeoutWorkflowJob = 'workflows.timeout'

export type WorkflowsService = ReturnType<typeof createWorkflowsService>

/** Joins the operations of workflows, for bots and for the job that ends one at its timeout. */
export function createWorkflowsService(deps: WorkflowsDeps) {
  deps.events.subjects.workflowId.fill(workflowExists)

  return {
    ...bound(deps, {
      create: createWorkflow,
      get: getWorkflow,
      list: listWorkflows,
      getOrCreate: getOrCreateWorkflow,
      update: updateWorkflow,
      remove: removeWorkflow,
      expire: expireWorkflow,
      purge: purgeWorkflows,
    }),
    exists: workflowExists,
  }
}

async function planTimeout(
  { queue }: WorkflowsDeps,
  tx: Tx,
  botId: string,
  id: string,
  runAt: number,
): Promise<void> {
  await queue.enqueue(tx, {
    kind: timeoutWorkflowJob,
    key: id,
    payload: { botId },
    runAt,
    maxAttempts: 100,
  })
}

/**
 * Throws `ReferenceNotFound` unless all referenced objects exist and are visible to the caller.
 */
async function requireReferences(
  { events }: WorkflowsDeps,
  executor: Db | Tx,
  actor: BotActor,
  { conversationId, userId, parentWorkflowId, eventId }: References,
  where: 'body' | 'query',
): Promise<void> {
  await events.requireSubjects(executor, actor, { conversationId, userId }, where)
  const { botId } = actor
  if (parentWorkflowId && !(await store.findWorkflow(executor, botId, parentWorkflowId))) {
    throw noReference(`${where}.parentWorkflowId`, 'workflow', parentWorkflowId)
  }
  if (eventId && !(await events.find(executor, botId, eventId))) {
    throw noReference(`${where}.eventId`, 'event', eventId)
  }
}

async function insertWorkflow(
  deps: WorkflowsDeps,
  tx: Tx,
  actor: BotActor,
  profile: BotProfile,
  input: NewWorkflow,
): Promise<store.WorkflowRow> {
  const { botId } = actor
  const { status, eventId, conversationId, userId, parentWorkflowId } = input
  requireEventId(status, eventId)
  await requireReferences(
    deps,
    tx,
    actor,
    { conversationId, userId, parentWorkflowId, eventId },
    'body',
  )
  const now = deps.clock.now()
  const timeoutAt = timeoutOf(input.timeoutAt, now)
  const tags = newTags(undefined, input.tags ?? {})
  const row: store.WorkflowRow = {
    id: deps.ids.next('wrkflow'),
    bot_id: botId,
    name: input.name,
    status,
    input: encodePayload(input.input ?? {}, deps.maxPayloadBytes, 'input'),
    output: '{}',
    parent_workflow_id: parentWorkflowId ?? null,
    conversation_id: conversationId ?? null,
    user_id: userId ?? null,
    event_id: eventId ?? null,
    tags: encodeJson(tags),
    failure_reason: null,
    timeout_at: isoTime(timeoutAt),
    completed_at: null,
    created_at: isoTime(now),
    updated_at: isoTime(now),
  }
  await store.insertWorkflow(tx, row)
  await replaceTags(tx, tagged(row), {}, tags)
  await showCurrent(deps, tx, row)
  await planTimeout(deps, tx, botId, row.id, timeoutAt)
  if (status === 'pending') await notify(deps, tx, profile, 'workflow_started', row)
  return row
}

async function createWorkflow(
  deps: WorkflowsDeps,
  actor: BotActor,
  input: NewWorkflow,
  remember: Remember<store.WorkflowRow>,
): Promise<store.WorkflowRow> {
  requireBot(actor)
  const profile = await deps.botProfiles.of(actor.botId)
  return await deps.run(async (tx) => {
    const row = await insertWorkflow(deps, tx, actor, profile, input)
    await remember?.(tx, row)
    return row
  })
}

async function getWorkflow(
  { db }: WorkflowsDeps,
  actor: BotActor,
  id: string,
): Promise<store.WorkflowRow> {
  requireBot(actor)
  const row = await store.findWorkflow(db, actor.botId, id)
  if (row === undefined) throw notFound('workflow', id, 'in this bot')
  return row
}

/** Whether the workflow exists and is visible to the caller. */
async function workflowExists(executor: Db | Tx, actor: BotActor, id: string): Promise<boolean> {
  if (aliasOf(actor) !== undefined) return false
  return (await store.findWorkflow(executor, actor.botId, id)) !== undefined
}

/** Newest first. */
async function listWorkflows(
  deps: WorkflowsDeps,
  actor: BotActor,
  query: WorkflowQuery,
): Promise<Page<store.WorkflowRow>> {
  requireBot(actor)
  const { nextToken, pageSize, ...filter } = query
  const { conversationId, userId, parentWorkflowId, statuses, name } = filter
  const page = deps.pager.page({
    operation: 'listWorkflows',
    scope: actor.botId,
    filter,
    sort: 'created_at',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  await requireReferences(
    deps,
    deps.db,
    actor,
    { conversationId, userId, parentWorkflowId },
    'query',
  )
  return await store.pageWorkflows(
    deps.db,
    actor.botId,
    {
      tags: filter.tags ?? {},
      conversationId,
      userId,
      parentWorkflowId,
      statuses,
      name,
    },
    page,
  )
}

/** The workflow with a name that the tags identify; created if there is none. */
async function getOrCreateWorkflow(deps: WorkflowsDeps, actor: BotActor, wanted: WantedWorkflow) {
  requireBot(actor)
  const { botId } = actor
  const { name, discriminateByTags, discriminateByStatusGroup: group } = wanted
  const match = tagMatchOf(undefined, wanted.tags ?? {}, discriminateByTags)
  const profile = await deps.botProfiles.of(botId)
  return await deps.run(async (tx) => {
    // Locked before the lookup, so that the second of two callers searches after the first
    // commits.
    await deps.dialect.holdName(tx, `workflows ${botId} ${name}`)
    const statuses = group && statusGroups[group]
    const found = await store.matchWorkflow(tx, botId, name, statuses, match)
    if (found === undefined) {
      return { workflow: await insertWorkflow(deps, tx, actor, profile, wanted), created: true }
    }
    const workflow = (await store.lockWorkflow(tx, botId, found.id)) ?? found
    const before = decodeJson<Tags>(workflow.tags)
    const after = patchedTags(undefined, before, wanted.tags)
    const tags = encodeJson(after)
    if (tags === workflow.tags) return { workflow, created: false }
    const patch = { tags, updated_at: isoTime(deps.clock.now()) }
    await store.patchWorkflow(tx, botId, workflow.id, patch)
    await replaceTags(tx, tagged(workflow), before, after)
    return { workflow: { ...workflow, ...patch }, created: false }
  })
}

async function updateWorkflow(
  deps: WorkflowsDeps,
  actor: BotActor,
  id: string,
  patch: WorkflowPatch,
): Promise<store.WorkflowRow> {
  requireBot(actor)
  const { botId } = actor
  requireEventId(patch.status, patch.eventId)
  const profile = await deps.botProfiles.of(botId)
  return await deps.run(
    async (tx) => {
      const row = await store.lockWorkflow(tx, botId, id)
      if (row === undefined) throw notFound('workflow', id, 'in this bot')
      const { userId, eventId } = patch
      await requireReferences(deps, tx, actor, { userId, eventId }, 'body')
      const now = deps.clock.now()
      const before = decodeJson<Tags>(row.tags)
      const tags = patchedTags(undefined, before, patch.tags)
      const timeoutAt = patch.timeoutAt && timeoutOf(patch.timeoutAt, now)
      const changes = {
        ...changesOf(row, patch, isoTime(now)),
        ...(patch.output && {
          output: encodePayload(patch.output, deps.maxPayloadBytes, 'output'),
        }),
        ...(timeoutAt && { timeout_at: isoTime(timeoutAt) }),
        ...(userId !== undefined && { user_id: userId }),
        ...(eventId !== undefined && { event_id: eventId }),
        tags: encodeJson(tags),
      }
      await store.patchWorkflow(tx, botId, id, changes)
      await replaceTags(tx, tagged(row), before, tags)
      if (timeoutAt) await planTimeout(deps, tx, botId, id, timeoutAt)
      const next: store.WorkflowRow = { ...row, ...changes }
      if (isFinished(next.status) && !isFinished(row.status)) {
        await showCurrent(deps, tx, next)
        await notifyParent(deps, tx, profile, 'child_workflow_finished', next)
      } else if (
        next.status === 'in_progress' &&
        (row.status === 'listening' || row.status === 'paused')
      ) {
        await notify(deps, tx, profile, 'workflow_continued', next)
      }
      return next
    },
    { mayUseReserve: patch.status === 'cancelled' },
  )
}

/** Deletes a workflow; its children stay, and the bot is notified for its parent. */
async function removeWorkflow(deps: WorkflowsDeps, actor: BotActor, id: string): Promise<void> {
  requireBot(actor)
  const { botId } = actor
  const profile = await deps.botProfiles.of(botId)
  await deps.run(
    async (tx) => {
      const row = await store.lockWorkflow(tx, botId, id)
      if (row === undefined) throw notFound('workflow', id, 'in this bot')
      await store.deleteWorkflow(tx, botId, id)
      await store.orphanChildren(tx, botId, id)
      await deleteTags(tx, botId, [id])
      await deps.domainEvents.raise(tx, 'workflow.removed', { botId, workflowId: id })
      await showCurrent(deps, tx, row)
      await notifyParent(deps, tx, profile, 'child_workflow_deleted', row)
    },
    { mayUseReserve: true },
  )
}

/**
 * Ends a workflow that timed out, as its job; enqueues the job again if the timeout was moved.
 */
async function expireWorkflow(deps: WorkflowsDeps, botId: string, id: string): Promise<void> {
  const profile = await deps.botProfiles.of(botId)
  await deps.run(async (tx) => {
    const row = await store.lockWorkflow(tx, botId, id)
    if (row === undefined || isFinished(row.status)) return
    const now = isoTime(deps.clock.now())
    if (row.timeout_at > now) {
      await planTimeout(deps, tx, botId, id, Date.parse(row.timeout_at))
      return
    }
    const patch = { status: 'timedout' as const, completed_at: now, updated_at: now }
    await store.patchWorkflow(tx, botId, id, patch)
    const next = { ...row, ...patch }
    await showCurrent(deps, tx, next)
    await notify(deps, tx, profile, 'workflow_timedout', next)
    await notifyParent(deps, tx, profile, 'child_workflow_finished', next)
  })
}

/** Deletes the workflows of a deleted bot. */
async function purgeWorkflows({ run }: WorkflowsDeps, botId: string): Promise<void> {
  await purgeRows(run, (tx, limit) => store.deleteSomeWorkflows(tx, botId, limit))
}

function requireBot(actor: BotActor): void {
  if (aliasOf(actor) === undefined) return
  throw new ApiError('Forbidden', 'Workflows belong to bots: an integration has none.')
}

function tagged(row: store.WorkflowRow) {
  return { botId: row.bot_id, kind: 'workflow' as const, id: row.id }
}
