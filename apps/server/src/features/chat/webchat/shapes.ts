import type { contract, Output } from '@botstead/contract'
import { findViolation } from '@botstead/json-schema'
import { chatShapes } from '../../bots/installations/index.js'
import { textOf } from '../../conversations/messages/index.js'
import { streamIdIn } from '../message-streams.js'
import { type ChatMessageRecord, toStoredContent } from '../view.js'
import type { FeedbackRow } from './feedback-store.js'

export type WebchatMessage = Output<typeof contract.webchat.getMessage>['message']
type Payload = WebchatMessage['payload']

const longestFallback = 10_000

/** What the shape of a message depends on beside its content. */
interface MessageContext {
  /** Whether the bot wrote it. */
  isBot: boolean
  feedback?: FeedbackRow | undefined
}

/** A message in the shape of the web chat: the parts of blocs are nested, and it can show all of it. */
export function toWebchatMessage(
  { content, ...record }: ChatMessageRecord,
  { isBot, feedback }: MessageContext,
): WebchatMessage {
  const { type, payload: stored } = toStoredContent({ payload: content.payload })
  const { replyTo, ...payload } = stored
  const metadata = isBot ? withoutForeignId(content.metadata) : content.metadata
  return {
    ...record,
    payload: shownPayload(type, payload),
    ...(metadata !== undefined && { metadata }),
    ...(typeof replyTo === 'string' && { replyTo }),
    ...(feedback !== undefined && {
      feedback: {
        value: feedback.value,
        ...(feedback.comment !== null && { comment: feedback.comment }),
      },
    }),
  }
}

/** The identity of a message that a bot writes piece by piece, from its first piece to the complete message. */
export function draftIdentity(streamId: string): string {
  return `stream:${streamId}`
}

/**
 * Web chats identify messages by `clientMessageId`: a bot that answers with the metadata of a user would
 * overwrite the message of that user. A message that was written piece by piece has that of its pieces.
 */
function withoutForeignId(
  metadata: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  if (metadata === undefined) return undefined
  const { clientMessageId: _, ...rest } = metadata
  const streamId = streamIdIn(rest)
  return streamId === undefined ? rest : { ...rest, clientMessageId: draftIdentity(streamId) }
}

/** Web chats fail at what they do not know, so it becomes a text. */
function shownPayload(type: string, content: Record<string, unknown>): Payload {
  if (isShown(type, content)) return { ...content, type }
  return { type: 'text', text: textOf(content, longestFallback) || `[${type}]` }
}

function isShown(type: string, content: Record<string, unknown>): boolean {
  if (type === 'text') return typeof content.text === 'string'
  if (type === 'custom') return typeof content.url === 'string' && typeof content.name === 'string'
  const shape = Object.hasOwn(chatShapes, type) ? chatShapes[type] : undefined
  return shape !== undefined && findViolation(shape.schema, content) === undefined
}
