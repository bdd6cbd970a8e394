import type { Client } from '@botstead/contract'
import { openDatabase } from '../src/platform/db/open.js'
import type { TestServer } from './harness.js'
import { createSlices, type Person } from './slices.js'

/** Somebody who may call: a personal token and a workspace. */
export interface Login {
  token: string
  workspaceId: string
}

/** A workspace with one of everything in it, made through the public door. */
export type Tenant = Awaited<ReturnType<typeof settle>>

/**
 * Adds a person with a token and a workspace of their own. The interface has no way to sign up, so
 * it is done as by another process on the same database.
 */
export async function addAccount(server: TestServer): Promise<Login> {
  return await besideServer(server, async (tenants) => toLogin(await tenants.person()))
}

/** Adds a person who may only read the workspace of another one. */
export async function addViewer(server: TestServer, workspaceId: string): Promise<Login> {
  return await besideServer(server, async (tenants) => {
    const viewer = await tenants.person()
    await tenants.join(viewer, { workspace: { workspaceId } }, 'viewer')
    return { ...toLogin(viewer), workspaceId }
  })
}

/**
 * Fills a workspace: a bot with a key, a file, and a chat user who has said something.
 * @param words what everything is called and holds
 */
export async function settle(
  server: TestServer,
  { token, workspaceId }: Login,
  words = 'Own words',
) {
  const admin = server.client({ token, workspaceId })
  const { bot } = await admin.createBot({ name: words, tags: { whose: 'own' } })
  const key = await admin.createBotApiKey({ botId: bot.id, note: words })
  const { pat } = await admin.createPersonalAccessToken({ note: words })
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const page = server.client({ token: undefined, headers: { origin: server.url } })
  const { session } = await page.createSession({ token, note: words })
  const { user, key: userKey } = await server.client({ webhookId }).chatCreateUser({ name: words })
  const chat = server.client({ webhookId, userKey })
  const runtime = server.client({ token, workspaceId, botId: bot.id })
  const { conversation } = await runtime.createConversation({
    channel: 'channel',
    tags: { about: words },
  })
  const { message } = await chat.chatCreateMessage({
    conversationId: conversation.id,
    payload: { type: 'text', text: words },
  })
  const { event } = await runtime.createEvent({
    type: 'noticed',
    payload: { words },
    schedule: { delay: 86_400_000 },
  })
  const { event: chatEvent } = await chat.chatCreateEvent({
    conversationId: conversation.id,
    payload: { said: words },
  })
  const { workflow } = await runtime.createWorkflow({
    name: words,
    status: 'listening',
    conversationId: conversation.id,
  })
  await runtime.setState({
    type: 'conversation',
    id: conversation.id,
    name: 'noted',
    payload: { words },
  })
  // Another bot of the same workspace has one already.
  const { integrations } = await admin.listIntegrations({ name: 'own-mail' })
  const { integration } = await admin.createIntegration({
    name: 'own-mail',
    version: `1.0.${integrations.length}`,
  })
  const version = `1.0.${integrations.length}`
  const { interface: list } = await admin.createInterface({ name: 'own-list', version })
  const { plugin } = await admin.createPlugin({
    name: 'own-help',
    version,
    code: { node: `say('${words}')`, browser: '' },
  })
  const integrationKey = await admin.createIntegrationApiKey({ integrationId: integration.id })
  const file = await uploadText(runtime, 'own.md', words)
  const guest = await admin.createWorkspaceMember({
    email: `guest-of-${bot.id}@example.com`,
    role: 'viewer',
  })
  const { knowledgeBase } = await runtime.createKnowledgeBase({ name: words })
  const evaluation = await addEvaluation(runtime, words)
  return {
    ...evaluation,
    token,
    workspaceId,
    fileId: file.id,
    knowledgeBaseId: knowledgeBase.id,
    memberId: guest.id,
    personalTokenId: pat.id,
    personalToken: pat.value,
    sessionId: session.id,
    botId: bot.id,
    botKeyId: key.id,
    botKey: key.value,
    webhookId,
    userId: user.id,
    userKey,
    conversationId: conversation.id,
    messageId: message.id,
    chatEventId: chatEvent.id,
    eventId: event.id,
    workflowId: workflow.id,
    integrationId: integration.id,
    interfaceId: list.id,
    pluginId: plugin.id,
    integrationKeyId: integrationKey.id,
  }
}

/** Stores a text as a file; does not wait for its indexing if one is requested. */
export async function uploadText(
  runtime: ReturnType<TestServer['client']>,
  key: string,
  text: string,
  index = false,
) {
  const { file } = await runtime.upsertFile({
    key,
    size: Buffer.byteLength(text),
    index,
    tags: { whose: 'own' },
  })
  const response = await fetch(file.uploadUrl, { method: 'PUT', body: text })
  if (!response.ok) throw new Error(`The content was refused: ${await response.text()}`)
  return file
}

/** An evaluation set with a case and a run. */
export async function addEvaluation(runtime: Client, words: string) {
  const { evaluationSet } = await runtime.createEvaluationSet({ name: words })
  const { id } = evaluationSet
  const { evaluationCase } = await runtime.createEvaluationCase({ id, question: words, right: [] })
  const { evaluationRun } = await runtime.startEvaluationRun({ id })
  return {
    evaluationSetId: id,
    evaluationCaseId: evaluationCase.id,
    evaluationRunId: evaluationRun.id,
  }
}

/** The file once its indexing has ended, however often the server has to be asked. */
export async function untilIndexed(runtime: Pick<Client, 'getFile'>, idOrKey: string) {
  for (;;) {
    const { file } = await runtime.getFile({ id: idOrKey, waitFor: 'indexing_completed' })
    if (file.status !== 'indexing_pending') return file
  }
}

async function besideServer<T>(
  { server }: TestServer,
  work: (tenants: Awaited<ReturnType<typeof createSlices>>) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir } = server.config
  const database = await openDatabase(
    databaseUrl === undefined
      ? { file: `${dataDir}/botstead.db` }
      : { url: databaseUrl, poolSize: 1 },
  )
  try {
    return await work(await createSlices(database))
  } finally {
    await database.close()
  }
}

function toLogin({ token, workspace }: Person): Login {
  return { token, workspaceId: workspace.workspaceId }
}
