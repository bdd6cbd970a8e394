import type { Readable } from 'node:stream'
import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { timeOf } from '../../../domain/times.js'
import type { Authorities } from '../../../platform/authorities.js'
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
import type { Standing } from '../../tenancy/access/index.js'
import { type MessageSearch, type SaidQuery, toSaidQuery } from '../message-search/index.js'
import { createExports } from './export.js'
import { type ConversationSelection, createFinder, positionOf } from './finder.js'
import { type ConversationPage, type ConversationRecord, mostPeople } from './records.js'

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

export type ConversationListService = ReturnType<typeof createConversationListService>

/** The conversations of a workspace, across its bots. */
export function createConversationListService({
  db,
  pager,
  bots,
  users,
  search,
  authorities,
  standing,
}: ConversationListDeps) {
  const finder = createFinder({ db, search })
  const exports = createExports()
  const guard = authorities.guard(standing.untilOf)

  async function selectionOf(
    actor: WorkspaceActor,
    { botId, since, until, hasFailedDelivery, text, ...query }: ListQuery,
  ): Promise<ConversationSelection> {
    return {
      botIds: botId === undefined ? await bots.idsIn(actor) : [await requireBot(actor, botId)],
      times: { since: timeOf('since', since, 'beginning'), until: timeOf('until', until, 'end') },
      narrowing: {
        integration: query.integration,
        channel: query.channel,
        tags: query.tags ?? {},
        userId: query.userId,
      },
      hasFailedDelivery,
      said: text === undefined ? undefined : requireWords(text),
    }
  }

  async function requireBot(actor: WorkspaceActor, botId: string): Promise<string> {
    await bots.requireIn(actor, botId).catch((error: unknown) => {
      throw error instanceof ApiError
        ? unknownReference('botId', `there is no bot ${botId}.`)
        : error
    })
    return botId
  }

  /** The place of the conversation of the workspace that a query names. */
  async function placeOf(actor: WorkspaceActor, field: 'afterId' | 'beforeId', id: string) {
    const [row] = await narrowConversations(db, await bots.idsIn(actor), [id], anything)
    if (row === undefined) throw unknownReference(field, `there is no conversation ${id}.`)
    return positionOf(row)
  }

  /** The conversation of the workspace with this id. Throws `ResourceNotFound` if there is none. */
  async function requireIn(actor: WorkspaceActor, id: string): Promise<ConversationRow> {
    const [row] = await narrowConversations(db, await bots.idsIn(actor), [id], anything)
    if (row !== undefined) return row
    throw unknownConversation(id)
  }

  /** What lists show of conversations, in their order. */
  async function describe(rows: readonly ConversationRow[]): Promise<ConversationRecord[]> {
    const ids = rows.map(({ id }) => id)
    const [newest, members, deliveries] = await Promise.all([
      listNewestMessages(db, ids),
      listMembers(db, ids, mostPeople + 1),
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

  return {
    requireIn,

    async get(actor: WorkspaceActor, id: string): Promise<ConversationRecord> {
      const row = await requireIn(actor, id)
      const [record] = await describe([row])
      if (record === undefined) throw unknownConversation(id)
      return record
    },

    /** All conversations of a filter as JSON lines, the least recently active first. */
    async export(
      actor: WorkspaceActor,
      { messages = false, ...filter }: ExportQuery,
    ): Promise<{ open(): Promise<Readable> }> {
      const selection = await selectionOf(actor, filter)
      const read = (after: Position | undefined) =>
        finder.page(selection, { direction: 'asc', after }, exportedAtOnce, { isCounted: false })
      return {
        open: async () => {
          const opened = exports.open(
            { db, read, describe },
            { accountId: actor.accountId, withMessages: messages },
          )
          // It reads as long as its reader takes what was read.
          const unwatch = guard.watch({
            authority: actor,
            grounds: standing.groundsOf(actor),
            end: () => opened.destroy(),
          })
          return opened.once('close', unwatch)
        },
      }
    },

    async list(actor: WorkspaceActor, query: ListQuery): Promise<ConversationPage> {
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
      const older = pager.page({ ...list, direction: 'desc', nextToken })
      const newer = pager.page({ ...list, direction: 'asc', nextToken: previousToken })
      const selection = await selectionOf(actor, filter)
      const direction = previousToken || beforeId ? 'asc' : 'desc'
      const { size } = older
      const start = direction === 'asc' ? newer.after : older.after
      const after = afterId
        ? await placeOf(actor, 'afterId', afterId)
        : beforeId
          ? await placeOf(actor, 'beforeId', beforeId)
          : start
      const isCounted = after === undefined
      const found = await finder.page(selection, { direction, after }, size, { isCounted })
      const rows = direction === 'asc' ? found.rows.toReversed() : found.rows
      const [first, last] = [positionOf(rows.at(0)), positionOf(rows.at(-1))]
      // After a page that was read backwards comes at least what it was read from, also if it is empty.
      const next = direction === 'desc' ? found.end : (last ?? (after && justBefore(after)))
      const previous = direction === 'desc' ? first : (found.end ?? first)
      return {
        records: await describe(rows),
        nextToken: next && older.tokenAfter(next),
        previousToken: previous && newer.tokenAfter(previous),
        total: found.total,
      }
    },
  }
}

function requireWords(text: string): SaidQuery {
  const query = toSaidQuery(text)
  if (query.length > 0) return query
  throw new ApiError('InvalidQuery', 'query.text must have a letter or a digit.', {
    metadata: { in: 'query', field: 'text' },
  })
}

/** The place between a conversation and the one before it in the list: ids have no tilde. */
function justBefore({ value, id }: Position): Position {
  return { value, id: `${id}~` }
}

function unknownConversation(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no conversation ${id} in this workspace.`)
}

function unknownReference(field: string, rule: string): ApiError {
  return new ApiError('ReferenceNotFound', `query.${field}: ${rule}`, {
    metadata: { in: 'query', field },
  })
}
