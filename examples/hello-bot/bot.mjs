import { setTimeout as sleep } from 'node:timers/promises'
import { liveMessage } from '../live-message.mjs'

const greeting = 'Hello! Try "story", "bloc" or "metadata".'
const story =
  'A lighthouse keeper wrote a letter every evening and gave it to the tide. One morning the tide brought an answer: "Please write larger."'
/** Three things in one message. */
const parts = [
  { type: 'text', payload: { text: 'A text, a picture and a place.' } },
  { type: 'image', payload: { imageUrl: 'https://example.com/lighthouse.png' } },
  { type: 'location', payload: { latitude: 59.97, longitude: 10.74, title: 'Oslo' } },
]

/**
 * Adds the replies of the bot.
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
        return await say('text', { text: greeting })
      case 'metadata':
        return await say('text', { text, metadata })
      case 'bloc':
        return await say('bloc', { items: parts })
      case 'story':
        return await writeStory(liveMessage({ client, ctx, logger }, conversation.id))
      default:
        return await say(message.type, message.payload)
    }
  })

  // An event from a page, sent with `createEvent`, is sent back to the page.
  bot.on.event('chat:custom', async ({ event, client }) => {
    const { conversationId, payload } = event.payload
    await client.callAction({ type: 'chat:sendEvent', input: { conversationId, payload } })
  })
}

/** Writes word by word, like a bot with a language model. */
async function writeStory(live) {
  for (const word of story.match(/\S+\s*/g)) {
    await live.write(word)
    await sleep(20)
  }
  await live.complete()
}
