import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, type Client, createClient } from '@botstead/contract'
import { messageForPeople } from '@botstead/contract/error-text'
import { type Command, InvalidArgumentError } from 'commander'
import { type ClientConfig, loadClientConfig } from '../config/config.js'
import { findBot } from './known-bots.js'
import { findRunning, findRunningDemo, type RunningServer } from './running.js'
import { notices } from './terminal.js'

/** Options of every command that calls a server. */
export interface ServerOptions {
  url?: string
  token?: string
}

/** A server and the credential for it. */
export interface ServerAccess {
  /** Without a slash at its end. */
  url: string
  token: string
  /** Bot that the environment names. */
  bot: string | undefined
  /** Options that select the same server in suggested commands. */
  again: {
    /** Options with a space before them; empty if they are not needed. */
    words: string
    /** Whether the token has to be given again, which is not printed. */
    needsToken: boolean
  }
}

/** Adds the options that {@link accessServer} reads. */
export function addServerOptions(command: Command): Command {
  return command
    .option('--url <address>', 'server to call instead of BOTSTEAD_URL')
    .option('--token <token>', 'token instead of BOTSTEAD_TOKEN')
}

/**
 * Determines the server and the token: from the options, then the environment, then what runs: the server of the current
 * folder, or a demonstration.
 */
export async function accessServer(options: ServerOptions): Promise<ServerAccess> {
  const config = loadClientConfig(undefined, { envFile: '.env' })
  const { local } = config
  const given = options.url ?? config.url
  const hasToken = (options.token ?? config.token) !== undefined
  const running = given === undefined ? await findRunning(local, { hasToken }) : undefined
  const url = (given ?? running?.address ?? local.publicUrl).replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new Error(`--url must be an address such as http://localhost:8787.`)
  const isDemo = running?.kind === 'demonstration'
  // The token of the environment is for another server than a demonstration that nothing names.
  const ofEnvironment = isDemo ? undefined : config.token
  const kept = ofEnvironment ?? (await keptToken(config, url, running))
  const token = options.token ?? kept
  if (token === undefined) throw (given ?? running) ? noToken(url) : noServer(url)
  return {
    url,
    token,
    bot: config.bot,
    again: {
      words: options.url === undefined ? '' : ` --url ${options.url}`,
      needsToken: token !== kept,
    },
  }
}

/** The token that a server on this machine keeps in its data folder; it is sent to this machine only. */
async function keptToken(
  { local }: ClientConfig,
  url: string,
  running: RunningServer | undefined,
): Promise<string | undefined> {
  const server = running ?? (isLoopback(url) ? await findDemoAt(url) : undefined)
  if (server?.kind === 'demonstration') return await readToken(server.dataDir)
  if (!isLoopback(url) && url !== local.publicUrl) return undefined
  return local.adminToken ?? (await readToken(local.dataDir))
}

/** The demonstration that runs, if an address is its own. */
async function findDemoAt(url: string): Promise<RunningServer | undefined> {
  const demo = await findRunningDemo()
  const isSame =
    demo && isLoopback(demo.address) && new URL(demo.address).port === new URL(url).port
  return isSame ? demo : undefined
}

function isLoopback(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
}

function noToken(url: string): Error {
  return new Error(
    `There is no token for ${url}: give one with --token or BOTSTEAD_TOKEN, or run this where the server has its data folder. There, "npx botstead token create" makes one.`,
  )
}

function noServer(url: string, cause?: unknown): Error {
  return new Error(
    `No server responds at ${url}: start it with "npx botstead start", or name another with --url or BOTSTEAD_URL.`,
    { cause },
  )
}

/** Suggests commands that go on with the same server: each works as pasted. */
export function suggest(
  { again: { words, needsToken } }: Pick<ServerAccess, 'again'>,
  commands: readonly string[],
): void {
  notices.line(needsToken ? 'Next, with the same --token:' : 'Next:')
  for (const command of commands) notices.line(`  ${command}${words}`)
}

async function readToken(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim() || undefined
  } catch {
    return undefined
  }
}

/** Runs calls to a server; failures of the connection and refused tokens become errors that say what to do. */
export async function reachable<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (
      error instanceof ApiError &&
      (error.type === 'Unauthorized' || error.type === 'Forbidden')
    ) {
      throw new Error(
        `${url} refuses the token: ${messageForPeople(error.message)} Give another with --token or BOTSTEAD_TOKEN; with the key of a bot, also give --bot.`,
        { cause: error },
      )
    }
    if (error instanceof TypeError && !isConnectionFailure(error)) {
      throw new Error(
        `The program at ${url} is not a Botstead server, or one of another version: check --url or BOTSTEAD_URL.`,
        { cause: error },
      )
    }
    if (!isConnectionFailure(error)) throw error
    const reason = encryptionFailure(url, error)
    if (reason !== undefined) throw new Error(reason, { cause: error })
    throw noServer(url, error)
  }
}

/** Whether a call failed because there was no response, and not because it was refused. */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed'
}

/** The reason why TLS with a server that accepts connections failed; undefined for other failures. */
function encryptionFailure(url: string, error: unknown): string | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  const { code, reason } = Object(cause)
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return `The certificate of ${url} is signed by nobody whom this machine trusts: name the file of the authority's certificate in NODE_EXTRA_CA_CERTS.`
    case 'CERT_HAS_EXPIRED':
      return `The certificate of ${url} has expired: renew it at the proxy.`
    case 'CERT_NOT_YET_VALID':
      return `The certificate of ${url} is not valid yet: compare the clocks of both machines.`
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of ${url} is for another name: ${reason ?? 'use the name that it has'}`
    default:
  }
  if (typeof code === 'string' && code.startsWith('ERR_SSL_')) {
    return `${url} does not speak TLS: try the same address with http://.`
  }
  if (typeof code === 'string' && code.startsWith('HPE_')) {
    return `${url} does not speak HTTP: try the same address with https://.`
  }
  return undefined
}

/** Reads an option `--tag name=value`, which may be repeated; the last one with a name counts. */
export function addTag(text: string, tags: Record<string, string>): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('A tag is written name=value.')
  return { ...tags, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Options of every command that works on a bot. */
export interface ConnectionOptions extends ServerOptions {
  bot?: string
}

/** The server and the bot that a command works on. */
export interface Connection extends Pick<ServerAccess, 'again'> {
  url: string
  token: string
  botId: string
  /** Workspace of the bot; unknown when the token is the key of a bot. */
  workspaceId: string | undefined
  /** Client that uses the token and the bot. */
  client: Client
}

/** Adds the options that {@link connect} reads. */
export function addConnectionOptions(command: Command): Command {
  return addServerOptions(command).option(
    '--bot <id or name>',
    'bot instead of BOTSTEAD_BOT; not needed when there is only one',
  )
}

/**
 * Determines the server, the token and the bot of a command: from the options, then the
 * environment, then the current folder.
 */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const { url, token, bot, again } = await accessServer(options)
  const found = await reachable(url, () => findBot({ url, token, wanted: options.bot ?? bot }))
  const { id: botId, workspaceId } = found
  const client = createClient({ baseUrl: url, token, botId })
  return { url, token, botId, workspaceId, client, again }
}
