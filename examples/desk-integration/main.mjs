// An integration made with the bot SDK: any HTTP client can ask a bot through it.
//
//   npm start                                    in one terminal
//   npm run hello-bot                            in another one, in the folder of this checkout
//   npm run desk-integration -- "Hello bot"      in a third one
import { Client, isApiError } from '@botpress/client'
import { listen } from '../listen.mjs'
import { findBot, findServer } from '../server.mjs'
import { createDesk, definition } from './desk.mjs'

const alias = 'desk'
const version = '1.0.0'
const [botName = 'Hello bot'] = process.argv.slice(2)

const { apiUrl, token, workspaceId } = await findServer()
// With this header installations are keyed by alias, and a bot may have any number of them.
const headers = { 'x-multiple-integrations': 'true' }
const admin = new Client({ apiUrl, token, workspaceId, headers })
const bot = await findBot(admin, botName)
if (bot === undefined) throw new Error(`There is no bot "${botName}": start it first.`)

// The SDK's client for the integration reads these two from the environment.
Object.assign(process.env, { BP_API_URL: apiUrl, BP_TOKEN: token })
const url = await listen(createDesk(), 8076)
const { id: integrationId } = await publish({ ...definition, url })
const { bot: installed } = await admin.updateBot({
  id: bot.id,
  integrations: { [alias]: { integrationId, enabled: true, configuration: {} } },
})

const { status, statusReason, webhookUrl } = installed.integrations[alias]
if (status !== 'registered') throw new Error(`The desk is ${status}: ${statusReason}`)
console.log(`The desk of ${botName} is open. Ask in another terminal:`)
console.log(`  curl -d hello ${webhookUrl}/ada`)

/** Creates or updates the integration on the server. */
async function publish(settings) {
  try {
    const { integration } = await admin.getIntegrationByName({ name: 'desk', version })
    return (await admin.updateIntegration({ id: integration.id, ...settings })).integration
  } catch (error) {
    if (!isApiError(error) || error.type !== 'ResourceNotFound') throw error
    return (await admin.createIntegration({ name: 'desk', version, ...settings })).integration
  }
}
