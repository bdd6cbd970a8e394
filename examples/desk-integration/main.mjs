// An integration made with the bot SDK: any HTTP client can ask a bot through it.
//
//   npm start                                    in one terminal
//   npm run hello-bot                            in another one, in the folder of this checkout
//   npm run desk-integration -- "Hello bot"      in a third one
import { Client, isApiError } from '@botpress/client'
import { listen } from '../listen.mjs'
import { findBot, findServer } from '../server.mjs'
import { stop } from '../stop.mjs'
import { createDesk, definition } from './desk.mjs'

const alias = 'desk'
const version = '1.0.0'
/** Note of the keys that are replaced at each start. */
const note = 'Made by the example, until the next start'
const [botName = 'Hello bot'] = process.argv.slice(2)

const { apiUrl, token, workspaceId } = await findServer()
// With this header installations are keyed by alias, and a bot may have any number of them.
const headers = { 'x-multiple-integrations': 'true' }
const admin = new Client({ apiUrl, token, workspaceId, headers })
const bot = await findBot(admin, botName)
if (bot === undefined) stop(`There is no bot "${botName}": start it first ("npm run hello-bot").`)

const integrationId = await findIntegration()
// Nothing is stored: each start makes a new secret and a new key. The token of a person is not for the integration.
const { newSigningSecret: secret } = await admin.rotateIntegrationSigningSecrets({
  id: integrationId,
})
const { value: key, ...made } = await admin.createIntegrationApiKey({ integrationId, note })
// The SDK's client for the integration reads these two from the environment.
Object.assign(process.env, { BP_API_URL: apiUrl, BP_TOKEN: key })
const url = await listen(createDesk(), { secret, port: 8076 })
await admin.updateIntegration({ id: integrationId, ...definition, url })
const { bot: installed } = await admin.updateBot({
  id: bot.id,
  integrations: { [alias]: { integrationId, enabled: true, configuration: {} } },
})

const { status, statusReason, webhookUrl } = installed.integrations[alias]
if (status !== 'registered') throw new Error(`The desk is ${status}: ${statusReason}`)
await removeOlderKeys()
console.log(`The desk of ${botName} is open. Ask in another terminal:`)
console.log(`  curl -d hello ${webhookUrl}/ada`)

/** The id of the integration, which the first start creates. */
async function findIntegration() {
  try {
    return (await admin.getIntegrationByName({ name: 'desk', version })).integration.id
  } catch (error) {
    if (!isApiError(error) || error.type !== 'ResourceNotFound') throw error
    return (await admin.createIntegration({ name: 'desk', version, ...definition })).integration.id
  }
}

/** Deletes the keys of earlier starts. */
async function removeOlderKeys() {
  const { iaks } = await admin.listIntegrationApiKeys({ integrationId })
  const older = iaks.filter(({ id, createdAt, ...key }) => {
    return key.note === note && id !== made.id && createdAt <= made.createdAt
  })
  for (const { id } of older) await admin.deleteIntegrationApiKey({ id })
}
