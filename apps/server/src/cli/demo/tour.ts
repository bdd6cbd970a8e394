import { type Client, createClient } from '@botstead/contract'
import type { Server } from '../../app/container.js'
import { abbreviate } from '../text.js'
import { askBot } from './bot.js'
import { askDocument, uploadDocument, waitUntilSearchable } from './document.js'
import type { Printer } from './print.js'
import { createCallLog, createStep, DemoError, explain, type Step } from './step.js'

const botName = 'Guide'

/** The objects that the tour created, for further calls. */
export interface TourResult {
  address: string
  token: string
  workspaceId: string
  botId: string
  chatAddress: string
  conversationId: string
  userKey: string
}

/**
 * Makes the main calls, through the client of the contract.
 * @returns the created objects, or undefined when a step failed
 */
export async function runTour(server: Server, print: Printer): Promise<TourResult | undefined> {
  const calls = createCallLog()
  const { fetch } = calls
  const step = createStep(print, calls)
  try {
    const first = server.firstStart
    if (first === undefined) throw new Error('The demonstration needs an empty data folder.')
    const { token, workspaceId } = first
    const { address } = server
    const admin = createClient({
      baseUrl: address,
      token,
      workspaceId,
      fetch,
      // With this header bots list their integrations by alias, which includes the chat address.
      headers: { 'x-multiple-integrations': 'true' },
    })
    const { botId, webhookId, chatAddress } = await createBot(admin, step)
    await listBots(admin, step)

    const client = createClient({ baseUrl: address, token, botId, fetch })
    await uploadDocument(client, calls, step)
    await waitUntilSearchable(client, print)
    await askDocument(client, step)

    const monologue = await openConversation(client, step, 'Open a conversation')
    const chat = { baseUrl: address, webhookId, fetch }
    const userKey = await createChatUser(createClient(chat), step)
    const userClient = createClient({ ...chat, userKey })
    await sendMessages(userClient, monologue, step)
    await readBack(userClient, monologue, step)
    // A bot also receives recent messages from before it had code, so the question has its own conversation.
    const conversationId = await openConversation(client, step, 'Open one to talk with a bot')
    const questioner = {
      botId,
      botName,
      address,
      webhookId,
      userKey,
      conversationId,
      admin,
      userClient,
      fetch,
    }
    await askBot(questioner, step)
    return { ...first, address, botId, chatAddress, conversationId, userKey }
  } catch (error) {
    print.failed(explain(error))
    return undefined
  }
}

async function createBot(admin: Client, step: Step) {
  const name = botName
  const chatOf = ({ bot }: Awaited<ReturnType<Client['createBot']>>) => bot.integrations.chat
  const created = await step({
    what: 'Create a bot',
    sent: { name },
    call: () => admin.createBot({ name }),
    show: (made, print) =>
      print.received({
        id: made.bot.id,
        name: made.bot.name,
        'chat address': chatOf(made)?.webhookUrl ?? 'none',
      }),
  })
  const { webhookId, webhookUrl: chatAddress } = chatOf(created) ?? {}
  if (webhookId === undefined || chatAddress === undefined) {
    throw new DemoError(
      'The bot has no chat address.',
      'Every bot is made with one, so this is a fault of the server: please open an issue.',
    )
  }
  return { botId: created.bot.id, webhookId, chatAddress }
}

async function listBots(admin: Client, step: Step): Promise<void> {
  await step({
    what: 'List the bots of the workspace',
    call: () => admin.listBots({}),
    show: ({ bots }, print) =>
      print.list(bots.map(({ name, createdAt }) => `${name}, made ${createdAt}`)),
  })
}

async function openConversation(client: Client, step: Step, what: string): Promise<string> {
  const channel = 'web'
  const { conversation } = await step({
    what,
    sent: { channel },
    call: () => client.createConversation({ channel, tags: { topic: 'demo' } }),
    show: (made, print) =>
      print.received({ id: made.conversation.id, messages: made.conversation.messageCount ?? 0 }),
  })
  return conversation.id
}

async function createChatUser(visitor: Client, step: Step): Promise<string> {
  const name = 'Ada'
  const { key } = await step({
    what: 'Create a chat user, whose key identifies the author of messages',
    sent: { name },
    call: () => visitor.chatCreateUser({ name }),
    show: (made, print) => print.received({ id: made.user.id, key: abbreviate(made.key) }),
  })
  return key
}

type Payload = Parameters<Client['chatCreateMessage']>[0]['payload']

const voiceMessage: Payload = { type: 'audio', audioUrl: 'https://example.com/hello.mp3' }
const textMessage: Payload = { type: 'text', text: 'Hello from the demonstration' }

/** Sends a voice message and a text message. */
async function sendMessages(userClient: Client, conversationId: string, step: Step): Promise<void> {
  const send = (what: string, payload: Payload) =>
    step({
      what,
      sent: { payload: JSON.stringify(payload) },
      call: () => userClient.chatCreateMessage({ conversationId, payload }),
      show: ({ message }, print) => print.received({ id: message.id, stored: message.createdAt }),
    })
  await send('Send a voice message', voiceMessage)
  await send('Send a text message', textMessage)
}

/** Lists the messages, newest first. */
async function readBack(userClient: Client, conversationId: string, step: Step): Promise<void> {
  await step({
    what: 'Read the conversation back, newest message first',
    call: () => userClient.chatListMessages({ conversationId }),
    show: ({ messages }, print) =>
      print.list(messages.map(({ createdAt, payload }) => `${createdAt}  ${contentOf(payload)}`)),
  })
}

function contentOf(payload: { type: string; [member: string]: unknown }): string {
  if (payload.type === 'text') return `“${payload.text}”`
  return payload.type === 'audio' ? String(payload.audioUrl) : payload.type
}
