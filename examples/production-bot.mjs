// A bot that is started with a key and a secret, and needs no token of a person.
import { Bot } from '@botpress/sdk'
import { listen } from './listen.mjs'

const bot = new Bot({ actions: {}, plugins: {} })

bot.on.message('text', async ({ message, client, ctx }) => {
  await client.createMessage({
    conversationId: message.conversationId,
    userId: ctx.botId,
    type: 'text',
    payload: { text: `You said: ${message.payload.text}` },
    tags: {},
  })
})

// #region start
const settings = {
  BP_API_URL: 'the address of the server',
  BP_TOKEN: 'a key of the bot',
  BOT_SECRET: 'the signing secret of the bot',
}
for (const [name, what] of Object.entries(settings)) {
  if (process.env[name]) continue
  console.error(`${name} is empty: set it to ${what}.`)
  process.exit(1)
}
const url = await listen(bot, { secret: process.env.BOT_SECRET, port: 8074 })
console.log(`It listens at ${url}`)
// #endregion
