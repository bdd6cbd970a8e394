import type { AddressInfo } from 'node:net'
import { type Config, localAddress } from '../config/config.js'
import { limitSettings } from '../config/limit-settings.js'
import { createAddresses } from '../domain/addresses.js'
import { type CheckOptions, checkFiles, type Finding } from '../features/files/index.js'
import { createOperatorTokens, type OperatorTokens } from '../features/tenancy/access/index.js'
import { createAccounts } from '../features/tenancy/accounts/index.js'
import { createThrottle } from '../http/admission.js'
import { createApp } from '../http/app.js'
import { createListener } from '../http/connections/index.js'
import { createRequestMeter, mountMetrics, type RequestMeter } from '../http/metrics.js'
import type { Route } from '../http/mount.js'
import { mountReference } from '../http/reference/index.js'
import { serviceRoutes } from '../http/service-routes.js'
import { prepareDataFolder } from '../platform/disk/data-folder.js'
import { createIdempotencyStore } from '../platform/idempotency/store.js'
import { createRateLimiter, type RateLimiter } from '../platform/security/rate-limit.js'
import { createLog } from '../platform/telemetry/log.js'
import { processMetrics } from '../platform/telemetry/process.js'
import { renderMetrics } from '../platform/telemetry/render.js'
import { version } from '../version.js'
import { type Foundation, type FoundationOptions, layFoundation } from './context.js'
import { type FirstStart, firstStart } from './first-start.js'
import { serverMetrics } from './metrics.js'
import { createSlices, openBlobs, type Slices, type SlicesOptions } from './slices.js'
import { type Closers, createClosers } from './stop.js'
import { startWorker } from './worker.js'

export interface ServerOptions extends FoundationOptions, SlicesOptions {
  /** Checks every answer against its contract: for tests. */
  checkAnswers?: boolean
  /** Routes beside those of the contract: for measurements. */
  extraRoutes?: readonly Route[]
}

/** A server that runs. */
export interface Server extends Pick<Foundation, 'config' | 'log'> {
  /** Base address as callers reach it, without a trailing slash. */
  address: string
  /** What was made at the first start on an empty database; undefined later. */
  firstStart: FirstStart | undefined
  /** Ends in order: no new requests, open ones to their end, then jobs, then the database. */
  stop(timeoutMilliseconds: number): Promise<void>
}

