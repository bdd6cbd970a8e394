import type { contract, Output } from '@botstead/contract'
import { findViolation } from '@botstead/json-schema'
import { blocParts, chatShapes } from '../../bots/built-in-chat/index.js'
import { textOf } from '../../conversations/messages/index.js'
import { streamIdIn } from '../message-streams.js'
import { type ChatMessageRecord, toStoredContent } from '../view.js'
import type { FeedbackRow } from './feedback-store.js'

export type WebchatMessage = Output<typeof contract.webchat.getMessage>['message']
type Payload = WebchatMessage['payload']

/** Maximum length of the text of an unsupported payload, in characters. */
const maxFallbackCharacters = 10_000

/** The facts beside the content on which the shape of a message depends. */
interface MessageContext {
  /** Whether the bot wrote it. */
  isBot: boolean
  feedback?: FeedbackRow | undefined
}

/** A message in the shape of the web chat: parts of blocs are nested, and unsupported payloads are texts. */
export function toWebchatMessage(
  { content, ...record }: ChatMessageRecord,
  { isBot, feedback }: MessageContext,
): WebchatMessage {
  const { type, payload: stored } = toStoredContent({ payload: content.payload })
  const { replyTo, ...payload } = stored
  const metadata = isBot ? withOwnClientMessageId(content.metadata) : content.metadata
  return {
    ...record,
    payload: toSupportedPayload(type, payload),
    fromBot: isBot,
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

/** The `clientMessageId` of a message that a bot writes piece by piece: the same for its pieces and for the complete message. */
export function draftIdentity(streamId: string): string {
  return `stream:${streamId}`
}

/**
 * Web chats identify messages by `clientMessageId`. A bot may copy the metadata of the message that it answers, which
 * would overwrite that message on the page; the id is removed. Messages written piece by piece have the id of their stream.
 */
function withOwnClientMessageId(
  metadata: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  if (metadata === undefined) return undefined
  const { clientMessageId: _, ...rest } = metadata
  const streamId = streamIdIn(rest)
  return streamId === undefined ? rest : { ...rest, clientMessageId: draftIdentity(streamId) }
}

/** The payload, or its text: the widget stops working at payloads that it does not know. */
function toSupportedPayload(type: string, content: Record<string, unknown>): Payload {
  if (isSupported(type, content)) return { ...content, type }
  return { type: 'text', text: textOf(content, maxFallbackCharacters) || `[${type}]` }
}

function isSupported(type: string, content: Record<string, unknown>): boolean {
  if (type === 'text') return typeof content.text === 'string'
  if (type === 'custom') return typeof content.url === 'string' && typeof content.name === 'string'
  if (type === 'bloc') return Array.isArray(content.items) && content.items.every(isSupportedPart)
  return fitsShape(type, content)
}

/** By the shape of its own type alone: the schema of a bloc tests each part with all types, which takes ten times as long. */
function isSupportedPart(part: unknown): boolean {
  const { type, payload } = Object(part)
  return blocParts.some((known) => known === type) && fitsShape(type, payload)
}

function fitsShape(type: string, content: unknown): boolean {
  const shape = Object.hasOwn(chatShapes, type) ? chatShapes[type] : undefined
  return shape !== undefined && findViolation(shape.schema, content) === undefined
}
