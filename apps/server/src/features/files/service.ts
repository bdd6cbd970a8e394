import type { Body, contract, Query } from '@botstead/contract'
import type { Reading } from '@botstead/documents'
import type { BotActor } from '../../domain/actor.js'
import { mergePatch, onlyTakesAway } from '../../domain/patches.js'
import { bound } from '../../platform/bound.js'
import { isoTime } from '../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import type { Page, PageRequest } from '../../platform/db/paginate.js'
import type { Tx } from '../../platform/db/schema.js'
import { lockOwnFile, requireFile, requireReadFile } from './access.js'
import {
  announceContent,
  type Description,
  type Generations,
  inCurrentWorkspace,
  lockForWriting,
  patchContents,
  readingOf,
} from './contents/index.js'
import type { FilesDeps } from './dependencies.js'
import { showsReading } from './indexing-report.js'
import { scheduleExpiry } from './jobs.js'
import { type FileScope, scopeOf, toTagConditions } from './lookup/index.js'
import {
  contentTypeOf,
  expiryOf,
  metadataOf,
  patchMetadata,
  requireIndexableKey,
  requireIndexableTags,
  requireSize,
  requireTagCount,
} from './rules.js'
import {
  type FileSort,
  type Folder,
  findFile,
  pageFiles,
  pageFolders,
  pageTagNames,
  pageTagValues,
  patchFile,
  replaceTags,
} from './store.js'
import type { FileRow } from './table.js'

type Upsert = Body<typeof contract.files.upsert>
type FilePatch = Body<typeof contract.files.update>
type ListQuery = Query<typeof contract.files.list>
type FolderQuery = Query<typeof contract.fileFolders.list>
type TagQuery = Query<typeof contract.fileTags.list>

export type FilesService = ReturnType<typeof createFilesService>

const sortColumns = {
  key: 'key',
  size: 'size',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  status: 'status',
} as const satisfies Record<string, FileSort>

interface FilesParts
  extends Pick<
    FilesDeps,
    'db' | 'run' | 'dialect' | 'clock' | 'ids' | 'pager' | 'queue' | 'bots' | 'limits'
  > {
  generations: Generations
}

/** Describes and finds files; contents are sent and read at addresses of their own. */
export function createFilesService(deps: FilesParts) {
  return bound(deps, {
    upsert: upsertFile,
    get: getFile,
    getReading: getFileReading,
    find: findVisibleFile,
    list: listFiles,
    listFolders: listFileFolders,
    update: updateFile,
    remove: removeFile,
    listTagNames: listFileTags,
    listTagValues: listFileTagValues,
  })
}

/**
 * Describes a file whose content follows. The same key again begins a new generation.
 * @param alsoDo runs in the same transaction
 */
async function upsertFile(
  deps: FilesParts,
  actor: BotActor,
  input: Upsert,
  alsoDo?: (tx: Tx, file: FileRow) => Promise<void>,
): Promise<FileRow> {
  const { limits, clock, run, dialect } = deps
  requireSize(input, limits)
  requireIndexableKey(input.key, 'body.key')
  requireIndexableTags(input.tags)
  const description = describe(input, clock.now())
  const attempt = () =>
    run(async (tx) => {
      const file = await upsertFileIn(deps, tx, actor, input, description)
      await alsoDo?.(tx, file)
      return file
    })
  try {
    return await attempt()
  } catch (error) {
    // A concurrent request created the same key; now it can be replaced.
    if (dialect.isUniqueViolation(error)) return await attempt()
    throw error
  }
}

async function upsertFileIn(
  deps: FilesParts,
  tx: Tx,
  caller: BotActor,
  input: Upsert,
  description: Description,
) {
  const { clock, generations } = deps
  const actor = await inCurrentWorkspace(deps, tx, caller)
  const now = isoTime(clock.now())
  const { key, size } = input
  const current = await lockForWriting(tx, generations, actor, key, now)
  const immediate = input.publicContentImmediatelyAccessible ?? false
  const { file } = await announceContent(tx, deps, { actor, key, now, current }, description, {
    size,
    immediate: encodeBoolean(description.public_content === 1 && immediate),
    indexing: input.indexing === undefined ? null : encodeJson(input.indexing),
  })
  return file
}

async function getFile(
  { db, clock }: FilesParts,
  actor: BotActor,
  idOrKey: string,
): Promise<FileRow> {
  return await requireFile(db, actor, idOrKey, isoTime(clock.now()))
}

/** As `get`, for a file that is not named in a path: undefined if the caller sees none. */
async function findVisibleFile(
  { db, clock }: FilesParts,
  actor: BotActor,
  idOrKey: string,
): Promise<FileRow | undefined> {
  return await findFile(db, scopeOf(actor, isoTime(clock.now())), idOrKey)
}

/** A file with its last reading; undefined if there is none. */
async function getFileReading(
  { db, clock }: FilesParts,
  actor: BotActor,
  idOrKey: string,
): Promise<{ file: FileRow; reading: Reading | undefined }> {
  const file = await requireReadFile(db, actor, idOrKey, isoTime(clock.now()))
  return { file, reading: showsReading(file) ? readingOf(file) : undefined }
}

