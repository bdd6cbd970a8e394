import { sql } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { sumUpTo, type UpTo } from '../../platform/db/time-ranges.js'
import type { FileRow } from './table.js'
import type { BotUsage, Usage } from './usage-store.js'

/** A file whose upload or indexing failed. */
export type FailedFile = Pick<FileRow, 'id' | 'bot_id' | 'failed_reason' | 'status' | 'updated_at'>

/** Numbers of files of a bot. */
interface FileCounts {
  botId: string
  all: number
  waiting: number
  failed: number
}

const waiting = ['upload_pending', 'indexing_pending']
const failed = ['upload_failed', 'indexing_failed']

/** Counts the files of bots, at most `max` of each status. */
export async function countFiles(
  db: Db,
  botIds: readonly string[],
  max: number,
): Promise<FileCounts[]> {
  const records = botIds.flatMap((bot_id) =>
    [...waiting, ...failed, 'indexing_completed', 'upload_completed'].map((status) => ({
      bot_id,
      status,
    })),
  )
  const given = dialectOf(db).jsonRecords<{ bot_id: string; status: string }>(
    sql`${JSON.stringify(records)}`,
    { bot_id: 'text', status: 'text' },
  )
  const { rows } = await sql<{ bot_id: string; status: string; count: number }>`
    select given.bot_id, given.status, (select count(*) from (
      select 1 from files as f where f.bot_id = given.bot_id and f.status = given.status
      limit ${max}) as found) as count
    from ${given}`.execute(db)
  const counts = new Map<string, FileCounts>()
  for (const { bot_id: botId, status, count } of rows) {
    const own = counts.get(botId) ?? { botId, all: 0, waiting: 0, failed: 0 }
    own.all += Number(count)
    if (waiting.includes(status)) own.waiting += Number(count)
    if (failed.includes(status)) own.failed += Number(count)
    counts.set(botId, own)
  }
  return [...counts.values()]
}

const selectWaiting = prepared<{ botId: string; max: number }>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('files')
        .select('id')
        .where('bot_id', '=', p('botId'))
        .where('status', '=', 'indexing_pending')
        .limit(p('max'))
        .as('waiting'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count')),
)

/** Counts the files of a bot that wait for indexing, up to `max`. */
export async function countWaitingFiles(tx: Tx, botId: string, max: number): Promise<number> {
  const row = await selectWaiting.first(tx, { botId, max })
  return Number(row?.count ?? 0)
}

/** Failed files of bots, at most `limit`. */
export async function listFailedFiles(
  db: Db,
  botIds: readonly string[],
  limit: number,
): Promise<FailedFile[]> {
  return await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('files as f')
    .whereRef('f.bot_id', '=', 'given.value')
    .where('f.status', 'in', ['upload_failed', 'indexing_failed'])
    .select(['f.id', 'f.bot_id', 'f.failed_reason', 'f.status', 'f.updated_at'])
    .limit(limit)
    .execute()
}

/** Counts the files of some bots together, up to `max`. */
export async function sumFiles(db: Db, botIds: readonly string[], max: number): Promise<UpTo> {
  const index = { table: 'files', columns: ['bot_id'], time: 'created_at' }
  return await sumUpTo(
    db,
    index,
    botIds.map((bot_id) => ({ bot_id })),
    max,
  )
}

/** The usage of the files of bots, by their ids; those without files are left out. */
export async function listBotUsage(
  db: Db,
  botIds: readonly string[],
): Promise<Map<string, BotUsage>> {
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql.val(JSON.stringify(botIds))))
    .crossJoin('bot_file_usage')
    .whereRef('bot_file_usage.bot_id', '=', 'given.value')
    .selectAll('bot_file_usage')
    .execute()
  return new Map(
    rows.map((row) => [
      row.bot_id,
      {
        storage: Number(row.storage_bytes),
        vector: Number(row.vector_bytes),
        indexedFiles: Number(row.indexed_files),
      },
    ]),
  )
}

/** The usage of the files of a workspace that counts towards its quotas, in bytes. */
export async function findFileUsage(db: Db, workspaceId: string): Promise<Usage> {
  const row = await db
    .selectFrom('file_usage')
    .select(['storage_bytes', 'vector_bytes'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return { storage: Number(row?.storage_bytes ?? 0), vector: Number(row?.vector_bytes ?? 0) }
}
