import { encodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Audience } from '../../bots/bots/index.js'
import type { WorkflowsDeps } from './service.js'
import { findWorkflow, type WorkflowRow } from './store.js'
import { toWorkflow } from './view.js'

/** What a bot hears about a workflow. */
type Update =
  | 'workflow_started'
  | 'workflow_continued'
  | 'workflow_timedout'
  | 'child_workflow_finished'
  | 'child_workflow_deleted'

/** Tells bots of their workflows, in the transaction of the change. */
export function workflowUpdates({ events, describe }: Pick<WorkflowsDeps, 'events' | 'describe'>) {
  async function tell(
    tx: Tx,
    audience: Audience,
    type: Update,
    row: WorkflowRow,
    child?: WorkflowRow,
  ): Promise<void> {
    const { bot_id: botId, id } = row
    const conversationId = row.conversation_id ?? undefined
    const userId = row.user_id ?? undefined
    const about = await describe(tx, botId, { conversationId, userId })
    const payload = {
      type,
      workflow: toWorkflow(row),
      ...(child && { childWorkflow: toWorkflow(child) }),
      ...about,
    }
    await events.record(tx, audience, {
      ...{ botId, type: 'workflow_update', payload: encodeJson(payload) },
      ...{ workflowId: id, conversationId, userId },
    })
  }

  return {
    tell,

    /** Tells of a part of a workflow that has ended or is gone, if the whole is still there. */
    async tellParent(
      tx: Tx,
      audience: Audience,
      type: 'child_workflow_finished' | 'child_workflow_deleted',
      child: WorkflowRow,
    ): Promise<void> {
      if (child.parent_workflow_id === null) return
      const parent = await findWorkflow(tx, child.bot_id, child.parent_workflow_id)
      if (parent !== undefined) await tell(tx, audience, type, parent, child)
    },
  }
}
