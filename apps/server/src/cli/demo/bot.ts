import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type Client, followConversation } from '@botstead/contract'
import { toQuote } from './document.js'
import { DemoError, type Step } from './step.js'

const question = 'What happens to open requests when the server stops?'
/** Longest wait for the reply, in milliseconds. */
const replyTimeoutMs = 30_000

/** Passages in one reply, and their minimum score: below, a passage is about something else. */
const maxQuotes = 2
const minScore = 0.25
/** Passages whose score is nearly that of the best are quoted too. */
const nearlyAsGood = 0.7

/** A bot that replies from documents: a plain HTTP server, as any program can be. */
export interface DemoBot extends AsyncDisposable {
  /**
   * Starts it; it replies once the server has its address.
   * @param client calls as the bot
   * @returns the address for the server
   */
  start(client: Client, botId: string): Promise<string>
}

/** Creates a bot that is not started yet; disposing stops it. */
export function createDemoBot(): DemoBot {
  let reply: ((body: string, isFirst: boolean) => Promise<Refusal | undefined>) | undefined
  const server = createServer(async (request, response) => {
    try {
      if (request.method !== 'POST') {
        response.end('ok')
        return
      }
      const body = await readBody(request)
      // Other requests, such as registrations and pings, are acknowledged without any action.
      const isEvent = request.headers['x-bp-operation'] === 'event_received'
      const isMessage = isEvent && request.headers['x-bp-type'] === 'message_created'
      const isFirst = request.headers['x-botstead-attempt'] === '1'
      const refusal = isMessage ? await reply?.(body, isFirst) : undefined
      if (refusal !== undefined) response.writeHead(422)
      response.end(JSON.stringify(refusal ?? {}))
    } catch {
      // A failure makes the server send the message again later.
      response.writeHead(500).end('{}')
    }
  })
  return {
    async start(client, botId) {
      reply = (body, isFirst) => replyTo(client, botId, body, isFirst)
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(0, '127.0.0.1', resolve)
      })
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    async [Symbol.asyncDispose]() {
      if (!server.listening) return
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const text of request.setEncoding('utf8')) body += text
  return body
}

/** The members of an event that the bot reads. */
interface MessageCreated {
  event: {
    id: string
    conversationId: string
    payload: { message: { type: string; payload: { text?: string } } }
  }
}

/** Why the bot does not process an event. */
interface Refusal {
  message: string
}

/**
 * Replies to a message. The first delivery of one that is no text is refused on purpose, so that the demonstration
 * leaves a failed delivery to look at and to replay.
 */
async function replyTo(
  client: Client,
  botId: string,
  body: string,
  isFirst: boolean,
): Promise<Refusal | undefined> {
  const { event } = JSON.parse(body) as MessageCreated
  const { type, payload } = event.payload.message
  if (type !== 'text' && isFirst) {
    return { message: `This bot refuses a message of the type ${type} once, for you to replay.` }
  }
  const text =
    type === 'text' ? await answerTo(client, payload.text ?? '') : 'Ask me about my document.'
  await client.createMessage(
    {
      conversationId: event.conversationId,
      userId: botId,
      type: 'text',
      payload: { text },
      tags: {},
    },
    // The same event may be delivered twice; its reply is stored once.
    { idempotencyKey: event.id },
  )
  return undefined
}

/** Quotes of the passages that were found. */
async function answerTo(client: Client, text: string): Promise<string> {
  const { passages } = await client.searchFiles({
    query: text,
    limit: maxQuotes,
    contextDepth: 0,
    withContext: true,
  })
  const least = Math.max(minScore, nearlyAsGood * (passages[0]?.score ?? 0))
  const good = passages.filter(({ score }) => score >= least)
  if (good.length === 0) return 'I found nothing about that in my document.'
  const quotes = good.map(async (passage) => {
    const quote = toQuote(passage)
    const { file } = await client.getFile({ id: passage.file.id })
    return `“${quote.text}”\n— ${quote.path.join(' › ')}\n  ${file.url}`
  })
  return (await Promise.all(quotes)).join('\n\n')
}

/** A chat user with a question, and the bot that receives it. */
export interface Questioner {
  bot: DemoBot
  botId: string
  botName: string
  address: string
  webhookId: string
  userKey: string
  conversationId: string
  /** Client that manages bots. */
  admin: Client
  /** Client of the bot. */
  client: Client
  /** Client of a chat user. */
  userClient: Client
  fetch: (url: string, init: RequestInit) => Promise<Response>
}

/** Asks the bot a question about the document; the reply arrives on the stream of the conversation. */
export async function askBot(questioner: Questioner, step: Step): Promise<void> {
  const { bot, botId, botName, admin, client, userClient, conversationId } = questioner
  const start = performance.now()
  await step({
    what: 'Start a bot that answers from the document, and give the server its address',
    call: async () => {
      const url = await bot.start(client, botId)
      await admin.updateBot({ id: botId, url })
      return url
    },
    show: (url, print) => print.note(`It listens at ${url} ${since(start)} later.`),
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
