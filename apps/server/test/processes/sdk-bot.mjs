// The example bot and every other kind of handler, served by the version of the bot SDK that the
// first argument names: @botpress/sdk or sdk7. It writes its address when it listens.
import { once } from 'node:events'
import { teach } from '../../../../examples/hello-bot/bot.mjs'

const { Bot, RuntimeError } = await (process.argv[2] === 'sdk7'
  ? import('sdk7')
  : import('@botpress/sdk'))

const bot = new Bot({
  register: async ({ client, ctx }) => {
    const place = { type: 'bot', id: ctx.botId, name: 'registration' }
    const { payload } = (await client.getOrSetState({ ...place, payload: { times: 0 } })).state
    await client.setState({ ...place, payload: { times: payload.times + 1 } })
  },
  actions: {
    double: async ({ input }) => {
      if (typeof input.number !== 'number') throw new RuntimeError('A number is needed.')
      return { doubled: 2 * input.number }
    },
  },
  plugins: {},
})

/** Says something in a conversation as the bot. */
const say = ({ client, ctx }, conversationId, text) =>
  client.createMessage({
    conversationId,
    userId: ctx.botId,
    type: 'text',
    payload: { text },
    tags: {},
  })

const stumbledOver = new Set()
const special = {
  shout: async (props, { conversationId }) => {
    const { output } = await props.client.callAction({
      type: 'phone:shout',
      input: { text: 'hey' },
    })
    await say(props, conversationId, output.text)
  },
  // Requests of a bot to the page around a web chat.
  direct: async ({ client }, { conversationId, userId }) => {
    const call = (name, input) => client.callAction({ type: `webchat:${name}`, input })
    await call('startTypingIndicator', { conversationId, messageId: 'any' })
    await call('stopTypingIndicator', { conversationId, messageId: 'any' })
    await call('showWebchat', { conversationId })
    await call('hideWebchat', { conversationId })
    await call('toggleWebchat', { conversationId })
    await call('configWebchat', { conversationId, config: JSON.stringify({ color: 'red' }) })
    const { output } = await call('getUserData', { userId })
    await call('customEvent', { conversationId, event: JSON.stringify(output) })
  },
  refuse: () => {
    throw new RuntimeError('It is closed on Mondays.')
  },
  stumble: async (props, { id, conversationId }) => {
    if (stumbledOver.has(id)) return await say(props, conversationId, 'Up again')
    stumbledOver.add(id)
    throw new Error('A detail that nobody but the log is told')
  },
}
bot.on.beforeIncomingMessage('text', async ({ data, ...props }) => {
  const handle = special[data.payload.text]
  if (handle === undefined) return { data }
  await handle(props, data)
  return { stop: true }
})
bot.on.event('chat:conversationStarted', async ({ event, ...props }) => {
  await say(props, event.payload.conversationId, 'Welcome')
})
bot.on.event('phone:rang', async ({ event, ...props }) => {
  await say(props, event.conversationId, `It rang ${event.payload.times} times`)
})
bot.on.event('reminder', async ({ event, ...props }) => {
  await say(props, event.payload.conversationId, `Remember: ${event.payload.about}`)
})
bot.on.stateExpired('order', async ({ state, ...props }) => {
  await say(props, state.conversationId, `Gone: ${state.payload.item}`)
})
bot.on.workflowStart('mend', async ({ workflow }) => {
  const { workflow: begun } = await workflow.acknowledgeStartOfProcessing()
  await begun.setCompleted({ output: { mended: workflow.input.item } })
})

teach(bot)
const listener = await bot.start(0)
await once(listener, 'listening')
process.stdout.write(`ready http://127.0.0.1:${listener.address().port}\n`)
