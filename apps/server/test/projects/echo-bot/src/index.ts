import { Bot, z } from '@botpress/sdk'

const bot = new Bot({
  integrations: {},
  configuration: { schema: z.object({}) },
  states: { seen: { type: 'user', schema: z.object({ count: z.number() }) } },
  events: {},
  recurringEvents: {},
})

bot.message(async ({ message, client, ctx }) => {
  await client.createMessage({
    conversationId: message.conversationId,
    userId: ctx.botId,
    type: 'text',
    tags: {},
    payload: { text: `echo: ${message.payload.text}` },
  })
})

export default bot
