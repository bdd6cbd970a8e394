import * as bp from '.botpress'
import { z } from '@botpress/sdk'

const bot = new bp.Bot({
  integrations: {
    chat: new bp.chat.Chat({ enabled: true, config: { webhookUrl: 'http://127.0.0.1:9/signals' } }),
  },
  configuration: { schema: z.object({}) },
  states: {},
  events: {},
  recurringEvents: {},
})

export default bot
