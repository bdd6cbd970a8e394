import { ApiError } from '@botstead/contract'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Db, Run, Tx } from '../../platform/db/schema.js'
import {
  type ConversationsService,
  conversationEvents,
} from '../conversations/conversations/index.js'
import * as store from './stream-store.js'
import { type FollowedConversation, type Piece, streamLifetime } from './streams/index.js'

/** A part of a message that a bot publishes while it writes. */
export interface MessageStreamInput {
  /** Native id. */
  conversationId: string
  signal: StreamDelta | { type: 'abort'; streamId: string }
}

interface StreamDelta {
  type: 'delta'
  streamId: string
  createdAt: string
  /** Position of the piece in the message. */
  sequence: number
  delta: string
  clientMessageId?: string
}

export interface MessageStreamsDeps {
  db: Db
  run: Run
  clock: Clock
  conversations: Pick<ConversationsService, 'appendEvent'>
  /** Maximum characters of all pieces of one message together: the limit of a complete message. */
  maxCharacters: number
}

/** Limits of what a bot may publish; complete messages have limits of their own. */
const most = { idLength: 200, pieceCharacters: 16_384, pieces: 20_000, openStreams: 50 }
const sweptAtOnce = 100

/** Operations on messages that bots write piece by piece. */
export function messageStreams(deps: MessageStreamsDeps) {
  const { db, run, clock, conversations, maxCharacters } = deps

  async function countPiece(tx: Tx, botId: string, input: MessageStreamInput, sequence: number) {
    const { conversationId, signal } = input
    if (signal.type !== 'delta') return
    const now = clock.now()
    const { characters, pieces } = await store.countPiece(tx, {
      conversation_id: conversationId,
      stream_id: signal.streamId,
      bot_id: botId,
      first_sequence: sequence,
      last_sequence: sequence,
      characters: signal.delta.length,
      pieces: 1,
      expires_at: isoTime(now + streamLifetime),
    })
    if (characters > maxCharacters) throw tooMuch(`${maxCharacters} characters`)
    if (pieces > most.pieces) throw tooMuch(`${most.pieces} pieces`)
    if (pieces > 1) return
    if ((await store.countStreams(tx, conversationId, isoTime(now))) > most.openStreams) {
      throw new ApiError(
        'LimitExceeded',
        `A conversation has at most ${most.openStreams} messages in progress.`,
      )
    }
  }

  return {
    /**
     * Sends the listeners of a conversation the next piece of a message, or a signal that the
     * message was abandoned. It is complete when the bot creates a message whose
     * `metadata.streamId` names it.
     */
    async publishMessageStream(botId: string, input: MessageStreamInput): Promise<void> {
      requireSignal(input)
      const { conversationId, signal } = input
      const { streamId } = signal
      await run(async (tx) => {
        const position = await conversations.appendEvent(
          tx,
          { botId, id: conversationId },
          signal.type === 'abort'
            ? { type: conversationEvents.streamAborted, subjectId: streamId }
            : {
                type: conversationEvents.streamDelta,
                subjectId: streamId,
                data: toPiece(botId, signal),
              },
        )
        if (position === undefined) {
          throw new ApiError(
            'ResourceNotFound',
            `input.conversationId: there is no conversation ${conversationId}.`,
          )
        }
        await countPiece(tx, botId, input, position.sequence)
      })
    },

    /** Log number of the first piece that new listeners need. */
    async firstOpenPiece(conversation: FollowedConversation): Promise<number | undefined> {
      return await store.findFirstPiece(db, conversation.id, isoTime(clock.now()))
    },

    /** Empties the pieces of expired messages; returns how many messages. */
    async sweep(tx: Tx): Promise<number> {
      const expired = await store.listExpired(tx, isoTime(clock.now()), sweptAtOnce)
      for (const stream of expired)
        await store.emptyStream(tx, stream, conversationEvents.streamDelta)
      return expired.length
    },
  }
}

/** Id of the stream that a message with this metadata completes; undefined if it completes none. */
export function streamIdIn(metadata: unknown): string | undefined {
  if (typeof metadata !== 'object' || metadata === null || !('streamId' in metadata))
    return undefined
  const { streamId } = metadata
  return typeof streamId === 'string' && streamId !== '' ? streamId : undefined
}

function toPiece(botId: string, { type: _, ...signal }: StreamDelta): Piece {
  return { ...signal, userId: botId }
}

function requireSignal({ conversationId, signal }: MessageStreamInput): void {
  requireText('input.conversationId', conversationId, most.idLength)
  requireText('input.signal.streamId', signal?.streamId, most.idLength)
  if (signal.type === 'abort') return
  if (signal.type !== 'delta') {
    throw invalid('input.signal.type must be one of delta, abort.')
  }
  requireText('input.signal.createdAt', signal.createdAt, most.idLength)
  if (typeof signal.sequence !== 'number') {
    throw invalid('input.signal.sequence must be a number.')
  }
  if (typeof signal.delta !== 'string' || signal.delta.length > most.pieceCharacters) {
    throw invalid(
      `input.signal.delta must be a string of at most ${most.pieceCharacters} characters.`,
    )
  }
  if (signal.clientMessageId !== undefined) {
    requireText('input.signal.clientMessageId', signal.clientMessageId, most.idLength)
  }
}

function requireText(field: string, value: unknown, maxLength: number): void {
  if (typeof value === 'string' && value.length > 0 && value.length <= maxLength) return
  throw invalid(`${field} must be a string of 1 to ${maxLength} characters.`)
}

function invalid(message: string): ApiError {
  return new ApiError('InvalidPayload', message)
}

function tooMuch(bound: string): ApiError {
  return new ApiError('LimitExceeded', `input.signal: a message has at most ${bound}.`)
}
