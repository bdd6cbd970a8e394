import { join } from 'node:path'
import { allOperations, type Client, type Operation } from '@botstead/contract'
import { beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../src/platform/db/open.js'
import { describeEachEngine } from './engines.js'
import { type TestServer, useServer } from './harness.js'
import { createTenants, type Tenants } from './tenants.js'

/** Everything that a tenant can have, by the names under which operations ask for it. */
interface Tenant {
  token: string
  tokenId: string
  workspaceId: string
  botId: string
  keyId: string
  key: string
  webhookId: string
  fileId: string
  knowledgeBaseId: string
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
  userKey: string
  client: Client
}

/** Accounts and members beside the first. No operation makes them yet, so that the database has to. */
async function inDatabase<T>(
  { server }: TestServer,
  work: (tenants: Tenants) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir } = server.config
  await using database = await openDatabase(
    databaseUrl === undefined ? { file: join(dataDir, 'botstead.db') } : { url: databaseUrl },
  )
  return await work(await createTenants(database))
}

async function furnish(server: TestServer): Promise<Tenant> {
  const { token, workspace } = await inDatabase(server, (tenants) => tenants.person())
  const { workspaceId } = workspace
  const headers = { 'x-multiple-integrations': 'true' }
  const admin = server.client({ token, workspaceId, headers })
  const { bot } = await admin.createBot({ name: 'Secret' })
  const webhookId = bot.integrations.chat?.webhookId ?? ''
  const made = await admin.createBotApiKey({ botId: bot.id })
  const inBot = server.client({ token, workspaceId, botId: bot.id, webhookId, headers })
  const { file } = await inBot.upsertFile({ key: 'secret.txt', size: 5 })
  const { knowledgeBase } = await inBot.createKnowledgeBase({ name: 'Secret' })
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
    ...{ type: 'secret', payload: {}, schedule: { delay: 86_400_000 } },
  })
  const { workflow } = await client.createWorkflow({ name: 'secret', status: 'listening' })
  await client.setState({ ...noted(conversation.id), payload: { secret: true } })
  const { integration } = await client.createIntegration({ name: 'secret', version: '1.0.0' })
  const integrationKey = await client.createIntegrationApiKey({ integrationId: integration.id })
  return {
    workflowId: workflow.id,
    integrationId: integration.id,
    integrationKeyId: integrationKey.id,
    messageId: message.id,
    eventId: event.id,
    token,
    tokenId: workspace.tokenId,
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

/** What a tenant sees of their own: it must not change by what others try. */
async function inventory({ client, botId, ...own }: Tenant) {
  return {
    workspace: await client.getWorkspace({ id: own.workspaceId }),
    bot: await client.getBot({ id: botId }),
    integration: await client.getIntegration({ id: own.integrationId }),
    integrationKeys: (await client.listIntegrationApiKeys({ integrationId: own.integrationId }))
      .iaks,
    keys: (await client.listBotApiKeys({ botId })).baks.map(({ id }) => id),
    tokens: (await client.listPersonalAccessTokens()).pats.map(({ id }) => id),
    files: (await client.listFiles()).files.map(({ url, ...file }) => file),
    knowledgeBases: (await client.listKnowledgeBases()).knowledgeBases,
    conversations: (await client.listConversations()).conversations.map(({ id }) => id),
    workflows: (await client.listWorkflows()).workflows,
    state: await client.getState(noted(own.conversationId)),
    users: (await client.listUsers()).users.map(({ id }) => id),
    events: (await client.listEvents()).events,
    messages: (await client.chatListMessages({ conversationId: own.chatConversationId })).messages,
  }
}

const noted = (id: string) => ({ type: 'conversation' as const, id, name: 'noted' })

/** Operations that name something by its id, called by one tenant with the ids of another. */
const reaches: Record<string, (client: Client, other: Tenant) => Promise<unknown>> = {
  deletePersonalAccessToken: (client, { tokenId }) =>
    client.deletePersonalAccessToken({ id: tokenId }),
  listBotApiKeys: (client, { botId }) => client.listBotApiKeys({ botId }),
  createBotApiKey: (client, { botId }) => client.createBotApiKey({ botId }),
  deleteBotApiKey: (client, { keyId }) => client.deleteBotApiKey({ id: keyId }),
  getWorkspace: (client, { workspaceId }) => client.getWorkspace({ id: workspaceId }),
  updateWorkspace: (client, { workspaceId }) =>
    client.updateWorkspace({ id: workspaceId, name: 'taken' }),
  deleteWorkspace: (client, { workspaceId }) => client.deleteWorkspace({ id: workspaceId }),
  getBot: (client, { botId }) => client.getBot({ id: botId }),
  updateBot: (client, { botId }) => client.updateBot({ id: botId, name: 'taken' }),
  deleteBot: (client, { botId }) => client.deleteBot({ id: botId }),
  rotateBotSigningSecrets: (client, { botId }) => client.rotateBotSigningSecrets({ id: botId }),
  getBotLogs: (client, { botId }) =>
    client.getBotLogs({ id: botId, timeStart: '2026-01-01T00:00:00Z' }),
  listDeliveries: (client, { botId }) => client.listDeliveries({ id: botId }),
  getDelivery: (client, { botId }) =>
    client.getDelivery({ id: botId, deliveryId: 'delivery_none' }),
  replayDelivery: (client, { botId }) =>
    client.replayDelivery({ id: botId, deliveryId: 'delivery_none' }),
  replayFailedDeliveries: (client, { botId }) => client.replayFailedDeliveries({ id: botId }),
  listDeliveryReceivers: (client, { botId }) => client.listDeliveryReceivers({ id: botId }),
  pauseDeliveries: (client, { botId }) => client.pauseDeliveries({ id: botId }),
  resumeDeliveries: (client, { botId }) => client.resumeDeliveries({ id: botId }),
  sendTestEvent: (client, { botId }) => client.sendTestEvent({ id: botId }),
  getFile: (client, { fileId }) => client.getFile({ id: fileId }),
  listFilePassages: (client, { fileId }) => client.listFilePassages({ id: fileId }),
  setFilePassages: (client, { fileId }) =>
    client.setFilePassages({ id: fileId, passages: [{ content: 'taken' }] }),
  reindexFile: (client, { fileId }) => client.reindexFile({ id: fileId }),
  deleteFile: (client, { fileId }) => client.deleteFile({ id: fileId }),
  requestIntegrationVerification: (client, { integrationId }) =>
    client.requestIntegrationVerification({ integrationId }),
  getIntegration: (client, { integrationId }) => client.getIntegration({ id: integrationId }),
  updateIntegration: (client, { integrationId }) =>
    client.updateIntegration({ id: integrationId, title: 'taken' }),
  validateIntegrationUpdate: (client, { integrationId }) =>
    client.validateIntegrationUpdate({ id: integrationId, title: 'taken' }),
  deleteIntegration: (client, { integrationId }) => client.deleteIntegration({ id: integrationId }),
  rotateIntegrationSigningSecrets: (client, { integrationId }) =>
    client.rotateIntegrationSigningSecrets({ id: integrationId }),
  getIntegrationLogs: (client, { integrationId }) =>
    client.getIntegrationLogs({ id: integrationId, timeStart: '2026-01-01T00:00:00Z' }),
  listIntegrationApiKeys: (client, { integrationId }) =>
    client.listIntegrationApiKeys({ integrationId }),
  createIntegrationApiKey: (client, { integrationId }) =>
    client.createIntegrationApiKey({ integrationId }),
  deleteIntegrationApiKey: (client, { integrationKeyId }) =>
    client.deleteIntegrationApiKey({ id: integrationKeyId }),
  // Nothing that is another tenant's is in the hub, whatever it is asked for.
  getPublicIntegrationById: (client, { integrationId }) =>
    client.getPublicIntegrationById({ id: integrationId }),
  listIntegrations: async (client, { botId, integrationId }) => {
    const { integrations } = await client.listIntegrations({ installedByBotId: botId })
    expect(integrations).toEqual([])
    return await client.getIntegration({ id: integrationId })
  },
  listPublicIntegrations: (client, { integrationId }) =>
    client.getPublicIntegrationById({ id: integrationId }),
  updateFileMetadata: (client, { fileId }) =>
    client.updateFileMetadata({ id: fileId, tags: { taken: 'yes' } }),
  copyFile: (client, { fileId }) =>
    client.copyFile({ idOrKey: fileId, destinationKey: 'taken.txt' }),
  updateKnowledgeBase: (client, { knowledgeBaseId }) =>
    client.updateKnowledgeBase({ id: knowledgeBaseId, name: 'taken' }),
  deleteKnowledgeBase: (client, { knowledgeBaseId }) =>
    client.deleteKnowledgeBase({ id: knowledgeBaseId }),
  getConversation: (client, { conversationId }) => client.getConversation({ id: conversationId }),
  updateConversation: (client, { conversationId }) =>
    client.updateConversation({ id: conversationId, tags: { whose: 'taken' } }),
  deleteConversation: (client, { conversationId }) =>
    client.deleteConversation({ id: conversationId }),
  listParticipants: (client, { conversationId }) => client.listParticipants({ id: conversationId }),
  addParticipant: (client, { conversationId, botId }) =>
    client.addParticipant({ id: conversationId, userId: botId }),
  getParticipant: (client, { chatConversationId, userId }) =>
    client.getParticipant({ id: chatConversationId, userId }),
  removeParticipant: (client, { chatConversationId, userId }) =>
    client.removeParticipant({ id: chatConversationId, userId }),
  getUser: (client, { userId }) => client.getUser({ id: userId }),
  listUsers: (client, { conversationId }) => client.listUsers({ conversationId }),
  updateUser: (client, { userId }) => client.updateUser({ id: userId, name: 'taken' }),
  deleteUser: (client, { userId }) => client.deleteUser({ id: userId }),
  createMessage: (client, { conversationId, botId }) =>
    client.createMessage({
      ...{ conversationId, userId: botId, type: 'text', payload: { text: 'taken' }, tags: {} },
    }),
  getOrCreateMessage: (client, { chatConversationId, userId }) =>
    client.getOrCreateMessage({
      ...{ conversationId: chatConversationId, userId, type: 'text', tags: {} },
    }),
  getMessage: (client, { messageId }) => client.getMessage({ id: messageId }),
  updateMessage: (client, { messageId }) =>
    client.updateMessage({ id: messageId, payload: { text: 'taken' } }),
  listMessages: (client, { conversationId }) => client.listMessages({ conversationId }),
  deleteMessage: (client, { messageId }) => client.deleteMessage({ id: messageId }),
  initializeIncomingMessage: (client, { userId, conversationId }) =>
    client.initializeIncomingMessage({ userId, conversationId }),
  createEvent: (client, { conversationId, userId, messageId }) =>
    client.createEvent({ type: 'taken', payload: {}, conversationId, userId, messageId }),
  getEvent: (client, { eventId }) => client.getEvent({ id: eventId }),
  listEvents: (client, { conversationId }) => client.listEvents({ conversationId }),
  getState: (client, { conversationId }) => client.getState(noted(conversationId)),
  setState: (client, { conversationId }) =>
    client.setState({ ...noted(conversationId), payload: { taken: true } }),
  getOrSetState: (client, { conversationId }) =>
    client.getOrSetState({ ...noted(conversationId), payload: { taken: true } }),
  patchState: (client, { conversationId }) =>
    client.patchState({ ...noted(conversationId), payload: { taken: true } }),
  setStateExpiry: (client, { conversationId }) =>
    client.setStateExpiry({ ...noted(conversationId), expiry: 1 }),
  createWorkflow: (client, { conversationId, userId, workflowId }) =>
    client.createWorkflow({
      ...{ name: 'taken', status: 'pending', conversationId, userId },
      parentWorkflowId: workflowId,
    }),
  getWorkflow: (client, { workflowId }) => client.getWorkflow({ id: workflowId }),
  listWorkflows: (client, { conversationId, userId, workflowId }) =>
    client.listWorkflows({ conversationId, userId, parentWorkflowId: workflowId }),
  getOrCreateWorkflow: (client, { conversationId }) =>
    client.getOrCreateWorkflow({ name: 'taken', status: 'pending', conversationId }),
  updateWorkflow: (client, { workflowId }) =>
    client.updateWorkflow({ id: workflowId, status: 'cancelled' }),
  deleteWorkflow: (client, { workflowId }) => client.deleteWorkflow({ id: workflowId }),
  captureObservation: (client, { conversationId, messageId, userId, eventId }) =>
    client.captureObservation({
      ...{ name: 'taken', data: {}, conversationId, messageId, userId, eventId },
    }),
  cancelScheduledEvent: (client, { eventId }) => client.cancelScheduledEvent({ id: eventId }),
  chatGetConversation: (client, { chatConversationId }) =>
    client.chatGetConversation({ id: chatConversationId }),
  chatDeleteConversation: (client, { chatConversationId }) =>
    client.chatDeleteConversation({ id: chatConversationId }),
  // The client has no method for streams; a refusal is an answer like any other.
  chatListenConversation: (client, { chatConversationId }) =>
    client.chatListMessages({ conversationId: chatConversationId }),
  chatListParticipants: (client, { chatConversationId }) =>
    client.chatListParticipants({ conversationId: chatConversationId }),
  chatAddParticipant: (client, { chatConversationId, userId }) =>
    client.chatAddParticipant({ conversationId: chatConversationId, userId }),
  chatGetParticipant: (client, { chatConversationId, userId }) =>
    client.chatGetParticipant({ conversationId: chatConversationId, userId }),
  chatRemoveParticipant: (client, { chatConversationId, userId }) =>
    client.chatRemoveParticipant({ conversationId: chatConversationId, userId }),
  chatGetMessage: (client, { chatMessageId }) => client.chatGetMessage({ id: chatMessageId }),
  chatCreateEvent: (client, { chatConversationId }) =>
    client.chatCreateEvent({ conversationId: chatConversationId, payload: {} }),
  chatGetEvent: (client, { chatEventId }) => client.chatGetEvent({ id: chatEventId }),
  chatDeleteMessage: (client, { chatMessageId }) => client.chatDeleteMessage({ id: chatMessageId }),
  chatListMessages: (client, { chatConversationId }) =>
    client.chatListMessages({ conversationId: chatConversationId }),
  chatCreateMessage: (client, { chatConversationId }) =>
    client.chatCreateMessage({
      conversationId: chatConversationId,
      payload: { type: 'text', text: 'taken' },
    }),
}

/** Whether an operation is about something that is there, and not about what its caller names anew. */
function namesAnId({ auth, params, query, body }: Operation): boolean {
  if (!['account', 'workspace', 'bot', 'chat-user'].includes(auth)) return false
  const named = [params, query, body].flatMap((part) => Object.keys(part?.properties ?? {}))
  return (
    named.some((name) => /Id$/.test(name) && name !== 'webhookId') ||
    params?.properties.id !== undefined ||
    params?.properties.idOrKey !== undefined
  )
}

const calledWith = (...kinds: Operation['auth'][]) =>
  allOperations
    .filter(({ auth }) => kinds.includes(auth))
    .map((operation) => [operation.id, operation] as const)
const calledWithToken = calledWith('account', 'workspace', 'bot')
const calledInScope = calledWith('workspace', 'bot')
const calledByPeople = calledWith('account', 'workspace')
const headerOf = (auth: Operation['auth']) => (auth === 'bot' ? 'x-bot-id' : 'x-workspace-id')

/** Calls without a body or a real path: callers are refused before either is looked at. */
async function refusal(server: TestServer, operation: Operation, headers: Record<string, string>) {
  const path = operation.path.replaceAll(/\{\w+\}/g, 'any')
  const answer = await server.fetch(path, { method: operation.method, headers })
  const { type, message } = JSON.parse(await answer.text())
  return { status: answer.status, type, message }
}

describeEachEngine('tenancy', (engine) => {
  const server = useServer(engine)
  let ann: Tenant
  let bob: Tenant

  beforeAll(async () => {
    ann = await furnish(server())
    bob = await furnish(server())
  })

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const idOf = ({ auth }: Operation, tenant: Tenant) =>
    auth === 'bot' ? tenant.botId : tenant.workspaceId
  const scope = ({ auth }: Operation, id: string): Record<string, string> =>
    auth === 'account' ? {} : { [headerOf(auth)]: id }

  it.each(calledWithToken)('%s is closed without a valid token', async (_, operation) => {
    const own = scope(operation, idOf(operation, ann))
    for (const headers of [
      own,
      { ...own, ...bearer('bp_pat_unknown') },
      { ...own, authorization: ann.token },
    ]) {
      expect(await refusal(server(), operation, headers)).toMatchObject({
        status: 401,
        type: 'Unauthorized',
        message: expect.stringContaining('Authorization'),
      })
    }
  })

  it.each(calledInScope)(
    '%s asks for a missing scope, and tells an unknown and a foreign one the same',
    async (_, operation) => {
      const rule = `The header ${headerOf(operation.auth)} must name a ${operation.auth} that the token may use.`
      const attempts: [Record<string, string>, string][] = [
        [{}, `The header ${headerOf(operation.auth)} is missing. ${rule}`],
        [scope(operation, '6f1c1f5e-0000-4000-8000-000000000000'), rule],
        [scope(operation, idOf(operation, bob)), rule],
      ]
      for (const token of operation.auth === 'bot' ? [ann.token, ann.key] : [ann.token]) {
        for (const [headers, message] of attempts) {
          const given = { ...headers, ...bearer(token) }
          expect(await refusal(server(), operation, given)).toEqual({
            status: 401,
            type: 'Unauthorized',
            message,
          })
        }
      }
    },
  )

  it.each(calledByPeople)('%s is closed to the key of a bot', async (_, operation) => {
    const headers = { ...scope(operation, ann.workspaceId), ...bearer(ann.key) }
    expect(await refusal(server(), operation, headers)).toMatchObject({
      status: 403,
      type: 'Forbidden',
    })
  })

  it('is tried with every operation that names an id', () => {
    const named = allOperations.filter(namesAnId).map(({ id }) => id)
    expect(Object.keys(reaches).toSorted()).toEqual(named.toSorted())
  })

  it.each(Object.entries(reaches))('%s does not reach what others have', async (_, reach) => {
    const before = await inventory(bob)
    const error = await reach(ann.client, bob).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({
      type: expect.stringMatching(/^(ResourceNotFound|ReferenceNotFound|Forbidden)$/),
    })
    expect(await inventory(bob)).toEqual(before)
  })

  it('keeps lists apart, whatever they are filtered by', async () => {
    const { client } = ann
    const { workspaces } = await client.listWorkspaces({ pageSize: 100 })
    expect(workspaces.map(({ id }) => id)).toEqual([ann.workspaceId])
    const { bots } = await client.listBots({ pageSize: 100 })
    expect(bots.map(({ id }) => id)).toEqual([ann.botId])
    expect((await client.listFiles({ ids: [bob.fileId] })).files).toEqual([])
    const { conversations } = await client.listConversations({ participantIds: [bob.userId] })
    expect(conversations).toEqual([])
  })

  it('lets viewers of a workspace read and no more', async () => {
    const viewer = await inDatabase(server(), async (tenants) => {
      const person = await tenants.person()
      await tenants.join(person, { workspace: ann }, 'viewer')
      return person
    })
    const { workspaceId, botId } = ann
    const client = server().client({ token: viewer.token, workspaceId, botId })
    expect((await client.listBots()).bots.map(({ id }) => id)).toEqual([botId])
    expect((await client.getConversation({ id: ann.conversationId })).conversation.id).toBe(
      ann.conversationId,
    )
    const forbidden = { type: 'Forbidden' }
    await expect(client.createBot({})).rejects.toMatchObject(forbidden)
    await expect(client.updateBot({ id: botId, name: 'taken' })).rejects.toMatchObject(forbidden)
    await expect(client.deleteBot({ id: botId })).rejects.toMatchObject(forbidden)
    await expect(client.createConversation({ channel: 'channel', tags: {} })).rejects.toMatchObject(
      forbidden,
    )
  })

  it('accepts user keys at the chat address they were made for', async () => {
    const astray = server().client({ webhookId: bob.webhookId, userKey: ann.userKey })
    await expect(astray.chatGetUser()).rejects.toMatchObject({ type: 'Unauthorized' })
    await expect(
      astray.chatListMessages({ conversationId: bob.chatConversationId }),
    ).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('lets nobody claim a conversation by an id that another tenant uses', async () => {
    const { conversation } = await ann.client.chatCreateConversation({ id: 'shared-name' })
    const other = await bob.client.chatCreateConversation({ id: 'shared-name' })
    await bob.client.chatCreateMessage({
      conversationId: 'shared-name',
      payload: { type: 'text', text: 'for bob' },
    })
    expect(conversation.id).toBe(other.conversation.id)
    const { messages } = await ann.client.chatListMessages({ conversationId: 'shared-name' })
    expect(messages).toEqual([])
  })
})
