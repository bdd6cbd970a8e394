// A plugin that sends parcels through the integration behind its interface, and follows them.
import { Plugin } from '@botpress/sdk'

const plugin = new Plugin({
  actions: {
    where: async ({ input, conversations, states }) => {
      const { number } = input
      const [conversation] = await conversations.courier['*'].list({ tags: { number } }).takePage(1)
      const { parcel } = await states.conversation.parcel.get(conversation.id)
      return { parcel, number: conversation.tags.number }
    },
  },
})

plugin.on.message('text', async (props) => {
  const { message, conversation, user, actions, states, events, alias, configuration, ctx } = props
  const parcel = /^send (\w+)$/.exec(message.payload.text)?.[1]
  if (parcel === undefined) return
  const { number } = await actions.courier.send({ parcel })
  await states.conversation.parcel.set(conversation.id, { parcel })
  const { count } = await states.bot.total.getOrSet(alias, { count: 0 })
  await states.bot.total.patch(alias, { count: count + 1 })
  await conversation.update({ tags: { number } })
  await user.update({ tags: { customer: 'yes' } })
  await conversation.createMessage({
    userId: ctx.botId,
    type: 'text',
    payload: { text: `${configuration.greeting}, ${number} is on its way` },
    tags: { number },
  })
  await events.followed.withConversationId(conversation.id).emit({ number })
})

plugin.on.event('followed', async ({ event, conversations, ctx }) => {
  const conversation = await conversations['*']['*'].getById({ id: event.conversationId })
  await conversation.createMessage({
    userId: ctx.botId,
    type: 'text',
    payload: { text: `${event.payload.number} is followed` },
    tags: {},
  })
})

// As the interface names it: the integration has a name of its own for it.
plugin.on.event('courier:delivered', async ({ event, conversations, ctx }) => {
  const conversation = await conversations['*']['*'].getById({ id: event.conversationId })
  await conversation.createMessage({
    userId: ctx.botId,
    type: 'text',
    payload: { text: `${conversation.tags.number} was delivered` },
    tags: {},
  })
})

plugin.on.stateExpired('parcel', async ({ state, client, ctx }) => {
  await client.createMessage({
    conversationId: state.conversationId ?? '',
    userId: ctx.botId,
    type: 'text',
    payload: { text: `${state.payload.parcel} is no longer followed` },
    tags: {},
  })
})

/** Under its alias in the bot, as the command generates it. */
export const track = plugin.initialize({
  alias: 'track',
  configuration: { greeting: 'Done' },
  interfaces: {
    courier: {
      name: 'courier',
      version: '1.0.0',
      integrationAlias: 'depot',
      integrationInterfaceAlias: 'courier<parcel>',
      entities: { parcel: { name: 'parcel' } },
      actions: { send: { name: 'dispatch' } },
      events: { delivered: { name: 'arrived' } },
      channels: {},
    },
  },
  integrations: {},
})
