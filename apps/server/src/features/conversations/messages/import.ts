import { ApiError, type Body, type contract } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { bodyTimeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Ids } from '../../../platform/ids.js'
import type { BotProfile, BotProfiles } from '../../bots/bots/index.js'
import type { ConversationRow, ConversationsService } from '../conversations/index.js'
import { newTags, replaceTags, type TagsPatch, tagMatchOf } from '../tags/index.js'
import type { UserRow, UsersService } from '../users/index.js'
import {
  type AuthorsDeps,
  createRequireAuthor,
  requireMessageShape,
  unknownReference,
} from './authors.js'
import { insertMessage, type MessageRow, matchMessage } from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** Messages of some days in UTC, such as `2026-03-01`, were added later. */
    'messages.imported': { botId: string; days: ReadonlySet<string> }
  }
}

type Imported = Body<typeof contract.messages.import>['messages'][number]
type Initial = Body<typeof contract.messages.initializeIncoming>

/** Result of a call that gets or creates a user, a conversation and a message. */
export interface Initialized {
  user: UserRow
  conversation: ConversationRow
  message: MessageRow | undefined
}

export interface ImportDeps extends AuthorsDeps {
  run: Run
  clock: Clock
  ids: Ids
  dialect: Dialect
  botProfiles: BotProfiles
  domainEvents: Pick<EventDispatcher, 'raise'>
  users: Pick<UsersService, 'findVisible' | 'getOrCreateIn'>
  conversations: Pick<
    ConversationsService,
    'findFor' | 'findVisible' | 'getOrCreateIn' | 'countImported'
  >
  /** Most bytes of a payload. */
  maxPayloadBytes: number
}

/** A message to create or find in the transaction of the call. */
interface MessageInput {
  userId: string
  conversationId: string
  type: string
  payload: Record<string, unknown>
  tags: TagsPatch
  discriminateByTags: string[]
  path: string
}

/** The functions of the service that create single messages. */
interface Creation {
  createIn(tx: Tx, actor: BotActor, profile: BotProfile, input: MessageInput): Promise<MessageRow>
  getOrCreateIn(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    input: MessageInput,
  ): Promise<{ message: MessageRow }>
}

/** Milliseconds by which the clock of another system may be ahead. */
const tolerance = 60_000

/** Imports of messages, and calls that create several objects. */
export function createImport(deps: ImportDeps, { createIn, getOrCreateIn }: Creation) {
  const { run, clock, ids, dialect, conversations, users, botProfiles } = deps
  const requireAuthor = createRequireAuthor(deps)

  async function importOne(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    input: Imported,
    field: string,
  ): Promise<MessageRow> {
    const { botId } = actor
    const { conversationId, userId } = input
    const alias = aliasOf(actor)
    const writtenAt = bodyTimeOf(`${field}.createdAt`, input.createdAt)
    if (writtenAt > clock.now() + tolerance) {
      throw new ApiError('InvalidPayload', `body.${field}.createdAt must not be in the future.`)
    }
    const author = await requireAuthor(tx, actor, conversationId, userId)
    // A message without tags cannot be matched and is always new.
    if (input.discriminateByTags.length > 0 || Object.keys(input.tags).length > 0) {
      const match = tagMatchOf(alias, input.tags, input.discriminateByTags, `body.${field}`)
      const found = await matchMessage(tx, botId, conversationId, match)
      if (found !== undefined) return found
    }
    requireMessageShape(profile, author.conversation, input, `${field}.`)
    const tags = newTags(alias, input.tags)
    const row: MessageRow = {
      id: ids.next('msg'),
      bot_id: botId,
      conversation_id: conversationId,
      user_id: userId,
      type: input.type,
      payload: encodePayload(input.payload, deps.maxPayloadBytes, `${field}.payload`),
      direction: userId === botId ? 'outgoing' : 'incoming',
      tags: Object.keys(tags).length === 0 ? null : encodeJson(tags),
      origin: null,
      sequence: 0,
      created_at: isoTime(writtenAt),
      updated_at: null,
    }
    await conversations.countImported(tx, { botId, id: conversationId }, author, writtenAt)
    await insertMessage(tx, row)
    await replaceTags(tx, { botId, kind: 'message', id: row.id }, {}, tags)
    return row
  }

  /** Imports history, all or nothing, without notifying anybody. */
  async function importMessages(
    actor: BotActor,
    messages: readonly Imported[],
  ): Promise<MessageRow[]> {
    // Sorted, so that concurrent imports do not deadlock.
    const conversationIds = new Set(messages.map(({ conversationId }) => conversationId))
    const profile = await botProfiles.of(actor.botId)
    return await run(async (tx) => {
      for (const id of [...conversationIds].sort()) await dialect.holdName(tx, `messages ${id}`)
      const rows: MessageRow[] = []
      for (const [at, message] of messages.entries()) {
        rows.push(await importOne(tx, actor, profile, message, `messages[${at}]`))
      }
      const days = new Set(rows.map(({ created_at }) => created_at.slice(0, 10)))
      await deps.domainEvents.raise(tx, 'messages.imported', { botId: actor.botId, days })
      return rows
    })
  }

  /** Gets or creates a user, a conversation and a message in it, all or nothing. */
  async function initializeIncoming(actor: BotActor, input: Initial): Promise<Initialized> {
    if (aliasOf(actor) === undefined) {
      throw new ApiError(
        'Forbidden',
        'Only integrations can create incoming messages: send the header x-integration-id.',
      )
    }
    requireOne('user', input.user, input.userId)
    requireOne('conversation', input.conversation, input.conversationId)
    const profile = await botProfiles.of(actor.botId)
    return await run(async (tx) => {
      const user = input.user
        ? (await users.getOrCreateIn(tx, actor, profile, input.user)).row
        : await users.findVisible(tx, actor, input.userId ?? '')
      if (user === undefined) {
        throw unknownReference('userId', `there is no user ${input.userId}.`)
      }
      const conversation = input.conversation
        ? (await conversations.getOrCreateIn(tx, actor, profile, input.conversation)).row
        : await conversations.findVisible(tx, actor, input.conversationId ?? '')
      if (conversation === undefined) {
        throw unknownReference(
          'conversationId',
          `there is no conversation ${input.conversationId}.`,
        )
      }
      if (input.message === undefined) return { user, conversation, message: undefined }
      const draft = {
        ...input.message,
        userId: user.id,
        conversationId: conversation.id,
        path: 'message.',
      }
      const hasNoTags =
        draft.discriminateByTags.length === 0 && Object.keys(draft.tags).length === 0
      const message = hasNoTags
        ? await createIn(tx, actor, profile, draft)
        : (await getOrCreateIn(tx, actor, profile, draft)).message
      const after = await conversations.findVisible(tx, actor, conversation.id)
      return { user, conversation: after ?? conversation, message }
    })
  }

  return { importMessages, initializeIncoming }
}

function requireOne(name: string, wanted: unknown, id: unknown): void {
  if ((wanted === undefined) !== (id === undefined)) return
  throw new ApiError('InvalidPayload', `body must have ${name} or ${name}Id, and not both.`, {
    metadata: { in: 'body', field: name },
  })
}
