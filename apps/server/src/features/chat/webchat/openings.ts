import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type {
  ConversationRow,
  ConversationsService,
} from '../../conversations/conversations/index.js'
import { deleteOpenings, insertOpening, listOpenings } from './opening-store.js'

export interface OpeningsDeps {
  clock: Clock
  conversations: Pick<ConversationsService, 'removeUnused'>
}

/** Milliseconds for which a conversation that a page view opened is kept without anything in it. */
const unusedMs = 7 * 24 * 60 * 60 * 1000
/** A small number, because each of these conversations is locked until the transaction ends. */
const sweptAtOnce = 20

export type Openings = ReturnType<typeof createOpenings>

/** Each view of a page with a web chat may open a conversation. Those in which nothing happens are deleted. */
export function createOpenings({ clock, conversations }: OpeningsDeps) {
  return {
    async record(tx: Tx, { id, bot_id, created_at }: ConversationRow): Promise<void> {
      await insertOpening(tx, { conversation_id: id, bot_id, opened_at: created_at })
    },

    /** Checks each conversation once, when it is old enough, and deletes it if it was not used. Returns how many it checked. */
    async sweep(tx: Tx): Promise<number> {
      const openings = await listOpenings(tx, isoTime(clock.now() - unusedMs), sweptAtOnce)
      for (const { bot_id: botId, conversation_id: id } of openings) {
        await conversations.removeUnused(tx, { botId, id })
      }
      await deleteOpenings(
        tx,
        openings.map((opening) => opening.conversation_id),
      )
      return openings.length
    },
  }
}
