// An integration with every kind of handler, served by the version of the SDK that the first argument
// names: @botpress/sdk or sdk7. Calls come in over its webhook, and what the bot says is acknowledged
// with a tag. It writes its address when it listens.
import { once } from 'node:events'
import { createRequire } from 'node:module'

// SDK 7 asks for this when a call fails; the newest client that the registry has lacks it.
const client = createRequire(import.meta.url)('@botpress/client')
client.http ??= {
  isNetworkOrIdempotentRequestError: client.axiosRetry.isNetworkOrIdempotentRequestError,
}

const { Integration, RuntimeError } = await (process.argv[2] === 'sdk7'
  ? import('sdk7')
  : import('@botpress/sdk'))

const answer = (status, body) => ({ status, body: JSON.stringify(body) })

const integration = new Integration({
  register: async ({ ctx, webhookUrl }) => {
    if (!webhookUrl.endsWith(ctx.webhookId)) throw new RuntimeError('Another address')
    if (ctx.configuration.country === 'none') throw new RuntimeError('There is no such country')
  },
  unregister: async () => {},
  actions: {
    shout: async ({ input }) => {
      if (input.text === '') throw new RuntimeError('Nothing to shout')
      return { text: `${input.text.toUpperCase()}!` }
    },
  },
  createUser: async ({ client, tags }) => {
    const { user } = await client.getOrCreateUser({ tags, discriminateByTags: ['number'] })
    return answer(200, { user: { id: user.id } })
  },
  createConversation: async ({ client, channel, tags }) => {
    const by = { tags, discriminateByTags: ['number'] }
    const { conversation } = await client.getOrCreateConversation({ channel, ...by })
    return answer(200, { conversation: { id: conversation.id } })
  },
  handler: async ({ req, client, ctx }) => {
    const { number, payload, event } = JSON.parse(req.body)
    const by = { tags: { number }, discriminateByTags: ['number'] }
    try {
      const made = await client.initializeIncomingMessage({
        user: by,
        conversation: { channel: 'line', ...by },
        ...(payload && {
          message: {
            type: 'text',
            payload,
            tags: { call: req.query },
            discriminateByTags: ['call'],
          },
        }),
      })
      const conversationId = made.conversation.id
      if (event) await client.createEvent({ type: 'rang', payload: event, conversationId })
      return answer(201, { conversationId, country: ctx.configuration.country })
    } catch (error) {
      return answer(422, { type: error.type, message: error.message })
    }
  },
  channels: {
    line: {
      messages: {
        text: async ({ message, user, ctx, ack }) => {
          await ack({ tags: { saidBy: user.id === ctx.botUserId ? 'bot' : 'somebody' } })
          if (message.payload.text !== message.payload.text.trim()) throw new Error('Untidy')
        },
      },
    },
  },
})

const listener = await integration.start(0)
await once(listener, 'listening')
process.stdout.write(`ready http://127.0.0.1:${listener.address().port}\n`)
