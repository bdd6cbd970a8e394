import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../../platform/db/columns.js'
import { toConversation } from '../../conversations/conversations/index.js'
import { textOf } from '../../conversations/messages/index.js'
import type { UserRow } from '../../conversations/users/index.js'
import { type ConversationPage, type ConversationRecord, maxPeople } from './records.js'

type WireList = Output<typeof contract.inspection.list>
type WireSummary = WireList['conversations'][number]

const maxTextLength = 200

export function toPage({ records, nextToken, previousToken, total }: ConversationPage): WireList {
  return {
    conversations: records.map(toSummary),
    meta: {
      ...(nextToken !== undefined && { nextToken }),
      ...(previousToken !== undefined && { previousToken }),
      ...(total !== undefined && { total }),
    },
  }
}

/** A conversation as lists and exports contain it. */
export function toSummary(record: ConversationRecord): WireSummary {
  const { row, newest, members, users, deliveries } = record
  const toPerson = (id: string) => personOf(row.bot_id, id, users)
  return {
    ...toConversation(row, undefined),
    botId: row.bot_id,
    lastActivityAt: row.updated_at,
    ...(newest && {
      lastMessage: {
        id: newest.id,
        createdAt: newest.created_at,
        type: newest.type,
        direction: newest.direction,
        author: toPerson(newest.user_id),
        text: textOf(decodeJson(newest.payload), maxTextLength),
      },
    }),
    participants: members.slice(0, maxPeople).map(toPerson),
    hasMoreParticipants: members.length > maxPeople,
    hasFailedDelivery: deliveries.hasFailed,
    hasPendingDelivery: deliveries.hasPending,
  }
}

/** A participant or author as people see it. */
export function personOf(
  botId: string,
  id: string,
  users: ReadonlyMap<string, Pick<UserRow, 'name'>>,
): WireSummary['participants'][number] {
  const name = users.get(id)?.name ?? undefined
  return { id, role: id === botId ? 'bot' : 'user', ...(name !== undefined && { name }) }
}
