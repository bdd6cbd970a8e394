import { type Client, createClient } from '@botstead/contract'
import type { Server } from '../../app/container.js'
import { abbreviate } from '../text.js'
import { askBot, type DemoBot } from './bot.js'
import { askDocument, uploadDocument, waitUntilSearchable } from './document.js'
import type { Printer } from './print.js'
import { createCallLog, createStep, DemoError, explain, type Step } from './step.js'

const botName = 'Guide'

/** What the tour has created, for calls of one's own. */
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
 * The main calls, through the client of the contract.
 * @param demoBot started on the way
 * @returns what was made, or undefined when a step failed
 */
export async function runTour(
  server: Server,
  print: Printer,
  demoBot: DemoBot,
): Promise<TourResult | undefined> {
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
      // With this header bots show their integrations, and so the chat address, by alias.
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
    const talker = createClient({ ...chat, userKey })
    await sendMessages(talker, monologue, step)
    await readBack(talker, monologue, step)
    // A bot gets all that was said before it had an address, and answers that too, each where it was said.
    const conversationId = await openConversation(client, step, 'Open one to talk with a bot')
    const questioner = {
      bot: demoBot,
      botId,
      botName,
      address,
      webhookId,
      userKey,
      conversationId,
      admin,
      // Its calls are its own, not steps of the tour.
      client: createClient({ baseUrl: address, token, botId }),
      talker,
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
  const answer = await step({
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
  const { webhookId, webhookUrl: chatAddress } = chatOf(answer) ?? {}
  if (webhookId === undefined || chatAddress === undefined) {
    throw new DemoError(
      'The bot has no chat address.',
      'Every bot is made with one, so this is a fault of the server: please open an issue.',
    )
  }
  return { botId: answer.bot.id, webhookId, chatAddress }
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
    what: 'Become a chat user: the key says who is writing',
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
async function sendMessages(talker: Client, conversationId: string, step: Step): Promise<void> {
  const send = (what: string, payload: Payload) =>
    step({
      what,
      sent: { payload: JSON.stringify(payload) },
      call: () => talker.chatCreateMessage({ conversationId, payload }),
      show: ({ message }, print) => print.received({ id: message.id, stored: message.createdAt }),
    })
  await send('Send a voice message', voiceMessage)
  await send('Send a text message', textMessage)
}

/** Lists what was said, newest first. */
async function readBack(talker: Client, conversationId: string, step: Step): Promise<void> {
  await step({
    what: 'Read the conversation back, newest message first',
    call: () => talker.chatListMessages({ conversationId }),
    show: ({ messages }, print) =>
      print.list(messages.map(({ createdAt, payload }) => `${createdAt}  ${contentOf(payload)}`)),
  })
}

function contentOf(payload: { type: string; [member: string]: unknown }): string {
  if (payload.type === 'text') return `“${payload.text}”`
  return payload.type === 'audio' ? String(payload.audioUrl) : payload.type
}
