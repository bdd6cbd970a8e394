import type { Signal, SignalData } from '@botstead/contract'
import type { Answers } from './answers.js'
import { type Choice, printable, render } from './render.js'
import type { Room } from './room.js'
import type { Screen } from './screen.js'

interface HearingDeps {
  room: Room
  screen: Screen
  answers: Answers
}

type Message = Omit<SignalData['message_created'], 'isBot'>

/** Most messages that are shown when somebody comes back to a conversation. */
const shownBefore = 10

export type Hearing = ReturnType<typeof createHearing>

/** Shows what happens in a conversation. */
export function createHearing({ room, screen, answers }: HearingDeps) {
  const { chat, conversationId, userId, botId } = room
  const botName = printable(room.botName)
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
        if (isBot) answers.heard()
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
        // The others tell of nothing that is said.
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
