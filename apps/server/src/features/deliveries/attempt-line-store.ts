import { sql } from 'kysely'
import type {
  LogCount,
  LogLevel,
  LogPosition,
  LogReader,
  LogSelection,
  WorkspaceLogLine,
} from '../../domain/log-lines.js'
import { dialectOf } from '../../platform/db/dialect.js'
import type { Db } from '../../platform/db/schema.js'
import { countInRanges, type Period, type TimeIndex } from '../../platform/db/time-ranges.js'
import { attemptLines } from './attempt-store.js'

/** The attempts at deliveries, as part of the logs of a workspace. */
export const attemptReader: LogReader = {
  // A line needs its delivery and the subject of that.
  weight: 4,

  async read(db, selection, period, after, limit) {
    return hasLines(selection) ? await readAttempts(db, selection, period, after, limit) : []
  },

  async count(db, selection, periods) {
    if (!hasLines(selection)) return []
    const { workspaceId, botId, levels } = selection
    const key: Record<string, string> =
      botId === undefined ? { workspace_id: workspaceId } : { bot_id: botId }
    const wanted = periods.map((period) => ({ key, period }))
    const ofAll: TimeIndex = {
      table: 'delivery_attempts',
      columns: Object.keys(key),
      time: 'ended_at',
    }
    const ofFailed: TimeIndex = { ...ofAll, where: sql`t.error is not null` }
    const failed = await countInRanges(db, ofFailed, wanted)
    const all = isFailedOnly(selection) ? failed : await countInRanges(db, ofAll, wanted)
    return wanted.flatMap(({ period: { since } }, number): LogCount[] => {
      const [total, bad] = [all[number] ?? 0, failed[number] ?? 0]
      const counts: Partial<Record<LogLevel, number>> = { info: total - bad, warn: bad }
      return [...levels].map((level) => ({ level, since, count: counts[level] ?? 0 }))
    })
  },
}

function hasLines({ sources, levels }: LogSelection): boolean {
  return sources.has('delivery') && (levels.has('info') || levels.has('warn'))
}

function isFailedOnly({ levels }: LogSelection): boolean {
  return !levels.has('info')
}

async function readAttempts(
  db: Db,
  selection: LogSelection,
  { since, before }: Period,
  after: LogPosition | undefined,
  limit: number,
): Promise<WorkspaceLogLine[]> {
  const { workspaceId, botId, botIds, integrationId } = selection
  let query = attemptLines(db)
    .select(['a.delivery_id', 'd.integration'])
    .where('a.ended_at', '>=', since)
    .where('a.ended_at', '<', before)
  if (botId === undefined) query = query.where('a.workspace_id', '=', workspaceId)
  else query = query.where('a.bot_id', '=', botId)
  if (isFailedOnly(selection)) query = query.where('a.error', 'is not', null)
  if (integrationId !== undefined) {
    // Few bots may have installed it.
    const installed = dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`)
    query = query.where(sql<boolean>`a.bot_id || '' in (select value from ${installed})`)
  }
  if (after) {
    const id = sql<string>`a.delivery_id || '/' || cast(a.number as text)`
    query = query
      // In a form that can use the index, besides the exact one.
      .where('a.ended_at', '<=', after.time)
      .where(({ eb, or }) => or([eb('a.ended_at', '<', after.time), eb(id, '<', after.id)]))
  }
  const rows = await query
    .orderBy('a.ended_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    source: 'delivery',
    level: row.level,
    message: row.message,
    botId: row.bot_id,
    integrationId: null,
    integrationAlias: row.integration === '' ? null : row.integration,
    deliveryId: row.delivery_id,
    userId: row.user_id,
    workflowId: row.workflow_id,
    conversationId: row.conversation_id,
    createdAt: row.created_at,
  }))
}
