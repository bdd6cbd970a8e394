import { sql } from 'kysely'
import type {
  LogCount,
  LogLevel,
  LogReader,
  LogSelection,
  WorkspaceLogLine,
} from '../../../domain/log-lines.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import { countInRanges, type Period, type TimeIndex } from '../../../platform/db/time-ranges.js'
import {
  isAlso,
  type LineRange,
  type LogLineRow,
  type LogOwner,
  newestLines,
  ofOwner,
  rangesByLevel,
  subjects,
} from './store.js'

/** The lines of bots and integrations, as part of the logs of a workspace. */
export const lineReader: LogReader = {
  weight: 1,

  async read(db, selection, { since, before }, after, limit) {
    const position = after && { value: after.time, id: after.id }
    const window = { since, before, after: position, limit }
    // A bot may have integrations of other workspaces, with very many lines about it.
    const isOwn =
      selection.botId === undefined ? [] : [isAlso('workspace_id', selection.workspaceId)]
    return (await newestLines(db, rangesOf(selection), window, isOwn)).map(toLine)
  },

  async count(db, selection, periods) {
    const counted = await Promise.all(
      ownersOf(selection).map((owner) => countOf(db, owner, selection, periods)),
    )
    return counted.flat()
  },
}

/** The logs that a selection is about. */
function ownersOf({ sources, integrationId }: LogSelection): LogOwner[] {
  const owners: LogOwner[] = []
  // Lines of bots do not name integrations.
  if (sources.has('bot') && integrationId === undefined) owners.push('bot')
  if (sources.has('integration')) owners.push('integration')
  return owners
}

/** The ranges that contain the lines of a selection, and may contain others. */
function rangesOf(selection: LogSelection): LineRange[] {
  const { workspaceId, levels } = selection
  for (const [column, member] of Object.entries(subjects)) {
    const id = selection[member]
    if (id !== undefined) return [{ key: { workspace_id: workspaceId, [column]: id } }]
  }
  return ownersOf(selection).flatMap((owner) =>
    rangesByLevel(owner, keyOf(owner, selection), levels),
  )
}

function keyOf(
  owner: LogOwner,
  { workspaceId, botId, integrationId }: LogSelection,
): Record<string, string> {
  if (owner === 'integration' && integrationId !== undefined) {
    return { integration_id: integrationId }
  }
  return botId === undefined ? { workspace_id: workspaceId } : { bot_id: botId }
}

async function countOf(
  db: Db,
  owner: LogOwner,
  selection: LogSelection,
  periods: readonly Period[],
): Promise<LogCount[]> {
  const { botId, integrationIds, levels } = selection
  const key = keyOf(owner, selection)
  const wanted = [...levels].flatMap((level: LogLevel) =>
    periods.map((period) => ({ key: { ...key, level }, period })),
  )
  // A bot may have integrations of other workspaces.
  const known = dialectOf(db).jsonTexts(sql`${JSON.stringify(integrationIds)}`)
  const mayBeForeign = owner === 'integration' && botId !== undefined
  const within = mayBeForeign ? sql`and t.integration_id in (select value from ${known})` : sql``
  const index: TimeIndex = {
    table: 'log_lines',
    columns: [...Object.keys(key), 'level'],
    time: 'created_at',
    where: sql`${ofOwner[owner]} ${within}`,
  }
  const counts = await countInRanges(db, index, wanted)
  return wanted.map(({ key: { level }, period: { since } }, number): LogCount => {
    return { level, since, count: counts[number] ?? 0 }
  })
}

function toLine(row: LogLineRow): WorkspaceLogLine {
  return {
    id: row.id,
    source: row.integration_id === null ? 'bot' : 'integration',
    level: row.level,
    message: row.message,
    botId: row.bot_id,
    integrationId: row.integration_id,
    integrationAlias: null,
    deliveryId: null,
    userId: row.user_id,
    workflowId: row.workflow_id,
    conversationId: row.conversation_id,
    createdAt: row.created_at,
  }
}
