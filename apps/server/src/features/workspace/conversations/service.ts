import type { Readable } from 'node:stream'
import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { fieldError, noReference, notFound } from '../../../domain/refusals.js'
import type { Standing } from '../../../domain/standing.js'
import { timeOf } from '../../../domain/times.js'
import type { Authorities, Guard } from '../../../platform/authorities.js'
import { bound } from '../../../platform/bound.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Position } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import type { BotsService } from '../../bots/bots/index.js'
import {
  type ConversationRow,
  listMembers,
  narrowConversations,
} from '../../conversations/conversations/index.js'
import { listNewestMessages } from '../../conversations/messages/index.js'
import type { UserRow, UsersService } from '../../conversations/users/index.js'
import { deliveryStatesOf } from '../../deliveries/index.js'
import { type MessageSearch, type PhraseQuery, toPhraseQuery } from '../message-search/index.js'
import { createExports } from './export.js'
import { type ConversationSelection, createFinder, positionOf } from './finder.js'
import { type ConversationPage, type ConversationRecord, maxPeople } from './records.js'

type ListQuery = Query<typeof contract.inspection.list>
type ExportQuery = Query<typeof contract.inspection.export>

export interface ConversationListDeps {
  db: Db
  pager: Pager
  bots: Pick<BotsService, 'idsIn' | 'requireIn'>
  users: Pick<UsersService, 'findAll'>
  search: Pick<MessageSearch, 'find' | 'findIn'>
  authorities: Pick<Authorities, 'guard'>
  standing: Standing
}

const exportedAtOnce = 100
const anything = { integration: undefined, channel: undefined, tags: {}, userId: undefined }

/** The parts of the service that its functions use. */
interface ConversationListParts extends ConversationListDeps {
  finder: ReturnType<typeof createFinder>
  exports: ReturnType<typeof createExports>
  guard: Guard<WorkspaceActor>
}

export type ConversationListService = ReturnType<typeof createConversationListService>

/** The conversations of a workspace, across its bots. */
export function createConversationListService(deps: ConversationListDeps) {
  const finder = createFinder(deps)
  const exports = createExports()
  const guard = deps.authorities.guard(deps.standing.untilOf)

  return bound(
    { ...deps, finder, exports, guard },
    {
      requireIn: requireConversation,
      get: getConversation,
      export: exportConversations,
      list: listConversations,
    },
  )
}

async function selectionOf(
  deps: ConversationListDeps,
  actor: WorkspaceActor,
  { botId, since, until, hasFailedDelivery, text, ...query }: ListQuery,
): Promise<ConversationSelection> {
  return {
    botIds:
      botId === undefined ? await deps.bots.idsIn(actor) : [await requireBot(deps, actor, botId)],
    times: { since: timeOf('since', since, 'beginning'), until: timeOf('until', until, 'end') },
    narrowing: {
      integration: query.integration,
      channel: query.channel,
      tags: query.tags ?? {},
      userId: query.userId,
    },
    hasFailedDelivery,
    phrases: text === undefined ? undefined : requireWords(text),
  }
}

async function requireBot(
  { bots }: ConversationListDeps,
  actor: WorkspaceActor,
  botId: string,
): Promise<string> {
  await bots.requireIn(actor, botId).catch((error: unknown) => {
    throw error instanceof ApiError ? noReference('query.botId', 'bot', botId) : error
  })
  return botId
}

/** The place of the conversation of the workspace that a query names. */
async function placeOf(
  { db, bots }: ConversationListDeps,
  actor: WorkspaceActor,
  field: 'afterId' | 'beforeId',
  id: string,
) {
  const [row] = await narrowConversations(db, await bots.idsIn(actor), [id], anything)
  if (row === undefined) throw noReference(`query.${field}`, 'conversation', id)
  return positionOf(row)
}

/** The conversation of the workspace with this id. Throws `ResourceNotFound` if there is none. */
async function requireConversation(
  { db, bots }: ConversationListDeps,
  actor: WorkspaceActor,
  id: string,
): Promise<ConversationRow> {
  const [row] = await narrowConversations(db, await bots.idsIn(actor), [id], anything)
  if (row !== undefined) return row
  throw notFound('conversation', id, 'in this workspace')
}

