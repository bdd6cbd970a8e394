// Registers a bot with the server and starts it. Settings: those of server.mjs and listen.mjs, BOT_NAME, and
// BOT_SECRET if the bot must keep its signing secret. A process has one bot, because the SDK has one key.
import { Client } from '@botpress/client'
import { listen } from './listen.mjs'
import { findBot, findServer } from './server.mjs'

/** Note of the keys that are replaced at each start. */
const note = 'Made by startBot, until the next start'

/**
 * Serves the bot, and makes the server deliver messages to it from now on.
 * @param bot made with the bot SDK
 * @param defaultName finds the bot again at the next start, unless BOT_NAME is set
 * @param port to listen on unless BOT_PORT is set; 0 takes a free one
 * @returns its address, and the `key` with which the bot calls the server
 */
export async function startBot(bot, { name: defaultName, port }) {
  const name = process.env.BOT_NAME ?? defaultName
  const { apiUrl, token, workspaceId } = await findServer()
  const admin = new Client({ apiUrl, token, workspaceId })
  const known = await findBot(admin, name)
  const { id, integrations, signingSecret } = known ?? (await admin.createBot({ name })).bot

  // Nothing is stored: a bot that was here before gets a new secret and a new key at each start.
  const secret = process.env.BOT_SECRET || (known ? await newSecret(admin, id) : signingSecret)
  const { value: key, ...made } = await admin.createBotApiKey({ botId: id, note })
  // The SDK's client for the bot reads these two from the environment. The token of a person, with which all
  // bots of the workspace can be changed, is not for the bot.
  Object.assign(process.env, { BP_API_URL: apiUrl, BP_TOKEN: key })
  const url = await listen(bot, { secret, port })
  await admin.updateBot({ id, url })
  await removeOlder(admin, id, made)

  const chat = Object.values(integrations).find((each) => each.name === 'chat')
  return { id, name, url, apiUrl, key, chatAddress: chat?.webhookUrl }
}

/** Rotates the secret. The one before it stays valid for a day: the program that still runs needs it. */
async function newSecret(admin, id) {
  return (await admin.rotateBotSigningSecrets({ id })).newSigningSecret
}

/** Deletes the keys of earlier starts, whose programs get no messages any more. */
async function removeOlder(admin, botId, { id, createdAt }) {
  const { baks } = await admin.listBotApiKeys({ botId })
  const older = baks.filter(
    (key) => key.note === note && key.id !== id && key.createdAt <= createdAt,
  )
  for (const key of older) await admin.deleteBotApiKey({ id: key.id })
}
