import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { noReference } from '../../../domain/refusals.js'
import type { Clock } from '../../../platform/clock.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Position } from '../../../platform/db/paginate.js'
import type { ConversationRow } from '../../conversations/conversations/index.js'
import type { MessagesService } from '../../conversations/messages/index.js'
import type { ConversationListService } from '../conversations/index.js'
import { createDescribe, type DescribeDeps, type WireEntry } from './describe.js'
import { createMerge, type Part, placeOf } from './merge.js'
import { createSources, type SourceName, type Stored, sourceNames } from './sources.js'

type TimelineQuery = Query<typeof contract.timeline.get>
type Kind = NonNullable<TimelineQuery['kinds']>[number]

export interface TimelineDeps extends DescribeDeps {
  clock: Clock
  pager: Pager
  conversations: Pick<ConversationListService, 'requireIn'>
  messages: Pick<MessagesService, 'find'>
}

interface TimelinePage {
  entries: WireEntry[]
  nextToken: string | undefined
  previousToken: string | undefined
}

/** Entries of a page, oldest first, and whether there are others before and behind them. */
interface Window {
  entries: Stored[]
  isMoreBefore: boolean
  isMoreBehind: boolean
}

/** The source of the entries of a kind. */
const sourceOf: Readonly<Record<Kind, SourceName>> = {
  message: 'message',
  deletion: 'conversation',
  participant: 'conversation',
  customEvent: 'conversation',
  event: 'event',
  workflow: 'workflow',
  state: 'state',
  change: 'change',
  log: 'log',
}

/** Timelines of conversations: all their records, merged. */
export function createTimelineService(deps: TimelineDeps) {
  const { db, pager, conversations, messages } = deps
  const describe = createDescribe(deps)

  async function around(
    conversation: ConversationRow,
    messageId: string,
    size: number,
    read: (direction: 'asc' | 'desc', after: Position, size: number) => Promise<Part>,
  ): Promise<Window> {
    const row = await messages.find(db, conversation.bot_id, messageId)
    if (row?.conversation_id !== conversation.id) {
      throw noReference('query.around', 'message', messageId, 'in this conversation')
    }
    const entry: Stored = { source: 'message', at: row.created_at, key: row.id, row }
    const half = Math.floor((size - 1) / 2)
    const place = placeOf(entry)
    const before = await read('desc', place, half)
    const behind = await read('asc', place, size - 1 - half)
    return {
      entries: [...before.entries.toReversed(), entry, ...behind.entries],
      isMoreBefore: before.isMore,
      isMoreBehind: behind.isMore,
    }
  }

  return {
    async page(actor: WorkspaceActor, id: string, query: TimelineQuery): Promise<TimelinePage> {
      const { kinds, from = 'start', around: messageId, pageSize } = query
      const { nextToken, previousToken } = query
      if ([messageId, nextToken, previousToken].filter(Boolean).length > 1) {
        throw new ApiError(
          'InvalidQuery',
          'query: at most one of around, nextToken and previousToken may be given.',
        )
      }
      const conversation = await conversations.requireIn(actor, id)
      const list = {
        operation: 'getConversationTimeline',
        scope: id,
        filter: { kinds },
        sort: 'at',
        pageSize,
      } as const
      const later = pager.page({ ...list, direction: 'asc', nextToken })
      const earlier = pager.page({ ...list, direction: 'desc', nextToken: previousToken })
      const { size } = later
      const wanted: readonly Kind[] | undefined = kinds?.length ? kinds : undefined
      const sources = new Set(wanted?.map((kind) => sourceOf[kind]) ?? sourceNames)
      const readPart = createMerge(createSources(deps, actor.workspaceId, wanted))
      const read = (direction: 'asc' | 'desc', after: Position | undefined, max: number) =>
        readPart(conversation, { direction, after, size: max, sources })

      const window = messageId
        ? await around(conversation, messageId, size, read)
        : previousToken || (from === 'end' && !nextToken)
          ? toWindow('desc', await read('desc', earlier.after, size), earlier.after)
          : toWindow('asc', await read('asc', later.after, size), later.after)
      const [first, last] = [window.entries.at(0), window.entries.at(-1)]
      return {
        entries: await describe(conversation, window.entries),
        nextToken: window.isMoreBehind && last ? later.tokenAfter(placeOf(last)) : undefined,
        previousToken:
          window.isMoreBefore && first ? earlier.tokenAfter(placeOf(first)) : undefined,
      }
    },
  }
}

/** @param start where the part begins; on that side of it is the page from which the caller came */
function toWindow(direction: 'asc' | 'desc', part: Part, start: Position | undefined): Window {
  const isMoreAtStart = start !== undefined
  return direction === 'asc'
    ? { entries: part.entries, isMoreBefore: isMoreAtStart, isMoreBehind: part.isMore }
    : {
        entries: part.entries.toReversed(),
        isMoreBefore: part.isMore,
        isMoreBehind: isMoreAtStart,
      }
}
