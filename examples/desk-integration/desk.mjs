import { setTimeout as sleep } from 'node:timers/promises'
import { Integration } from '@botpress/sdk'
import { logged } from '../failures.mjs'

/** How long a question waits for its answer, in milliseconds. */
const patience = 30_000

/** What the server has to know of the integration: `createIntegration` and `updateIntegration` take it. */
export const definition = {
  title: 'Desk',
  description: 'Ask a bot over plain HTTP and get its answer in the answer.',
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

/** Whoever posts to the desk asks the bot; the request waits until the bot has answered. */
export function createDesk() {
  /** Those who wait for answers in a conversation, the first who asked first. */
  const waiting = new Map()

  function answerTo(conversationId) {
    const line = waiting.get(conversationId) ?? []
    waiting.set(conversationId, line)
    return new Promise((resolve) => line.push(resolve))
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
    // What people post to the webhook address: /ada asks as Ada.
    handler: logged(async ({ req, client }) => {
      const name = decodeURIComponent(req.path.slice(1))
      if (req.method !== 'POST' || name === '' || !req.body) {
        return { status: 400, body: 'POST a question to /<your name>.\n' }
      }
      const answer = await ask({ client, name, question: req.body })
      if (answer === undefined) return { status: 504, body: 'The bot has not answered.\n' }
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: `${answer}\n` }
    }),
    // What the bot says in a conversation of the desk.
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
