import type { Interface } from 'node:readline'
import type { Signal, SignalData } from '@botstead/contract'
import { escapeLine, printable } from '../../platform/terminal-text.js'
import type { Output } from '../terminal.js'
import { type Choice, render } from './render.js'
import type { ChatSession } from './session.js'

interface TranscriptDeps {
  session: ChatSession
  screen: Screen
  replies: Replies
}

type Message = Omit<SignalData['message_created'], 'isBot'>

/** Maximum number of earlier messages shown when a conversation is continued. */
const maxEarlierMessages = 10

export type Transcript = ReturnType<typeof createTranscript>

/** Shows what happens in a conversation. */
export function createTranscript({ session, screen, replies }: TranscriptDeps) {
  const { chat, conversationId, userId, botId } = session
  const botName = escapeLine(session.botName)
  const shown = new Set<string>()
  /** The message that is being streamed to the screen. */
  let writing: { streamId: string; text: string } | undefined
  let choices: readonly Choice[] = []

  function showMessage(message: Message, name: string): void {
    if (shown.has(message.id)) return
    shown.add(message.id)
    const rendered = render(message.payload)
    if (message.userId !== userId) choices = rendered.choices
    const isGrowing = writing !== undefined && writing.streamId === message.metadata?.streamId
    const isThere = isGrowing && screen.isLive && writing?.text === rendered.text
    if (isGrowing) writing = undefined
    screen.show(isThere ? '' : `${name}: ${below(rendered.text)}`)
  }

  function showPiece(streamId: string, delta: string): void {
    // Of several streamed messages only one is followed; the others are shown when they are complete.
    if (writing === undefined) {
      writing = { streamId, text: '' }
      if (screen.isLive) screen.grow(`${botName}: `)
    }
    if (writing.streamId !== streamId) return
    const text = printable(delta)
    writing.text += text
    if (screen.isLive) screen.grow(below(text))
  }

  /** Shows the last messages, oldest first, except those that were shown. */
  async function showLast(limit: number): Promise<void> {
    const { messages } = await chat.chatListMessages({ conversationId })
    const names = new Map([
      [userId, 'you'],
      ...(botId === undefined ? [] : [[botId, botName] as const]),
    ])
    for (const message of messages.slice(0, limit).reverse()) {
      showMessage(message, names.get(message.userId) ?? escapeLine(message.userId))
    }
  }

  async function take({ type, data }: Signal): Promise<void> {
    switch (type) {
      case 'message_created': {
        const { isBot, ...message } = data
        const streamId = message.metadata?.streamId
        // Messages from this terminal are already on the screen.
        if (message.userId !== userId) {
          showMessage(message, isBot ? botName : escapeLine(message.userId))
        }
        if (isBot && typeof streamId === 'string') replies.finished(streamId)
        if (isBot) replies.received()
        return
      }
      case 'message_stream_delta':
        replies.writing(data.streamId)
        return showPiece(data.streamId, data.delta)
      case 'message_stream_abort':
        if (writing?.streamId === data.streamId) {
          const { text } = writing
          writing = undefined
          screen.grow(screen.isLive ? ' [broken off]' : `${botName}: ${below(text)} [broken off]`)
          screen.show('')
        }
        return replies.finished(data.streamId)
      case 'event_created':
        if (data.isBot)
          screen.show(`${botName}: [event] ${printable(JSON.stringify(data.payload))}`)
        return
      case 'reset':
        return await showLast(Number.POSITIVE_INFINITY)
      default:
        // Other signals contain no message.
        return
    }
  }

  return {
    take,
    /** Shows earlier messages. */
    showEarlier: () => showLast(maxEarlierMessages),
    /** The options of the last message. */
    choices: (): readonly Choice[] => choices,
  }
}

/** A text after a name: further lines are indented, so that none can pass for what somebody else said. */
function below(text: string): string {
  return text.replaceAll('\n', '\n  ')
}

/** Tracks whether the bot has replied. */
export interface Replies {
  /** Called before a message is sent: earlier messages of the bot are not replies to it. */
  expect(): void
  /** Called when a complete message of the bot arrives. */
  received(): void
  /** Called when a piece of a message arrives. */
  writing(streamId: string): void
  /** Called when a streamed message is complete or aborted. */
  finished(streamId: string): void
  /** Called when no reply will come. Does nothing after a reply. */
  giveUp(): void
  /** Waits for a reply and for messages that follow it closely; resolves with whether there was one. */
  settled(): Promise<boolean>
}

/**
 * A bot does not signal the end of its reply. A reply therefore counts as complete when nothing follows for
 * `quiet` milliseconds, and as missing when nothing arrives for `timeout` milliseconds.
 */
export function createReplies({ timeout, quiet }: { timeout: number; quiet: number }): Replies {
  const open = new Set<string>()
  let hasReplied = false
  let isGivenUp = false
  let wake = () => {}

  const isComplete = () => hasReplied && open.size === 0

  /** Whether anything arrives within a time. */
  function arrivesWithin(milliseconds: number): Promise<boolean> {
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
      hasReplied = false
      isGivenUp = false
    },
    received() {
      hasReplied = true
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
    giveUp() {
      if (hasReplied) return
      isGivenUp = true
      wake()
    },
    async settled() {
      while (!isGivenUp && (await arrivesWithin(isComplete() ? quiet : timeout)));
      return isComplete()
    },
  }
}

/** Displays the conversation. */
export interface Screen {
  /**
   * Whether a person watches the output and sees a message grow. Output to a program or a file has each message once,
   * when it is complete.
   */
  readonly isLive: boolean
  /** Shows whole lines. */
  show(text: string): void
  /** Shows text that the next call continues, until something else is shown. */
  grow(text: string): void
}

/**
 * Writes above the input line, which is redrawn below.
 *
 * @param lines the input; undefined without a terminal
 */
export function createScreen(output: Output, lines: Interface | undefined): Screen {
  /** Whether the last line on the screen is still growing. */
  let isGrowing = false

  function begin(): void {
    if (isGrowing || lines === undefined) return
    output.clear()
  }

  return {
    isLive: lines !== undefined,
    show(text) {
      begin()
      output.text(`${isGrowing ? '\n' : ''}${text === '' ? '' : `${text}\n`}`)
      isGrowing = false
      lines?.prompt(true)
    },
    grow(text) {
      begin()
      output.text(text)
      isGrowing = true
    },
  }
}
