import { ApiError, type Body, type contract, type Output } from '@botstead/contract'
import { chatLimitSettings, chatSettings } from '../../../config/chat-settings.js'
import type { BotActor, ChatUserActor } from '../../../domain/actor.js'
import { fieldError } from '../../../domain/refusals.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotsService } from '../../bots/bots/index.js'
import { publicIdOf } from '../../conversations/users/index.js'
import { type ChatAccess, type ChatAccessDeps, notParticipant } from '../access.js'
import * as store from './file-store.js'

type NewFile = Body<typeof contract.webchat.createFile>
type ChatFile = Output<typeof contract.webchat.createFile>['file']

/** A file of a user as the slice of files takes it. */
interface UserFile {
  key: string
  size: number
  contentType?: string
  accessPolicies: ['public_content']
  tags: Record<string, string>
  expiresAt?: string
}

/** The operations of the slice of files that the chat uses. */
interface FilesOfUsers {
  create(
    actor: BotActor,
    file: UserFile,
    alsoDo: (tx: Tx, created: { id: string }) => Promise<void>,
  ): Promise<ChatFile>
  /** The media type that a file would get. */
  contentTypeOf(file: Pick<UserFile, 'key' | 'contentType'>): string
  /** The ids of existing files, for joins. */
  existing(executor: Tx): store.ExistingFiles
  /** The ids of files that were announced before an ISO 8601 time and of which nothing has arrived, for joins. */
  unsent(executor: Db, botId: string, before: string): store.UnsentFiles
  remove(actor: BotActor, id: string): Promise<void>
}

export interface ChatFilesDeps extends ChatAccessDeps {
  run: Run
  clock: Clock
  ids: Ids
  dialect: Dialect
  queue: Queue
  bots: Pick<BotsService, 'workspaceOf'>
  files: FilesOfUsers
  fileLimits: {
    /** Bytes of one file. */
    bytes: number
    /** Bytes of all files of the chat users of a bot. */
    allBytes: number
    /** Accepted media types, with `*` for any characters. */
    types: 'none' | readonly string[]
  }
}

/** The parts of the service that its functions use. */
interface ChatFilesParts extends ChatFilesDeps {
  access: ChatAccess
  /** Patterns of the accepted media types. */
  types: readonly RegExp[]
}

/** Job that deletes the files of a conversation, or those of a user that are in none. */
const removeChatFilesJob = 'chat.removeFiles'

const removedAtOnce = 100
const checkedAtOnce = 100
/** Milliseconds between two checks whether a file still exists. */
const checkIntervalMs = 24 * 60 * 60 * 1000
/** Milliseconds for which an announced file keeps its space although nothing of it has arrived. */
const announcementMs = 60 * 60 * 1000

/** Files of chat users: they belong to conversations and have limits of their own. */
export function createChatFiles(deps: ChatFilesDeps, access: ChatAccess) {
  const { fileLimits } = deps
  const types = fileLimits.types === 'none' ? [] : fileLimits.types.map(toPattern)
  const parts = { ...deps, access, types }

  const removal: JobHandler<{ botId: string; of: 'conversation' | 'user' }> = {
    mayUseReserve: true,
    handler: async ({ key = '', payload: { botId, of } }) => {
      await removeFilesOf(
        parts,
        botId,
        of === 'conversation' ? { conversationId: key } : { userId: key },
      )
    },
  }

  return {
    ...bound(parts, {
      create: createChatFile,
      removeLater: removeChatFilesLater,
      sweep: sweepChatFiles,
    }),
    hasFilesIn,
    jobs: { [removeChatFilesJob]: removal },
  }
}

function requireAcceptable(
  { types, fileLimits }: ChatFilesParts,
  { size }: NewFile,
  contentType: string,
): void {
  const media = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (!types.some((pattern) => pattern.test(media))) {
    throw new ApiError(
      'UnsupportedMediaType',
      `body.contentType, or the type that follows from body.key, must be accepted in this chat: ${media} is not. The operator of the server can change ${chatSettings.chatFileTypes.name}.`,
      { metadata: { in: 'body', field: 'contentType' } },
    )
  }
  if (size > fileLimits.bytes) {
    throw fieldError(
      'body.size',
      `must be at most ${fileLimits.bytes}: larger files are not accepted in this chat. The operator of the server can raise ${chatLimitSettings.chatFileBytes.name}.`,
      'LimitExceeded',
      { maximum: fileLimits.bytes },
    )
  }
}

/** Reserves the space of a file; a lock makes concurrent calls for one bot wait for each other. */
async function reserve(
  deps: ChatFilesDeps,
  tx: Tx,
  file: { id: string; botId: string; userId: string; conversationId: string | null },
  size: number,
): Promise<void> {
  const { id, botId, userId, conversationId } = file
  // Locked, because a deletion of the conversation lists its files.
  if (
    conversationId !== null &&
    (await deps.conversations.hold(tx, { botId, id: conversationId })) === undefined
  ) {
    throw notParticipant(conversationId)
  }
  await deps.dialect.holdName(tx, `chat files ${botId}`)
  if ((await store.sumChatFiles(tx, botId)) + size > deps.fileLimits.allBytes) {
    throw new NoSpaceLeftError(deps.fileLimits.allBytes)
  }
  await store.insertChatFile(tx, {
    file_id: id,
    bot_id: botId,
    user_id: userId,
    conversation_id: conversationId,
    size,
    checked_at: isoTime(deps.clock.now()),
  })
}

async function actorOf({ bots }: ChatFilesDeps, botId: string): Promise<BotActor | undefined> {
  const workspaceId = await bots.workspaceOf(botId)
  return workspaceId === undefined ? undefined : asBot(workspaceId, botId)
}

