import { setTimeout as sleep } from 'node:timers/promises'
import { Integration } from '@botpress/sdk'
import { logged } from '../failures.mjs'

/** Milliseconds that a question waits for its answer. */
const patience = 30_000

/** The definition of the integration for `createIntegration` and `updateIntegration`. */
export const definition = {
  title: 'Desk',
  description: 'Ask a bot over plain HTTP and get its reply in the response.',
  user: { tags: { name: { title: 'Name', description: 'Last part of the address.' } } },
  channels: {
    desk: {
      messages: { text: { schema: text() } },
      conversation: { tags: { name: { title: 'Name', description: 'Who asks.' } } },
      message: { tags: {} },
    },
  },
}

function text() {
  return { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
}

/** A question is posted to the desk; the request waits until the bot has replied. */
export function createDesk() {
  /** Requests that wait for replies, per conversation, oldest first. */
  const waiting = new Map()

  function answerTo(conversationId) {
    const queue = waiting.get(conversationId) ?? []
    waiting.set(conversationId, queue)
    return new Promise((resolve) => queue.push(resolve))
  }

  async function ask({ client, name, question }) {
    const tags = { name }
    const by = { tags, discriminateByTags: ['name'] }
    const { user } = await client.getOrCreateUser(by)
    const { conversation } = await client.getOrCreateConversation({ channel: 'desk', ...by })
    const answer = answerTo(conversation.id)
    await client.createMessage({
      conversationId: conversation.id,
      userId: user.id,
      type: 'text',
      payload: { text: question },
      tags: {},
    })
    return await Promise.race([answer, sleep(patience, undefined, { ref: false })])
  }

  return new Integration({
    register: async ({ webhookUrl, logger }) => logger.forBot().info(`The desk is ${webhookUrl}`),
    unregister: async () => {},
    actions: {},
    // Requests to the webhook address: /ada asks as Ada.
    handler: logged(async ({ req, client }) => {
      const name = decodeURIComponent(req.path.slice(1))
      if (req.method !== 'POST' || name === '' || !req.body) {
        return { status: 400, body: 'POST a question to /<your name>.\n' }
      }
      const answer = await ask({ client, name, question: req.body })
      if (answer === undefined) return { status: 504, body: 'The bot has not answered.\n' }
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: `${answer}\n` }
    }),
    // The messages of the bot in a conversation of the desk.
    channels: {
      desk: {
        messages: {
          text: logged(async ({ conversation, payload }) => {
            waiting.get(conversation.id)?.shift()?.(payload.text)
          }),
        },
      },
    },
  })
}
