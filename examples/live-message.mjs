import { randomUUID } from 'node:crypto'

/**
 * A message that is displayed while it is being written.
 * @param conversationId its conversation
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
      // Pieces are optional: a listener that missed one receives the complete message.
      logger.warn(`A piece of a message was not shown: ${error.message}`)
    }
  }

  return {
    /** Displays the next piece. */
    async write(delta) {
      sequence += 1
      text += delta
      await publish({ type: 'delta', createdAt: new Date().toISOString(), sequence, delta })
    },
    /** Stores the complete message, which replaces its pieces. */
    async complete(ending = '') {
      await client.createMessage({
        conversationId,
        userId: ctx.botId,
        type: 'text',
        payload: { text: text + ending, metadata: { streamId } },
        tags: {},
      })
    },
    /** Discards the pieces: there will be no message. */
    async abort() {
      await publish({ type: 'abort' })
    },
  }
}
