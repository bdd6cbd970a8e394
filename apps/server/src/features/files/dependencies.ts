import type { BlobStore } from '../../platform/blobs/blob-store.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import type { Clock, Timers } from '../../platform/clock.js'
import type { Dialect } from '../../platform/db/dialect.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Db, Run } from '../../platform/db/schema.js'
import type { Ids } from '../../platform/ids.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { BotsService } from '../bots/bots/index.js'
import type { Reach } from '../tenancy/access/index.js'
import type { Meter } from '../tenancy/metering/index.js'
import type { FileLimits } from './rules.js'

/** Refuses files that exceed a quota of their bot or their workspace. */
export type Quotas = Pick<Meter, 'requireStorage'>

/** The dependencies of the parts of this slice. */
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
  bots: Pick<BotsService, 'workspaceOf' | 'keepWorkspaceOf'>
  reach: Reach
  limits: FileLimits
  quotas: Quotas
  /** Whether a backup is being made, during which all contents must stay. */
  isBackupRunning: () => Promise<boolean>
}
