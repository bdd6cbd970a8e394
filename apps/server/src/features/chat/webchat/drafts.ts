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
  /** Number of the last event of the conversation that was taken. */
  position: number
  drafts: Map<string, Draft>
}

/** Conversations whose drafts are remembered; those of others are read from the log again. */
const maxFollowed = 100
/**
 * The text so far is sent when it has grown by this part: with every piece, a long message would send a
 * multiple of its length to each listener that grows with the number of pieces.
 */
const growth = 1 / 50

export type Drafts = ReturnType<typeof createDrafts>

/** The messages that bots are writing, as web chats see them: each time the whole text so far. */
export function createDrafts(db: Db) {
  const followed = createLruCache<string, Followed>(maxFollowed)

  function open(conversationId: string, from: number): Followed {
    const known = followed.get(conversationId)
    // After a gap pieces may be missing.
    if (known !== undefined && from <= known.position + 1) return known
    const fresh = { position: from - 1, drafts: new Map<string, Draft>() }
    followed.set(conversationId, fresh)
    return fresh
  }

  async function load(event: StoredEvent): Promise<Draft | undefined> {
    const { stream, subjectId, sequence } = event
    const first = (await findFirstPieceOf(db, stream, subjectId)) ?? sequence
    const range = { stream, first, last: sequence, type: event.type, subjectId }
    const events = first < sequence ? await readSubjectEvents(db, range) : [event]
    let draft: Draft | undefined
    for (const each of events) draft = add(draft, each)
    return draft
  }

  return {
    /**
     * Takes the next piece of a message; returns the message so far, and whether it is new. Undefined if
     * the text has hardly grown, or the message ended long ago.
     */
    async take(
      conversation: FollowedConversation,
      event: StoredEvent,
    ): Promise<{ message: WebchatMessage; isFirst: boolean } | undefined> {
      if (event.data === undefined) return undefined
      const { drafts } = open(conversation.id, event.sequence)
      const known = drafts.get(event.subjectId)
      const draft = known === undefined ? await load(event) : add(known, event)
      if (draft === undefined) return undefined
      drafts.set(event.subjectId, draft)
      const isFirst = draft.first === event.sequence
      if (!isFirst && draft.characters - draft.sent < draft.sent * growth) return undefined
      draft.sent = draft.characters
      return { message: toMessage(conversation, draft), isFirst }
    },

    /** Records that events up to a number were taken. */
    advance(conversation: FollowedConversation, events: readonly StoredEvent[]): void {
      const [first] = events
      const last = events.at(-1)
      if (first === undefined || last === undefined) return
      const state = open(conversation.id, first.sequence)
      state.position = Math.max(state.position, last.sequence)
    },

    /** Ends a draft; returns whether the message had pieces, as far as is known. */
    async end(conversation: FollowedConversation, streamId: string): Promise<boolean> {
      const known = followed.get(conversation.id)?.drafts.delete(streamId) ?? false
      return known || (await findFirstPieceOf(db, conversation.id, streamId)) !== undefined
    },
  }
}

/** The messages of which events are pieces and that none of them ends, newest first. */
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
    drafts.set(event.subjectId, add(drafts.get(event.subjectId), event))
  }
  return [...drafts.values()].reverse().map((draft) => toMessage(conversation, draft))
}

function add(draft: Draft | undefined, event: StoredEvent): Draft {
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
    metadata: { streamId: draft.streamId, clientMessageId: identity },
  }
}
