import { type Expression, type SqlBool, sql } from 'kysely'
import { type LogLevel, logLevels } from '../../../domain/log-lines.js'
import type { BotReach } from '../../../domain/rights.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import {
  type Page,
  type PageRange,
  type PageRequest,
  type Position,
  pageOf,
} from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { RangeKey } from '../../../platform/db/time-ranges.js'
import type { LogLinesTable } from './table.js'

export type LogLineRow = LogLinesTable

/** The log that contains a line: of a bot, or of an integration. */
export type LogOwner = 'bot' | 'integration'

/** Whose lines they are, as the partial indexes have it. */
export const ofOwner = {
  bot: sql<SqlBool>`integration_id is null`,
  integration: sql<SqlBool>`integration_id is not null`,
}

/** Lines that an index has in the order of time: of one owner, or of both. */
export interface LineRange {
  owner?: LogOwner
  /** Equal in all lines of the range, by the columns of the index. */
  key: RangeKey
}

/** The order of lists of lines, and where a part of one begins and ends. */
export interface LineWindow {
  /** ISO 8601 times: from the first on, before the second, which may be undefined. */
  since: string
  before?: string | undefined
  /** Position of the line behind which the part begins; undefined to begin with the newest. */
  after: Position | undefined
  limit: number
}

/** Filter of the log of a bot or an integration; undefined members match anything. */
export interface LineFilter {
  /** ISO 8601 times, both included. */
  from: string
  until: string | undefined
  level: string | undefined
  userId: string | undefined
  workflowId: string | undefined
  conversationId: string | undefined
  messageContains: string | undefined
}

/** Subjects of lines, with an index each: the first one that a filter names is the most selective. */
export const subjects = {
  conversation_id: 'conversationId',
  workflow_id: 'workflowId',
  user_id: 'userId',
} as const

