import * as chat from '@botpress/chat'
import { Client } from '@botpress/client'
import type { Server } from '../../app/container.js'
import { abbreviate } from '../text.js'
import { askBot } from './answer.js'
import type { DemoBot } from './bot.js'
import { watchCalls } from './calls.js'
import { askDocument, uploadDocument, waitUntilSearchable } from './document.js'
import { DemoError, explain } from './explain.js'
import type { Printer } from './print.js'
import { createStep, type Step } from './step.js'
import type { Made } from './suggest.js'
import { readBack, sendMessages } from './talk.js'

const botName = 'Guide'

/**
 * The main calls, through the client packages that bots and web chats use.
 * @param demoBot started on the way
 * @returns what was made, or undefined when a step failed
 */
export async function runTour(
  server: Server,
  print: Printer,
  demoBot: DemoBot,
): Promise<Made | undefined> {
  using calls = watchCalls(server.address)
  const step = createStep(print, calls)
  try {
    const first = server.firstStart
    if (first === undefined) throw new Error('The demonstration needs an empty data folder.')
    const { token, workspaceId } = first
    const { address } = server
    const admin = new Client({
      apiUrl: address,
      token,
      workspaceId,
      // With this header bots show their integrations, and so the chat address, by alias.
      headers: { 'x-multiple-integrations': 'true' },
    })
    const bot = await createBot(admin, step)
    await listBots(admin, step)

    const client = new Client({ apiUrl: address, token, botId: bot.botId })
    await uploadDocument(client, step)
    await waitUntilSearchable({ address, token, botId: bot.botId }, print)
    await askDocument(client, step)

    const monologue = await openConversation(client, step, 'Open a conversation')
    const userKey = await createChatUser(bot.chatAddress, step)
    const talker = await chat.Client.connect({ apiUrl: bot.chatAddress, userKey })
    await sendMessages(talker, monologue, step)
    await readBack(talker, monologue, step)
    // A bot hears all that was said before it had an address, and answers that too, each where it was said.
    const conversationId = await openConversation(client, step, 'Open one to talk with a bot')
    await askBot({ bot: demoBot, botName, address, token, talker, conversationId }, step)
    return { ...first, address, ...bot, conversationId, userKey }
  } catch (error) {
    print.failed(explain(error))
    return undefined
  }
}

async function createBot(admin: Client, step: Step) {
  const name = botName
  const addressOf = (answer: Awaited<ReturnType<typeof admin.createBot>>) =>
    answer.bot.integrations.chat?.webhookUrl
  const answer = await step({
    what: 'Create a bot',
    sent: { name },
    call: () => admin.createBot({ name }),
    show: (made, print) =>
      print.received({
        id: made.bot.id,
        name: made.bot.name,
        'chat address': addressOf(made) ?? 'none',
      }),
  })
  const chatAddress = addressOf(answer)
  if (chatAddress === undefined) {
    throw new DemoError(
      'The bot has no chat address.',
      'Every bot is made with one, so this is a fault of the server: please open an issue.',
    )
  }
  return { botId: answer.bot.id, chatAddress }
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

async function createChatUser(chatAddress: string, step: Step): Promise<string> {
  const name = 'Ada'
  const { key } = await step({
    what: 'Become a chat user: the key says who is writing',
    sent: { name },
    call: () => new chat.Client({ apiUrl: chatAddress }).createUser({ name }),
    show: (made, print) => print.received({ id: made.user.id, key: abbreviate(made.key) }),
  })
  return key
}
