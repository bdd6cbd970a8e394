import type { ConversationRow } from '../../conversations/conversations/index.js'
import type { MessageRow } from '../../conversations/messages/index.js'
import type { UserRow } from '../../conversations/users/index.js'
import type { DeliveryStates } from '../../deliveries/index.js'
import type { Total } from './finder.js'

/** A conversation with the properties that a list shows. */
export interface ConversationRecord {
  row: ConversationRow
  newest: MessageRow | undefined
  /** Native ids of some participants, one more than are shown. */
  members: readonly string[]
  /** Users by native id, as far as they exist. */
  users: ReadonlyMap<string, UserRow>
  deliveries: DeliveryStates
}

export interface ConversationPage {
  records: ConversationRecord[]
  nextToken: string | undefined
  previousToken: string | undefined
  total: Total | undefined
}

/** Participants of a conversation that a list shows. */
export const maxPeople = 5
