// Registers a bot with the server and starts it. Settings: those of server.mjs and listen.mjs, BOT_NAME,
// BOT_SECRET if the bot must keep its signing secret, and BOT_TAKE_OVER=1 to replace a bot that runs elsewhere. A
// process has one bot, because the SDK has one key.
import { Client } from '@botpress/client'
import { listen } from './listen.mjs'
import { findBot, findServer } from './server.mjs'
import { stop } from './stop.mjs'

/** Note of the keys that are replaced at each start. */
const note = 'Made by startBot, until the next start'
/** Names of this machine. */
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * Serves the bot, and makes the server deliver messages to it from now on. A bot of that name that has other code is
 * left alone: the program ends and says so.
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
  if (known) requireOwn(known)
  const { id, integrations, signingSecret } = known ?? (await admin.createBot({ name })).bot

  // Nothing is stored: a bot that was here before gets a new secret and a new key at each start.
  const secret = process.env.BOT_SECRET || (known ? await newSecret(admin, id) : signingSecret)
  const { value: key, ...made } = await admin.createBotApiKey({ botId: id, note })
  // The SDK's client for the bot reads these two from the environment. The token of a person, with which all
  // bots of the workspace can be changed, is not for the bot.
  Object.assign(process.env, { BP_API_URL: apiUrl, BP_TOKEN: key })
  const url = await listen(bot, { secret, port })
  await admin.updateBot({ id, url })
  const former = known?.hosted ? 'its deployed code' : known?.url
  if (former && former !== url) {
    console.error(`Messages to "${name}" went to ${former} before, and come here from now on.`)
  }
  await removeOlder(admin, id, made)

  const chat = Object.values(integrations).find((each) => each.name === 'chat')
  return { id, name, url, apiUrl, key, chatAddress: chat?.webhookUrl }
}

/** Ends the program rather than take messages away from code that was deployed, or that runs on another machine. */
function requireOwn({ id, name, url, hosted }) {
  const isOwn = !url || url === process.env.BOT_URL || loopback.test(new URL(url).hostname)
  if ((isOwn && !hosted) || process.env.BOT_TAKE_OVER === '1') return
  const where = hosted ? 'has code that was deployed to the server' : `runs at ${url}`
  stop(
    `There is a bot "${name}" (${id}) already, which ${where}. Nothing was changed. Give this one another name (BOT_NAME="Another name"), or replace the code of that one: BOT_TAKE_OVER=1.`,
  )
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
