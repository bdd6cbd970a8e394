import type { AliasedExpression, Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { ChatFilesTable } from './table.js'

type ChatFileRow = Selectable<ChatFilesTable>

export async function insertChatFile(tx: Tx, row: ChatFileRow): Promise<void> {
  await tx.insertInto('chat_files').values(row).execute()
}

/** Bytes of all files that chat users of a bot have announced. */
export async function sumChatFiles(executor: Db | Tx, botId: string): Promise<number> {
  const { total } = await executor
    .selectFrom('chat_files')
    .select((eb) => eb.fn.sum('size').as('total'))
    .where('bot_id', '=', botId)
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

/** The owner of files. */
type Owner = { conversationId: string } | { userId: string }

/** Ids of some files of a conversation, or of a user's files that are in no conversation. */
export async function listChatFilesOf(
  executor: Db | Tx,
  botId: string,
  owner: Owner,
  limit: number,
): Promise<string[]> {
  let query = executor.selectFrom('chat_files').select('file_id').where('bot_id', '=', botId)
  query =
    'conversationId' in owner
      ? query.where('conversation_id', '=', owner.conversationId)
      : query.where('user_id', '=', owner.userId).where('conversation_id', 'is', null)
  const rows = await query.limit(limit).execute()
  return rows.map((row) => row.file_id)
}

export async function deleteChatFiles(
  tx: Tx,
  botId: string,
  fileIds: readonly string[],
): Promise<void> {
  if (fileIds.length === 0) return
  await tx
    .deleteFrom('chat_files')
    .where('bot_id', '=', botId)
    .where('file_id', 'in', fileIds)
    .execute()
}

/** Ids of files that exist, for joins. */
export type ExistingFiles = AliasedExpression<{ id: string }, 'existing'>

/** Ids of files of which nothing has arrived, for joins. */
export type UnsentFiles = AliasedExpression<{ id: string }, 'unsent'>

/** Ids of some files that chat users of a bot announced and did not send. */
export async function listUnsentChatFiles(
  db: Db,
  botId: string,
  unsent: UnsentFiles,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('chat_files')
    .innerJoin(unsent, 'unsent.id', 'chat_files.file_id')
    .select('chat_files.file_id')
    .where('chat_files.bot_id', '=', botId)
    .limit(limit)
    .execute()
  return rows.map((row) => row.file_id)
}

/**
 * Checks some files of all bots whose existence was last checked before an ISO 8601 time, and deletes the rows of those
 * that no longer exist. Returns how many were checked, at most `limit`.
 */
export async function deleteMissingChatFiles(
  tx: Tx,
  existing: ExistingFiles,
  { before, now, limit }: { before: string; now: string; limit: number },
): Promise<number> {
  const rows = await tx
    .selectFrom('chat_files')
    .leftJoin(existing, 'existing.id', 'chat_files.file_id')
    .select(['chat_files.file_id', 'existing.id as existing_id'])
    .where('checked_at', '<', before)
    .orderBy('checked_at')
    .limit(limit)
    .execute()
  const gone = rows.filter((row) => row.existing_id === null).map((row) => row.file_id)
  const found = rows.filter((row) => row.existing_id !== null).map((row) => row.file_id)
  if (gone.length > 0) await tx.deleteFrom('chat_files').where('file_id', 'in', gone).execute()
  if (found.length > 0) {
    await tx
      .updateTable('chat_files')
      .set({ checked_at: now })
      .where('file_id', 'in', found)
      .execute()
  }
  return rows.length
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeChatFiles(tx: Tx, botId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('chat_files')
    .where('file_id', 'in', ({ selectFrom }) =>
      selectFrom('chat_files').select('file_id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
