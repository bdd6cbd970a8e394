import { type Selectable, type SqlBool, sql, type Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import {
  type Page,
  type PageRange,
  type PageRequest,
  pageOf,
  paginate,
} from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { carriesAll, carriesNoMore, objectsWithTag, type TagMatch } from '../tags/index.js'
import type { WorkflowsTable } from './table.js'

export type WorkflowRow = Selectable<WorkflowsTable>

/** Filter of a list of workflows; undefined members match anything. */
export interface WorkflowFilter {
  tags: Record<string, string>
  conversationId: string | undefined
  userId: string | undefined
  parentWorkflowId: string | undefined
  statuses: readonly WorkflowRow['status'][] | undefined
  name: string | undefined
}

export async function insertWorkflow(tx: Tx, row: WorkflowRow): Promise<void> {
  await tx.insertInto('workflows').values(row).execute()
}

export async function findWorkflow(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<WorkflowRow | undefined> {
  return await executor
    .selectFrom('workflows')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .executeTakeFirst()
}

/** The workflow with this id, locked until the transaction ends. */
export async function lockWorkflow(
  tx: Tx,
  botId: string,
  id: string,
): Promise<WorkflowRow | undefined> {
  const query = tx
    .selectFrom('workflows')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** Id of the newest workflow of a conversation that has one of some statuses; null if there is none. */
export async function findNewestOf(
  tx: Tx,
  botId: string,
  conversationId: string,
  statuses: readonly WorkflowRow['status'][],
): Promise<string | null> {
  const row = await tx
    .selectFrom('workflows')
    .select('id')
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
    .where('status', 'in', [...statuses])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? null
}

/** Changes a workflow that {@link lockWorkflow} returned. */
export async function patchWorkflow(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<WorkflowsTable>,
): Promise<void> {
  await tx
    .updateTable('workflows')
    .set(patch)
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .execute()
}

/** The oldest workflow of a name that has the tags and one of some statuses. */
export async function matchWorkflow(
  tx: Tx,
  botId: string,
  name: string,
  statuses: readonly WorkflowRow['status'][] | undefined,
  match: TagMatch,
): Promise<WorkflowRow | undefined> {
  const [first, ...others] = match.tags
  let query = tx
    .selectFrom('workflows')
    .selectAll('workflows')
    .where('workflows.bot_id', '=', botId)
    .where('workflows.name', '=', name)
    .where(({ ref }) => carriesAll(ref('workflows.id'), others))
    .where(({ ref }) => carriesNoMore(ref('workflows.id'), match))
    .orderBy('workflows.created_at')
    .orderBy('workflows.id')
    .limit(1)
  if (statuses !== undefined) query = query.where('workflows.status', 'in', statuses)
  if (first !== undefined) {
    query = query.innerJoin(
      objectsWithTag(tx, botId, 'workflow', first),
      'tagged.object_id',
      'workflows.id',
    )
  }
  return await query.executeTakeFirst()
}

export async function pageWorkflows(
  db: Db,
  botId: string,
  filter: WorkflowFilter,
  page: PageRequest<'created_at'>,
): Promise<Page<WorkflowRow>> {
  const [first, ...others] = Object.entries(filter.tags)
  const columns = [
    ['workflows.conversation_id', filter.conversationId],
    ['workflows.user_id', filter.userId],
    ['workflows.parent_workflow_id', filter.parentWorkflowId],
    ['workflows.name', filter.name],
  ] as const
  let query = db
    .selectFrom('workflows')
    .selectAll('workflows')
    .where('workflows.bot_id', '=', botId)
    .where(({ ref }) => carriesAll(ref('workflows.id'), others))
  for (const [column, value] of columns) {
    if (value !== undefined) query = query.where(column, '=', value)
  }
  if (filter.statuses?.length) query = query.where('workflows.status', 'in', filter.statuses)
  if (first !== undefined) {
    query = query.innerJoin(
      objectsWithTag(db, botId, 'workflow', first),
      'tagged.object_id',
      'workflows.id',
    )
  }
  return await paginate(query, page, 'workflows')
}

/** Workflows of a conversation in a range, and one more. */
export async function listWorkflowsIn(
  db: Db,
  { botId, conversationId }: { botId: string; conversationId: string },
  range: PageRange<'created_at'>,
): Promise<WorkflowRow[]> {
  const query = db
    .selectFrom('workflows')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    // As an expression, because SQLite would else read all workflows of the bot in their order.
    .where(sql<SqlBool>`(bot_id || '') = ${botId}`)
  return await pageOf(query, range).execute()
}

export async function deleteWorkflow(tx: Tx, botId: string, id: string): Promise<void> {
  await tx.deleteFrom('workflows').where('id', '=', id).where('bot_id', '=', botId).execute()
}

/** Removes the parent of the children of a workflow. */
export async function orphanChildren(tx: Tx, botId: string, id: string): Promise<void> {
  await tx
    .updateTable('workflows')
    .set({ parent_workflow_id: null })
    .where('parent_workflow_id', '=', id)
    .where('bot_id', '=', botId)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeWorkflows(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('workflows')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('workflows').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
