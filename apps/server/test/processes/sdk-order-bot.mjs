// The bot of the guide to the SDK, served by the version that the first argument names: @botpress/sdk
// or sdk7. It writes its address when it listens.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { teach } from '../../../../examples/order-bot/bot.mjs'

// SDK 7 asks for this when a call fails; the newest client that the registry has lacks it.
// #region workaround
const client = createRequire(import.meta.url)('@botpress/client')
client.http ??= {
  isNetworkOrIdempotentRequestError: client.axiosRetry.isNetworkOrIdempotentRequestError,
}
// #endregion

const { Bot } = await (process.argv[2] === 'sdk7' ? import('sdk7') : import('@botpress/sdk'))
const bot = new Bot({ actions: {}, plugins: {} })
teach(bot)
const listener = await bot.start(0)
await once(listener, 'listening')
process.stdout.write(`ready http://127.0.0.1:${listener.address().port}\n`)
