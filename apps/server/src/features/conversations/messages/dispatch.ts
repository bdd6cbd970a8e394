import type { Tx } from '../../../platform/db/schema.js'
import type { Audience } from '../../bots/bots/index.js'
import type { Place } from '../conversations/index.js'
import type { MessagesDeps } from './service.js'
import type { MessageRow } from './store.js'

/** Type of the event by which a bot hears of a message. */
const messageCreated = 'message_created'

/**
 * Who is told of a new message: the bot of what comes in, the installation that owns the conversation
 * of what goes out. Undefined when nobody is, so that the hot path waits for nothing.
 */
export function messageDispatch({
  botEvents,
  domainEvents,
}: Pick<MessagesDeps, 'botEvents' | 'domainEvents'>) {
  return (
    tx: Tx,
    audience: Audience,
    place: Pick<Place, 'integration'>,
    message: MessageRow,
  ): Promise<unknown> | undefined => {
    const { id, bot_id: botId, conversation_id: conversationId, user_id: userId } = message
    if (message.direction === 'incoming') {
      if (!audience.listens) return undefined
      return botEvents.record(tx, audience, {
        ...{ botId, type: messageCreated, payload: null },
        ...{ messageId: id, conversationId, userId },
      })
    }
    const { integration } = place
    if (!audience.delivers(integration)) return undefined
    return domainEvents.raise(tx, 'delivery.requested', {
      botId,
      integration,
      kind: messageCreated,
      subjectId: id,
      orderingKey: conversationId,
    })
  }
}
