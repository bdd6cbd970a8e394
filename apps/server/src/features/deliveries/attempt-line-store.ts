import { sql } from 'kysely'
import type {
  LogCount,
  LogLevel,
  LogPosition,
  LogRange,
  LogSelection,
  LogSource,
  WorkspaceLogLine,
} from '../../domain/log-lines.js'
import type { Db } from '../../platform/db/schema.js'
import {
  countInRanges,
  newestInRanges,
  type Period,
  type TimeIndex,
} from '../../platform/db/time-ranges.js'
import { attemptLines } from './attempt-store.js'

const ofBot: TimeIndex = { table: 'delivery_attempts', columns: ['bot_id'], time: 'ended_at' }
const failedOfBot: TimeIndex = { ...ofBot, where: sql<boolean>`t.error is not null` }

/** The attempts at deliveries, as part of the logs of a workspace. */
export const attemptSource: LogSource = {
  // A line needs its delivery and the subject of that.
  weight: 4,

  async findRanges(db, selection, period) {
    const { botIds, levels } = selection
    if (!levels.has('info') && !levels.has('warn')) return []
    const keys = botIds.map((bot_id) => ({ bot_id }))
    const found = await newestInRanges(
      db,
      isFailedOnly(selection) ? failedOfBot : ofBot,
      keys,
      period,
    )
    return found.map(({ key, newest }): LogRange => {
      return {
        source: 'delivery',
        key: { ...key, ...(isFailedOnly(selection) && { level: 'warn' }) },
        newest,
      }
    })
  },

  read: readAttempts,

  async count(db, selection, ranges, periods) {
    const wanted = ranges.flatMap(({ key: { bot_id = '' } }) =>
      periods.map((period) => ({ key: { bot_id }, period })),
    )
    const failed = await countInRanges(db, failedOfBot, wanted)
    const all = isFailedOnly(selection) ? failed : await countInRanges(db, ofBot, wanted)
    return wanted.flatMap(({ period: { since } }, number): LogCount[] => {
      const [total, bad] = [all[number] ?? 0, failed[number] ?? 0]
      const counts: Partial<Record<LogLevel, number>> = { info: total - bad, warn: bad }
      return [...selection.levels].map((level) => ({ level, since, count: counts[level] ?? 0 }))
    })
  },
}

function isFailedOnly({ levels }: LogSelection): boolean {
  return !levels.has('info')
}

async function readAttempts(
  db: Db,
  { key: { bot_id = '', level } }: LogRange,
  { since, before }: Period,
  after: LogPosition | undefined,
  limit: number,
): Promise<WorkspaceLogLine[]> {
  let query = attemptLines(db)
    .select(['a.delivery_id', 'd.integration'])
    .where('a.bot_id', '=', bot_id)
    .where('a.ended_at', '>=', since)
    .where('a.ended_at', '<', before)
  if (level === 'warn') query = query.where('a.error', 'is not', null)
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