/**
 * Builds everything, connects it and starts it: the only place that knows who needs whom.
 * Rejects, with all that was started ended again, when a part cannot start.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const closers = createClosers(options.log)
  try {
    return await start(options, closers)
  } catch (error) {
    await closers.closeAll(options.config.shutdownTimeoutMs)
    throw error
  }
}

async function start(options: ServerOptions, closers: Closers): Promise<Server> {
  if (options.config.databaseUrl === undefined) await holdDataFolder(options.config, closers)
  const foundation = await layFoundation(options, closers)
  const { config, log, database } = foundation
  let base = config.publicUrl
  const slices = await createSlices(
    foundation,
    createAddresses(() => base),
    closers,
    options,
  )
  closers.add('token usage', async () => await slices.access.stop?.(0))

  const made = await firstStart({
    ...foundation,
    dataDir: config.dataDir,
    adminToken: config.adminToken,
    accounts: slices.accounts.service,
    workspaces: slices.workspaces.service,
    tokens: createOperatorTokens({ ...foundation, accounts: slices.accounts.service }),
  })

  const idempotency = createIdempotencyStore(foundation)
  if (config.roles.worker) await startWorker(foundation, slices, idempotency, closers)

  const meter = config.metrics.access === 'off' ? undefined : createRequestMeter()
  const metrics = meter && measure(foundation, slices, meter, closers)
  let stopping = false
  const probes = serviceRoutes({
    checks: [
      { name: 'database', check: () => database.check() },
      ...(slices.files.checks ?? []),
      ...slices.search.checks,
    ],
    isStopping: () => stopping,
  })
  const app = await createApp({
    routes: [...probes, ...(config.roles.api ? slices.routes : []), ...(options.extraRoutes ?? [])],
    ...(config.roles.api && { webhooks: slices.webhooks }),
    authenticator: { ...slices.access.authenticator, ...slices.chat.authenticator },
    idempotency,
    rateLimiter: createLimiter(foundation),
    throttle: createThrottle({ clock: foundation.clock, rates: config.chatRates }),
    exemptLoopback: config.rateLimit.exemptLoopback,
    allowance: config.rateLimit.burst,
    log,
    newRequestId: () => foundation.ids.next('req'),
    trustedProxies: config.trustedProxies,
    meter,
    bodyLimits: {
      small: { bytes: config.limits.bodyBytes, setting: limitSettings.bodyBytes.name },
      large: { bytes: config.limits.adminBodyBytes, setting: limitSettings.adminBodyBytes.name },
    },
    allowedOrigins: config.allowedOrigins,
    checkAnswers: options.checkAnswers ?? false,
    mountOthers: (others, context) => {
      mountReference(others, context, version)
      if (metrics) mountMetrics(others, context, config.metrics, metrics)
    },
  })
  const listener = createListener(app)
  closers.add('http', async (timeLeft) => {
    // Streams have no end of their own, and the connections of clients are to be closed in order.
    slices.chat.streams.stop()
    await listener.close(timeLeft)
  })

  await listener.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    // The next start will not show it: it is not the first.
    if (made !== undefined) log.warn({ tokenFile: made.tokenFile }, 'the token was made and kept')
    throw error
  })
  base = ownAddress(config, app.server.address())
  log.info({ address: base, dataDir: config.dataDir, database: database.dialect.name }, 'listening')

  return {
    config,
    log,
    address: base,
    firstStart: made,
    stop: async (timeoutMilliseconds) => {
      stopping = true
      await closers.closeAll(timeoutMilliseconds)
    },
  }
}

/** How the text of `/metrics` is made. */
function measure(
  foundation: Foundation,
  slices: Slices,
  meter: RequestMeter,
  closers: Closers,
): () => Promise<string> {
  const ownProcess = processMetrics()
  closers.add('metrics', async () => ownProcess[Symbol.dispose]())
  const metrics = [...serverMetrics(foundation, slices), meter, ownProcess]
  return () =>
    renderMetrics(metrics, (err) =>
      foundation.log.warn({ err }, 'something cannot be measured now'),
    )
}

/** With SQLite one server works on a folder; what ends first is everything else. */
async function holdDataFolder({ dataDir }: Config, closers: Closers): Promise<void> {
  await prepareDataFolder(dataDir)
  const { holdFolder } = await import('../platform/db/folder-hold.js')
  const hold = holdFolder(dataDir)
  closers.add('data folder', async () => hold.release())
}

/** Nobody is refused when the operator switched the limit off. */
function createLimiter({ config, clock }: Foundation): RateLimiter | undefined {
  const { perMinute, burst } = config.rateLimit
  return perMinute === undefined ? undefined : createRateLimiter({ perMinute, burst, clock })
}

/** The address that callers use; with port 0 only the listening socket knows it. */
function ownAddress(config: Config, listening: string | AddressInfo | null): string {
  const port = typeof listening === 'object' && listening ? listening.port : config.port
  const isDerived = config.publicUrl === localAddress(config.host, config.port)
  return isDerived ? localAddress(config.host, port) : config.publicUrl
}

/** Opens database and blobs for the check of files, without serving. */
export async function withFilesCheck<T>(
  config: Config,
  options: CheckOptions,
  work: (findings: AsyncIterable<Finding>) => Promise<T>,
): Promise<T> {
  return await withFoundation(config, async (foundation) => {
    const blobs = await openBlobs(foundation, { sweep: false })
    return await work(checkFiles({ ...foundation, blobs }, options))
  })
}

/** Opens the database for the commands that manage tokens, without serving. */
export async function withOperatorTokens<T>(
  config: Config,
  work: (tokens: OperatorTokens) => Promise<T>,
): Promise<T> {
  return await withFoundation(config, async (foundation) => {
    const accounts = createAccounts(foundation).service
    return await work(createOperatorTokens({ ...foundation, accounts }))
  })
}

/** Lays the foundation for one command, and takes it away again. */
async function withFoundation<T>(
  config: Config,
  work: (foundation: Foundation) => Promise<T>,
): Promise<T> {
  // What the commands answer goes to standard output, where programs read it.
  const log = await createLog({ level: 'warn', pretty: true, destination: process.stderr })
  const closers = createClosers(log)
  try {
    return await work(await layFoundation({ config, log }, closers))
  } finally {
    await closers.closeAll(config.shutdownTimeoutMs)
  }
}
