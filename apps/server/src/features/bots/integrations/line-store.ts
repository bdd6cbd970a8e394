import { sql } from 'kysely'
import {
  type LogCount,
  type LogSelection,
  type LogSource,
  logLevels,
  type WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import {
  countInRanges,
  newestInRanges,
  type RangeKey,
  type TimeIndex,
} from '../../../platform/db/time-ranges.js'
import type { LogRow } from './log-store.js'

const table = 'integration_logs'
const time = 'created_at'
const ofIntegration: TimeIndex = { table, columns: ['integration_id'], time }
const ofLevel: TimeIndex = { table, columns: ['integration_id', 'level'], time }
const ofBot: TimeIndex = { table, columns: ['bot_id', 'level'], time }

/** The logs of integrations, as part of the logs of a workspace. */
export const integrationLogSource: LogSource = {
  weight: 1,

  async findRanges(db, selection, period) {
    // The server writes these lines, and names no user, workflow or conversation in them.
    if (selection.userId ?? selection.workflowId ?? selection.conversationId) return []
    const [index, keys] = rangesOf(selection)
    const found = await newestInRanges(db, within(db, index, selection), keys, period)
    return found.map((range) => ({ source: 'integration', ...range }))
  },

  async read(db, { key }, { since, before }, after, limit) {
    let query = db.selectFrom('integration_logs').selectAll()
    for (const [column, value] of Object.entries(key)) {
      query = query.where(sql.ref(column), '=', value)
    }
    query = query.where('created_at', '>=', since).where('created_at', '<', before)
    if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.time}, ${after.id})`)
    const rows = await query
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(toLine)
  },

  async count(db, selection, ranges, periods) {
    const { levels } = selection
    const wanted = ranges.flatMap(({ key }) =>
      [...levels]
        .filter((level) => key.level === undefined || key.level === level)
        .flatMap((level) => periods.map((period) => ({ key: { ...key, level }, period }))),
    )
    const index = ranges[0]?.key.bot_id === undefined ? ofLevel : ofBot
    const counts = await countInRanges(db, within(db, index, selection), wanted)
    return wanted.map(({ key, period }, number): LogCount => {
      return { level: key.level, since: period.since, count: counts[number] ?? 0 }
    })
  },
}

/**
 * The lines of a bot that the developers of its integrations may read: other integrations, of other workspaces, may
 * be installed in it.
 */
function within(db: Db, index: TimeIndex, { integrationIds }: LogSelection): TimeIndex {
  if (index !== ofBot) return index
  const own = dialectOf(db).jsonTexts(sql`${JSON.stringify(integrationIds)}`)
  return { ...index, where: sql`t.integration_id in (select value from ${own})` }
}

/** The index that fits best, with the ranges of it. */
function rangesOf(selection: LogSelection): [TimeIndex, RangeKey[]] {
  const { integrationIds, botIds, hasBot, hasIntegration } = selection
  const levels = [...selection.levels]
  if (hasBot && !hasIntegration) {
    return [ofBot, botIds.flatMap((bot_id) => levels.map((level) => ({ bot_id, level })))]
  }
  if (levels.length === logLevels.length) {
    return [ofIntegration, integrationIds.map((integration_id) => ({ integration_id }))]
  }
  return [
    ofLevel,
    integrationIds.flatMap((integration_id) => levels.map((level) => ({ integration_id, level }))),
  ]
}

function toLine(row: LogRow): WorkspaceLogLine {
  return {
    id: row.id,
    source: 'integration',
    level: row.level,
    message: row.message,
    botId: row.bot_id,
    integrationId: row.integration_id,
    integrationAlias: null,
    deliveryId: null,
    userId: row.user_id,
    workflowId: null,
    conversationId: row.conversation_id,
    createdAt: row.created_at,
  }
}
