import { ApiError, type Body, type contract } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { noReference } from '../../../domain/refusals.js'
import { bodyTimeOf } from '../../../domain/times.js'
import { isoTime } from '../../../platform/clock.js'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { BotProfile } from '../../bots/bots/index.js'
import type { ConversationRow, ConversationsService } from '../conversations/index.js'
import { newTags, replaceTags, tagMatchOf } from '../tags/index.js'
import type { UserRow, UsersService } from '../users/index.js'
import { requireAuthor, requireMessageShape } from './authors.js'
import { type CreationDeps, createMessageIn, getOrCreateMessageIn } from './creation.js'
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

export interface ImportDeps extends CreationDeps {
  domainEvents: Pick<EventDispatcher, 'raise'>
  users: Pick<UsersService, 'findVisible' | 'findAll' | 'getOrCreateIn'>
  conversations: CreationDeps['conversations'] &
    Pick<ConversationsService, 'getOrCreateIn' | 'countImported'>
}

/** Milliseconds by which the clock of another system may be ahead. */
const tolerance = 60_000

async function importOne(
  deps: ImportDeps,
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
  if (writtenAt > deps.clock.now() + tolerance) {
    throw new ApiError('InvalidPayload', `body.${field}.createdAt must not be in the future.`)
  }
  const author = await requireAuthor(deps, tx, actor, conversationId, userId)
  // A message without tags cannot be matched and is always new.
  if (input.discriminateByTags.length > 0 || Object.keys(input.tags).length > 0) {
    const match = tagMatchOf(alias, input.tags, input.discriminateByTags, `body.${field}`)
    const found = await matchMessage(tx, botId, conversationId, match)
    if (found !== undefined) return found
  }
  requireMessageShape(profile, author.conversation, input, `${field}.`)
  const tags = newTags(alias, input.tags)
  const row: MessageRow = {
    id: deps.ids.next('msg'),
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
  await deps.conversations.countImported(tx, { botId, id: conversationId }, author, writtenAt)
  await insertMessage(tx, row)
  await replaceTags(tx, { botId, kind: 'message', id: row.id }, {}, tags)
  return row
}

/** Imports history, all or nothing, without notifying anybody. */
export async function importMessages(
  deps: ImportDeps,
  actor: BotActor,
  messages: readonly Imported[],
): Promise<MessageRow[]> {
  // Sorted, so that concurrent imports do not deadlock.
  const conversationIds = new Set(messages.map(({ conversationId }) => conversationId))
  const profile = await deps.botProfiles.of(actor.botId)
  return await deps.run(async (tx) => {
    for (const id of [...conversationIds].sort()) await deps.dialect.holdName(tx, `messages ${id}`)
    const rows: MessageRow[] = []
    for (const [at, message] of messages.entries()) {
      rows.push(await importOne(deps, tx, actor, profile, message, `messages[${at}]`))
    }
    const days = new Set(rows.map(({ created_at }) => created_at.slice(0, 10)))
    await deps.domainEvents.raise(tx, 'messages.imported', { botId: actor.botId, days })
    return rows
  })
}

/** Gets or creates a user, a conversation and a message in it, all or nothing. */
export async function initializeIncoming(
  deps: ImportDeps,
  actor: BotActor,
  input: Initial,
): Promise<Initialized> {
  if (aliasOf(actor) === undefined) {
    throw new ApiError(
      'Forbidden',
      'Only integrations can create incoming messages: send the header x-integration-id.',
    )
  }
  requireOne('user', input.user, input.userId)
  requireOne('conversation', input.conversation, input.conversationId)
  const profile = await deps.botProfiles.of(actor.botId)
  return await deps.run(async (tx) => {
    const user = input.user
      ? (await deps.users.getOrCreateIn(tx, actor, profile, input.user)).row
      : await deps.users.findVisible(tx, actor, input.userId ?? '')
    if (user === undefined) {
      throw noReference('body.userId', 'user', input.userId ?? '')
    }
    const conversation = input.conversation
      ? (await deps.conversations.getOrCreateIn(tx, actor, profile, input.conversation)).row
      : await deps.conversations.findVisible(tx, actor, input.conversationId ?? '')
    if (conversation === undefined) {
      throw noReference('body.conversationId', 'conversation', input.conversationId ?? '')
    }
    if (input.message === undefined) return { user, conversation, message: undefined }
    const draft = {
      ...input.message,
      userId: user.id,
      conversationId: conversation.id,
      path: 'message.',
    }
    const hasNoTags = draft.discriminateByTags.length === 0 && Object.keys(draft.tags).length === 0
    const message = hasNoTags
      ? await createMessageIn(deps, tx, actor, profile, draft)
      : (await getOrCreateMessageIn(deps, tx, actor, profile, draft)).message
    const after = await deps.conversations.findVisible(tx, actor, conversation.id)
    return { user, conversation: after ?? conversation, message }
  })
}

function requireOne(name: string, wanted: unknown, id: unknown): void {
  if ((wanted === undefined) !== (id === undefined)) return
  throw new ApiError('InvalidPayload', `body must have ${name} or ${name}Id, and not both.`, {
    metadata: { in: 'body', field: name },
  })
}