/** The newest lines of some ranges, newest first. The engines merge the ranges, and read little beyond the limit. */
export async function newestLines(
  db: Db,
  ranges: readonly LineRange[],
  { since, before, after, limit }: LineWindow,
  conditions: readonly Expression<SqlBool>[] = [],
): Promise<LogLineRow[]> {
  const [first, ...others] = ranges.map(({ owner, key }) => {
    let lines = db.selectFrom('log_lines').selectAll().where('created_at', '>=', since)
    if (owner !== undefined) lines = lines.where(ofOwner[owner])
    for (const [column, value] of Object.entries(key)) {
      lines = lines.where(sql.ref(column), '=', value)
    }
    if (before !== undefined) lines = lines.where('created_at', '<', before)
    if (after) lines = lines.where(sql<SqlBool>`(created_at, id) < (${after.value}, ${after.id})`)
    return lines.where((eb) => eb.and([...conditions]))
  })
  if (first === undefined) return []
  const all = others.reduce((lines, next) => lines.unionAll(next), first)
  return await all.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

/** The conditions of a filter, for a query whose columns have the names of a line. */
export function conditionsOf(db: Db, filter: LineFilter): Expression<SqlBool>[] {
  const { from, until, level, userId, workflowId, conversationId, messageContains } = filter
  const equal = (column: string, value: string | undefined) =>
    value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`]
  return [
    sql<SqlBool>`created_at >= ${from}`,
    ...(until === undefined ? [] : [sql<SqlBool>`created_at <= ${until}`]),
    ...(level === undefined ? [] : [isAlso('level', level)]),
    ...equal('user_id', userId),
    ...equal('workflow_id', workflowId),
    ...equal('conversation_id', conversationId),
    ...(messageContains === undefined
      ? []
      : [dialectOf(db).contains(sql.ref<string>('message'), messageContains)]),
  ]
}

/** A condition in a form for which no engine takes an index instead of that of the range. */
export function isAlso(column: string, value: string): Expression<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} || '' = ${value}`
}

/** The log of a bot in its workspace, or of an integration about the bots that the reader may see. */
export type Log = { workspaceId: string; botId: string } | { integrationId: string; bots: BotReach }

/** A page of one log. */
export async function pageLines(
  db: Db,
  log: Log,
  filter: LineFilter,
  page: PageRequest<'created_at'>,
): Promise<Page<LogLineRow>> {
  const levels = logLevels.filter((level) => (filter.level ?? level) === level)
  const subject = Object.entries(subjects).find(([, member]) => filter[member] !== undefined)
  const conditions = conditionsOf(db, filter)
  let ranges: LineRange[]
  if ('integrationId' in log) {
    ranges = rangesByLevel('integration', { integration_id: log.integrationId }, levels)
    if (log.bots.kind === 'only') conditions.push(isAlso('bot_id', log.bots.botId))
    if (log.bots.kind === 'except') {
      conditions.push(sql<SqlBool>`bot_id not in (${sql.join(log.bots.botIds)})`)
    }
  } else if (subject === undefined) {
    ranges = rangesByLevel('bot', { bot_id: log.botId }, levels)
  } else {
    const [column, member] = subject
    const key = { workspace_id: log.workspaceId, [column]: filter[member] ?? '' }
    ranges = [{ owner: 'bot', key }]
    conditions.push(isAlso('bot_id', log.botId))
  }
  const window = { since: filter.from, after: page.after, limit: page.size + 1 }
  const rows = await newestLines(db, ranges, window, conditions)
  const more = rows.length > page.size
  if (more) rows.pop()
  const last = rows.at(-1)
  if (!more || !last) return { rows, nextToken: undefined }
  return { rows, nextToken: page.tokenAfter({ value: last.created_at, id: last.id }) }
}

/** A range for each level, as the indexes of logs and workspaces have them. */
export function rangesByLevel(
  owner: LogOwner,
  key: RangeKey,
  levels: Iterable<LogLevel>,
): LineRange[] {
  return Array.from(levels, (level) => ({ owner, key: { ...key, level } }))
}

/** Lines of the log of a bot about a conversation in a range, and one more. */
export async function listLinesAbout(
  db: Db,
  about: { workspaceId: string; botId: string; conversationId: string },
  range: PageRange<'created_at'>,
): Promise<LogLineRow[]> {
  const query = db
    .selectFrom('log_lines')
    .selectAll()
    .where('workspace_id', '=', about.workspaceId)
    .where('conversation_id', '=', about.conversationId)
    .where(ofOwner.bot)
    .where(isAlso('bot_id', about.botId))
  return await pageOf(query, range).execute()
}

export async function insertLines(tx: Tx, rows: readonly LogLineRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insertInto('log_lines')
    .values([...rows])
    .execute()
}

/** @returns how many lines were deleted, at most `limit` */
export async function deleteSomeLines(
  tx: Tx,
  which: { of: LogOwner; before: string } | { botId: string } | { integrationId: string },
  limit: number,
): Promise<number> {
  const result = await tx
    .deleteFrom('log_lines')
    .where('id', 'in', ({ selectFrom }) => {
      const ids = selectFrom('log_lines').select('id').limit(limit)
      if ('before' in which) {
        return ids.where('created_at', '<', which.before).where(ofOwner[which.of])
      }
      if ('botId' in which) return ids.where('bot_id', '=', which.botId).where(ofOwner.bot)
      return ids.where('integration_id', '=', which.integrationId)
    })
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/**
 * Some lines of the log of a bot at a level, behind a position in the order of time.
 * @returns their positions, at most `limit`
 */
export async function listPositions(
  tx: Tx,
  botId: string,
  level: LogLevel,
  after: Pick<LogLineRow, 'id' | 'created_at'> | undefined,
  limit: number,
): Promise<Pick<LogLineRow, 'id' | 'created_at'>[]> {
  let query = tx
    .selectFrom('log_lines')
    .select(['id', 'created_at'])
    .where('bot_id', '=', botId)
    .where('level', '=', level)
    .where(ofOwner.bot)
  if (after) {
    query = query.where(sql<SqlBool>`(created_at, id) > (${after.created_at}, ${after.id})`)
  }
  return await query.orderBy('created_at').orderBy('id').limit(limit).execute()
}

/** Moves lines to the workspace to which their bot was moved. */
export async function moveLines(tx: Tx, ids: readonly string[], to: string): Promise<void> {
  await tx
    .updateTable('log_lines')
    .set({ workspace_id: to })
    .where('id', 'in', [...ids])
    .where('workspace_id', '!=', to)
    .execute()
}

/** The newest error about an integration in a bot. */
export type LastError = Pick<LogLineRow, 'created_at' | 'message'>

/** Errors of a bot among which that of one integration is looked for. */
const maxScanned = 1000

/** The newest error about an integration in each of some bots, by the id of the bot. */
export async function listLastErrors(
  db: Db,
  integrationId: string,
  botIds: readonly string[],
): Promise<Map<string, LastError>> {
  const given = dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`)
  const { rows } = await sql<{ bot_id: string; id: string | null }>`
    select given.value as bot_id, (
      select newest.id from (
        select l.id, l.integration_id, l.created_at from log_lines as l
        where l.bot_id = given.value and l.level = 'error' and l.integration_id is not null
        order by l.created_at desc, l.id desc limit ${maxScanned}) as newest
      where newest.integration_id = ${integrationId}
      order by newest.created_at desc, newest.id desc limit 1) as id
    from ${given}`.execute(db)
  const ids = rows.flatMap(({ id }) => id ?? [])
  if (ids.length === 0) return new Map()
  const lines = await db
    .selectFrom('log_lines')
    .select(['bot_id', 'created_at', 'message'])
    .where('id', 'in', ids)
    .execute()
  return new Map(lines.map(({ bot_id, ...line }) => [bot_id, line]))
}
