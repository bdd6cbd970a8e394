import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, type Client, createClient } from '@botstead/contract'
import type { Command } from 'commander'
import { type ClientConfig, loadClientConfig } from '../config.js'

/** Options of every command that calls a server. */
export interface ConnectionOptions {
  url?: string
  token?: string
  bot?: string
}

export interface Connection {
  url: string
  token: string
  botId: string
  /** Workspace of the bot; unknown when the token is the key of a bot. */
  workspaceId: string | undefined
  /** Calls as the token, on the bot. */
  client: Client
}

/** Adds the options that {@link connect} reads. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option('--url <address>', 'server to call instead of BOTSTEAD_URL')
    .option('--token <token>', 'token instead of BOTSTEAD_TOKEN')
    .option('--bot <id or name>', 'bot instead of BOTSTEAD_BOT; not needed when there is only one')
}

/**
 * Finds the server, the token and the bot that a command is about: options first, then the
 * environment, then what stands in this folder.
 */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const config = loadClientConfig(undefined, { envFile: '.env' })
  const url = (options.url ?? config.url ?? config.local.publicUrl).replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new Error(`--url must be an address such as http://localhost:8787.`)
  const token = options.token ?? config.token ?? (await localToken(config, url))
  const bot = await reachable(url, () => findBot({ url, token, wanted: options.bot ?? config.bot }))
  const { id: botId, workspaceId } = bot
  return { url, token, botId, workspaceId, client: createClient({ baseUrl: url, token, botId }) }
}

/** The token of the server in this folder; it goes to this machine only. */
async function localToken({ local }: ClientConfig, url: string): Promise<string> {
  const { hostname } = new URL(url)
  const isHere = url === local.publicUrl || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const kept = isHere
    ? (local.adminToken ?? (await readToken(join(local.dataDir, 'admin-token'))))
    : undefined
  if (kept !== undefined) return kept
  throw new Error(
    `There is no token for ${url}: give one with --token or BOTSTEAD_TOKEN, or run this where the server has its data folder. "botstead token create" makes one.`,
  )
}

async function readToken(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined
  } catch {
    return undefined
  }
}

interface Wanted {
  url: string
  token: string
  /** Id or name; undefined for the only one. */
  wanted: string | undefined
}

async function findBot({ url, token, wanted }: Wanted): Promise<FoundBot> {
  // The key of a bot cannot list bots, and its id is all that is needed.
  if (token.startsWith('bp_bak_') && wanted !== undefined) {
    return { id: wanted, workspaceId: undefined }
  }
  const bots = await listBots(url, token)
  if (wanted !== undefined) {
    const byId = bots.find(({ id }) => id === wanted)
    const named = bots.filter(({ name }) => name === wanted)
    const found = byId ?? (named.length === 1 ? named[0] : undefined)
    if (found !== undefined) return found
    const why = named.length > 1 ? `${named.length} bots are called` : 'There is no bot'
    throw new Error(`${why} "${wanted}". ${choices(bots)}`)
  }
  const [only] = bots
  if (only !== undefined && bots.length === 1) return only
  throw new Error(`Which bot? ${choices(bots)}`)
}

interface FoundBot {
  id: string
  workspaceId: string | undefined
}

interface ListedBot extends FoundBot {
  name: string
}

async function listBots(url: string, token: string): Promise<ListedBot[]> {
  const found: ListedBot[] = []
  const account = createClient({ baseUrl: url, token })
  for await (const workspaces of pages((next) => account.listWorkspaces(next))) {
    for (const { id: workspaceId } of workspaces.workspaces) {
      const client = createClient({ baseUrl: url, token, workspaceId })
      for await (const page of pages((next) => client.listBots(next))) {
        found.push(...page.bots.map(({ id, name }) => ({ id, name, workspaceId })))
      }
    }
  }
  return found
}

/** All pages of a list, one after the other. */
async function* pages<Page extends { meta: { nextToken?: string } }>(
  read: (next: { nextToken?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  let nextToken: string | undefined
  do {
    const page = await read(nextToken === undefined ? {} : { nextToken })
    yield page
    nextToken = page.meta.nextToken
  } while (nextToken !== undefined)
}

const mostChoices = 10

function choices(bots: readonly ListedBot[]): string {
  if (bots.length === 0) {
    return 'The token reaches no bot: create one first, with POST /v1/admin/bots (step 1 of the README).'
  }
  const lines = bots.slice(0, mostChoices).map(({ id, name }) => `\n  ${id}  ${name}`)
  const more = bots.length > mostChoices ? `\n  and ${bots.length - mostChoices} more` : ''
  return `Give one with --bot or BOTSTEAD_BOT:${lines.join('')}${more}`
}

/** Says what to do when nobody answers, or when the token is refused. */
async function reachable<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (
      error instanceof ApiError &&
      (error.type === 'Unauthorized' || error.type === 'Forbidden')
    ) {
      throw new Error(
        `${url} refuses the token: ${error.message} Give another with --token or BOTSTEAD_TOKEN; with the key of a bot, also give --bot.`,
        { cause: error },
      )
    }
    if (!isConnectionFailure(error)) throw error
    throw new Error(
      `No server answers at ${url}: start it with "botstead start", or name another with --url or BOTSTEAD_URL.`,
      { cause: error },
    )
  }
}

/** Whether a call failed because nobody answered, and not because it was refused. */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed'
}