async function removeFiles(
  { files, run }: ChatFilesDeps,
  actor: BotActor,
  fileIds: readonly string[],
): Promise<void> {
  for (const id of fileIds) {
    await files.remove(actor, id).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.type === 'ResourceNotFound')) throw error
    })
  }
  await run((tx) => store.deleteChatFiles(tx, actor.botId, fileIds), { mayUseReserve: true })
}

/** Removes some files that were announced and not sent; returns whether there were any. */
async function removeUnsent(deps: ChatFilesDeps, actor: BotActor): Promise<boolean> {
  const { botId } = actor
  const unsent = deps.files.unsent(deps.db, botId, isoTime(deps.clock.now() - announcementMs))
  const fileIds = await store.listUnsentChatFiles(deps.db, botId, unsent, removedAtOnce)
  if (fileIds.length === 0) return false
  await removeFiles(deps, actor, fileIds)
  return true
}

async function removeFilesOf(
  deps: ChatFilesDeps,
  botId: string,
  owner: Parameters<typeof store.listChatFilesOf>[2],
) {
  const actor = await actorOf(deps, botId)
  // The purge of a deleted bot deletes these files too.
  if (actor === undefined) return
  for (;;) {
    const fileIds = await store.listChatFilesOf(deps.db, botId, owner, removedAtOnce)
    await removeFiles(deps, actor, fileIds)
    if (fileIds.length < removedAtOnce) return
  }
}

/**
 * Creates a file of a user, whose content follows with a `PUT` to its `uploadUrl`.
 * @param countBytes counts its bytes for the address of the network; throws `RateLimited` if there are too many
 */
async function createChatFile(
  deps: ChatFilesParts,
  actor: ChatUserActor,
  input: NewFile,
  countBytes: (bytes: number) => void,
): Promise<ChatFile> {
  const { chat } = actor
  const { key, size, contentType, tags = {}, expiresAt } = input
  const user = await deps.access.requireUser(deps.db, actor)
  const named = tags.conversation
  const conversation =
    named === undefined
      ? undefined
      : (await deps.access.requireParticipant(actor, named)).conversation
  if (conversation === undefined && expiresAt === undefined) {
    throw fieldError(
      'body.tags.conversation',
      'must be the id of a conversation, unless body.expiresAt is given.',
    )
  }
  const { botId } = chat
  const folder = conversation?.id ?? user.id
  const described = {
    // With a random part: users can neither replace nor guess the files of others.
    key: `chat/${folder}/${deps.ids.uuid()}/${key.replaceAll('/', '_')}`,
    ...(contentType && { contentType }),
  }
  requireAcceptable(deps, input, deps.files.contentTypeOf(described))
  countBytes(size)
  const bot = asBot(chat.workspaceId, botId)
  const announced: UserFile = {
    ...described,
    size,
    accessPolicies: ['public_content'],
    tags: { ...tags, source: 'chat', user: publicIdOf(user) },
    ...(conversation === undefined && expiresAt !== undefined && { expiresAt }),
  }
  const conversationId = conversation?.id ?? null
  // In one transaction: no file is left without its conversation, and none without being counted.
  const announce = () =>
    deps.files.create(bot, announced, (tx, { id }) =>
      reserve(deps, tx, { id, botId, userId: user.id, conversationId }, size),
    )
  for (;;) {
    try {
      return await announce()
    } catch (error) {
      if (!(error instanceof NoSpaceLeftError && (await removeUnsent(deps, bot)))) throw error
    }
  }
}

/** Enqueues the deletion of the files of a conversation, or of the files of a user that are in no conversation. */
async function removeChatFilesLater(
  { queue }: ChatFilesDeps,
  tx: Tx,
  botId: string,
  of: 'conversation' | 'user',
  id: string,
) {
  const owner = of === 'conversation' ? { conversationId: id } : { userId: id }
  if ((await store.listChatFilesOf(tx, botId, owner, 1)).length === 0) return
  await queue.enqueue(tx, { kind: removeChatFilesJob, key: id, payload: { botId, of } })
}

async function hasFilesIn(tx: Tx, botId: string, conversationId: string): Promise<boolean> {
  return (await store.listChatFilesOf(tx, botId, { conversationId }, 1)).length > 0
}

/** Deletes the rows of some files that were deleted or have expired; returns how many were checked. */
async function sweepChatFiles({ clock, files }: ChatFilesDeps, tx: Tx): Promise<number> {
  const now = clock.now()
  return await store.deleteMissingChatFiles(tx, files.existing(tx), {
    before: isoTime(now - checkIntervalMs),
    now: isoTime(now),
    limit: checkedAtOnce,
  })
}

/** The files of the chat users of a bot have no space left. */
class NoSpaceLeftError extends ApiError {
  constructor(maximum: number) {
    super(
      'LimitExceeded',
      `body.size exceeds the space that is left: the files of the users of this chat may have ${maximum} bytes in total. Delete conversations, or files of the bot. The operator of the server can raise ${chatLimitSettings.chatFilesBytes.name}.`,
      { metadata: { in: 'body', field: 'size', maximum } },
    )
  }
}

/** Files of users belong to the bot, which can read and delete them. */
function asBot(workspaceId: string, botId: string): BotActor {
  return { kind: 'bot', workspaceId, botId, tokenId: '', caller: { type: 'bot' } }
}

/** A pattern for media types, in which `*` stands for any characters. */
function toPattern(type: string): RegExp {
  const text = type.toLowerCase().replaceAll(/[.+]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${text}$`)
}
