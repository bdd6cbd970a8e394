import { join } from 'node:path'
import type { Config } from '../config/config.js'
import { migrations } from '../migrations/index.js'
import { type Authorities, createAuthorities } from '../platform/authorities.js'
import type { BlobStore } from '../platform/blobs/blob-store.js'
import { openDiskBlobStore } from '../platform/blobs/disk.js'
import { withSmallBlobs } from '../platform/blobs/small-blob-store.js'
import type { EventBus } from '../platform/bus/event-bus.js'
import { createLocalBus } from '../platform/bus/local.js'
import { type Clock, systemClock, systemTimers, type Timers } from '../platform/clock.js'
import { migrate } from '../platform/db/migrate.js'
import { type Database, type DatabaseOptions, openDatabase } from '../platform/db/open.js'
import { createPager, type Pager } from '../platform/db/pager.js'
import type { Db, Run } from '../platform/db/schema.js'
import { prepareDataFolder, restrictDataFolder } from '../platform/disk/data-folder.js'
import { requireRestored } from '../platform/disk/restore-marker.js'
import { createEventDispatcher, type EventDispatcher } from '../platform/domain-events.js'
import { createEventPublisher, type EventPublisher } from '../platform/events/publisher.js'
import { createIds, type Ids } from '../platform/ids.js'
import { createQueue, type Queue } from '../platform/jobs/queue.js'
import { createAddressRules } from '../platform/outgoing/address-rules.js'
import { createOutgoing, type Outgoing } from '../platform/outgoing/outgoing.js'
import { createResponseMemory } from '../platform/outgoing/response-memory.js'
import { createSealer, type Sealer } from '../platform/security/sealing.js'
import {
  deriveKey,
  installationOf,
  instanceOf,
  loadServerSecret,
} from '../platform/security/secrets.js'
import type { Log } from '../platform/telemetry/log.js'
import { createHistogram, type Metric } from '../platform/telemetry/metrics.js'
import { detachBus, type Tracing, traceTransactions } from '../platform/telemetry/tracing.js'
import type { Closers } from './closers.js'
import { hasBytes, requireDatabase, requireSchema } from './existing-database.js'

/** The shared parts that slices are built from. */
export interface Context {
  config: Config
  log: Log
  clock: Clock
  timers: Timers
  ids: Ids
  keys: Keys
  sealer: Sealer
  pager: Pager
  database: Database
  dialect: Database['dialect']
  db: Db
  run: Run
  bus: EventBus
  /** Ends what is open when the authority for it ends. */
  authorities: Authorities
  publisher: EventPublisher
  queue: Queue
  /** Events between slices. */
  domainEvents: EventDispatcher
  /** Calls to addresses that users configure. */
  outgoing: Outgoing
  /** Durations of commits; undefined if no metrics are served. */
  commits?: Metric | undefined
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
}

/** Milliseconds after which an unfinished blob of a shared folder counts as abandoned. */
const sharedLeftoverAgeMs = 60 * 60 * 1000

export interface ContextOptions {
  config: Config
  log: Log
  /** Source of time; tests move it. */
  clock?: Clock
  /** Source of timers, which follow the clock. */
  timers?: Timers
  /** Makes traces. */
  tracing?: Tracing | undefined
  /** Whether there has to be a database of this release: for commands, which neither make nor migrate one. */
  isExisting?: boolean
  /** Makes the log of SQLite durable: for tests of a disk that is slow or fails. */
  syncLog?: DatabaseOptions['syncLog']
  /** Milliseconds to wait for a lock of the database: for tests that hold one while others queue for it. */
  busyTimeout?: number
}

/** Maximum bytes of the responses of bots and integrations at addresses of their own that are in progress. */
const responseMemoryBytes = 128_000_000
/** Seconds. */
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Opens the data folder and the database, brings the schema up to date and connects the bus. */
export async function openContext(
  options: ContextOptions,
  closers: Pick<Closers, 'add'>,
): Promise<Context> {
  const { config, log, clock = systemClock, timers = systemTimers, tracing } = options
  const { syncLog, busyTimeout } = options
  if (options.isExisting) await requireDatabase(config)
  await prepareDataFolder(config.dataDir)
  await requireRestored(config.dataDir)
  await restrictDataFolder(config.dataDir, log)
  const file = join(config.dataDir, 'botstead.db')
  const secret = await loadServerSecret({
    secret: config.secret,
    dataDir: config.dataDir,
    shared: config.databaseUrl !== undefined,
    hasData: config.databaseUrl === undefined && (await hasBytes(file)),
    log,
  })
  const keys = deriveKeys(secret, config.chatSecret)

  const commits =
    config.metrics.access === 'off'
      ? undefined
      : createHistogram({
          name: 'botstead_database_commit_duration_seconds',
          help: 'Time from a commit until it is durable. Transactions may share one; those of migrations are left out.',
          bounds: commitBounds,
        })
  const database = await openDatabase({
    ...(config.databaseUrl === undefined
      ? { file, reserveBytes: config.diskReserveBytes }
      : { url: config.databaseUrl }),
    log,
    ...(commits && { onCommit: (milliseconds) => commits.record(milliseconds / 1000) }),
    ...(syncLog && { syncLog }),
    ...(busyTimeout !== undefined && { busyTimeout }),
  })
  closers.add('database', () => database.close())
  if (options.isExisting) await requireSchema(database)
  else await migrate(database, migrations, log)

  const bus = await openBus(config, log)
  closers.add('bus', async () => {
    await bus[Symbol.asyncDispose]()
  })

  const parts = { config, log, clock, timers, keys, database, bus, tracing, commits }
  const context = createContext(parts)
  closers.add('outgoing calls', async () => {
    await context.outgoing[Symbol.asyncDispose]()
  })
  return context
}

