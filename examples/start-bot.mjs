// Registers a bot with the server and starts it. Settings: those of server.mjs, and BOT_PORT, BOT_NAME,
// BOT_URL and BOT_SECRET.
import { Client } from '@botpress/client'
import { listen } from './listen.mjs'
import { findBot, findServer } from './server.mjs'
import { refuseOthers } from './signed.mjs'

/**
 * Serves the bot, and makes the server deliver messages to it from now on.
 * @param bot made with the bot SDK
 * @param defaultName finds the bot again at the next start, unless BOT_NAME is set
 * @param port to listen on unless BOT_PORT is set; 0 takes a free one
 */
export async function startBot(bot, { name: defaultName, port }) {
  const name = process.env.BOT_NAME ?? defaultName
  const { apiUrl, token, workspaceId } = await findServer()
  const admin = new Client({ apiUrl, token, workspaceId })
  const known = (await findBot(admin, name)) ?? (await admin.createBot({ name })).bot
  const { id, integrations } = known

  // The SDK's client for the bot reads these two from the environment.
  Object.assign(process.env, { BP_API_URL: apiUrl, BP_TOKEN: token })
  // Only the response to the creation of a bot contains its secret.
  if (process.env.BOT_SECRET) refuseOthers(bot, process.env.BOT_SECRET)
  const url = await listen(bot, port)
  await admin.updateBot({ id, url })

  const chat = Object.values(integrations).find((each) => each.name === 'chat')
  return { id, name, url, apiUrl, token, chatAddress: chat?.webhookUrl }
}
