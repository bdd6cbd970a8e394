import { encodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { BotProfile } from '../../bots/bots/index.js'
import { type ConversationsService, toConversation } from '../conversations/index.js'
import type { EventsService } from '../events/index.js'
import { toUser, type UsersService } from '../users/index.js'
import { statusGroups } from './rules.js'
import { findNewestOf, findWorkflow, type WorkflowRow } from './store.js'
import { toWorkflow } from './view.js'

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

/** Updates the current workflow of the conversation when a workflow begins or ends. */
export async function showCurrent(
  { conversations }: WorkflowUpdatesDeps,
  tx: Tx,
  row: WorkflowRow,
): Promise<void> {
  const { bot_id: botId, conversation_id: id } = row
  if (id === null) return
  await conversations.showWorkflow(tx, { botId, id }, () =>
    findNewestOf(tx, botId, id, statusGroups.active),
  )
}

/** Notifies the bot of a workflow. */
export async function notify(
  deps: WorkflowUpdatesDeps,
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
    ...(await describe(deps, tx, row)),
  }
  await deps.events.record(tx, profile, {
    botId: row.bot_id,
    type: 'workflow_update',
    payload: encodeJson(payload),
    isPromised: true,
    workflowId: row.id,
    conversationId: row.conversation_id ?? undefined,
    userId: row.user_id ?? undefined,
  })
}

/** Conversation and user of a workflow as the bot sees them, if it has them. */
async function describe(
  { conversations, users }: WorkflowUpdatesDeps,
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
export async function notifyParent(
  deps: WorkflowUpdatesDeps,
  tx: Tx,
  profile: BotProfile,
  type: 'child_workflow_finished' | 'child_workflow_deleted',
  child: WorkflowRow,
): Promise<void> {
  if (child.parent_workflow_id === null) return
  const parent = await findWorkflow(tx, child.bot_id, child.parent_workflow_id)
  if (parent !== undefined) await notify(deps, tx, profile, type, parent, child)
}
