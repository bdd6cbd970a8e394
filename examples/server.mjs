// The server for the examples: the one of this checkout, wherever it listens. Settings: BOTSTEAD_URL, or PORT on this
// machine, and BOTSTEAD_TOKEN or BOTSTEAD_DATA_DIR, where the server stores one; also in the file .env of the working
// folder, which the server reads too. A program for which there is no server ends and says what to do.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, isApiError } from '@botpress/client'
import { stop } from './stop.mjs'

/**
 * The address of the server, the token of a person and the first of their workspaces.
 * @param address instead of the setting
 * @param tokenThere likewise
 */
export async function findServer(address, tokenThere) {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const apiUrl = address ?? (process.env.BOTSTEAD_URL || (await addressHere()))
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

/** A file of the data folder of the server; empty if there is none. */
async function readData(name) {
  const checkout = fileURLToPath(new URL('..', import.meta.url))
  const path = resolve(checkout, process.env.BOTSTEAD_DATA_DIR || 'data', name)
  return { path, text: (await readFile(path, 'utf8').catch(() => '')).trim() }
}

/** Reads the address of the server, which it writes into its data folder when it starts. */
async function addressHere() {
  const { text } = await readData('server.address')
  const usual = `http://localhost:${process.env.PORT || 8787}`
  if (process.env.PORT || text === '') return usual
  const { address, local = address } = JSON.parse(text)
  return local
}

/** The token that the first start of the server stored in its data folder. */
async function firstToken() {
  const { path, text } = await readData('admin-token')
  if (text !== '') return text
  stop(
    `There is no token in ${path}: run "npm start" first, or set BOTSTEAD_TOKEN or BOTSTEAD_DATA_DIR.`,
  )
}

async function firstWorkspace(server) {
  try {
    const { workspaces } = await new Client({ ...server, retry: { retries: 0 } }).listWorkspaces({})
    return workspaces[0]?.id
  } catch (error) {
    // The message alone: Node would print the error with its headers, which contain the token.
    if (!isApiError(error) || error.code !== 401) {
      stop(
        `No server responds at ${server.apiUrl}: "npm start" starts one, BOTSTEAD_URL names another. (${error.message})`,
      )
    }
    stop(
      `The server at ${server.apiUrl} does not know this token: BOTSTEAD_TOKEN or BOTSTEAD_DATA_DIR names another.`,
    )
  }
}
