import { randomUUID } from 'node:crypto'

/**
 * A message that is shown in the conversation while it is being written.
 * @param conversationId where it stands
 */
export function liveMessage({ client, ctx, logger }, conversationId) {
  const streamId = randomUUID()
  let sequence = 0
  let text = ''

  const publish = async (signal) => {
    try {
      const input = { conversationId, signal: { streamId, ...signal } }
      await client.callAction({ type: 'chat:publishMessageStream', input })
    } catch (error) {
      // Pieces are a courtesy: whoever missed one gets the whole message in the end.
      logger.warn(`A piece of a message was not shown: ${error.message}`)
    }
  }

  return {
    /** Shows the next piece. */
    async write(delta) {
      sequence += 1
      text += delta
      await publish({ type: 'delta', createdAt: new Date().toISOString(), sequence, delta })
    },
    /** Leaves the whole as one message, which takes the place of its pieces. */
    async complete(ending = '') {
      await client.createMessage({
        conversationId,
        userId: ctx.botId,
        type: 'text',
        payload: { text: text + ending, metadata: { streamId } },
        tags: {},
      })
    },
    /** Takes the pieces back: there will be no message. */
    async abort() {
      await publish({ type: 'abort' })
    },
  }
}
