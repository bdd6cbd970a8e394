import { performance } from 'node:perf_hooks'
import type * as chat from '@botpress/chat'
import type { DemoBot } from './bot.js'
import { documentPath } from './document.js'
import { DemoError } from './explain.js'
import type { Step } from './step.js'

const question = 'What happens to open requests when the server stops?'
/** Longest wait for the answer, in milliseconds. */
const answerPatience = 30_000

type Listener = Awaited<ReturnType<chat.AuthenticatedClient['listenConversation']>>

export interface Questioner {
  bot: DemoBot
  botName: string
  address: string
  token: string
  talker: chat.AuthenticatedClient
  conversationId: string
}

/** Has a bot answer a question from the document, heard on the stream of the conversation. */
export async function askBot(asked: Questioner, step: Step): Promise<void> {
  const { bot, talker, conversationId } = asked
  const start = performance.now()
  await step({
    what: 'Start a bot that answers from the document: examples/knowledge-bot',
    call: () =>
      bot.start({
        address: asked.address,
        token: asked.token,
        name: asked.botName,
        document: documentPath,
      }),
    show: (where, print) => {
      print.note(`It listens at ${where} ${since(start)} later, in a process of its own.`)
    },
  })
  const listener = await step({
    what: 'Listen to the conversation, as a web page does',
    call: () => talker.listenConversation({ id: conversationId }),
    show: (_, print) => print.note('What is said there now arrives by itself.'),
  })
  try {
    const said = answerOn(listener)
    const asking = performance.now()
    await step({
      what: 'Ask the bot, and hear its answer',
      sent: { question },
      call: async () => {
        await talker.createMessage({ conversationId, payload: { type: 'text', text: question } })
        return await said
      },
      show: (text, print) => {
        print.note(`${asked.botName} answers, ${since(asking)} after the question:`)
        print.said(text)
      },
    })
  } finally {
    await listener.disconnect()
  }
}

/** The first text that the bot says. */
async function answerOn(listener: Listener): Promise<string> {
  const late = AbortSignal.timeout(answerPatience)
  return await new Promise((resolve, reject) => {
    listener.on('message_created', ({ isBot, payload }) => {
      if (isBot && payload.type === 'text') resolve(payload.text)
    })
    late.addEventListener('abort', () =>
      reject(
        new DemoError(
          `The bot did not answer within ${answerPatience / 1000} s.`,
          'The machine may be very busy: run the demonstration again when it is not.',
        ),
      ),
    )
  })
}

function since(start: number): string {
  return `${(performance.now() - start).toFixed(0)} ms`
}
