import { createInterface } from 'node:readline'
import { followConversation } from '@botstead/contract'
import { type ChatSession, sendText } from './session.js'
import {
  type Answers,
  createAnswers,
  createScreen,
  createTranscript,
  type Transcript,
} from './transcript.js'

interface TalkOptions {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  /** Where notices go that are not part of the conversation. */
  notices: NodeJS.WritableStream
  /** Milliseconds to wait for an answer to a line of an input that is no terminal. */
  timeout: number
}

/** Milliseconds without a message after which the bot has said all. */
const quiet = 500

/**
 * Talks until the input ends or says `/quit`.
 *
 * @returns whether all messages were sent and, without a terminal, answered
 */
export async function talk(session: ChatSession, options: TalkOptions): Promise<boolean> {
  const { input, output, notices, timeout } = options
  const isTyped = input.isTTY && output.isTTY
  const lines = createInterface({
    input,
    ...(isTyped && { output, prompt: '> ' }),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  // At once: lines that come before anybody reads them would be lost.
  const written = messages(lines[Symbol.asyncIterator]())
  const screen = createScreen(output, isTyped ? lines : undefined)
  const notice = isTyped ? screen.show : (text: string) => void notices.write(`${text}\n`)
  const answers = createAnswers({ timeout, quiet })
  const transcript = createTranscript({ session, screen, answers })
  const ending = new AbortController()
  const { listening, opened } = listen({ session, transcript, notice, signal: ending.signal })
  // When listening ends by itself, so does the talk.
  listening.catch(() => {}).finally(() => lines.close())

  try {
    await Promise.race([opened, listening])
    if (isTyped) {
      notice(`You talk to ${session.botName}; /quit ends.`)
      if (!session.isNew) await transcript.showBefore()
      lines.prompt()
    }
    const say = (text: string) => sayLine({ session, transcript, notice }, text)
    if (isTyped) return await typed(written, say, () => lines.prompt())
    const why = `npx botstead deliveries list --bot "${session.botName}"`
    const late = () =>
      notice(`No answer within ${timeout / 1000} s. What the bot was sent, and answered: ${why}`)
    return await piped(written, say, { answers, late })
  } finally {
    ending.abort()
    lines.close()
    await listening
  }
}

interface Listen {
  session: ChatSession
  transcript: Transcript
  notice: (text: string) => void
  signal: AbortSignal
}

/** Hears what is said; resolves when it is ended, rejects when the server refuses. */
function listen({ session, transcript, notice, signal }: Listen) {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let isBroken = false
  const onConnection = (state: 'open' | 'broken') => {
    if (state === 'open') open()
    if (state === 'open' && isBroken) notice('Connected again.')
    if (state === 'broken' && !isBroken) notice('The connection is lost; trying again.')
    isBroken = state === 'broken'
  }
  const work = async () => {
    const after = session.isNew ? { after: 0 } : {}
    for await (const news of followConversation({ ...session, ...after, signal, onConnection })) {
      await transcript.take(news)
    }
  }
  return { opened, listening: work() }
}

type Say = (text: string) => Promise<boolean>

/** Sends a line, or what the number in it chooses; answers whether it was sent. */
async function sayLine({ session, transcript, notice }: Omit<Listen, 'signal'>, line: string) {
  const chosen = /^\d+$/.test(line) ? transcript.choices()[Number(line) - 1] : undefined
  try {
    await sendText(session, chosen?.value ?? line)
    return true
  } catch (error) {
    notice(`Not sent: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

/** One message after the other as somebody types them, without waiting for answers. */
async function typed(lines: AsyncIterable<string>, say: Say, prompt: () => void) {
  let isSent = true
  for await (const line of lines) {
    isSent = (await say(line)) && isSent
    prompt()
  }
  return isSent
}

interface Waiting {
  answers: Answers
  /** Tells that an answer is missing. */
  late: () => void
}

/** One message for each line, each after the answer to the one before. */
async function piped(lines: AsyncIterable<string>, say: Say, { answers, late }: Waiting) {
  let isAnswered = true
  for await (const line of lines) {
    answers.expect()
    const isSent = await say(line)
    const isSettled = isSent && (await answers.settled())
    if (isSent && !isSettled) late()
    isAnswered &&= isSettled
  }
  return isAnswered
}

/** What is to be sent: lines that say something, up to `/quit`. */
async function* messages(lines: AsyncIterator<string>): AsyncGenerator<string> {
  for (;;) {
    const { done, value } = await lines.next()
    if (done) return
    const text = value.trim()
    if (text === '/quit') return
    if (text !== '') yield text
  }
}
