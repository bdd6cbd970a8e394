import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'
import { type Client, followConversation } from '@botstead/contract'
import { packageFile } from '../../platform/package-files.js'
import { DemoError, type Step } from './step.js'

const question = 'What happens to open requests when the server stops?'
/** Maximum wait for the reply, in milliseconds. */
const replyTimeoutMs = 30_000

/** The code of the bot, which is part of this package: one file, as it is deployed. */
export const botPath = packageFile('demo/bot.cjs')

/** A chat user with a question, and the bot that receives it. */
export interface Questioner {
  botId: string
  botName: string
  address: string
  webhookId: string
  userKey: string
  conversationId: string
  /** Client that manages bots. */
  admin: Client
  /** Client of a chat user. */
  userClient: Client
  fetch: (url: string, init: RequestInit) => Promise<Response>
}

/** Deploys the bot and asks it a question about the document; the reply arrives on the stream of the conversation. */
export async function askBot(questioner: Questioner, step: Step): Promise<void> {
  const { botId, botName, admin, userClient, conversationId } = questioner
  const start = performance.now()
  const code = await readFile(botPath, 'utf8')
  await step({
    what: 'Deploy a bot that answers from the document',
    sent: { code: `${basename(botPath)}, ${code.length} characters` },
    call: () => admin.updateBot({ id: botId, code }),
    show: (_, print) =>
      print.note(`It runs ${since(start)} later, in a process that the server has started.`),
  })
  const listening = new AbortController()
  const stream = await step({
    what: 'Listen to the conversation, as a web page does',
    call: () => listen(questioner, listening.signal),
    show: (_, print) => print.note('New messages of the conversation now arrive without polling.'),
  })
  try {
    const asking = performance.now()
    await step({
      what: 'Ask the bot, and receive its answer',
      sent: { question },
      call: async () => {
        await userClient.chatCreateMessage({
          conversationId,
          payload: { type: 'text', text: question },
        })
        return await stream.answer
      },
      show: (text, print) => {
        print.note(`${botName} answers, ${since(asking)} after the question:`)
        print.said(text)
      },
    })
  } finally {
    listening.abort()
  }
}

/** Opens the stream of the conversation; `answer` resolves with the first text of the bot. */
async function listen(
  { address, webhookId, userKey, conversationId, fetch }: Questioner,
  signal: AbortSignal,
): Promise<{ answer: Promise<string> }> {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const options = { baseUrl: address, webhookId, userKey, conversationId, fetch }
  const answer = firstAnswer({
    ...options,
    signal: AbortSignal.any([signal, AbortSignal.timeout(replyTimeoutMs)]),
    onConnection: open,
  })
  // The caller that awaits it handles the failure; until then it must not count as unhandled.
  answer.catch(() => undefined)
  await Promise.race([opened, answer])
  return { answer }
}

async function firstAnswer(options: Parameters<typeof followConversation>[0]): Promise<string> {
  for await (const { type, data } of followConversation(options)) {
    if (type !== 'message_created' || !data.isBot) continue
    if (data.payload.type === 'text') return String(data.payload.text)
  }
  throw new DemoError(
    `The bot did not answer within ${replyTimeoutMs / 1000} s.`,
    'The machine may be very busy: run the demonstration again when it is not.',
  )
}

function since(start: number): string {
  return `${(performance.now() - start).toFixed(0)} ms`
}