/** Names of the engines in traces. */
const systems = { sqlite: 'sqlite', postgres: 'postgresql' } as const

/** Builds the context of one process from its opened parts. */
export function createContext(
  parts: Pick<
    Context,
    'config' | 'log' | 'clock' | 'timers' | 'keys' | 'database' | 'bus' | 'tracing' | 'commits'
  >,
): Context {
  const { config, log, clock, timers, keys, database, tracing } = parts
  const bus = tracing ? detachBus(tracing, parts.bus) : parts.bus
  const { db, dialect } = database
  const run = tracing
    ? traceTransactions(tracing, database.run, dialect.choose(systems))
    : database.run
  const ids = createIds(clock)
  return {
    ...parts,
    bus,
    authorities: createAuthorities({
      bus,
      clock,
      timers,
      log,
      foreignChanges: () => database.foreignChanges(),
    }),
    ids,
    sealer: createSealer(keys.sealing),
    pager: createPager(keys.pageTokens),
    dialect,
    db,
    run,
    publisher: createEventPublisher(bus, tracing),
    queue: createQueue({ db, bus, clock, ids, tracing }),
    domainEvents: createEventDispatcher(),
    outgoing: createOutgoing({
      rules: createAddressRules(config.outgoing),
      memory: createResponseMemory(responseMemoryBytes, 'addresses that this server calls'),
    }),
  }
}

/**
 * File contents: in the data folder, small ones in the database, or in an object store.
 * @param options.sweep removes leftovers of interrupted uploads: for the server that owns the
 * folder
 */
export async function openBlobs(
  { config, keys, db, run, clock }: Context,
  options: { sweep: boolean },
): Promise<BlobStore> {
  if (config.objectStore !== undefined) {
    // Loaded only when it is used, to keep other starts fast.
    const { openS3BlobStore } = await import('../platform/blobs/s3.js')
    // Leftovers are for the daily sweep, because a start must not wait for a list of the bucket.
    return await openS3BlobStore(config.objectStore, {
      owner: keys.installation,
    })
  }
  const blobs = withSmallBlobs(await openDiskBlobStore(join(config.dataDir, 'blobs')), {
    db,
    run,
    clock,
  })
  if (!options.sweep) return blobs
  // With a shared database other processes may be storing in the same folder right now.
  await blobs.sweepTemporary(config.databaseUrl === undefined ? 0 : sharedLeftoverAgeMs)
  return blobs
}

/**
 * Hints stay in the process with SQLite; with PostgreSQL they reach all processes of the database.
 */
async function openBus(config: Config, log: Log): Promise<EventBus> {
  if (config.databaseUrl === undefined) return createLocalBus(log)
  const { openPostgresBus } = await import('../platform/bus/postgres.js')
  return await openPostgresBus(config.databaseUrl, log)
}

/** The keys of this server, one per purpose, all derived from its secret. */
interface Keys {
  pageTokens: Buffer
  fileAddresses: Buffer
  /** Signs the addresses of the code of versions. */
  codeAddresses: Buffer
  /** Seals secrets in the database. */
  sealing: Buffer
  /** Distinguishes this installation from others that share an object store. */
  installation: string
  /** Identifier of this installation in `/healthz`; reveals nothing about the other keys. */
  instance: string
  /** Key of the hashes of admin secrets of chats. */
  chatSecrets: Buffer
  /** HS256 secret of user keys in shared mode. */
  userKeys: Uint8Array
}

function deriveKeys(secret: Uint8Array, chatSecret: string | undefined): Keys {
  return {
    pageTokens: deriveKey(secret, 'page-tokens'),
    fileAddresses: deriveKey(secret, 'file-addresses'),
    codeAddresses: deriveKey(secret, 'code-addresses'),
    sealing: deriveKey(secret, 'sealing'),
    installation: installationOf(secret),
    instance: instanceOf(secret),
    chatSecrets: deriveKey(secret, 'chat-secrets'),
    userKeys: chatSecret === undefined ? deriveKey(secret, 'user-keys') : Buffer.from(chatSecret),
  }
}
