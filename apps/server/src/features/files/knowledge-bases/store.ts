import {
  type Insertable,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely'
import { type Dialect, dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { type FileScope, isVisible, type TagCondition } from '../lookup/index.js'
import type { KnowledgeBasesTable } from '../table.js'

export type KnowledgeBaseRow = Selectable<KnowledgeBasesTable>

export async function insertKnowledgeBase(
  tx: Tx,
  row: Insertable<KnowledgeBasesTable>,
): Promise<void> {
  await tx.insertInto('knowledge_bases').values(row).execute()
}

/** Knowledge bases that the caller can see: for an integration its own, and those of files that it sees. */
function visible(executor: Db | Tx, scope: FileScope) {
  const { botId, integrationId } = scope
  return executor
    .selectFrom('knowledge_bases')
    .selectAll()
    .where('bot_id', '=', botId)
    .$if(integrationId !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb('key_space', '=', integrationId ?? ''),
          eb('id', 'in', ({ selectFrom }) =>
            selectFrom('file_tags')
              .select('file_tags.value')
              .where('file_tags.bot_id', '=', botId)
              .where('file_tags.name', '=', 'kbId')
              .where('file_tags.file_id', 'in', (files) =>
                files
                  .selectFrom('files')
                  .select('files.id')
                  .where((file) => isVisible(file, scope)),
              ),
          ),
        ]),
      ),
    )
}

/** Whether the caller can see a knowledge base. */
export async function isVisibleTo(
  executor: Db | Tx,
  scope: FileScope,
  id: string,
): Promise<boolean> {
  const row = await visible(executor, scope).where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/** The row, locked for the rest of the transaction. */
export async function lockKnowledgeBase(
  tx: Tx,
  botId: string,
  id: string,
): Promise<KnowledgeBaseRow | undefined> {
  const query = tx
    .selectFrom('knowledge_bases')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('id', '=', id)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

export async function pageKnowledgeBases(
  db: Db,
  scope: FileScope,
  tags: readonly TagCondition[],
  page: PageRequest<'created_at'>,
): Promise<Page<KnowledgeBaseRow>> {
  const query = visible(db, scope)
    // A bot has few of them, so their JSON is searched without a table of tags.
    .where((eb) => eb.and(tags.flatMap((condition) => meets(dialectOf(db), condition))))
  return await paginate(query, page)
}

export async function patchKnowledgeBase(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<KnowledgeBasesTable>,
): Promise<void> {
  await tx
    .updateTable('knowledge_bases')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .execute()
}

export async function deleteKnowledgeBase(tx: Tx, botId: string, id: string): Promise<void> {
  await tx.deleteFrom('knowledge_bases').where('bot_id', '=', botId).where('id', '=', id).execute()
}

/** Deletes the knowledge bases of a deleted bot. */
export async function deleteKnowledgeBasesOf(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('knowledge_bases').where('bot_id', '=', botId).execute()
}

function meets(
  dialect: Dialect,
  { name, in: among, not, exists }: TagCondition,
): RawBuilder<SqlBool>[] {
  const value = dialect.jsonText(sql.ref('knowledge_bases.tags'), name)
  // An empty list is not valid SQL on every engine, and contains nothing.
  const isOneOf = (values: readonly string[]) =>
    values.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`${value} in (${sql.join([...values])})`
  return [
    ...(among ? [isOneOf(among)] : []),
    ...(not ? [sql<SqlBool>`(${value} is null or not ${isOneOf(not)})`] : []),
    ...(exists === undefined
      ? []
      : [exists ? sql<SqlBool>`${value} is not null` : sql<SqlBool>`${value} is null`]),
  ]
}
