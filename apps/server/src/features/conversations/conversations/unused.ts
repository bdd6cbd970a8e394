import type { Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { ConversationRef } from './slot-store.js'
import type { ConversationRow } from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A conversation in which nothing happened is about to be deleted; subscribers that have something of it call `keep`. */
    'conversation.unused': ConversationRef & { keep(): void }
  }
}

interface Deps {
  domainEvents: Pick<EventDispatcher, 'raise'>
  hold(tx: Tx, ref: ConversationRef): Promise<ConversationRow | undefined>
  remove(tx: Tx, ref: ConversationRef): Promise<boolean>
}

/**
 * Removes a conversation in which nothing happened after it was opened: no message or event of a user or the bot, no
 * change, and nothing was stored for it.
 */
export function createRemoveUnused({ domainEvents, hold, remove }: Deps) {
  return async function removeUnused(tx: Tx, ref: ConversationRef): Promise<void> {
    const conversation = await hold(tx, ref)
    if (conversation === undefined || !isUntouched(conversation)) return
    let isKept = false
    const keep = () => {
      isKept = true
    }
    await domainEvents.raise(tx, 'conversation.unused', { ...ref, keep })
    if (!isKept) await remove(tx, ref)
  }
}

/** Whether nothing happened in a conversation, except that the bot was notified that it was opened. */
function isUntouched(conversation: ConversationRow): boolean {
  const { message_count, last_sequence, start_event_id, tags, properties } = conversation
  return (
    message_count === 0 &&
    last_sequence <= (start_event_id === null ? 0 : 1) &&
    tags === '{}' &&
    properties === '{}' &&
    conversation.current_workflow_id === null
  )
}
