import { join } from 'node:path'
import type { Config } from '../config/config.js'
import { migrations } from '../migrations/index.js'
import type { EventBus } from '../platform/bus/event-bus.js'
import { createLocalBus } from '../platform/bus/local.js'
import { type Clock, systemClock } from '../platform/clock.js'
import { migrate } from '../platform/db/migrate.js'
import { type Database, openDatabase } from '../platform/db/open.js'
import { createPager, type Pager } from '../platform/db/pager.js'
import type { Db, Run } from '../platform/db/schema.js'
import { closeDataFolder, prepareDataFolder } from '../platform/disk/data-folder.js'
import { createEventDispatcher, type EventDispatcher } from '../platform/domain-events.js'
import { createEventPublisher, type EventPublisher } from '../platform/events/publisher.js'
import { createIds, type Ids } from '../platform/ids.js'
import { createQueue, type Queue } from '../platform/jobs/queue.js'
import { createAddressRules } from '../platform/outgoing/address-rules.js'
import { createOutgoing, type Outgoing } from '../platform/outgoing/outgoing.js'
import { createSealer, type Sealer } from '../platform/security/sealing.js'
import { loadServerSecret } from '../platform/security/secrets.js'
import type { Log } from '../platform/telemetry/log.js'
import { deriveKeys, type Keys } from './keys.js'
import type { Closers } from './stop.js'

/** What every slice stands on. */
export interface Foundation {
  config: Config
  log: Log
  clock: Clock
  ids: Ids
  keys: Keys
  sealer: Sealer
  pager: Pager
  database: Database
  dialect: Database['dialect']
  db: Db
  run: Run
  bus: EventBus
  events: EventPublisher
  queue: Queue
  /** What happens in slices, for the others. */
  domainEvents: EventDispatcher
  /** Calls to servers that users have named. */
  outgoing: Outgoing
}

export interface FoundationOptions {
  config: Config
  log: Log
  /** Where time comes from; tests move it. */
  clock?: Clock
}

/** Opens the data folder and the database, brings the schema up to date and connects the bus. */
export async function layFoundation(
  { config, log, clock = systemClock }: FoundationOptions,
  closers: Pick<Closers, 'add'>,
): Promise<Foundation> {
  await prepareDataFolder(config.dataDir)
  await closeDataFolder(config.dataDir, log)
  const secret = await loadServerSecret({
    secret: config.secret,
    dataDir: config.dataDir,
    shared: config.databaseUrl !== undefined,
    log,
  })
  const keys = deriveKeys(secret, config.chatSecret)

  const database = await openDatabase({
    ...(config.databaseUrl === undefined
      ? { file: join(config.dataDir, 'botstead.db'), reserveBytes: config.diskReserveBytes }
      : { url: config.databaseUrl }),
    log,
  })
  closers.add('database', () => database.close())
  await migrate(database, migrations, log)

  const bus = await openBus(config, log)
  closers.add('bus', async () => {
    await bus[Symbol.asyncDispose]()
  })

  const outgoing = createOutgoing({ rules: createAddressRules(config.outgoing) })
  closers.add('outgoing calls', async () => {
    await outgoing[Symbol.asyncDispose]()
  })

  const ids = createIds(clock)
  const { db, dialect } = database
  return {
    config,
    log,
    clock,
    ids,
    keys,
    sealer: createSealer(keys.sealing),
    pager: createPager(keys.pageTokens),
    database,
    dialect,
    db,
    run: database.run,
    bus,
    events: createEventPublisher(bus),
    queue: createQueue({ db, bus, clock, ids }),
    domainEvents: createEventDispatcher(),
    outgoing,
  }
}

/** Hints end at the process on SQLite; on PostgreSQL they reach all processes of the database. */
async function openBus(config: Config, log: Log): Promise<EventBus> {
  if (config.databaseUrl === undefined) return createLocalBus(log)
  const { openPostgresBus } = await import('../platform/bus/postgres.js')
  return await openPostgresBus(config.databaseUrl, log)
}
