import type { Body, contract, Query } from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import type { BlobStore } from '../../platform/blobs/blob-store.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import type { Dialect } from '../../platform/db/dialect.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { Timers } from '../../platform/timers.js'
import type { BotsService } from '../bots/bots/index.js'
import type { Reach } from '../tenancy/access/index.js'
import { announceContent, type Description, lockForWriting } from './contents/announce.js'
import type { Generations } from './contents/generations.js'
import type { Quotas } from './contents/usage.js'
import { scopeOf, toTagConditions } from './lookup/index.js'
import { lockOwnFile, requireFile } from './require-file.js'
import {
  contentTypeOf,
  expiryOf,
  type FileLimits,
  metadataOf,
  requireIndexableKey,
  requireIndexableTags,
  requireSize,
} from './rules.js'
import * as store from './store.js'
import type { FileRow } from './table.js'

type Upsert = Body<typeof contract.files.upsert>
type ListQuery = Query<typeof contract.files.list>

export type { FileRow } from './table.js'

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
  timers: Timers
  bots: Pick<BotsService, 'workspaceOf'>
  reach: Reach
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

  async function upsertIn(tx: Tx, actor: BotActor, input: Upsert, described: Description) {
    const now = isoTime(clock.now())
    const { key, size } = input
    const current = await lockForWriting(tx, generations, actor, key, now)
    const place = { actor, key, now, current }
    const immediate = input.publicContentImmediatelyAccessible ?? false
    const { file } = await announceContent(tx, deps, place, described, {
      size,
      immediate: encodeBoolean(described.public_content === 1 && immediate),
      indexing: input.indexing === undefined ? null : encodeJson(input.indexing),
    })
    return file
  }

  return {
    /** Describes a file whose content is to follow. The same key again begins a new generation. */
    async upsert(actor: BotActor, input: Upsert): Promise<FileRow> {
      requireSize(input, deps.limits)
      requireIndexableKey(input.key, 'body.key')
      requireIndexableTags(input.tags)
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

    async get(actor: BotActor, idOrKey: string): Promise<FileRow> {
      return await requireFile(db, actor, idOrKey, isoTime(clock.now()))
    },

    async list(actor: BotActor, query: ListQuery): Promise<Page<FileRow>> {
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
      await run(
        async (tx) => {
          const file = await lockOwnFile(tx, actor, idOrKey, isoTime(clock.now()), 'delete')
          await generations.remove(tx, file)
        },
        { freesRoom: true },
      )
    },
  }
}

/** What an upsert says of a file, as it is stored. */
function describe(input: Upsert, now: number): Description {
  return {
    content_type: contentTypeOf(input),
    tags: encodeJson(input.tags ?? {}),
    tagMap: input.tags ?? {},
    metadata: encodeJson(metadataOf(input)),
    public_content: encodeBoolean(input.accessPolicies?.includes('public_content') ?? false),
    shared: encodeBoolean(input.accessPolicies?.includes('integrations') ?? false),
    indexed: encodeBoolean(input.index ?? false),
    expires_at: expiryOf(input.expiresAt, now),
  }
}
