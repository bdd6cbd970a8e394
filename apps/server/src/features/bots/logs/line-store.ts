import { sql } from 'kysely'
import {
  type LogCount,
  type LogLevel,
  type LogPosition,
  type LogSelection,
  type LogSource,
  logLevels,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import type { Db } from '../../../platform/db/schema.js'
import {
  countInRanges,
  newestInRanges,
  type Period,
  type RangeKey,
  type TimeIndex,
} from '../../../platform/db/time-ranges.js'
import type { BotLogsTable } from './table.js'

const table = 'bot_logs'
const time = 'created_at'
const ofBot: TimeIndex = { table, columns: ['bot_id'], time }
const ofLevel: TimeIndex = { table, columns: ['bot_id', 'level'], time }
const subjects = {
  conversation_id: 'conversationId',
  workflow_id: 'workflowId',
  user_id: 'userId',
} as const

/** The written lines of bots, as part of the logs of a workspace. */
export const botLogSource: LogSource = {
  weight: 1,

  async findRanges(db, selection, period) {
    // Lines do not name integrations.
    if (selection.hasIntegration) return []
    const [index, keys] = rangesOf(selection)
    return (await newestInRanges(db, index, keys, period)).map((range) => ({
      source: 'bot',
      ...range,
    }))
  },

  async read(db, { key }, period, after, limit) {
    return (await readRows(db, key, period, after, limit)).map(toLine)
  },

  async count(db, selection, ranges, periods) {
    const wanted = ranges.flatMap(({ key }) =>
      levelsIn(key, selection).flatMap((level) =>
        periods.map((period) => ({ key: { ...key, level }, period })),
      ),
    )
    const counts = await countInRanges(db, ofLevel, wanted)
    return wanted.map(({ key, period }, number): LogCount => {
      return { level: key.level, since: period.since, count: counts[number] ?? 0 }
    })
  },
}

/** The index that fits best, with the ranges of it. */
function rangesOf(selection: LogSelection): [TimeIndex, RangeKey[]] {
  const { botIds, levels } = selection
  for (const [column, member] of Object.entries(subjects)) {
    const id = selection[member]
    if (id === undefined) continue
    const where = sql<boolean>`${sql.ref(`t.${column}`)} is not null`
    const index = { table, columns: ['bot_id', column], time, where }
    return [index, botIds.map((bot_id) => ({ bot_id, [column]: id }))]
  }
  if (levels.size === logLevels.length) return [ofBot, botIds.map((bot_id) => ({ bot_id }))]
  return [ofLevel, botIds.flatMap((bot_id) => [...levels].map((level) => ({ bot_id, level })))]
}

function levelsIn(key: RangeKey, { levels }: LogSelection): LogLevel[] {
  return [...levels].filter((level) => key.level === undefined || key.level === level)
}

async function readRows(
  db: Db,
  key: RangeKey,
  { since, before }: Period,
  after: LogPosition | undefined,
  limit: number,
): Promise<BotLogsTable[]> {
  let query = db.selectFrom('bot_logs').selectAll()
  for (const [column, value] of Object.entries(key)) {
    query = query.where(sql.ref(column), '=', value)
  }
  query = query.where('created_at', '>=', since).where('created_at', '<', before)
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.time}, ${after.id})`)
  return await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

function toLine(row: BotLogsTable): WorkspaceLogLine {
  return {
    id: row.id,
    source: 'bot',
    level: row.level,
    message: row.message,
    botId: row.bot_id,
    integrationId: null,
    integrationAlias: null,
    deliveryId: null,
    userId: row.user_id,
    workflowId: row.workflow_id,
    conversationId: row.conversation_id,
    createdAt: row.created_at,
  }
}
