import { ApiError, type Body, type contract } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { fieldError } from '../../domain/refusals.js'
import { isoTime } from '../../platform/clock.js'
import { decodeJson } from '../../platform/db/columns.js'
import type { Tx } from '../../platform/db/schema.js'
import type { Remember } from '../../platform/idempotency/store.js'
import { keySpaceOf, lockVisibleFile, requireFile } from './access.js'
import {
  announceContent,
  type Description,
  findContent,
  type Generations,
  inCurrentWorkspace,
  lockForWriting,
  ownerOf,
  shareBlobs,
} from './contents/index.js'
import type { FilesDeps } from './dependencies.js'
import { requireIndexableKey } from './rules.js'
import * as store from './store.js'
import type { ContentRow, FileRow } from './table.js'
import { lockUsage } from './usage-store.js'

/** A request to copy a file. */
export interface CopyRequest extends Body<typeof contract.files.copy> {
  idOrKey: string
  destinationKey: string
  /** Value of `x-destination-bot-id`; absent or empty for the bot of the call. */
  destinationBotId: string | undefined
}

export type Copies = ReturnType<typeof createCopies>

/** Copies share the blob of their source: nothing is sent or stored again. */
export function createCopies(
  deps: Pick<FilesDeps, 'run' | 'dialect' | 'clock' | 'ids' | 'queue' | 'bots' | 'reach'> & {
    generations: Generations
  },
) {
  const { run, clock, generations, reach } = deps

  async function requireDestination(actor: BotActor, botId: string | undefined): Promise<BotActor> {
    const destination = botId ? await reach.writerIn(actor, botId) : actor
    if (destination !== undefined) return destination
    throw new ApiError(
      'Forbidden',
      'The header x-destination-bot-id must name a bot in which the token may write.',
      { metadata: { in: 'headers', field: 'x-destination-bot-id' } },
    )
  }

  async function copyIn(
    tx: Tx,
    actor: BotActor,
    writer: BotActor,
    { destinationKey: key, overwrite = false, idOrKey }: CopyRequest,
    isBotKey: boolean,
  ): Promise<FileRow> {
    const now = isoTime(clock.now())
    const destination = await inCurrentWorkspace(deps, tx, writer)
    const { id } = await requireFile(tx, actor, idOrKey, now)
    const { botId } = destination
    await store.lockForCopy(tx, id, { bot_id: botId, key_space: keySpaceOf(destination), key })
    const source = await lockVisibleFile(tx, actor, id, now)
    const { content: original, blobKey, sha256 } = await requireContent(tx, actor, source)
    const current = await lockForWriting(tx, generations, destination, key, now)
    if (current !== undefined) requireReplaceable(current, source)
    if (current !== undefined && !overwrite) throw alreadyExists(key)
    if (current !== undefined && isBotKey) requireOwn(destination, current)

    await lockUsage(tx, destination.workspaceId)
    await shareBlobs(tx, [blobKey, original.passages_blob_key])
    const { file, content } = await announceContent(
      tx,
      deps,
      { actor: destination, key, now, current },
      descriptionOf(source, original),
      { size: original.size, immediate: original.immediate, indexing: original.indexing },
    )
    await generations.complete(tx, file, content, {
      blobKey,
      sha256,
      passagesBlobKey: original.passages_blob_key,
      passages: passagesOf(actor, source, original),
    })
    return await reread(tx, file)
  }

  return {
    /** Copies a file. */
    async copy(
      actor: BotActor,
      request: CopyRequest,
      remember: Remember<FileRow>,
    ): Promise<FileRow> {
      requireIndexableKey(request.destinationKey, 'params.destinationKey')
      const destination = await requireDestination(actor, request.destinationBotId)
      const isBotKey = await reach.isBotKey(actor)
      const attempt = () =>
        run(async (tx) => {
          const file = await copyIn(tx, actor, destination, request, isBotKey)
          await remember?.(tx, file)
          return file
        })
      try {
        return await attempt()
      } catch (error) {
        // A concurrent request created the same key; now it can be found.
        if (deps.dialect.isUniqueViolation(error)) return await attempt()
        throw error
      }
    },
  }
}

/** The content that the source serves, as far as the caller may read it. */
async function requireContent(tx: Tx, actor: BotActor, source: FileRow) {
  const { serving_generation: generation } = source
  const content =
    generation === null
      ? undefined
      : await findContent(tx, actor.botId, { fileId: source.id, generation })
  const isOwn = actor.caller.type !== 'integration' || source.key_space === keySpaceOf(actor)
  if (
    content === undefined ||
    content.blob_key === null ||
    content.sha256 === null ||
    // Content that was sent before the file was shared is not shared yet.
    !(isOwn || content.shared === 1)
  ) {
    throw new ApiError(
      'ResourceLockedConflict',
      `The file ${source.key} has no content yet: it can be copied once its upload is complete.`,
    )
  }
  return { content, blobKey: content.blob_key, sha256: content.sha256 }
}

function requireReplaceable(current: FileRow, source: FileRow): void {
  if (current.id !== source.id) return
  throw fieldError('params.destinationKey', 'must be another key than that of the file to copy.')
}

/** A bot key replaces only files of the bot itself, or of the user for whom it acts. */
function requireOwn(destination: BotActor, current: FileRow): void {
  const own = ownerOf(destination)
  if (own.owner_type === current.owner_type && own.owner_id === current.owner_id) return
  throw new ApiError(
    'Forbidden',
    `The file ${current.key} was created by another caller: the key of a bot replaces only files of that bot.`,
  )
}

function alreadyExists(key: string): ApiError {
  return new ApiError(
    'AlreadyExists',
    `There is a file ${key} already: choose another key, or set body.overwrite to replace it.`,
  )
}

/** Wider policies, given for a pending content, do not apply to the content that is copied. */
function descriptionOf(source: FileRow, content: ContentRow): Description {
  return {
    content_type: content.content_type,
    tags: source.tags,
    tagMap: decodeJson<Record<string, string>>(source.tags),
    metadata: source.metadata,
    public_content: source.public_content === 1 ? content.public_content : 0,
    shared: source.shared === 1 ? content.shared : 0,
    indexed: content.indexed,
    expires_at: source.expires_at,
  }
}

/** The passages of the source, if they belong to the copied content. */
function passagesOf(actor: BotActor, source: FileRow, content: ContentRow) {
  if (content.status !== 'indexing_completed' || source.passages_generation === null) {
    return undefined
  }
  return { botId: actor.botId, fileId: source.id, generation: source.passages_generation }
}

async function reread(tx: Tx, { bot_id, id }: FileRow): Promise<FileRow> {
  const file = await store.findFileById(tx, bot_id, id)
  if (file === undefined) throw new Error(`The file ${id} went while it was locked`)
  return file
}
