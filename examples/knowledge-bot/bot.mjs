import { liveMessage } from '../live-message.mjs'
import { lookUp } from './library.mjs'
import { compose } from './model.mjs'
import { asksForSomething } from './quote.mjs'

const unknown =
  'I found nothing about that in my documents. Try other words, or give me a document that has the answer.'
const hint = 'Ask me about something in my documents, in your own words.'

/**
 * Adds the replies of the bot.
 * @param bot made with the bot SDK
 * @param model that writes the answers; without one, the bot quotes
 */
export function teach(bot, model) {
  bot.on.message('*', async ({ message, conversation, client, ctx, logger }) => {
    const say = (text) =>
      client.createMessage({
        conversationId: conversation.id,
        userId: ctx.botId,
        type: 'text',
        payload: { text },
        tags: {},
      })
    const question = message.type === 'text' ? message.payload.text : ''
    if (!asksForSomething(question)) return await say(hint)

    const sources = await lookUp(client, question)
    logger.info(`"${question}": ${sources.length} sources`)
    if (sources.length === 0) return await say(unknown)
    if (model === undefined) return await say(quotes(sources))

    const live = liveMessage({ client, ctx, logger }, conversation.id)
    try {
      for await (const words of compose(model, question, sources)) await live.write(words)
      await live.complete(`\n\n${list(sources)}`)
    } catch (error) {
      logger.warn(`The model failed, so the answer is quotes: ${error.message}`)
      await live.abort()
      await say(quotes(sources))
    }
  })
}

/** Quotes of the passages that were found. */
function quotes(sources) {
  return sources.map(({ quote, ...source }) => `“${quote}”\n${cite(source)}`).join('\n\n')
}

/** The sources behind the numbers in the reply of a model. */
function list(sources) {
  return sources.map((source, at) => `[${at + 1}] ${cite(source)}`).join('\n')
}

/** A link in Markdown, whose text is the name of the file: its address is long, because it is signed. */
function cite({ location, link }) {
  const text = location.replaceAll(/[\\[\]<>*`~&]/g, '\\$&')
  const address = link.replaceAll(/[()<>\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return `— [${text}](${address})`
}
