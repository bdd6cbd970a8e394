import type { BotActor } from '../../domain/actor.js'
import type { Addresses } from '../../domain/addresses.js'
import { purge } from '../../platform/db/purge.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { Signer } from '../../platform/security/signing.js'
import type { FeatureWith } from '../feature.js'
import { createFileAddresses } from './addresses.js'
import {
  createDownloads,
  createGenerations,
  createReindexing,
  deleteReadingsOfBot,
  moveUsage,
  type Reindexing,
} from './contents/index.js'
import { createCopies } from './copies.js'
import type { FilesDeps } from './dependencies.js'
import { createFileEvents } from './file-events.js'
import { createIndexing, type FilesIndexing } from './indexing.js'
import { createKnowledgeBases } from './knowledge-bases/index.js'
import { createSweeps } from './maintenance/index.js'
import { filesRoutes, toFile, toUploadableFile } from './routes.js'
import { contentTypeOf } from './rules.js'
import { createFilesService, type FilesService } from './service.js'
import { existingFiles, unsentFiles } from './store.js'
import type { FileRow } from './table.js'
import { createUploads } from './uploads/index.js'
import { deleteEmptyUsage } from './usage-store.js'
import { createWaiting, type Waiting } from './waiting.js'

export { countOmissions } from './contents/index.js'
export {
  countFiles,
  type FailedFile,
  findFileUsage,
  listBotUsage,
  listFailedFiles,
  sumFiles,
} from './health-store.js'
export type { FilesIndexing, IndexableContent, IndexingProgress } from './indexing.js'
export {
  type ClearPassages,
  clearPassagesJob,
  type IndexFile,
  indexFileJob,
  type PassagesOf,
} from './jobs.js'
export { type FileScope, scopeOf, type TagCondition, toTagConditions } from './lookup/index.js'
export {
  type CheckOptions,
  checkFiles,
  type Finding,
  listReferredContents,
  type ReferredContent,
} from './maintenance/index.js'
export type { FileRow } from './table.js'

/** Files on behalf of people who have no access to the files of the bot. */
interface FilesOfUsers {
  /**
   * Announces a file whose content follows.
   * @param alsoDo runs in the same transaction
   */
  create(
    actor: BotActor,
    file: Parameters<FilesService['upsert']>[1],
    alsoDo: (tx: Tx, created: { id: string }) => Promise<void>,
  ): Promise<ReturnType<typeof toUploadableFile>>
  /** The media type that a file would get. */
  contentTypeOf: typeof contentTypeOf
  /** Ids of the files that exist, for joins. */
  existing(executor: Tx): ReturnType<typeof existingFiles>
  /** Ids of the files of a bot that were announced before an ISO 8601 time and of which nothing has arrived, for joins. */
  unsent(executor: Db, botId: string, before: string): ReturnType<typeof unsentFiles>
  remove(actor: BotActor, id: string): Promise<void>
}

/** The slice of files, as others see it. */
export type Files = FeatureWith<'routes' | 'jobs' | 'schedule' | 'purge'> & {
  service: FilesService
  reindexing: Reindexing
  waiting: Waiting
  /** The interface for the indexing of contents by search. */
  indexing: FilesIndexing
  /** Operations of other slices on behalf of people who have no access to the files of the bot. */
  ofUsers: FilesOfUsers
  /** Converts a file to its form in the API. */
  toFile(row: FileRow): ReturnType<typeof toFile>
}

/** Files of bots: their descriptions, their contents, and uploads and downloads. */
export function createFiles(given: FilesDeps & { addresses: Addresses; signer: Signer }): Files {
  const addresses = createFileAddresses(given)
  const events = createFileEvents(given)
  const generations = createGenerations({ ...given, events })
  const deps = { ...given, addresses, events, generations }
  const service = createFilesService(deps)
  const waiting = createWaiting(deps.bus, service.get, deps.reach.requireReader)
  const uploads = createUploads(deps)
  const sweeps = createSweeps(deps)
  const knowledgeBases = createKnowledgeBases(deps)
  return {
    name: 'files',
    service,
    reindexing: createReindexing(deps),
    waiting,
    indexing: createIndexing(deps),
    toFile: (row) => toFile(row, addresses),
    ofUsers: {
      create: async (actor, file, alsoDo) =>
        toUploadableFile(await service.upsert(actor, file, alsoDo), file.size, addresses),
      contentTypeOf,
      existing: (executor) => existingFiles(executor),
      unsent: unsentFiles,
      remove: service.remove,
    },
    routes: [
      ...filesRoutes({
        service,
        waiting,
        copies: createCopies(deps),
        downloads: createDownloads(deps),
        events,
        addresses,
      }),
      ...knowledgeBases.routes,
      ...uploads.routes,
    ],
    jobs: {
      ...sweeps.jobs,
      ...uploads.jobs,
    },
    schedule: sweeps.schedule,
    checks: [{ name: 'contents', check: () => deps.blobs.check() }],
    on: {
      'bot.transferred': (tx, { botId, from, to }) =>
        moveUsage(tx, botId, { from, to }, given.quotas),
    },
    async purge(botId) {
      await sweeps.removeFilesOf(botId)
      await purge(given.run, (tx, limit) => deleteReadingsOfBot(tx, botId, limit))
      await knowledgeBases.purge(botId)
      await given.run(deleteEmptyUsage, { mayUseReserve: true })
    },
    stop: async () => waiting.stop(),
  }
}
