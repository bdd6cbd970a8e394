// An integration of a depot, which sends parcels: it receives what its customers write, tells the bot
// what has arrived, and implements the interface of couriers under names of its own.
import { Integration, RuntimeError } from '@botpress/sdk'

/** In the memory of the program: a price that was not asked again is from the cache of the server. */
let asked = 0

export default new Integration({
  register: async ({ client, ctx, webhookUrl }) => {
    if (process.env.SECRET_API_KEY === undefined) throw new RuntimeError('There is no API key')
    await client.setState({
      type: 'integration',
      id: ctx.integrationId,
      name: 'account',
      payload: { city: ctx.configuration.city, webhookUrl },
    })
  },
  unregister: async () => {},
  actions: {
    price: async ({ input }) => {
      asked += 1
      return { price: input.item.length, asked }
    },
    refuse: async () => {
      throw new RuntimeError('The depot is closed')
    },
    dispatch: async ({ input, client, ctx }) => {
      const { state } = await client.getState({
        type: 'integration',
        id: ctx.integrationId,
        name: 'account',
      })
      return { number: `${state.payload.city}-${input.parcel}` }
    },
  },
  channels: {
    counter: {
      messages: {
        text: async ({ payload, ack }) => {
          await ack({ tags: { receipt: `sent ${payload.text}` } })
        },
      },
    },
  },
  handler: async ({ req, client }) => {
    if (req.headers['x-api-key'] !== process.env.SECRET_API_KEY) return { status: 401 }
    const body = JSON.parse(req.body)
    switch (req.path) {
      case '/messages':
        return { body: JSON.stringify(await receive(client, body)) }
      case '/arrivals': {
        const { conversationId, number } = body
        const { event } = await client.createEvent({
          type: 'arrived',
          conversationId,
          payload: { number },
        })
        return { status: 201, body: JSON.stringify({ eventId: event.id }) }
      }
      default:
        return { status: 404 }
    }
  },
})

/** Hands what a customer wrote to the bot, and counts in a state of the customer how often they did. */
async function receive(client, { from, text }) {
  const { user } = await client.getOrCreateUser({
    tags: { number: from },
    discriminateByTags: ['number'],
  })
  const { conversation } = await client.getOrCreateConversation({
    channel: 'counter',
    tags: { number: from },
    discriminateByTags: ['number'],
  })
  const key = { type: 'user', id: user.id, name: 'visits' }
  const { state } = await client.getOrSetState({ ...key, payload: { count: 0 } })
  const visits = state.payload.count + 1
  await client.patchState({ ...key, payload: { count: visits } })
  await client.createMessage({
    conversationId: conversation.id,
    userId: user.id,
    type: 'text',
    payload: { text },
    tags: {},
  })
  return { conversationId: conversation.id, userId: user.id, visits }
}
