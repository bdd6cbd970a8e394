import type { Db } from '../../../platform/db/schema.js'
import { readSubjectEvents, type StoredEvent } from '../../../platform/events/read.js'
import { createLruCache } from '../../../platform/lru-cache.js'
import { conversationEvents } from '../../conversations/conversations/index.js'
import { findFirstPieceOf } from '../stream-store.js'
import type { FollowedConversation, Piece } from '../streams/index.js'
import { draftIdentity, type WebchatMessage } from './shapes.js'

/** A message that a bot is writing. */
interface Draft {
  streamId: string
  /** Pieces by the position that the bot gave them. */
  pieces: Map<number, string>
  userId: string
  /** Time of the first piece. */
  createdAt: string
  /** Number of the event of the first piece in the log. */
  first: number
  characters: number
  /** Characters of the text that was sent last. */
  sent: number
}

interface Followed {
  /** Number of the last event of the conversation that was processed. */
  position: number
  drafts: Map<string, Draft>
}

/** Conversations whose drafts are remembered; those of others are read from the log again. */
const maxFollowed = 100
/**
 * The text so far is sent when it has grown by this share. Sent with each of n pieces, it would cost every listener
 * n/2 times the length of the message.
 */
const minGrowth = 1 / 50

export type Drafts = ReturnType<typeof createDrafts>

/** The messages that bots are writing, for web chats: these receive the whole text so far, not single pieces. */
export function createDrafts(db: Db) {
  const followed = createLruCache<string, Followed>(maxFollowed)

  /** The state of a conversation, which begins anew unless it continues without a gap at event `from`. */
  function follow(conversationId: string, from: number): Followed {
    const known = followed.get(conversationId)
    if (known !== undefined && from <= known.position + 1) return known
    const fresh = { position: from - 1, drafts: new Map<string, Draft>() }
    followed.set(conversationId, fresh)
    return fresh
  }

  /** Reads the pieces of a message up to an event from the log. */
  async function load(event: StoredEvent): Promise<Draft | undefined> {
    const { stream, subjectId, sequence } = event
    const first = (await findFirstPieceOf(db, stream, subjectId)) ?? sequence
    const range = { stream, first, last: sequence, type: event.type, subjectId }
    const events = first < sequence ? await readSubjectEvents(db, range) : [event]
    let draft: Draft | undefined
    for (const each of events) draft = addPiece(draft, each)
    return draft
  }

  return {
    /**
     * Adds the next piece of a message; returns the message so far, and whether this is its first piece. Undefined if
     * the text has grown by less than 2 %, or the data of the piece were deleted after the end of the message.
     */
    async add(
      conversation: FollowedConversation,
      event: StoredEvent,
    ): Promise<{ message: WebchatMessage; isFirst: boolean } | undefined> {
      if (event.data === undefined) return undefined
      const { drafts } = follow(conversation.id, event.sequence)
      const known = drafts.get(event.subjectId)
      const draft = known === undefined ? await load(event) : addPiece(known, event)
      if (draft === undefined) return undefined
      drafts.set(event.subjectId, draft)
      const isFirst = draft.first === event.sequence
      if (!isFirst && draft.characters - draft.sent < draft.sent * minGrowth) return undefined
      draft.sent = draft.characters
      return { message: toMessage(conversation, draft), isFirst }
    },

    /** Records which events were processed. */
    advance(conversation: FollowedConversation, events: readonly StoredEvent[]): void {
      const [first] = events
      const last = events.at(-1)
      if (first === undefined || last === undefined) return
      const state = follow(conversation.id, first.sequence)
      state.position = Math.max(state.position, last.sequence)
    },

    /** Ends a draft; returns whether the message has pieces in memory or in the log. */
    async end(conversation: FollowedConversation, streamId: string): Promise<boolean> {
      const known = followed.get(conversation.id)?.drafts.delete(streamId) ?? false
      return known || (await findFirstPieceOf(db, conversation.id, streamId)) !== undefined
    },
  }
}

/**
 * The messages in progress according to a range of events, newest first.
 * @param ended ids of streams whose messages are complete
 */
export function openDrafts(
  conversation: FollowedConversation,
  events: readonly StoredEvent[],
  ended: ReadonlySet<string>,
): WebchatMessage[] {
  const drafts = new Map<string, Draft>()
  for (const event of events) {
    if (event.type === conversationEvents.streamAborted) drafts.delete(event.subjectId)
    if (event.type !== conversationEvents.streamDelta || event.data === undefined) continue
    if (ended.has(event.subjectId)) continue
    drafts.set(event.subjectId, addPiece(drafts.get(event.subjectId), event))
  }
  return [...drafts.values()].reverse().map((draft) => toMessage(conversation, draft))
}

function addPiece(draft: Draft | undefined, event: StoredEvent): Draft {
  const piece = event.data as Piece
  const next = draft ?? {
    streamId: event.subjectId,
    pieces: new Map<number, string>(),
    userId: piece.userId,
    createdAt: event.createdAt,
    first: event.sequence,
    characters: 0,
    sent: 0,
  }
  next.characters += piece.delta.length - (next.pieces.get(piece.sequence)?.length ?? 0)
  next.pieces.set(piece.sequence, piece.delta)
  return next
}

function toMessage({ publicId }: FollowedConversation, draft: Draft): WebchatMessage {
  const identity = draftIdentity(draft.streamId)
  const pieces = [...draft.pieces].sort(([one], [other]) => one - other)
  return {
    id: identity,
    createdAt: draft.createdAt,
    conversationId: publicId,
    userId: draft.userId,
    payload: { type: 'text', text: pieces.map(([, text]) => text).join('') },
    fromBot: true,
    metadata: { streamId: draft.streamId, clientMessageId: identity },
  }
}
