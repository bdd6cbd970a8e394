import http from 'node:http'
import { type AuthenticatedClient, Client as ChatClient } from '@botpress/chat'
import { Client } from '@botpress/client'
import type { TestServer } from './harness.js'
import type { Login } from './tenant.js'

/** A server under test, in this process or in one of its own, as callers reach it. */
export type ReachableServer = Pick<TestServer, 'url' | 'token' | 'workspaceId'>

type Options = NonNullable<ConstructorParameters<typeof Client>[0]>

// The listener of the existing client breaks off after five seconds without a byte: the limit of the agent
// that requests of a process share. On a busy machine an expected signal may take longer.
http.globalAgent = new http.Agent({ keepAlive: true, timeout: 60_000 })

/** The existing client of the interface, unmodified, as the first account or as another one. */
export function existingClient(
  server: ReachableServer,
  options: Options & Partial<Login> = {},
): InstanceType<typeof Client> {
  const { url, token, workspaceId } = server
  return new Client({ apiUrl: url, token, workspaceId, ...options })
}

/** A bot made with that client, the client inside it, and its chat address. */
export async function makeBot(server: ReachableServer) {
  const admin = existingClient(server)
  const { bot } = await admin.createBot({ name: 'Made elsewhere' })
  const [integrationId = '', chat] = Object.entries(bot.integrations)[0] ?? []
  return {
    admin,
    bot,
    client: existingClient(server, { botId: bot.id }),
    integrationId,
    webhookId: chat?.webhookId ?? '',
  }
}

/** The existing client as an integration without a server, installed in a bot under an alias. */
export async function installSilently(server: TestServer, botId: string, alias: string) {
  const admin = existingClient(server, { headers: { 'x-multiple-integrations': 'true' } })
  const { integration } = await admin.createIntegration({ name: alias, version: '1.0.0' })
  const integrations = { [alias]: { integrationId: integration.id, enabled: true } }
  await admin.updateBot({ id: botId, integrations })
  const integrationId = integration.id
  return existingClient(server, { botId, integrationId, integrationAlias: alias })
}

/** The existing client of chat addresses, connected as a new user. */
export async function connect(
  server: Pick<TestServer, 'url'>,
  webhookId: string,
  userId?: string,
): Promise<AuthenticatedClient> {
  return await ChatClient.connect({
    baseApiUrl: `${server.url}/chat`,
    webhookId,
    ...(userId !== undefined && { userId }),
  })
}
