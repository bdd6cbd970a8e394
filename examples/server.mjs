// The server for the examples. Settings: BOTSTEAD_URL, or PORT on this machine, and BOTSTEAD_TOKEN or
// BOTSTEAD_DATA_DIR, where the server stores one; also in the file .env of the working folder, which
// the server reads too.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, isApiError } from '@botpress/client'

/**
 * The address of the server, the token of a person and the first of their workspaces.
 * @param address instead of the setting
 * @param tokenThere likewise
 */
export async function findServer(address, tokenThere) {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const here = `http://localhost:${process.env.PORT || 8787}`
  const apiUrl = address ?? (process.env.BOTSTEAD_URL || here)
  const token = tokenThere ?? (process.env.BOTSTEAD_TOKEN || (await firstToken()))
  return { apiUrl, token, workspaceId: await firstWorkspace({ apiUrl, token }) }
}

/**
 * The bot with a name, as `getBot` returns it, or undefined.
 * @param admin client with the workspace
 */
export async function findBot(admin, name) {
  for await (const { id, ...bot } of admin.list.bots({})) {
    if (bot.name === name) return (await admin.getBot({ id })).bot
  }
}

/** The token that the first start of the server stored in its data folder. */
async function firstToken() {
  const checkout = fileURLToPath(new URL('..', import.meta.url))
  const path = resolve(checkout, process.env.BOTSTEAD_DATA_DIR || 'data', 'admin-token')
  const token = await readFile(path, 'utf8').catch(() => '')
  if (token.trim() !== '') return token.trim()
  throw new Error(
    `There is no token in ${path}: run "npm start" first, or set BOTSTEAD_TOKEN or BOTSTEAD_DATA_DIR.`,
  )
}

async function firstWorkspace(server) {
  try {
    const { workspaces } = await new Client({ ...server, retry: { retries: 0 } }).listWorkspaces({})
    return workspaces[0]?.id
  } catch (error) {
    // Not as the cause: Node would print it with its headers, which contain the token.
    if (!isApiError(error) || error.code !== 401) {
      throw new Error(
        `No server responds at ${server.apiUrl}: "npm start" starts one, BOTSTEAD_URL names another. (${error.message})`,
      )
    }
    throw new Error(
      `The server at ${server.apiUrl} does not know this token: BOTSTEAD_TOKEN or BOTSTEAD_DATA_DIR names another.`,
    )
  }
}
