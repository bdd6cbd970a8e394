import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the bot says piece by piece, as one that writes with a language model would. */
const story =
  'A lighthouse keeper wrote a letter every evening and gave it to the tide. One morning the tide brought an answer: "Please write larger."'

/**
 * Gives a bot its answers.
 * @param bot made with the bot SDK, of any version
 */
export function teach(bot) {
  bot.on.message('*', async ({ message, conversation, client, ctx, logger }) => {
    const say = (type, payload) =>
      client.createMessage({
        conversationId: conversation.id,
        userId: ctx.botId,
        type,
        payload,
        tags: {},
      })
    const { text, metadata } = message.payload
    logger.info(`${message.type}: ${text ?? ''}`)

    switch (message.type === 'text' ? text.trim().toLowerCase() : undefined) {
      case 'hello':
        return await say('text', { text: 'Hello! Try "story", "bloc" or "metadata".' })
      case 'metadata':
        return await say('text', { text, metadata })
      case 'bloc':
        return await say('bloc', { items: parts })
      case 'story':
        return await tell(story, { client, conversation, say })
      default:
        return await say(message.type, message.payload)
    }
  })

  // What a page sends with `createEvent` comes back to the page.
  bot.on.event('chat:custom', async ({ event, client }) => {
    const { conversationId, payload } = event.payload
    await client.callAction({ type: 'chat:sendEvent', input: { conversationId, payload } })
  })
}

/** Three things in one message. */
const parts = [
  { type: 'text', payload: { text: 'A text, a picture and a place.' } },
  { type: 'image', payload: { imageUrl: 'https://example.com/lighthouse.png' } },
  { type: 'location', payload: { latitude: 59.97, longitude: 10.74, title: 'Oslo' } },
]

/** Shows a text while it is being written, and leaves it as one message in the end. */
async function tell(text, { client, conversation, say }) {
  const streamId = randomUUID()
  let sequence = 0
  for (const delta of text.match(/\S+\s*/g)) {
    sequence += 1
    const signal = {
      type: 'delta',
      streamId,
      createdAt: new Date().toISOString(),
      sequence,
      delta,
    }
    await client.callAction({
      type: 'chat:publishMessageStream',
      input: { conversationId: conversation.id, signal },
    })
    await sleep(20)
  }
  await say('text', { text, metadata: { streamId } })
}
