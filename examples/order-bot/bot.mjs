// #region patience
/** Milliseconds without a reply after which a question is dropped. */
const patience = 60 * 60 * 1000
// #endregion

// #region drinks
const drinks = [
  { label: 'Tea', value: 'tea' },
  { label: 'Coffee', value: 'coffee' },
]
// #endregion

/**
 * Adds the handlers for orders to a bot.
 * @param bot made with the bot SDK, of any version
 */
export function teach(bot) {
  bot.on.message('text', async ({ message, client, ctx }) => {
    const { conversationId } = message
    const { text } = message.payload

    const order = await readOrder(client, conversationId)
    if (text === 'menu') await sendMenu({ client, ctx }, conversationId)
    else if (text === 'remind me') await remindLater({ client, ctx }, conversationId)
    else if (drinks.some(({ value }) => value === text)) {
      await rememberOrder(client, conversationId, text)
      await beginToBrew({ client }, conversationId, text)
    } else if (order === undefined) await askForDrink({ client, ctx }, conversationId)
    else await say({ client, ctx }, conversationId, `You ordered ${order.drink}.`)
  })

  // #region reminder
  bot.on.event('reminder', async ({ event, client, ctx }) => {
    await say({ client, ctx }, event.conversationId, `Remember: ${event.payload.about}`)
  })
  // #endregion

  // #region expired
  bot.on.stateExpired('order', async ({ state, client, ctx }) => {
    await say({ client, ctx }, state.conversationId, `Your ${state.payload.drink} got cold.`)
  })
  // #endregion

  // #region brewing
  bot.on.workflowStart('brew', async ({ workflow, client, ctx }) => {
    // From here on the bot is responsible: the server does not deliver the event again.
    const { workflow: begun } = await workflow.acknowledgeStartOfProcessing()
    try {
      const { drink } = workflow.input
      await say({ client, ctx }, workflow.conversationId, `The ${drink} is ready.`)
      await begun.setCompleted({ output: { drink } })
    } catch (error) {
      await begun.setFailed({ failureReason: error.message })
    }
  })
  // #endregion
}

// #region say
async function say({ client, ctx }, conversationId, text) {
  await client.createMessage({
    conversationId,
    userId: ctx.botId,
    type: 'text',
    payload: { text },
    tags: {},
  })
}
// #endregion

// #region choice
async function askForDrink({ client, ctx }, conversationId) {
  await client.createMessage({
    conversationId,
    userId: ctx.botId,
    type: 'choice',
    payload: { text: 'What would you like?', options: drinks },
    tags: {},
  })
}
// #endregion

// #region menu
async function sendMenu({ client, ctx }, conversationId) {
  const items = drinks.map(({ label, value }) => ({
    title: label,
    subtitle: 'Hot',
    actions: [
      { action: 'say', label: 'Order', value },
      { action: 'url', label: 'Read more', value: `https://example.com/${value}` },
    ],
  }))
  await client.createMessage({
    conversationId,
    userId: ctx.botId,
    type: 'carousel',
    payload: { items },
    tags: {},
  })
}
// #endregion

// #region state
async function rememberOrder(client, conversationId, drink) {
  await client.setState({
    type: 'conversation',
    id: conversationId,
    name: 'order',
    payload: { drink },
    expiry: patience,
  })
}

async function readOrder(client, conversationId) {
  try {
    const { state } = await client.getState({
      type: 'conversation',
      id: conversationId,
      name: 'order',
    })
    return state.payload
  } catch (error) {
    if (error.type === 'ResourceNotFound') return undefined
    throw error
  }
}
// #endregion

// #region remind
async function remindLater({ client, ctx }, conversationId) {
  await client.createEvent({
    type: 'reminder',
    payload: { about: 'your cup' },
    conversationId,
    schedule: { delay: 10 * 60 * 1000 },
  })
  await say({ client, ctx }, conversationId, 'I will remind you in ten minutes.')
}
// #endregion

// #region brew
async function beginToBrew({ client }, conversationId, drink) {
  await client.createWorkflow({
    name: 'brew',
    status: 'pending',
    conversationId,
    input: { drink },
    timeoutAt: new Date(Date.now() + patience).toISOString(),
  })
}
// #endregion
