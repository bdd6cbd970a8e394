import { createInterface } from 'node:readline'
import { followConversation } from '@botstead/contract'
import { printableName } from '../text.js'
import { type ChatSession, lastFailure, sendText } from './session.js'
import {
  createReplies,
  createScreen,
  createTranscript,
  type Replies,
  type Transcript,
} from './transcript.js'

interface TalkOptions {
  input: NodeJS.ReadStream
  output: NodeJS.WriteStream
  /** Output for notices that are not part of the conversation. */
  notices: NodeJS.WritableStream
  /** Milliseconds to wait for a reply to a line of input that is not from a terminal. */
  timeout: number
}

/** Milliseconds without a message after which the bot's reply counts as complete. */
const quiet = 500

/**
 * Runs the conversation until the input ends or contains `/quit`.
 *
 * @returns whether all messages were sent and, without a terminal, got a reply
 */
export async function talk(session: ChatSession, options: TalkOptions): Promise<boolean> {
  const { input, output, notices, timeout } = options
  const isTyped = input.isTTY && output.isTTY
  const lines = createInterface({
    input,
    ...(isTyped && { output, prompt: '> ' }),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  // Read from the start: lines that arrive before a reader is attached would be lost.
  const written = messages(lines[Symbol.asyncIterator]())
  const screen = createScreen(output, isTyped ? lines : undefined)
  const notice = isTyped ? screen.show : (text: string) => void notices.write(`${text}\n`)
  const replies = createReplies({ timeout, quiet })
  const transcript = createTranscript({ session, screen, replies })
  const ending = new AbortController()
  const { listening, opened } = listen({ session, transcript, notice, signal: ending.signal })
  // When the subscription ends by itself, so does the conversation.
  listening.catch(() => {}).finally(() => lines.close())

  try {
    await Promise.race([opened, listening])
    if (isTyped) {
      notice(`You talk to ${printableName(session.botName)}; /quit ends.`)
      if (!session.isNew) await transcript.showEarlier()
      lines.prompt()
    }
    const say = (text: string) => sendLine({ session, transcript, notice }, text)
    if (isTyped) return await sendTyped(written, say, () => lines.prompt())
    // The name of a bot may contain anything, and a suggested command is pasted.
    const why =
      session.botId === undefined
        ? ''
        : ` What the bot was sent, and answered: npx botstead deliveries list --bot ${session.botId}`
    const reportMissing = async () => {
      const failure = await lastFailure(session)
      const reason = failure === undefined ? '' : ` ${printableName(failure)}`
      notice(`No answer within ${timeout / 1000} s.${reason}${why}`)
    }
    return await sendPiped(written, say, { replies, reportMissing })
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

/** Follows the conversation; resolves when it is stopped, rejects when the server refuses. */
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
    for await (const received of followConversation({
      ...session,
      ...after,
      signal,
      onConnection,
    })) {
      await transcript.take(received)
    }
  }
  return { opened, listening: work() }
}

type Send = (text: string) => Promise<boolean>

/** Sends a line, or the option that its number selects; returns whether it was sent. */
async function sendLine({ session, transcript, notice }: Omit<Listen, 'signal'>, line: string) {
  const chosen = /^\d+$/.test(line) ? transcript.choices()[Number(line) - 1] : undefined
  try {
    await sendText(session, chosen?.value ?? line)
    return true
  } catch (error) {
    notice(`Not sent: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

/** Sends messages as they are typed, without waiting for replies. */
async function sendTyped(lines: AsyncIterable<string>, say: Send, prompt: () => void) {
  let isSent = true
  for await (const line of lines) {
    isSent = (await say(line)) && isSent
    prompt()
  }
  return isSent
}

interface Waiting {
  replies: Replies
  /** Reports a missing reply. */
  reportMissing: () => Promise<void>
}

/** Sends one message per line, each after the reply to the one before. */
async function sendPiped(
  lines: AsyncIterable<string>,
  say: Send,
  { replies, reportMissing }: Waiting,
) {
  let hasReplied = true
  for await (const line of lines) {
    replies.expect()
    const isSent = await say(line)
    const isSettled = isSent && (await replies.settled())
    if (isSent && !isSettled) await reportMissing()
    hasReplied &&= isSettled
  }
  return hasReplied
}

/** The messages to send: lines that are not blank, up to `/quit`. */
async function* messages(lines: AsyncIterator<string>): AsyncGenerator<string> {
  for (;;) {
    const { done, value } = await lines.next()
    if (done) return
    const text = value.trim()
    if (text === '/quit') return
    if (text !== '') yield text
  }
}
