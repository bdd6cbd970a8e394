import { join } from 'node:path'
import type { Client } from '@botstead/contract'
import { openDatabase } from '../../src/platform/db/open.js'
import type { TestServer } from '../harness.js'
import { createSlices, type Slices } from '../slices.js'
import { addEvaluation } from '../tenant.js'
import { patientWithLocks } from './waiting.js'

/** Everything that a tenant can have, by the parameter names of operations. */
export interface Tenant {
  token: string
  tokenId: string
  sessionId: string
  passkeyId: string
  memberId: string
  workspaceId: string
  botId: string
  keyId: string
  key: string
  webhookId: string
  fileId: string
  knowledgeBaseId: string
  evaluationSetId: string
  evaluationCaseId: string
  evaluationRunId: string
  conversationId: string
  chatConversationId: string
  chatMessageId: string
  chatEventId: string
  userId: string
  messageId: string
  eventId: string
  workflowId: string
  integrationId: string
  integrationKeyId: string
  interfaceId: string
  pluginId: string
  userKey: string
  client: Client
}

/** As another process on the same database: accounts beside the first are made so. */
export async function inDatabase<T>(
  { server }: TestServer,
  work: (tenants: Slices) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir } = server.config
  await using database = await openDatabase({
    ...(databaseUrl === undefined ? { file: join(dataDir, 'botstead.db') } : { url: databaseUrl }),
    ...patientWithLocks,
  })
  return await work(await createSlices(database))
}

/** A tenant with one of each. */
export async function seedTenant(server: TestServer): Promise<Tenant> {
  const { token, workspace } = await inDatabase(server, (tenants) => tenants.person())
  const passkeyId = await addPasskey(server, workspace.accountId)
  const { workspaceId } = workspace
  const page = server.client({ token: undefined, headers: { origin: server.url } })
  const { session } = await page.createSession({ token })
  const headers = { 'x-multiple-integrations': 'true' }
  const admin = server.client({ token, workspaceId, headers })
  const { bot } = await admin.createBot({ name: 'Secret' })
  const webhookId = bot.integrations.chat?.webhookId ?? ''
  const made = await admin.createBotApiKey({ botId: bot.id })
  const inBot = server.client({ token, workspaceId, botId: bot.id, webhookId, headers })
  const { file } = await inBot.upsertFile({ key: 'secret.txt', size: 5 })
  const { knowledgeBase } = await inBot.createKnowledgeBase({ name: 'Secret' })
  const evaluation = await addEvaluation(inBot, 'Secret')
  const { conversation } = await inBot.createConversation({ channel: 'channel', tags: {} })
  const { user, key: userKey } = await inBot.chatCreateUser({})
  const client = server.client({
    token,
    workspaceId,
    botId: bot.id,
    webhookId,
    userKey,
    headers,
  })
  const chat = await client.chatCreateConversation({})
  const { event: chatEvent } = await client.chatCreateEvent({
    conversationId: chat.conversation.id,
    payload: { said: 'secret' },
  })
  const { message } = await client.chatCreateMessage({
    conversationId: chat.conversation.id,
    payload: { type: 'text', text: 'secret' },
  })
  const { event } = await client.createEvent({
    type: 'secret',
    payload: {},
    schedule: { delay: 86_400_000 },
  })
  const { workflow } = await client.createWorkflow({ name: 'secret', status: 'listening' })
  await client.setState({ ...noted(conversation.id), payload: { secret: true } })
  const { integration } = await client.createIntegration({ name: 'secret', version: '1.0.0' })
  const { interface: list } = await client.createInterface({ name: 'secret', version: '1.0.0' })
  const { plugin } = await client.createPlugin({
    name: 'secret',
    version: '1.0.0',
    code: { node: 'secret', browser: 'secret' },
  })
  const guest = await client.createWorkspaceMember({ email: 'guest@example.com', role: 'viewer' })
  const integrationKey = await client.createIntegrationApiKey({ integrationId: integration.id })
  return {
    ...evaluation,
    workflowId: workflow.id,
    integrationId: integration.id,
    interfaceId: list.id,
    pluginId: plugin.id,
    integrationKeyId: integrationKey.id,
    messageId: message.id,
    eventId: event.id,
    token,
    tokenId: workspace.tokenId,
    sessionId: session.id,
    passkeyId,
    memberId: guest.id,
    workspaceId,
    botId: bot.id,
    keyId: made.id,
    key: made.value,
    webhookId,
    fileId: file.id,
    knowledgeBaseId: knowledgeBase.id,
    conversationId: conversation.id,
    chatConversationId: chat.conversation.id,
    chatMessageId: message.id,
    chatEventId: chatEvent.id,
    userId: user.id,
    userKey,
    client,
  }
}

/** Adds the row of a passkey, whose device nobody has. @returns its id */
async function addPasskey(server: TestServer, accountId: string): Promise<string> {
  const id = `passkey_of_${accountId}`
  await inDatabase(server, ({ run }) =>
    run((tx) =>
      tx
        .insertInto('passkeys')
        .values({
          id,
          account_id: accountId,
          credential_id: id,
          public_key: 'secret',
          counter: 0,
          transports: '[]',
          host: 'localhost',
          name: 'Secret',
          is_syncable: 0,
          is_backed_up: 0,
          created_at: new Date().toISOString(),
          last_used_at: null,
        })
        .execute(),
    ),
  )
  return id
}

/** All data of a tenant: it must not change through attempts of others. */
export async function inventory({ client, botId, ...own }: Tenant) {
  return {
    workspace: await client.getWorkspace({ id: own.workspaceId }),
    members: (await client.listWorkspaceMembers()).members,
    allowlist: await client.getBotAllowlist({ botId }),
    bot: await client.getBot({ id: botId }),
    integration: await client.getIntegration({ id: own.integrationId }),
    integrationKeys: (await client.listIntegrationApiKeys({ integrationId: own.integrationId }))
      .iaks,
    interface: await client.getInterface({ id: own.interfaceId }),
    plugin: await client.getPlugin({ id: own.pluginId }),
    pluginCode: await client.getPluginCode({ id: own.pluginId, platform: 'node' }),
    keys: (await client.listBotApiKeys({ botId })).baks.map(({ id }) => id),
    passkeys: (await client.listPasskeys()).passkeys,
    tokens: (await client.listPersonalAccessTokens()).pats.map(({ id }) => id),
    files: (await client.listFiles()).files.map(({ url, ...file }) => file),
    knowledgeBases: (await client.listKnowledgeBases()).knowledgeBases,
    evaluationCases: (await client.listEvaluationCases({ id: own.evaluationSetId }))
      .evaluationCases,
    evaluationRuns: (
      await client.listEvaluationRuns({ id: own.evaluationSetId })
    ).evaluationRuns.map(({ id }) => id),
    evaluationSets: (await client.listEvaluationSets()).evaluationSets,
    conversations: (await client.listConversations()).conversations.map(({ id }) => id),
    workflows: (await client.listWorkflows()).workflows,
    state: await client.getState(noted(own.conversationId)),
    users: (await client.listUsers()).users.map(({ id }) => id),
    events: (await client.listEvents()).events,
    messages: (await client.chatListMessages({ conversationId: own.chatConversationId })).messages,
  }
}

export const noted = (id: string) => ({ type: 'conversation' as const, id, name: 'noted' })
