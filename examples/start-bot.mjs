// Makes a bot known to the server and starts it. Settings: BOTSTEAD_URL, BOTSTEAD_TOKEN (or
// BOTSTEAD_DATA_DIR, where the server keeps one), PORT, BOT_NAME, BOT_URL and BOT_SECRET.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@botpress/client'
import { refuseOthers } from './signed.mjs'

/**
 * Serves the bot, and has the server send it whatever is said to it from now on.
 * @param bot made with the bot SDK
 * @param defaultName under which the bot is found again at the next start, unless BOT_NAME is set
 * @param port to listen on unless PORT is set; 0 takes a free one
 */
export async function startBot(bot, { name: defaultName, port }) {
  const name = process.env.BOT_NAME ?? defaultName
  const apiUrl = process.env.BOTSTEAD_URL ?? 'http://localhost:8787'
  const token = process.env.BOTSTEAD_TOKEN || (await firstToken())
  const workspaceId = await firstWorkspace({ apiUrl, token })
  const admin = new Client({ apiUrl, token, workspaceId })
  const known = (await findBot(admin, name)) ?? (await admin.createBot({ name })).bot
  const { id, integrations } = known

  // The client that the SDK hands to the bot takes these two from the environment.
  Object.assign(process.env, { BP_API_URL: apiUrl, BP_TOKEN: token })
  // The answer to the creation of a bot has its secret; later only the server knows it.
  if (process.env.BOT_SECRET) refuseOthers(bot, process.env.BOT_SECRET)
  const listener = await bot.start(Number(process.env.PORT ?? port))
  await once(listener, 'listening')
  // Where the server reaches the bot. On other machines than the server's, BOT_URL has to say it.
  const url = process.env.BOT_URL ?? `http://127.0.0.1:${listener.address().port}`
  await admin.updateBot({ id, url })

  const chat = Object.values(integrations).find((each) => each.name === 'chat')
  return { id, name, url, apiUrl, token, chatAddress: chat?.webhookUrl }
}

async function firstWorkspace(server) {
  try {
    const { workspaces } = await new Client({ ...server, retry: { retries: 0 } }).listWorkspaces({})
    return workspaces[0]?.id
  } catch (cause) {
    throw new Error(
      `No server answers at ${server.apiUrl}, or not to this token: "npm start" starts one, BOTSTEAD_URL and BOTSTEAD_TOKEN name another.`,
      { cause },
    )
  }
}

async function findBot(admin, name) {
  for await (const { id, ...bot } of admin.list.bots({})) {
    if (bot.name === name) return (await admin.getBot({ id })).bot
  }
}

/** The token that the first start of the server keeps in its data folder. */
async function firstToken() {
  const checkout = fileURLToPath(new URL('..', import.meta.url))
  const path = resolve(checkout, process.env.BOTSTEAD_DATA_DIR || 'data', 'admin-token')
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    throw new Error(
      `There is no token in ${path}: run "npm start" first, or set BOTSTEAD_TOKEN or BOTSTEAD_DATA_DIR.`,
      { cause },
    )
  }
}
