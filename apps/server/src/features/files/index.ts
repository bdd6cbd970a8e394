import type { Addresses } from '../../domain/addresses.js'
import type { Route } from '../../http/mount.js'
import type { Tx } from '../../platform/db/schema.js'
import type { JobHandler } from '../../platform/jobs/handler.js'
import type { Signer } from '../../platform/security/signing.js'
import { createFileAddresses } from './addresses.js'
import { createAssembly } from './assembly.js'
import { contentRoutes } from './content-routes.js'
import { createCopies } from './copies.js'
import { createDescriptions } from './descriptions.js'
import { createDirectUploads } from './direct-uploads.js'
import { createDownloads } from './downloads.js'
import { createEventLog } from './event-log.js'
import { createGenerations } from './generations.js'
import { createIndexing, type FilesIndexing } from './indexing.js'
import { assembleJob } from './job-kinds.js'
import { createFilesJobs } from './jobs.js'
import { createKnowledgeBases } from './knowledge-bases.js'
import { createRemaking, type Remaking } from './remaking.js'
import { createResumableUploads } from './resumable.js'
import { filesRoutes } from './routes.js'
import { createFilesService, type FilesDeps, type FilesService } from './service.js'
import { createSweeps } from './sweeps.js'
import type { FileRow } from './table.js'
import { createFileTags } from './tags.js'
import { createUploadGate } from './upload-gate.js'
import { createUploads } from './uploads.js'
import { toFile } from './view.js'
import { createWaiting, type Waiting } from './waiting.js'
import { createWriters } from './writers.js'

export { type CheckOptions, checkFiles, type Finding } from './consistency.js'
export type { FilesIndexing, IndexableContent } from './indexing.js'
export {
  type ClearPassages,
  clearPassagesJob,
  type IndexFile,
  indexFileJob,
  type PassagesOf,
} from './job-kinds.js'
export { type FileScope, scopeOf, type TagCondition, toTagConditions } from './lookup/index.js'
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
