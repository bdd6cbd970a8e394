import type { Tx } from '../../../platform/db/schema.js'
import type { Audience } from '../../bots/bots/index.js'
import type { ConversationRef, Place } from '../conversations/index.js'
import { publicIdOf } from '../users/index.js'
import { deleteScheduledOf, takeScheduled } from './runtime-store.js'
import type { MessagesDeps, NewMessage } from './service.js'
import type { MessageRow } from './store.js'

/** Name of the job that puts a scheduled message into its place; its key is the id of the message. */
export const releaseMessageJob = 'messages.release'

/** Name of the job that removes the messages of a conversation that is gone; its key is its id. */
export const emptyConversationJob = 'messages.empty'

/** Messages that are to come. */
export function scheduledMessages(
  { run, queue, audiences, conversations, users }: MessagesDeps,
  append: (tx: Tx, place: Place, message: NewMessage, audience: Audience) => Promise<MessageRow>,
) {
  return {
    /**
     * Puts a scheduled message into its place. Does nothing if it was cancelled, if it is there
     * already, or if its author or its conversation is gone.
     */
    async release(botId: string, id: string): Promise<void> {
      const audience = await audiences.of(botId)
      await run(async (tx) => {
        const planned = await takeScheduled(tx, botId, id)
        if (planned === undefined) return
        const { user_id: userId, conversation_id: conversationId } = planned
        const [user] = await users.findAll(tx, botId, [userId])
        const found = await conversations.findFor(tx, { botId, userId }, conversationId)
        if (user === undefined || found === undefined) return
        const place = await conversations.takePlace(
          tx,
          { botId, id: conversationId },
          { id: userId, publicId: publicIdOf(user), participates: found.participates },
        )
        if (place === undefined) return
        const { type, payload, direction, tags, origin } = planned
        await append(
          tx,
          place,
          { id, botId, userId, type, payload, direction, tags, origin },
          audience,
        )
      })
    },

    /** Removes what lies in a conversation that is gone: what is to come at once, the rest as a job. */
    async emptyConversation(tx: Tx, { botId, id }: ConversationRef): Promise<void> {
      await deleteScheduledOf(tx, botId, id)
      await queue.enqueue(tx, { kind: emptyConversationJob, key: id, payload: { botId } })
    },
  }
}
