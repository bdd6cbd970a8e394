import type { BotActor } from '../../../domain/actor.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { BotsService } from '../../bots/bots/index.js'
import { keySpaceOf } from '../access.js'
import { scheduleExpiry } from '../jobs.js'
import * as store from '../store.js'
import type { ContentRow, FileRow } from '../table.js'
import type { Generations } from './generations.js'
import { insertContent } from './store.js'

/** The description of a file in an upsert. */
export interface Description
  extends Pick<
    FileRow,
    'content_type' | 'tags' | 'metadata' | 'public_content' | 'shared' | 'indexed' | 'expires_at'
  > {
  /** The same as `tags`, for the filters. */
  tagMap: Record<string, string>
}

/** The properties of the content alone. */
type Announcement = Pick<ContentRow, 'size' | 'immediate' | 'indexing'>

/** The file under a key of the caller, which is locked; one that has expired is removed. */
export async function lockForWriting(
  tx: Tx,
  generations: Generations,
  actor: BotActor,
  key: string,
  now: string,
): Promise<FileRow | undefined> {
  const found = await store.lockFileByKey(tx, actor.botId, keySpaceOf(actor), key)
  if (found === undefined || found.expires_at === null || found.expires_at > now) return found
  await generations.remove(tx, found)
  return undefined
}

/**
 * The caller in the workspace in which the bot is now, and stays until the transaction ends: authentication may have
 * remembered another one. The bot is locked before its files.
 */
export async function inCurrentWorkspace(
  { bots }: { bots: Pick<BotsService, 'keepWorkspaceOf'> },
  tx: Tx,
  actor: BotActor,
): Promise<BotActor> {
  const workspaceId = await bots.keepWorkspaceOf(tx, actor.botId)
  return workspaceId === undefined ? actor : { ...actor, workspaceId }
}

interface WritingDeps {
  ids: Ids
  queue: Queue
  generations: Generations
}

/**
 * Announces a content: a new file, or a new generation of the file under the key.
 * @param current the file as {@link lockForWriting} found it
 */
export async function announceContent(
  tx: Tx,
  { ids, queue, generations }: WritingDeps,
  target: { actor: BotActor; key: string; now: string; current: FileRow | undefined },
  { tagMap, ...description }: Description,
  announced: Announcement,
): Promise<{ file: FileRow; content: ContentRow }> {
  const { actor, key, now, current } = target
  const base = current ?? newFile(actor, ids.next('file'), key, now)
  const next = {
    ...description,
    status: 'upload_pending',
    failed_reason: null,
    size: -1,
    sha256: null,
    generation: base.generation + 1,
    updated_at: now,
  } as const
  const file: FileRow = { ...base, ...next }
  if (current === undefined) await store.insertFile(tx, file)
  else await store.patchFile(tx, file.bot_id, file.id, next)
  await store.replaceTags(tx, file, tagMap)
  const content: ContentRow = {
    bot_id: file.bot_id,
    file_id: file.id,
    generation: file.generation,
    status: 'upload_pending',
    blob_key: null,
    sha256: null,
    content_type: file.content_type,
    public_content: file.public_content,
    shared: file.shared,
    indexed: file.indexed,
    passages_blob_key: null,
    remade: 0,
    created_at: now,
    writer: null,
    received: null,
    ...announced,
  }
  await insertContent(tx, content)
  await generations.begin(tx, file)
  if (file.expires_at !== null) await scheduleExpiry(queue, tx, file.expires_at)
  return { file, content }
}

/** The owner of the files that a caller creates. */
export function ownerOf({ botId, caller }: BotActor) {
  return {
    owner_type: caller.type,
    owner_id: caller.type === 'bot' ? botId : caller.id,
    owner_name: caller.type === 'integration' ? caller.name : null,
    owner_alias: caller.type === 'integration' ? caller.alias : null,
  }
}

/** A file that does not exist yet. */
function newFile(actor: BotActor, id: string, key: string, now: string): FileRow {
  return {
    id,
    workspace_id: actor.workspaceId,
    bot_id: actor.botId,
    key,
    key_space: keySpaceOf(actor),
    ...ownerOf(actor),
    generation: 0,
    serving_generation: null,
    passages_generation: null,
    passages_shared: 0,
    status: 'upload_pending',
    failed_reason: null,
    size: -1,
    sha256: null,
    content_type: '',
    tags: '{}',
    metadata: '{}',
    public_content: 0,
    shared: 0,
    indexed: 0,
    expires_at: null,
    progress: null,
    omissions: null,
    counted_storage: 0,
    counted_vector: 0,
    created_at: now,
    updated_at: now,
  }
}
