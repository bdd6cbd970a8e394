import { type Client, createClient } from '@botstead/contract'
import type { Command } from 'commander'
import { findBot } from './known-bots.js'
import { accessServer, addServerOptions, reachable, type ServerOptions } from './server-access.js'

/** Options of every command that works on a bot. */
export interface ConnectionOptions extends ServerOptions {
  bot?: string
}

export interface Connection {
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
  const { url, token, bot } = await accessServer(options)
  const found = await reachable(url, () => findBot({ url, token, wanted: options.bot ?? bot }))
  const { id: botId, workspaceId } = found
  return { url, token, botId, workspaceId, client: createClient({ baseUrl: url, token, botId }) }
}
