import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, followConversation } from '@botstead/contract'
import { messageForPeople } from '@botstead/contract/error-text'
import { escapeLine } from '../../platform/terminal-text.js'
import type { Output } from '../terminal.js'
import { type ChatSession, findTrouble, sendText, type Trouble } from './session.js'
import {
  createReplies,
  createScreen,
  createTranscript,
  type Replies,
  type Transcript,
} from './transcript.js'

interface TalkOptions {
  input: NodeJS.ReadStream
  output: Output
  /** Output for notices that are not part of the conversation. */
  notices: Output
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
  const isTyped = input.isTTY && output.isTerminal
  const lines = createInterface({
    input,
    ...(isTyped && { output: output.stream, prompt: '> ' }),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  // Read from the start: lines that arrive before a reader is attached would be lost.
  const written = messages(lines[Symbol.asyncIterator]())
  const screen = createScreen(output, isTyped ? lines : undefined)
  const notice: Notice = isTyped
    ? (...parts) => screen.show(parts.map(escapeLine).join('\n'))
    : (...parts) => {
        for (const part of parts) notices.line(part)
      }
  const replies = createReplies({ timeout, quiet })
  const transcript = createTranscript({ session, screen, replies })
  const ending = new AbortController()
  const { listening, opened } = listen({ session, transcript, notice, signal: ending.signal })
  // The end of the subscription also ends the conversation.
  listening.catch(() => {}).finally(() => lines.close())

  try {
    await Promise.race([opened, listening])
    if (isTyped) {
      notice(`You talk to ${session.botName}; /quit ends.`)
      if (!session.isNew) await transcript.showEarlier()
      lines.prompt()
    }
    const say = (text: string) => sendLine({ session, transcript, notice }, text)
    const watch = (sentAt: string, signal: AbortSignal) =>
      watchTrouble(session, sentAt, { timeout, signal, isEnough: ({ ends }) => ends !== undefined })
    const report = (text: string, trouble: Trouble | undefined) => {
      const reason = trouble === undefined ? '' : ` ${trouble.reason}`
      // A bot that is not called was sent nothing.
      const more = trouble?.ends === 'bot' ? [] : moreAbout(session)
      notice(`${text}.${reason}`, ...more)
    }
    if (isTyped) {
      const reportTrouble = async (sentAt: string) => {
        const options = { timeout, signal: ending.signal, isEnough: () => true }
        const trouble = await watchTrouble(session, sentAt, options)
        if (trouble !== undefined && !ending.signal.aborted)
          report(trouble.ends === undefined ? 'No answer yet' : 'No answer', trouble)
      }
      return await sendTyped(written, say, { reportTrouble, prompt: () => lines.prompt() })
    }
    const reportMissing = (trouble: Trouble | undefined) =>
      report(
        trouble?.ends === undefined ? `No answer within ${timeout / 1000} s` : 'No answer',
        trouble,
      )
    return await sendPiped(written, say, { replies, watch, reportMissing })
  } finally {
    ending.abort()
    lines.close()
    await listening
  }
}

/** Shows something that is not part of the conversation, each part on a line. */
type Notice = (...lines: string[]) => void

interface Listen {
  session: ChatSession
  transcript: Transcript
  notice: Notice
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
  return { opened, listening: work().catch(endedByDeletion) }
}

/** Says what an address or a conversation that is gone means to a person who is in it. */
function endedByDeletion(error: unknown): never {
  if (!(error instanceof ApiError && error.type === 'ResourceNotFound')) throw error
  const what = 'The chat ended: the bot, its chat or the conversation was deleted.'
  throw new Error(`${what} ${error.message}`, { cause: error })
}

/** Milliseconds before the first look for what keeps a message from being answered, and between the others. */
const firstLook = 100
const lookEvery = 1000

/** The commands that show more, one on each line; nothing if only the address of the bot is known. */
function moreAbout({ again }: ChatSession): string[] {
  if (again === undefined) return []
  return [
    `  What the bot printed, and its errors:  npx botstead logs${again}`,
    `  What it was sent, and its responses:   npx botstead deliveries list${again}`,
  ]
}

interface Watch {
  /** Milliseconds. */
  timeout: number
  signal: AbortSignal
  /** Whether nothing more needs to be known. */
  isEnough: (trouble: Trouble) => boolean
}

/**
 * Looks for what keeps a message from being answered, until enough is known, or for `timeout` milliseconds.
 * @returns what was found last
 */
async function watchTrouble(
  session: ChatSession,
  sentAt: string,
  { timeout, signal, isEnough }: Watch,
): Promise<Trouble | undefined> {
  const end = Date.now() + timeout
  let trouble: Trouble | undefined
  for (let pause = firstLook; ; pause = Math.min(2 * pause, lookEvery)) {
    const left = end - Date.now()
    await sleep(Math.max(0, Math.min(pause, left)), undefined, { signal }).catch(() => {})
    if (signal.aborted) return trouble
    trouble = await findTrouble(session, sentAt)
    if ((trouble && isEnough(trouble)) || session.admin === undefined || left <= pause) {
      return trouble
    }
  }
}

/** @returns the ISO 8601 time of the message; undefined if it was not sent */
type Send = (text: string) => Promise<string | undefined>

/** Sends a line, or the option that its number selects. */
async function sendLine({ session, transcript, notice }: Omit<Listen, 'signal'>, line: string) {
  const chosen = /^\d+$/.test(line) ? transcript.choices()[Number(line) - 1] : undefined
  try {
    return await sendText(session, chosen?.value ?? line)
  } catch (error) {
    notice(`Not sent: ${messageForPeople(error instanceof Error ? error.message : String(error))}`)
    return undefined
  }
}

interface Typing {
  /** Reports that no reply will come. */
  reportTrouble: (sentAt: string) => Promise<void>
  prompt: () => void
}

/** Sends messages as they are typed, without waiting for replies. */
async function sendTyped(
  lines: AsyncIterable<string>,
  say: Send,
  { reportTrouble, prompt }: Typing,
) {
  let isSent = true
  for await (const line of lines) {
    const sentAt = await say(line)
    if (sentAt === undefined) isSent = false
    else void reportTrouble(sentAt)
    prompt()
  }
  return isSent
}

interface Waiting {
  replies: Replies
  /** Looks for what keeps a message from being answered. */
  watch: (sentAt: string, signal: AbortSignal) => Promise<Trouble | undefined>
  /** Reports a missing reply. */
  reportMissing: (trouble: Trouble | undefined) => void
}

/** Sends one message per line, each after the reply to the one before; ends if the bot is not called at all. */
async function sendPiped(
  lines: AsyncIterable<string>,
  say: Send,
  { replies, watch, reportMissing }: Waiting,
) {
  let hasReplied = true
  for await (const line of lines) {
    replies.expect()
    const sentAt = await say(line)
    if (sentAt === undefined) {
      hasReplied = false
      continue
    }
    const replied = new AbortController()
    const watching = watch(sentAt, replied.signal).then((trouble) => {
      if (trouble?.ends !== undefined) replies.giveUp()
      return trouble
    })
    if (await replies.settled()) {
      replied.abort()
      continue
    }
    hasReplied = false
    const trouble = await watching
    reportMissing(trouble)
    if (trouble?.ends === 'bot') break
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
