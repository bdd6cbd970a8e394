import { LRUCache } from 'lru-cache'
import type { ChatUserActor } from '../../platform/actor.js'
import type { UserRow } from '../users/index.js'

/** What is known of the user of a key without a read. */
export type KnownUser = Pick<UserRow, 'id' | 'foreign_id'>

/**
 * Remembers which user a key belongs to. Another process may have removed the user since: what is
 * found here only serves statements that check the user's part themselves.
 */
export interface KnownUsers {
  get(actor: ChatUserActor): KnownUser | undefined
  set(actor: ChatUserActor, user: KnownUser): void
}

const maxUsers = 50_000

export function createKnownUsers(): KnownUsers {
  const users = new LRUCache<string, KnownUser>({ max: maxUsers })
  return {
    get: ({ chat, userKeyId }) => users.get(keyOf(chat.botId, userKeyId)),
    set({ chat, userKeyId }, { id, foreign_id }) {
      users.set(keyOf(chat.botId, userKeyId), { id, foreign_id })
    },
  }
}

function keyOf(botId: string, userKeyId: string): string {
  return `${botId}:${userKeyId}`
}
