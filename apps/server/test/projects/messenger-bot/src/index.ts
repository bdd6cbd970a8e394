// #region bot
import * as bp from '.botpress'
import { z } from '@botpress/sdk'

// #endregion

// Read by the command, which loads the bot before it deploys it.
const serviceUrl = process.env.SERVICE_URL ?? 'http://127.0.0.1:9'

// #region bot
const bot = new bp.Bot({
  integrations: {
    'acme/messenger': new bp.acmeMessenger.AcmeMessenger({ enabled: true, config: { serviceUrl } }),
  },
  configuration: { schema: z.object({}) },
  states: {},
  events: {},
  recurringEvents: {},
})
// #endregion

bot.message(async ({ message, client, ctx }) => {
  await client.createMessage({
    conversationId: message.conversationId,
    userId: ctx.botId,
    type: 'text',
    tags: {},
    payload: { text: `echo: ${message.payload.text}` },
  })
})

// #region bot
export default bot
// #endregion
