import { contract, type Operation } from '@botstead/contract'
import type { TestServer } from '../harness.js'
import type { Request } from '../request.js'
import type { Tenant } from '../tenant.js'

/** One of the main calls, as one tenant makes it. */
export interface MainCall {
  operation: Operation
  /** Name of the header that carries the credential. */
  credential: 'authorization' | 'x-user-key'
  /** Name of the header with the scope of the call; chat addresses have it in the path. */
  scope: 'x-workspace-id' | 'x-bot-id' | undefined
  example(tenant: Tenant): Request
  /** The objects that the call could have stored, as its tenant sees them. */
  stored(server: TestServer, tenant: Tenant): Promise<unknown>
}

/** The files of a tenant without their addresses, which are signed again at each read. */
export async function storedFiles(server: TestServer, tenant: Tenant): Promise<unknown[]> {
  const { files } = await server.client(tenant).listFiles({ pageSize: 100 })
  return files.map(({ url: _, ...file }) => file)
}

const bearer = (token: string) => `Bearer ${token}`

const listBots: MainCall = {
  operation: contract.bots.list,
  credential: 'authorization',
  scope: 'x-workspace-id',
  example: ({ token, workspaceId }) => ({
    headers: { authorization: bearer(token), 'x-workspace-id': workspaceId },
  }),
  stored: (server, tenant) => server.client(tenant).listBots(),
}

const upsertFile: MainCall = {
  operation: contract.files.upsert,
  credential: 'authorization',
  scope: 'x-bot-id',
  example: ({ token, botId }) => ({
    headers: { authorization: bearer(token), 'x-bot-id': botId },
    body: { key: 'pump.md', size: 5 },
  }),
  stored: storedFiles,
}

const searchFiles: MainCall = {
  operation: contract.search.files,
  credential: 'authorization',
  scope: 'x-bot-id',
  example: ({ token, botId }) => ({
    headers: { authorization: bearer(token), 'x-bot-id': botId },
    query: { query: 'how to mend a pump' },
  }),
  stored: storedFiles,
}

const createConversation: MainCall = {
  operation: contract.conversations.create,
  credential: 'authorization',
  scope: 'x-bot-id',
  example: ({ token, botId }) => ({
    headers: { authorization: bearer(token), 'x-bot-id': botId },
    body: { channel: 'channel', tags: {} },
  }),
  stored: (server, tenant) => server.client(tenant).listConversations(),
}

const createMessage: MainCall = {
  operation: contract.chat.createMessage,
  credential: 'x-user-key',
  scope: undefined,
  example: ({ webhookId, userKey, conversationId }) => ({
    params: { webhookId },
    headers: { 'x-user-key': userKey },
    body: { conversationId, payload: { type: 'audio', audioUrl: 'https://example.com/a.mp3' } },
  }),
  stored: (server, tenant) => server.client(tenant).chatListMessages(tenant),
}

/** The five calls with their names for test titles. */
export const mainCalls: readonly [string, MainCall][] = [
  ['listBots', listBots],
  ['upsertFile', upsertFile],
  ['searchFiles', searchFiles],
  ['createConversation', createConversation],
  ['createMessage', createMessage],
]

/** The calls that take a personal token or the key of a bot. */
export const tokenCalls = mainCalls.filter(([, { credential }]) => credential === 'authorization')
/** The calls that have a body. */
export const bodyCalls = mainCalls.filter(([, { operation }]) => operation.body !== undefined)