async function listFiles(
  deps: FilesParts,
  actor: BotActor,
  query: ListQuery,
): Promise<Page<FileRow>> {
  const { nextToken: _, pageSize: __, sortField, sortDirection, ...filter } = query
  const { scope, page } = pageOf(deps, actor, query, {
    operation: 'listFiles',
    filter,
    sort: sortColumns[sortField ?? 'createdAt'],
    direction: sortDirection ?? 'desc',
  })
  const tags = toTagConditions(filter.tags)
  const { ids, indexed, prefix, text, status: statuses } = filter
  if (ids?.length === 0 || statuses?.length === 0) return { rows: [], nextToken: undefined }
  return await pageFiles(deps.db, scope, { tags, ids, indexed, prefix, text, statuses }, page)
}

/** The folders that the keys of visible files make, directly below a prefix. */
async function listFileFolders(
  deps: FilesParts,
  actor: BotActor,
  query: FolderQuery,
): Promise<Page<Folder>> {
  const { prefix = '' } = query
  const { scope, page } = pageOf(deps, actor, query, {
    operation: 'listFileFolders',
    filter: { prefix },
    sort: 'prefix',
  })
  return await pageFolders(deps.db, scope, prefix, page)
}

/** Changes the description of a file. Its content, key, type and index stay. */
async function updateFile(
  { clock, run, queue, generations }: FilesParts,
  actor: BotActor,
  idOrKey: string,
  patch: FilePatch,
): Promise<FileRow> {
  const expiresAt =
    patch.expiresAt === null ? null : expiryOf(patch.expiresAt ?? undefined, clock.now())
  return await run(
    async (tx) => {
      const now = isoTime(clock.now())
      const file = await lockOwnFile(tx, actor, idOrKey, now, 'change')
      const tags = mergePatch(decodeJson<Record<string, string>>(file.tags), patch.tags)
      if (patch.tags !== undefined) {
        requireIndexableTags(tags)
        requireTagCount(tags, 'file')
      }
      const next = {
        tags: encodeJson(tags),
        ...(patch.metadata !== undefined && {
          metadata: patchMetadata(file.metadata, patch.metadata),
        }),
        ...(patch.expiresAt !== undefined && { expires_at: expiresAt }),
        ...(patch.accessPolicies !== undefined && policiesOf(file, patch.accessPolicies)),
        updated_at: now,
      }
      await patchFile(tx, file.bot_id, file.id, next)
      if (patch.tags !== undefined) await replaceTags(tx, file, tags)
      if (patch.accessPolicies !== undefined) {
        const { public_content, shared } = policiesOf(file, patch.accessPolicies)
        await patchContents(tx, file.bot_id, file.id, { public_content, shared })
      }
      if (patch.expiresAt !== undefined && expiresAt !== null) {
        await scheduleExpiry(queue, tx, expiresAt)
      }
      const changed = { ...file, ...next }
      await generations.describe(tx, changed)
      return changed
    },
    { mayUseReserve: onlyTakesAway(patch) },
  )
}

async function removeFile(
  { run, clock, generations }: FilesParts,
  actor: BotActor,
  idOrKey: string,
): Promise<void> {
  await run(
    async (tx) => {
      const file = await lockOwnFile(tx, actor, idOrKey, isoTime(clock.now()), 'delete')
      await generations.remove(tx, file)
    },
    { mayUseReserve: true },
  )
}

/** The tags of the files that a caller may see. */
async function listFileTags(
  deps: FilesParts,
  actor: BotActor,
  query: TagQuery,
): Promise<Page<string>> {
  const { scope, page } = pageOf(deps, actor, query, { operation: 'listFileTags', sort: 'name' })
  return await pageTagNames(deps.db, scope, page)
}

/** The values of a tag in the files that a caller may see. */
async function listFileTagValues(
  deps: FilesParts,
  actor: BotActor,
  name: string,
  query: TagQuery,
): Promise<Page<string>> {
  const { scope, page } = pageOf(deps, actor, query, {
    operation: 'listFileTagValues',
    filter: { name },
    sort: 'value',
  })
  return await pageTagValues(deps.db, scope, name, page)
}

/** The page of a list that a caller requests, and the files that the caller may see. */
function pageOf<Sort extends string>(
  { clock, pager }: FilesParts,
  actor: BotActor,
  { nextToken, pageSize }: TagQuery,
  list: { operation: string; sort: Sort; filter?: unknown; direction?: 'asc' | 'desc' },
): { scope: FileScope; page: PageRequest<Sort> } {
  const scope = scopeOf(actor, isoTime(clock.now()))
  const page = pager.page({
    direction: 'asc',
    ...list,
    scope: `${actor.botId} ${scope.integrationId ?? ''}`,
    nextToken,
    pageSize,
  })
  return { scope, page }
}

/** The description of a file from an upsert, as it is stored. */
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

/** The caller changes the policies of the file as it is, so they apply to its passages and served content at once. */
function policiesOf(file: FileRow, policies: NonNullable<FilePatch['accessPolicies']>) {
  const shared = encodeBoolean(policies.includes('integrations'))
  return {
    public_content: encodeBoolean(policies.includes('public_content')),
    shared,
    passages_shared: file.passages_generation === null ? 0 : shared,
  } as const
}
