import { Frame } from '../../../platform/streams/frame.js'
import type { Entry, FollowedConversation, Piece } from './entry.js'

/** Milliseconds after its last piece for which a message in progress is kept. */
export const streamLifetime = 10 * 60 * 1000

interface Written {
  pieces: Map<number, Piece>
  at: number
  /** The text so far, rendered on first use. */
  summary: Frame | undefined
}

/** The messages in progress of one conversation, kept for listeners that join later. */
export class OpenStreams {
  readonly #written = new Map<string, Written>()

  /** Processes the next event of the log. */
  record({ piece, finished, at }: Entry): void {
    if (finished !== undefined) this.#written.delete(finished)
    if (piece === undefined) return
    const written = this.#written.get(piece.streamId) ?? {
      pieces: new Map(),
      at,
      summary: undefined,
    }
    written.pieces.set(piece.sequence, piece)
    written.summary = undefined
    written.at = at
    this.#written.set(piece.streamId, written)
  }

  /** Whether the event is a piece of a message in progress. */
  includes({ piece }: Entry): boolean {
    return piece !== undefined && this.#written.has(piece.streamId)
  }

  /** Drops messages without a recent piece. */
  sweep(now: number): void {
    for (const [streamId, { at }] of this.#written) {
      if (now - at >= streamLifetime) this.#written.delete(streamId)
    }
  }

  /**
   * The text so far of each message, as one piece: built once for all listeners that join before
   * the next piece.
   */
  summaries(conversation: FollowedConversation): Frame[] {
    return [...this.#written.values()].flatMap((written) => {
      written.summary ??= summaryOf(conversation, written.pieces.values())
      return written.summary ?? []
    })
  }
}

function summaryOf(conversation: FollowedConversation, pieces: Iterable<Piece>): Frame | undefined {
  const ordered = [...pieces].sort((a, b) => a.sequence - b.sequence)
  const last = ordered.at(-1)
  if (last === undefined) return undefined
  const delta = ordered.map((piece) => piece.delta).join('')
  return new Frame(toSignal(conversation, { ...last, delta }), undefined)
}

/** A piece in the form for clients. */
export function toSignal({ publicId }: FollowedConversation, piece: Piece) {
  const { streamId, userId, createdAt, sequence, delta, clientMessageId } = piece
  return {
    type: 'message_stream_delta',
    data: {
      streamId,
      conversationId: publicId,
      userId,
      createdAt,
      sequence,
      delta,
      ...(clientMessageId !== undefined && { clientMessageId }),
    },
  }
}
