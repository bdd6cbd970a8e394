import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../platform/actor.js'
import type { BlobStore } from '../../platform/blobs/blob-store.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import type { Dialect } from '../../platform/db/dialect.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Ids } from '../../platform/ids.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Db, Run, Tx } from '../../schema.js'
import type { BotsService } from '../bots/index.js'
import { type ContentRow, insertContent } from './content-store.js'
import { scheduleExpiry } from './expiry.js'
import type { Generations } from './generations.js'
import {
  contentTypeOf,
  expiryOf,
  type FileLimits,
  metadataOf,
  requireIndexable,
  requireSize,
} from './rules.js'
import { scopeOf } from './scope.js'
import * as store from './store.js'
import { toTagConditions } from './tag-filter.js'
import type { Quotas } from './usage.js'

type Upsert = Body<typeof contract.files.upsert>
type ListQuery = Query<typeof contract.files.list>

export interface FilesDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  queue: Queue
  bus: EventBus
  blobs: BlobStore
  bots: Pick<BotsService, 'workspaceOf'>
  limits: FileLimits
  quotas: Quotas
}

export type FilesService = ReturnType<typeof createFilesService>

const sortColumns = {
  key: 'key',
  size: 'size',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  status: 'status',
} as const satisfies Record<string, store.FileSort>

export function createFilesService(
  deps: Pick<
    FilesDeps,
    'db' | 'run' | 'dialect' | 'clock' | 'ids' | 'pager' | 'queue' | 'limits'
  > & {
    generations: Generations
  },
) {
  const { db, run, clock, generations } = deps

  async function require(executor: Db | Tx, actor: BotActor, idOrKey: string) {
    const file = await store.findFile(executor, scopeOf(actor, isoTime(clock.now())), idOrKey)
    if (file === undefined) {
      throw new ApiError('ResourceNotFound', `There is no file ${idOrKey} in this bot.`)
    }
    return file
  }

  /** A file that does not exist yet. */
  function newFile(actor: BotActor, key: string, now: string): store.FileRow {
    const { caller } = actor
    return {
      id: deps.ids.next('file'),
      workspace_id: actor.workspaceId,
      bot_id: actor.botId,
      key,
      key_space: keySpaceOf(actor),
      owner_type: caller.type,
      owner_id: caller.type === 'bot' ? actor.botId : caller.id,
      owner_name: caller.type === 'integration' ? caller.name : null,
      owner_alias: caller.type === 'integration' ? caller.alias : null,
      generation: 0,
      serving_generation: null,
      passages_generation: null,
      passages_shared: 0,
      status: 'upload_pending',
      failed_reason: null,
      size: -1,
      content_type: '',
      tags: '{}',
      metadata: '{}',
      public_content: 0,
      shared: 0,
      indexed: 0,
      expires_at: null,
      counted_storage: 0,
      counted_vector: 0,
      created_at: now,
      updated_at: now,
    }
  }

  async function upsertIn(tx: Tx, actor: BotActor, input: Upsert, described: Described) {
    const now = isoTime(clock.now())
    const found = await store.lockFileByKey(tx, actor.botId, keySpaceOf(actor), input.key)
    const expired = found !== undefined && found.expires_at !== null && found.expires_at <= now
    if (expired) await generations.remove(tx, found)
    const current = expired ? undefined : found
    const base = current ?? newFile(actor, input.key, now)
    const next = { ...described, generation: base.generation + 1, updated_at: now }
    const file: store.FileRow = { ...base, ...next }
    if (current === undefined) await store.insertFile(tx, file)
    else await store.patchFile(tx, file.bot_id, file.id, next)
    await store.replaceTags(tx, file, input.tags ?? {})
    await insertContent(tx, newContent(file, input, now))
    await generations.begin(tx, file)
    if (file.expires_at !== null) await scheduleExpiry(deps.queue, tx, file.expires_at)
    return file
  }

  return {
    /** Describes a file whose content is to follow. The same key again begins a new generation. */
    async upsert(actor: BotActor, input: Upsert): Promise<store.FileRow> {
      requireSize(input, deps.limits)
      requireIndexable(input)
      const described = describe(input, clock.now())
      const attempt = () => run((tx) => upsertIn(tx, actor, input, described))
      try {
        return await attempt()
      } catch (error) {
        // Somebody else made the same key at the same time; now it is there to be replaced.
        if (deps.dialect.isUniqueViolation(error)) return await attempt()
        throw error
      }
    },

    async get(actor: BotActor, idOrKey: string): Promise<store.FileRow> {
      return await require(db, actor, idOrKey)
    },

    async list(actor: BotActor, query: ListQuery): Promise<Page<store.FileRow>> {
      const { nextToken, pageSize, sortField, sortDirection, ...filter } = query
      const scope = scopeOf(actor, isoTime(clock.now()))
      const page = deps.pager.page({
        operation: 'listFiles',
        scope: `${actor.botId} ${scope.integrationId ?? ''}`,
        filter,
        sort: sortColumns[sortField ?? 'createdAt'],
        direction: sortDirection ?? 'desc',
        nextToken,
        pageSize,
      })
      const tags = toTagConditions(filter.tags)
      const { ids } = filter
      if (ids?.length === 0) return { rows: [], nextToken: undefined }
      return await store.pageFiles(db, scope, { tags, ids, indexed: filter.indexed }, page)
    },

    async remove(actor: BotActor, idOrKey: string): Promise<void> {
      await run(async (tx) => {
        const { id } = await require(tx, actor, idOrKey)
        const file = await store.lockFile(tx, actor.botId, id)
        if (file === undefined) {
          throw new ApiError('ResourceNotFound', `There is no file ${idOrKey} in this bot.`)
        }
        if (actor.caller.type === 'integration' && file.key_space !== actor.caller.id) {
          throw new ApiError(
            'Forbidden',
            'An integration may delete its own files only; this one it may read.',
          )
        }
        await generations.remove(tx, file)
      })
    },

    /** Files of a bot by id, those that exist, in no particular order. */
    async listByIds(botId: string, ids: readonly string[]): Promise<store.FileRow[]> {
      return await store.listFilesByIds(db, botId, ids)
    },
  }
}

/** What an upsert says of a file, as it is stored. */
type Described = ReturnType<typeof describe>

function describe(input: Upsert, now: number) {
  return {
    status: 'upload_pending',
    failed_reason: null,
    size: -1,
    content_type: contentTypeOf(input),
    tags: encodeJson(input.tags ?? {}),
    metadata: encodeJson(metadataOf(input)),
    public_content: encodeBoolean(input.accessPolicies?.includes('public_content') ?? false),
    shared: encodeBoolean(input.accessPolicies?.includes('integrations') ?? false),
    indexed: encodeBoolean(input.index ?? false),
    expires_at: expiryOf(input.expiresAt, now),
  } as const satisfies Partial<store.FileRow>
}

function newContent(file: store.FileRow, input: Upsert, now: string): ContentRow {
  const isPublic = file.public_content === 1
  return {
    bot_id: file.bot_id,
    file_id: file.id,
    generation: file.generation,
    status: 'upload_pending',
    size: input.size,
    blob_key: null,
    sha256: null,
    content_type: file.content_type,
    public_content: file.public_content,
    shared: file.shared,
    immediate: encodeBoolean(isPublic && (input.publicContentImmediatelyAccessible ?? false)),
    indexed: file.indexed,
    indexing: input.indexing === undefined ? null : encodeJson(input.indexing),
    created_at: now,
  }
}

function keySpaceOf({ caller }: BotActor): string {
  return caller.type === 'integration' ? caller.id : ''
}
