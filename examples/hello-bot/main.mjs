// A bot that replies, made with the bot SDK.
//
//   npm start              in one terminal
//   npm run hello-bot      in another one, in the folder of this checkout
//
// It needs no setup: it registers itself with the server when it starts.
import { Bot } from '@botpress/sdk'
import { logFailures } from '../failures.mjs'
import { startBot } from '../start-bot.mjs'
import { teach } from './bot.mjs'

const bot = logFailures(new Bot({ actions: {}, plugins: {} }))
teach(bot)

const { name, url, chatAddress } = await startBot(bot, { name: 'Hello bot', port: 8072 })
console.log(`${name} listens at ${url}\nIts chat address, for pages and apps:\n  ${chatAddress}`)
console.log('Say "hello" to it in another terminal:')
console.log(`  npx botstead chat --bot "${name}"`)