/** Conversations with the details that lists show, in the same order. */
async function describeConversations(
  { db, users }: ConversationListDeps,
  rows: readonly ConversationRow[],
): Promise<ConversationRecord[]> {
  const ids = rows.map(({ id }) => id)
  const [newest, members, deliveries] = await Promise.all([
    listNewestMessages(db, ids),
    listMembers(db, ids, maxPeople + 1),
    deliveryStatesOf(db, rows),
  ])
  const newestOf = new Map(newest.map((message) => [message.conversation_id, message]))
  const found = new Map<string, UserRow>()
  for (const botId of new Set(rows.map((row) => row.bot_id))) {
    const people = rows
      .filter((row) => row.bot_id === botId)
      .flatMap(({ id }) => [...(members.get(id) ?? []), newestOf.get(id)?.user_id ?? []])
    for (const user of await users.findAll(db, botId, people.flat())) found.set(user.id, user)
  }
  return rows.map((row) => ({
    row,
    newest: newestOf.get(row.id),
    members: members.get(row.id) ?? [],
    users: found,
    deliveries: deliveries.get(row.id) ?? { hasFailed: false, hasPending: false },
  }))
}

async function getConversation(
  deps: ConversationListDeps,
  actor: WorkspaceActor,
  id: string,
): Promise<ConversationRecord> {
  const row = await requireConversation(deps, actor, id)
  const [record] = await describeConversations(deps, [row])
  if (record === undefined) throw notFound('conversation', id, 'in this workspace')
  return record
}

/** All conversations of a filter as JSON lines, the least recently active first. */
async function exportConversations(
  deps: ConversationListParts,
  actor: WorkspaceActor,
  { messages = false, ...filter }: ExportQuery,
): Promise<{ open(): Promise<Readable> }> {
  const selection = await selectionOf(deps, actor, filter)
  const read = (after: Position | undefined) =>
    deps.finder.page(selection, { direction: 'asc', after }, exportedAtOnce, { isCounted: false })
  return {
    open: async () => {
      const opened = deps.exports.open(
        { db: deps.db, read, describe: (rows) => describeConversations(deps, rows) },
        { accountId: actor.accountId, withMessages: messages },
      )
      // It reads as long as its reader takes what was read.
      const unwatch = deps.guard.watch({
        authority: actor,
        grounds: deps.standing.groundsOf(actor),
        end: () => opened.destroy(),
      })
      return opened.once('close', unwatch)
    },
  }
}

async function listConversations(
  deps: ConversationListParts,
  actor: WorkspaceActor,
  query: ListQuery,
): Promise<ConversationPage> {
  const { nextToken, previousToken, afterId, beforeId, pageSize, ...filter } = query
  const places = [nextToken, previousToken, afterId, beforeId].filter(Boolean)
  if (places.length > 1) {
    throw new ApiError(
      'InvalidQuery',
      'query: at most one of nextToken, previousToken, afterId and beforeId may be given.',
    )
  }
  const list = {
    operation: 'listWorkspaceConversations',
    scope: actor.workspaceId,
    filter,
    sort: 'updated_at',
    pageSize,
  } as const
  const older = deps.pager.page({ ...list, direction: 'desc', nextToken })
  const newer = deps.pager.page({ ...list, direction: 'asc', nextToken: previousToken })
  const selection = await selectionOf(deps, actor, filter)
  const direction = previousToken || beforeId ? 'asc' : 'desc'
  const { size } = older
  const start = direction === 'asc' ? newer.after : older.after
  const after = afterId
    ? await placeOf(deps, actor, 'afterId', afterId)
    : beforeId
      ? await placeOf(deps, actor, 'beforeId', beforeId)
      : start
  const isCounted = after === undefined
  const found = await deps.finder.page(selection, { direction, after }, size, { isCounted })
  const rows = direction === 'asc' ? found.rows.toReversed() : found.rows
  const [first, last] = [positionOf(rows.at(0)), positionOf(rows.at(-1))]
  // After a page that was read backwards comes at least what it was read from, also if it is empty.
  const next = direction === 'desc' ? found.end : (last ?? (after && justBefore(after)))
  const previous = direction === 'desc' ? first : (found.end ?? first)
  return {
    records: await describeConversations(deps, rows),
    nextToken: next && older.tokenAfter(next),
    previousToken: previous && newer.tokenAfter(previous),
    total: found.total,
  }
}

function requireWords(text: string): PhraseQuery {
  const query = toPhraseQuery(text)
  if (query.length > 0) return query
  throw fieldError('query.text', 'must have a letter or a digit.')
}

/** The place between a conversation and the one before it in the list: ids have no tilde. */
function justBefore({ value, id }: Position): Position {
  return { value, id: `${id}~` }
}
