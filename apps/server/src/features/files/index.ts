import type { Addresses } from '../../domain/addresses.js'
import type { Route } from '../../http/mount.js'
import type { Tx } from '../../platform/db/schema.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import type { Signer } from '../../platform/security/signing.js'
import { createFileAddresses } from './addresses.js'
import { createDownloads } from './contents/downloads.js'
import { createGenerations } from './contents/generations.js'
import { createCopies } from './copies.js'
import { createDescriptions } from './descriptions.js'
import { createEventLog } from './event-log.js'
import { createFileTags } from './file-tags.js'
import { createIndexing, type FilesIndexing } from './indexing.js'
import { assembleJob } from './job-kinds.js'
import { createKnowledgeBases } from './knowledge-bases/service.js'
import { createFilesJobs } from './maintenance/jobs.js'
import { createSweeps } from './maintenance/sweeps.js'
import { createRemaking, type Remaking } from './reindex.js'
import { filesRoutes } from './routes.js'
import { createFilesService, type FilesDeps, type FilesService } from './service.js'
import type { FileRow } from './table.js'
import { createAssembly } from './uploads/assembly.js'
import { createDirectUploads } from './uploads/direct.js'
import { createUploadGate } from './uploads/gate.js'
import { createWriters } from './uploads/locks.js'
import { createResumableUploads } from './uploads/resumable.js'
import { contentRoutes } from './uploads/routes.js'
import { createUploads } from './uploads/whole.js'
import { toFile } from './view.js'
import { createWaiting, type Waiting } from './waiting.js'

export type { FilesIndexing, IndexableContent } from './indexing.js'
export {
  type ClearPassages,
  clearPassagesJob,
  type IndexFile,
  indexFileJob,
  type PassagesOf,
} from './job-kinds.js'
export { type FileScope, scopeOf, type TagCondition, toTagConditions } from './lookup/index.js'
export { type CheckOptions, checkFiles, type Finding } from './maintenance/consistency.js'
export type { Progress } from './progress.js'
export type { FileRow } from './table.js'

export interface Files {
  service: FilesService
  remaking: Remaking
  waiting: Waiting
  /** How a file is shown to callers. */
  toFile(row: FileRow): ReturnType<typeof toFile>
  /** What search needs. */
  indexing: FilesIndexing
  routes: Route[]
  /** What the job runner does, by kind. */
  jobs: Record<string, JobHandler>
  /** Asks for the sweeps that a start begins with. */
  schedule(tx: Tx): Promise<void>
  /** Deletes the files and knowledge bases of a bot that is gone. */
  purge(botId: string): Promise<void>
}

/** Files of bots: what they are, their content, and how it comes and goes. */
export function createFiles(deps: FilesDeps & { addresses: Addresses; signer: Signer }): Files {
  const { addresses: base, signer, clock } = deps
  const addresses = createFileAddresses({ addresses: base, clock, signer })
  const generations = createGenerations(deps)
  const service = createFilesService({ ...deps, generations })
  const waiting = createWaiting({ bus: deps.bus, service })
  const gate = createUploadGate({ ...deps, generations, addresses })
  const writers = createWriters()
  const uploads = createUploads({ ...deps, generations, gate, writers })
  const resumable = createResumableUploads({ ...deps, generations, gate, writers })
  const downloads = createDownloads({ ...deps, addresses })
  const sweeps = createSweeps({ ...deps, generations })
  const descriptions = createDescriptions({ ...deps, generations })
  const copies = createCopies({ ...deps, generations })
  const knowledgeBases = createKnowledgeBases(deps)
  const directUploads = createDirectUploads({ ...deps, generations, gate })
  const jobs = createFilesJobs({ ...deps, sweeps })
  return {
    service,
    remaking: createRemaking({ ...deps, generations }),
    waiting,
    toFile: (row) => toFile(row, addresses),
    indexing: createIndexing({ ...deps, generations }),
    routes: [
      ...filesRoutes({
        ...{ service, waiting, descriptions, copies, addresses, knowledgeBases },
        tags: createFileTags(deps),
        events: createEventLog(deps),
      }),
      ...contentRoutes({ uploads, resumable, directUploads, downloads, addresses }),
    ],
    jobs: {
      ...jobs.handlers,
      ...directUploads.jobs,
      [assembleJob]: createAssembly({ ...deps, generations }),
    },
    schedule: jobs.schedule,
    purge: async (botId) => {
      await sweeps.filesOfBot(botId)
      await knowledgeBases.purge(botId)
    },
  }
}
