import { ApiError, type Body, type contract } from '@botstead/contract'
import { bodyTimeOf } from '../../../domain/times.js'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { BotProfile } from '../../bots/bots/index.js'
import { type ConversationsService, toConversation } from '../conversations/index.js'
import type { EventsService } from '../events/index.js'
import { toUser, type UsersService } from '../users/index.js'
import { findNewestOf, findWorkflow, type WorkflowRow } from './store.js'
import { toWorkflow } from './view.js'

type Status = WorkflowRow['status']

const day = 24 * 60 * 60 * 1000
/** Default timeout of a workflow in milliseconds. */
const defaultTimeout = day
const longestTimeout = 366 * day

/** Statuses of ended workflows, and of running ones. */
export const statusGroups = {
  finished: ['completed', 'failed', 'timedout', 'cancelled'],
  active: ['pending', 'in_progress', 'listening', 'paused'],
} as const satisfies Record<string, readonly Status[]>

/** Whether a workflow with this status has ended. */
export function isFinished(status: Status): boolean {
  return statusGroups.finished.some((finished) => finished === status)
}

/** The columns that a change of the status sets. An ended workflow keeps its status. */
export function changesOf(
  row: WorkflowRow,
  { status, failureReason }: Body<typeof contract.workflows.update>,
  now: string,
) {
  if (status !== undefined && status !== row.status && isFinished(row.status)) {
    throw new ApiError(
      'RelationConflict',
      `body.status: the workflow is ${row.status} and can no longer become ${status}.`,
      { metadata: { in: 'body', field: 'status' } },
    )
  }
  const ends = status !== undefined && isFinished(status) && row.completed_at === null
  return {
    ...(status !== undefined && { status }),
    ...(failureReason !== undefined && { failure_reason: failureReason }),
    ...(ends && { completed_at: now }),
    updated_at: now,
  }
}

/** When a workflow times out, in milliseconds since the Unix epoch. */
export function timeoutOf(given: string | undefined, now: number): number {
  if (given === undefined) return now + defaultTimeout
  const time = bodyTimeOf('timeoutAt', given)
  if (time > now && time <= now + longestTimeout) return time
  throw new ApiError('InvalidPayload', 'body.timeoutAt must be within a year from now.', {
    metadata: { in: 'body', field: 'timeoutAt' },
  })
}

/**
 * Throws unless a request that sets a workflow to `in_progress` names the event that continues it.
 */
export function requireEventId(status: string | undefined, eventId: string | undefined): void {
  if (status !== 'in_progress' || eventId !== undefined) return
  throw new ApiError('InvalidPayload', 'body.eventId is required with the status in_progress.', {
    metadata: { in: 'body', field: 'eventId' },
  })
}

/** A notification of the bot about a workflow. */
type Update =
  | 'workflow_started'
  | 'workflow_continued'
  | 'workflow_timedout'
  | 'child_workflow_finished'
  | 'child_workflow_deleted'

export interface WorkflowUpdatesDeps {
  events: Pick<EventsService, 'record'>
  users: Pick<UsersService, 'findAll'>
  conversations: Pick<ConversationsService, 'findAll' | 'showWorkflow'>
}

/** Handles the consequences of a change of a workflow, in its transaction. */
export function createWorkflowUpdates({ events, users, conversations }: WorkflowUpdatesDeps) {
  /** Updates the current workflow of the conversation when a workflow begins or ends. */
  async function showCurrent(tx: Tx, row: WorkflowRow): Promise<void> {
    const { bot_id: botId, conversation_id: id } = row
    if (id === null) return
    await conversations.showWorkflow(tx, { botId, id }, () =>
      findNewestOf(tx, botId, id, statusGroups.active),
    )
  }

  /** Notifies the bot of a workflow. */
  async function notify(
    tx: Tx,
    profile: BotProfile,
    type: Update,
    row: WorkflowRow,
    child?: WorkflowRow,
  ): Promise<void> {
    const payload = {
      type,
      workflow: toWorkflow(row),
      ...(child && { childWorkflow: toWorkflow(child) }),
      ...(await describe(tx, row)),
    }
    await events.record(tx, profile, {
      botId: row.bot_id,
      type: 'workflow_update',
      payload: encodeJson(payload),
      workflowId: row.id,
      conversationId: row.conversation_id ?? undefined,
      userId: row.user_id ?? undefined,
    })
  }

  /** Conversation and user of a workflow as the bot sees them, if it has them. */
  async function describe(
    tx: Tx,
    { bot_id: botId, conversation_id, user_id }: WorkflowRow,
  ): Promise<{ conversation?: object; user?: object }> {
    const [conversation] =
      conversation_id === null ? [] : await conversations.findAll(tx, botId, [conversation_id])
    const [user] = user_id === null ? [] : await users.findAll(tx, botId, [user_id])
    return {
      ...(conversation && { conversation: toConversation(conversation, undefined) }),
      ...(user && { user: toUser(user, undefined) }),
    }
  }

  /** Notifies the bot that a child of a workflow has ended or was deleted, if the parent still exists. */
  async function notifyParent(
    tx: Tx,
    profile: BotProfile,
    type: 'child_workflow_finished' | 'child_workflow_deleted',
    child: WorkflowRow,
  ): Promise<void> {
    if (child.parent_workflow_id === null) return
    const parent = await findWorkflow(tx, child.bot_id, child.parent_workflow_id)
    if (parent !== undefined) await notify(tx, profile, type, parent, child)
  }

  return { showCurrent, notify, notifyParent }
}
