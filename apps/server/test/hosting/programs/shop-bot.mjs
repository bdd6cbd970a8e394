// A bot of a shop that uses what the platform has for bots: states, workflows, events, actions, secrets
// and a plugin. What users say names what it does.
import { Bot } from '@botpress/sdk'
import { track } from './tracking.mjs'

const bot = new Bot({
  actions: {
    greet: async ({ input }) => ({ text: `Hello ${input.name}` }),
  },
  plugins: { track },
})

const commands = {
  secret: async () => `The key is ${process.env.SECRET_SHOP_KEY}`,

  remember: async ({ client, message, user, ctx }, text) => {
    await client.setState({ ...note(message.conversationId), payload: { text } })
    const visits = { type: 'user', id: user.id, name: 'visits' }
    const { state } = await client.getOrSetState({ ...visits, payload: { count: 0 } })
    await client.patchState({ ...visits, payload: { count: state.payload.count + 1 } })
    await client.setState({ type: 'bot', id: ctx.botId, name: 'latest', payload: { text } })
    return `I remember ${text}`
  },

  recall: async ({ client, message, user, ctx }) => {
    const { state } = await client.getState(note(message.conversationId))
    const visits = await client.getState({ type: 'user', id: user.id, name: 'visits' })
    const latest = await client.getState({ type: 'bot', id: ctx.botId, name: 'latest' })
    return [state.payload.text, visits.state.payload.count, latest.state.payload.text].join(' ')
  },

  order: async ({ workflows, message }, drink) => {
    await workflows.order.startNewInstance({
      input: { drink },
      conversationId: message.conversationId,
      userId: message.userId,
      timeoutAt: new Date(Date.parse(message.createdAt) + 3_600_000).toISOString(),
      tags: { drink },
    })
  },

  confirm: async ({ workflows, message, event }) => {
    const { conversationId } = message
    const [workflow] = await workflows.order
      .listInstances({ conversationId, statuses: ['listening'] })
      .takePage(1)
    await workflow.update({ status: 'in_progress', eventId: event.id })
  },

  price: async ({ client }, item) => {
    const call = { type: 'depot:price', input: { item } }
    const first = await client.callAction(call)
    const second = await client.callAction(call)
    return `${first.output.price} ${first.meta.cached}, ${second.output.price} ${second.meta.cached}`
  },

  refuse: async ({ client }) => {
    try {
      await client.callAction({ type: 'depot:refuse', input: {} })
    } catch (error) {
      return `${error.type}: ${error.message}`
    }
  },

  greet: async ({ client }, name) => {
    const { output } = await client.callAction({ type: 'greet', input: { name } })
    return output.text
  },

  where: async ({ client }, number) => {
    const { output } = await client.callAction({ type: 'track#where', input: { number } })
    return `${output.parcel} ${output.number}`
  },

  later: async ({ client, message }, text) => {
    const { conversationId } = message
    await client.createEvent({
      type: 'reminder',
      conversationId,
      payload: { text },
      schedule: { delay: 600_000 },
    })
  },
}

bot.on.message('text', async (props) => {
  const { conversationId, payload } = props.message
  const [name, ...words] = payload.text.split(' ')
  const text = await commands[name]?.(props, words.join(' '))
  if (text !== undefined) await say(props, conversationId, text)
})

bot.on.stateExpired('note', async (props) => {
  const { conversationId, payload } = props.state
  await say(props, conversationId, `I forget ${payload.text}`)
})

bot.on.workflowStart('order', async (props) => {
  const { workflow } = props
  await workflow.acknowledgeStartOfProcessing()
  await say(props, workflow.conversationId, `${workflow.input.drink}?`)
  await workflow.update({ status: 'listening' })
})

bot.on.workflowContinue('order', async (props) => {
  const { workflow } = props
  await say(props, workflow.conversationId, `${workflow.input.drink}!`)
  await workflow.setCompleted({ output: { served: true } })
})

bot.on.workflowTimeout('order', async (props) => {
  const { workflow } = props
  await say(props, workflow.conversationId, `No ${workflow.input.drink} today`)
})

bot.on.event('reminder', async (props) => {
  const { conversationId, payload } = props.event
  await say(props, conversationId, `Remember ${payload.text}`)
})

bot.on.event('depot:arrived', async (props) => {
  const { conversationId, payload } = props.event
  await say(props, conversationId, `${payload.number} has arrived`)
})

bot.on.event('opened', async ({ client, ctx, event }) => {
  const days = { type: 'bot', id: ctx.botId, name: 'days' }
  const { state } = await client.getOrSetState({ ...days, payload: { count: 0 } })
  await client.patchState({
    ...days,
    payload: { count: state.payload.count + 1, shop: event.payload.shop },
  })
})

const note = (id) => ({ type: 'conversation', id, name: 'note' })

async function say({ client, ctx }, conversationId, text) {
  await client.createMessage({
    conversationId,
    userId: ctx.botId,
    type: 'text',
    payload: { text },
    tags: {},
  })
}

export default bot
