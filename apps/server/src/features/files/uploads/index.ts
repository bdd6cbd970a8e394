import type { Route } from '../../../http/mount.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { FileAddresses } from '../addresses.js'
import type { Generations } from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import { assembleJob } from '../jobs.js'
import { createDirectUploads } from './direct.js'
import { createUploadGate } from './gate.js'
import { createUploadLocks } from './locks.js'
import { createAssembly } from './parts.js'
import { createResumableUploads } from './resumable.js'
import { uploadRoutes } from './routes.js'
import { createWholeUploads } from './whole.js'

export { isStaged } from './direct.js'

export interface Uploads {
  routes: Route[]
  jobs: Record<string, JobHandler>
}

/** The kinds of uploads: as a whole, in parts, or directly to the store. */
export function createUploads(
  deps: FilesDeps & { generations: Generations; addresses: FileAddresses },
): Uploads {
  const gate = createUploadGate(deps)
  const locks = createUploadLocks()
  const whole = createWholeUploads({ ...deps, gate, locks })
  const resumable = createResumableUploads({ ...deps, gate, locks })
  const direct = createDirectUploads({ ...deps, gate })
  return {
    routes: uploadRoutes({ whole, resumable, direct, addresses: deps.addresses }),
    jobs: {
      ...direct.jobs,
      [assembleJob]: createAssembly(deps),
    },
  }
}
