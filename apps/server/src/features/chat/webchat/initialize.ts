import { ApiError } from '@botstead/contract'
import type { ChatActor, ChatAddress, ChatUserActor } from '../../../domain/actor.js'
import type { Run } from '../../../platform/db/schema.js'
import { Frame } from '../../../platform/streams/frame.js'
import type { StartStream } from '../../../platform/streams/sink.js'
import type { ConversationsService } from '../../conversations/conversations/index.js'
import { publicIdOf, type UserRow, type UsersService } from '../../conversations/users/index.js'
import type { Listening, OpenedConversation } from '../listening.js'
import type { ConversationStreams } from '../streams/index.js'
import type { UserKeys } from '../user-keys.js'
import type { ConversationState } from './conversation-state.js'
import type { Openings } from './openings.js'
import type { AdminCheck } from './secrets.js'

export interface InitializeDeps {
  run: Run
  keys: UserKeys
  users: Pick<UsersService, 'draft' | 'insert' | 'getOrCreate'>
  conversations: Pick<ConversationsService, 'open'>
  listening: Listening
  isAdmin: AdminCheck
  state: ConversationState
  openings: Pick<Openings, 'record'>
  streams: Pick<ConversationStreams, 'subscribe'>
}

/** The input of a call of `initialize`. */
export interface InitializeRequest {
  /** User key; undefined or empty if it has none. */
  key: string | undefined
  conversationId: string | undefined
  adminSecret: string | undefined
  /** Origin of the page that opens it; undefined for programs and pages of this server. */
  pageOrigin: string | undefined
  /** Counts a new user of the address of the network; throws `RateLimited` if there are too many. */
  countNewUser(): void
}

/** A user with a valid key. */
interface Visitor {
  actor: ChatUserActor
  user: UserRow
  key: string
}

/** Bytes of first frames that the network has not taken yet: at one network address, and of all. */
const maxUntaken = { perAddress: 32 * 2 ** 20, inAll: 256 * 2 ** 20 }

/**
 * Limits the memory for connections that do not read: one of them needs few bytes, and its first frame may have a
 * megabyte. Those that read have taken theirs after a moment.
 */
export function limitUnsentFrames() {
  const byAddress = new Map<string, number>()
  let inAll = 0
  return {
    /** Counts a frame. Returns the function that ends that; throws `RateLimited` if there are too many bytes. */
    reserve(address: string, bytes: number): () => void {
      const own = byAddress.get(address) ?? 0
      if (own + bytes > maxUntaken.perAddress || inAll + bytes > maxUntaken.inAll) {
        throw new ApiError(
          'RateLimited',
          'Too many chats that were opened have not been received yet: receive or close some first.',
          { metadata: { retryAfterSeconds: 5 } },
        )
      }
      byAddress.set(address, own + bytes)
      inAll += bytes
      let isCounted = true
      return () => {
        if (!isCounted) return
        isCounted = false
        inAll -= bytes
        const left = (byAddress.get(address) ?? bytes) - bytes
        if (left > 0) byAddress.set(address, left)
        else byAddress.delete(address)
      }
    },
  }
}

/**
 * Opens web chats. It creates what is missing, because the client of a web chat takes an error for a broken connection,
 * retries it, and keeps the key or id that was refused.
 */
export function createInitialize(deps: InitializeDeps) {
  const { run, keys, users, conversations, listening, isAdmin, state, openings, streams } = deps
  const untaken = limitUnsentFrames()

  /** The user of a key; undefined if the key is not valid and a new user is to be created. */
  async function findVisitor(chat: ChatAddress, key: string): Promise<Visitor | undefined> {
    try {
      const actor = await keys.verify(chat, key)
      const user = await users.getOrCreate(chat, actor.userKeyId, {}, actor.keyIssuedAt)
      return { actor, user, key }
    } catch (error) {
      const isStale =
        error instanceof ApiError && ['Unauthorized', 'InvalidPayload'].includes(error.type)
      // All chats of one origin share the storage of the browser: keys of other chats and of earlier servers arrive here.
      if (isStale && chat.encryptionKey === undefined) return undefined
      throw error
    }
  }

  async function createVisitor(chat: ChatAddress, request: InitializeRequest): Promise<Visitor> {
    if (chat.encryptionKey !== undefined && !(await isAdmin(chat, request.adminSecret))) {
      throw new ApiError(
        'Unauthorized',
        'This chat has an encryption key: a web chat needs a user key that is signed with it.',
      )
    }
    request.countNewUser()
    const user = await run((tx) => users.insert(tx, users.draft(chat, undefined, {})))
    const key = await keys.sign(chat, publicIdOf(user), user.keys_revoked_at)
    return { actor: await keys.verify(chat, key), user, key }
  }

  /** The conversation with an id; undefined if the user takes no part in it, or there is none. */
  async function findConversation(
    { actor }: Visitor,
    id: string,
  ): Promise<OpenedConversation | undefined> {
    try {
      return await listening.open(actor, id)
    } catch (error) {
      if (error instanceof ApiError && error.type === 'Forbidden') return undefined
      throw error
    }
  }

  async function createConversation({ actor, user }: Visitor): Promise<OpenedConversation> {
    const { botId, alias } = actor.chat
    const owner = { botId, userId: user.id, alias }
    const conversation = await run(async (tx) => {
      const opened = await conversations.open(tx, owner, undefined, undefined)
      await openings.record(tx, opened)
      return opened
    })
    return { user, conversation }
  }

  /** Opens a stream that begins with the state of the conversation and continues with its events. */
  return async function initialize(
    { chat, address }: ChatActor,
    request: InitializeRequest,
  ): Promise<StartStream> {
    const { key, conversationId: id, pageOrigin } = request
    const known = key ? await findVisitor(chat, key) : undefined
    const visitor = known ?? (await createVisitor(chat, request))
    const found = id ? await findConversation(visitor, id) : undefined
    const opened = found ?? (await createConversation(visitor))
    // The position was read before the state: an event between the two is sent twice instead of being lost.
    const after = opened.conversation.last_sequence
    const { user, ...rest } = await state.read(opened)
    const data = { ...rest, user: { ...user, userKey: visitor.key } }
    const init = new Frame({ type: 'init', data }, undefined)
    const isReplaced = known === undefined || found === undefined
    const firstFrames =
      key && id && isReplaced ? [toConversationEnded(known, data.conversation.id), init] : [init]
    const onFirstFramesTaken = untaken.reserve(address, Buffer.byteLength(init.json))
    const first = { after, pageOrigin, firstFrames, onFirstFramesTaken }
    try {
      return await listening.follow(streams, visitor.actor, opened, first)
    } catch (error) {
      onFirstFramesTaken()
      throw error
    }
  }
}

/**
 * The signal that ends the conversation of a page that reconnects with a key that is no longer valid, or with a
 * conversation that is gone. The official widget keeps both, whatever `init` says, so that its next message would be
 * refused and lost. The signal must come before `init`: a page that is being opened does not handle errors until then,
 * and uses the user and the conversation of `init`.
 */
function toConversationEnded(known: Visitor | undefined, conversationId: string): Frame {
  const { type, status, message } =
    known === undefined
      ? new ApiError(
          'Unauthorized',
          'This conversation has ended, because its user key is not valid any more. Start a new one.',
        )
      : new ApiError(
          'ResourceNotFound',
          'This conversation has ended, because it was deleted or you are no longer a participant. Start a new one.',
        )
  return new Frame(
    { type: 'error', data: { id: conversationId, code: status, type, message } },
    undefined,
  )
}
