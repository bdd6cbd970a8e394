import { clearLine, cursorTo, type Interface } from 'node:readline'
import type { Signal, SignalData } from '@botstead/contract'
import { type Choice, printable, render } from './render.js'
import type { ChatSession } from './session.js'

interface TranscriptDeps {
  session: ChatSession
  screen: Screen
  answers: Answers
}

type Message = Omit<SignalData['message_created'], 'isBot'>

/** Most messages that are shown when somebody comes back to a conversation. */
const shownBefore = 10

export type Transcript = ReturnType<typeof createTranscript>

/** Shows what happens in a conversation. */
export function createTranscript({ session, screen, answers }: TranscriptDeps) {
  const { chat, conversationId, userId, botId } = session
  const botName = printable(session.botName)
  const shown = new Set<string>()
  /** The message that is growing on the screen. */
  let writing: { streamId: string; text: string } | undefined
  let choices: readonly Choice[] = []

  function showMessage(message: Message, name: string): void {
    if (shown.has(message.id)) return
    shown.add(message.id)
    const rendered = render(message.payload)
    if (message.userId !== userId) choices = rendered.choices
    const isGrowing = writing !== undefined && writing.streamId === message.metadata?.streamId
    const isThere = isGrowing && writing?.text === rendered.text
    if (isGrowing) writing = undefined
    screen.show(isThere ? '' : `${name}: ${rendered.text}`)
  }

  function showPiece(streamId: string, delta: string): void {
    // Of several at a time one is followed; the others are shown when they are complete.
    if (writing === undefined) {
      writing = { streamId, text: '' }
      screen.grow(`${botName}: `)
    }
    if (writing.streamId !== streamId) return
    const text = printable(delta)
    writing.text += text
    screen.grow(text)
  }

  /** Shows the last messages, oldest first, apart from those that are there. */
  async function showLast(limit: number): Promise<void> {
    const { messages } = await chat.chatListMessages({ conversationId })
    const names = new Map([
      [userId, 'you'],
      ...(botId === undefined ? [] : [[botId, botName] as const]),
    ])
    for (const message of messages.slice(0, limit).reverse()) {
      showMessage(message, names.get(message.userId) ?? printable(message.userId))
    }
  }

  async function take({ type, data }: Signal): Promise<void> {
    switch (type) {
      case 'message_created': {
        const { isBot, ...message } = data
        const streamId = message.metadata?.streamId
        // What this terminal has sent stands on the screen already.
        if (message.userId !== userId) {
          showMessage(message, isBot ? botName : printable(message.userId))
        }
        if (isBot && typeof streamId === 'string') answers.finished(streamId)
        if (isBot) answers.received()
        return
      }
      case 'message_stream_delta':
        answers.writing(data.streamId)
        return showPiece(data.streamId, data.delta)
      case 'message_stream_abort':
        if (writing?.streamId === data.streamId) {
          writing = undefined
          screen.grow(' [broken off]')
          screen.show('')
        }
        return answers.finished(data.streamId)
      case 'event_created':
        if (data.isBot)
          screen.show(`${botName}: [event] ${printable(JSON.stringify(data.payload))}`)
        return
      case 'reset':
        return await showLast(Number.POSITIVE_INFINITY)
      default:
        // The others carry nothing that is said.
        return
    }
  }

  return {
    take,
    /** Shows what was said before. */
    showBefore: () => showLast(shownBefore),
    /** What the last message offers to choose. */
    choices: (): readonly Choice[] => choices,
  }
}

/** Knows when the bot has answered what was said. */
export interface Answers {
  /** Something is about to be said: what came so far does not answer it. */
  expect(): void
  /** A message of the bot has come as a whole. */
  received(): void
  /** A piece of a message has come. */
  writing(streamId: string): void
  /** A message that came in pieces is complete, or was given up. */
  finished(streamId: string): void
  /** Waits for an answer and for what follows it closely; resolves whether there was one. */
  settled(): Promise<boolean>
}

/**
 * A bot does not say that it has said everything. So an answer is complete when nothing follows for
 * `quiet` milliseconds, and missing when nothing comes for `timeout` milliseconds.
 */
export function createAnswers({ timeout, quiet }: { timeout: number; quiet: number }): Answers {
  const open = new Set<string>()
  let isAnswered = false
  let wake = () => {}

  const isComplete = () => isAnswered && open.size === 0

  /** Whether something came in time. */
  function somethingWithin(milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), milliseconds)
      wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  return {
    expect() {
      isAnswered = false
    },
    received() {
      isAnswered = true
      wake()
    },
    writing(streamId) {
      open.add(streamId)
      wake()
    },
    finished(streamId) {
      open.delete(streamId)
      wake()
    },
    async settled() {
      while (await somethingWithin(isComplete() ? quiet : timeout));
      return isComplete()
    },
  }
}

/** Where the conversation is shown. */
export interface Screen {
  /** Shows whole lines. */
  show(text: string): void
  /** Shows text that goes on with the next call, until something else is shown. */
  grow(text: string): void
}

/**
 * Writes above the line that is being typed, which is drawn again below.
 *
 * @param lines reads what is typed; undefined where nobody types
 */
export function createScreen(output: NodeJS.WritableStream, lines: Interface | undefined): Screen {
  /** Whether the last line of the screen is one that grows. */
  let isGrowing = false

  function begin(): void {
    if (isGrowing || lines === undefined) return
    cursorTo(output, 0)
    clearLine(output, 0)
  }

  return {
    show(text) {
      begin()
      output.write(`${isGrowing ? '\n' : ''}${text === '' ? '' : `${text}\n`}`)
      isGrowing = false
      lines?.prompt(true)
    },
    grow(text) {
      begin()
      output.write(text)
      isGrowing = true
    },
  }
}
