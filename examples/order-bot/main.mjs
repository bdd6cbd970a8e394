// A bot that takes orders: choices, cards, states, scheduled events and workflows.
//
//   npm start                                  in one terminal
//   node examples/order-bot/main.mjs           in another one, in the folder of this checkout
import { Bot } from '@botpress/sdk'
import { logFailures } from '../failures.mjs'
import { startBot } from '../start-bot.mjs'
import { teach } from './bot.mjs'

// #region start
const bot = logFailures(new Bot({ actions: {}, plugins: {} }))
teach(bot)

const { name, chatAddress } = await startBot(bot, { name: 'Order bot', port: 8075 })
// #endregion
console.log(`${name} listens. Its chat address:\n  ${chatAddress}`)
console.log('Say "hello", "menu" or "remind me" to it in another terminal:')
console.log(`  npx botstead chat --bot "${name}"`)
