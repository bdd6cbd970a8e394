import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as chat from '@botpress/chat'
import { Client } from '@botpress/client'
import { contract, type Operation } from '@botstead/contract'
import type { Server } from '../../container.js'
import type { Printer } from './print.js'

const document = {
  key: 'guides/architecture.md',
  path: fileURLToPath(new URL('../../../../../ARCHITECTURE.md', import.meta.url)),
}
const question = 'What happens to a message when the power fails?'
const audioUrl = 'https://example.com/hello.mp3'
/** Longest wait for a document to become searchable, in milliseconds. */
const indexingPatience = 30_000

/**
 * The five main calls, through the client packages that bots and web chats use.
 * @returns whether every step succeeded
 */
export async function runTour(server: Server, print: Printer): Promise<boolean> {
  const first = server.firstStart
  if (first === undefined) throw new Error('The demonstration needs an empty data folder.')
  const step = createStep(print)
  try {
    const admin = new Client({
      apiUrl: server.address,
      token: first.token,
      workspaceId: first.workspaceId,
      headers: { 'x-multiple-integrations': 'true' },
    })
    const { bot } = await step('Create a bot', contract.bots.create, { name: 'Guide' }, (input) =>
      admin.createBot(input),
    )
    const chatAddress = bot.integrations.chat?.webhookUrl
    if (chatAddress === undefined) throw new Error('The bot has no chat address.')

    const client = new Client({ apiUrl: server.address, token: first.token, botId: bot.id })
    await uploadAndIndex(client, step, print)
    const found = await step(
      'Ask the document a question',
      contract.search.files,
      { query: question, limit: 2, includeBreadcrumb: true },
      (input) => client.searchFiles(input),
    )
    if (found.passages.length === 0) throw new Error('The search found nothing.')
    print.note(`Answered by "${found.passages[0]?.file.key}".`)

    const { conversation } = await step(
      'Open a conversation',
      contract.conversations.create,
      { channel: 'web', tags: { topic: 'demo' } },
      (input) => client.createConversation(input),
    )
    await sendMessages(chatAddress, conversation.id, step)

    await step('List the bots of the workspace', contract.bots.list, {}, (input) =>
      admin.listBots(input),
    )
    suggest(server, print, { botId: bot.id, chatAddress, conversationId: conversation.id })
    return true
  } catch (error) {
    print.failed(error)
    return false
  }
}

type Step = <Input, Answer>(
  what: string,
  operation: Operation,
  input: Input,
  call: (input: Input) => Promise<Answer>,
) => Promise<Answer>

function createStep(print: Printer): Step {
  return async (what, operation, input, call) => {
    print.step(what, `${operation.method} ${operation.path}`)
    print.sent(input)
    const start = performance.now()
    const answer = await call(input)
    print.received(answer, performance.now() - start)
    return answer
  }
}

async function uploadAndIndex(client: Client, step: Step, print: Printer): Promise<void> {
  const content = await readFile(document.path, 'utf8')
  const { file } = await step(
    "Upload a document: this project's own architecture guide",
    contract.files.upsert,
    { key: document.key, index: true, tags: { lang: 'en' }, content },
    (input) => client.uploadFile(input),
  )
  const start = performance.now()
  for (;;) {
    const { file: now } = await client.getFile({ id: file.id })
    if (now.status === 'indexing_completed') break
    if (now.status.endsWith('failed')) throw new Error(`Indexing failed: ${now.failedStatusReason}`)
    if (performance.now() - start > indexingPatience) throw new Error('Indexing takes too long.')
    await sleep(20)
  }
  print.note(`Searchable after ${(performance.now() - start).toFixed(0)} ms.`)
}

async function sendMessages(
  chatAddress: string,
  conversationId: string,
  step: Step,
): Promise<void> {
  const user = await step(
    'Become a chat user: the key is theirs alone',
    contract.chat.createUser,
    { name: 'Ada' },
    (input) => new chat.Client({ apiUrl: chatAddress }).createUser(input),
  )
  const talker = await chat.Client.connect({ apiUrl: chatAddress, userKey: user.key })
  const send = (what: string, payload: chat.Message['payload']) =>
    step(what, contract.chat.createMessage, { conversationId, payload }, (input) =>
      talker.createMessage(input),
    )
  await send('Send a voice message', { type: 'audio', audioUrl })
  await send('Send a text message', { type: 'text', text: question })
  await step(
    'Read the conversation back',
    contract.chat.listMessages,
    { conversationId },
    (input) => talker.listMessages(input),
  )
}

function suggest(
  server: Server,
  print: Printer,
  made: { botId: string; chatAddress: string; conversationId: string },
): void {
  const token = server.firstStart?.token ?? ''
  const workspaceId = server.firstStart?.workspaceId ?? ''
  const bearer = `-H 'Authorization: Bearer ${token}'`
  print.title('Try next, in another terminal:')
  print.commands([
    `curl '${server.address}/v1/files/search?query=message%20power' ${bearer} -H 'x-bot-id: ${made.botId}'`,
    `curl '${server.address}/v1/admin/bots' ${bearer} -H 'x-workspace-id: ${workspaceId}'`,
    `curl -X POST '${made.chatAddress}/users' -H 'Content-Type: application/json' -d '{"name":"Grace"}'`,
    `open ${server.address}/docs`,
  ])
}
