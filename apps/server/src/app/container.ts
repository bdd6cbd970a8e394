import type { AddressInfo } from 'node:net'
import { type Config, localAddress } from '../config/config.js'
import { limitSettings } from '../config/settings.js'
import { createAddresses } from '../domain/addresses.js'
import type { Feature } from '../features/feature.js'
import { createThrottle } from '../http/admission.js'
import { createApp } from '../http/app.js'
import { createListener } from '../http/connections/index.js'
import { mountDashboard } from '../http/dashboard/index.js'
import { createRequestMeter, mountMetrics, type RequestMeter } from '../http/metrics.js'
import type { Route } from '../http/mount.js'
import { createProxyWarning } from '../http/proxy-warning.js'
import { mountReference } from '../http/reference/index.js'
import { type ReadinessCheck, serviceRoutes } from '../http/service-routes.js'
import { createSessionCookies } from '../http/session-cookies.js'
import { requireFreeAddress, respondWhileStarting } from '../http/starting.js'
import { mountWebchat } from '../http/webchat/index.js'
import { removeAddressFile, writeAddressFile } from '../platform/disk/address-file.js'
import { prepareDataFolder } from '../platform/disk/data-folder.js'
import { createIdempotencyStore } from '../platform/idempotency/store.js'
import { createRateLimiter, type RateLimiter } from '../platform/security/rate-limit.js'
import { renderMetrics } from '../platform/telemetry/metrics.js'
import { processMetrics } from '../platform/telemetry/process.js'
import { version } from '../version.js'
import { type Closers, createClosers } from './closers.js'
import { type Context, type ContextOptions, openBlobs, openContext } from './context.js'
import { createFeatures, type FeaturesOptions } from './features.js'
import { type FirstStart, firstStart } from './first-start.js'
import { readinessMetric, serverMetrics } from './metrics.js'
import { shareForJobs, startWorker } from './worker.js'

export interface ServerOptions extends ContextOptions, FeaturesOptions {
  /** Checks every response against its contract: for tests. */
  checkResponses?: boolean
  /** Routes beside those of the contract: for measurements. */
  extraRoutes?: readonly Route[]
  /** Called before anybody can see that the server is ready, and may stop it. */
  beforeListening?: () => void
}

/** A running server. */
export interface Server extends Pick<Context, 'config' | 'log'> {
  /** Base address as callers reach it, without a trailing slash. */
  address: string
  /** Results of the first start on an empty database; undefined later. */
  firstStart: FirstStart | undefined
  /** Ends in order: no new requests, open ones to their end, then jobs, then the database. */
  stop(timeoutMilliseconds: number): Promise<void>
}

/**
 * Builds, connects and starts the server. Whatever it uses of a slice is a member of {@link
 * Feature}, whose list this file combines. Stops all started parts and rejects when a part cannot
 * start.
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

/** Maximum milliseconds that a stopping server waits for the collector of traces. */
const maxFlushMs = 1000

async function start(options: ServerOptions, closers: Closers): Promise<Server> {
  const { tracing } = options
  if (tracing) closers.add('traces', (timeLeft) => tracing.close(Math.min(timeLeft, maxFlushMs)))
  if (options.config.databaseUrl === undefined) await holdDataFolder(options.config, closers)
  // Before anything is stored: the next start would not be the first, and would not show the token.
  if (options.config.port !== 0) await requireFreeAddress(options.config)
  let phase = 'it opens its database and brings the tables up to date'
  const endStarting =
    options.config.port === 0 ? async () => {} : respondWhileStarting(options.config, () => phase)
  closers.add('responses during the start', endStarting)
  const context = await openContext(options, closers)
  phase = 'it is starting'
  const { config, log, database } = context
  const own: OwnAddresses = { base: config.publicUrl, local: config.publicUrl }
  const blobs = await openBlobs(context, { sweep: true })
  const slices = createFeatures(
    context,
    {
      blobs,
      addresses: createAddresses(
        () => own.base,
        () => own.local,
      ),
    },
    options,
  )
  const features: readonly Feature[] = slices.list
  for (const { name, stop } of features) {
    if (stop) closers.add(name, (timeLeft) => stop(timeLeft * shareForJobs))
  }
  for (const feature of features) await feature.open?.()

  const made = await firstStart({
    run: context.run,
    log,
    dataDir: config.dataDir,
    adminToken: config.adminToken,
    accounts: slices.accounts.service,
    workspaces: slices.workspaces.service,
    tokens: slices.operatorTokens,
    signIn: config.dashboard === 'on' && config.roles.api,
  })
  const idempotency = createIdempotencyStore(context)
  if (config.roles.worker) await startWorker(context, features, idempotency, closers)

  let stopping = false
  const app = await openApp(context, options, {
    slices,
    idempotency,
    own,
    isStopping: () => stopping,
    closers,
  })
  const listener = createListener(app)
  closers.add('http', async (timeLeft) => {
    context.authorities.stop()
    for (const feature of features) feature.drain?.()
    await listener.close(timeLeft)
  })

  options.beforeListening?.()
  await endStarting()
  await listener.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    // The next start will not show the token, because it is not the first.
    if (made !== undefined) log.warn({ tokenFile: made.tokenFile }, 'the token was made and kept')
    throw error
  })
  own.base = ownAddress(config, app.server.address())
  if (config.roles.api) {
    own.local = loopbackAddress(config, app.server.address())
    showAddress(context, own, closers)
  }
  for (const feature of features) feature.ready?.()
  log.info(
    { address: own.base, dataDir: config.dataDir, database: database.dialect.name },
    'listening',
  )

  return {
    config,
    log,
    address: own.base,
    firstStart: made,
    stop: async (timeoutMilliseconds) => {
      stopping = true
      await closers.closeAll(timeoutMilliseconds)
    },
  }
}

/** The addresses of the server. With port 0 they are known once it listens. */
interface OwnAddresses {
  /** For callers. */
  base: string
  /** For programs on this machine. */
  local: string
}

interface AppParts {
  slices: ReturnType<typeof createFeatures>
  idempotency: ReturnType<typeof createIdempotencyStore>
  own: Readonly<OwnAddresses>
  isStopping: () => boolean
  closers: Closers
}

/** Builds the HTTP application, which does not listen yet, with what the roles of this process serve. */
async function openApp(
  context: Context,
  options: ServerOptions,
  { slices, idempotency, own, isStopping, closers }: AppParts,
) {
  const { config, log, clock } = context
  const meter = config.metrics.access === 'off' ? undefined : createRequestMeter()
  const metrics = meter && renderAll(context, slices.list, slices.checks, meter, closers)
  const probes = serviceRoutes({
    checks: slices.checks,
    instance: context.keys.instance,
    isStopping,
  })
  const served = config.roles.api ? slices.list : []
  return await createApp({
    routes: [
      ...probes,
      ...served.flatMap((feature) => feature.routes ?? []),
      ...(options.extraRoutes ?? []),
    ],
    rawRoutes: served.flatMap((feature) => feature.rawRoutes ?? []),
    rawSockets: served.flatMap((feature) => feature.rawSockets ?? []),
    authenticator: { ...slices.access.authenticator, ...slices.chat.authenticator },
    sessionCookies:
      config.dashboard === 'on'
        ? createSessionCookies({
            installation: context.keys.installation.slice(0, 8),
            baseUrl: () => own.base,
            clock,
          })
        : undefined,
    noteReading: slices.noteReading,
    idempotency,
    rateLimiter: createLimiter(context),
    throttle: createThrottle({ clock, rates: config.chatRates }),
    exemptLoopback: config.rateLimit.exemptLoopback,
    allowance: config.rateLimit.burst,
    log,
    newRequestId: () => context.ids.next('req'),
    trustedProxies: config.trustedProxies,
    warnAboutProxy: hasPublicUrl(config) ? undefined : createProxyWarning(log),
    meter,
    tracing: options.tracing,
    bodyLimits: {
      small: { bytes: config.limits.bodyBytes, setting: limitSettings.bodyBytes.name },
      large: { bytes: config.limits.adminBodyBytes, setting: limitSettings.adminBodyBytes.name },
    },
    allowedOrigins: config.allowedOrigins,
    chatOrigins: {
      allowsChatOrigin: slices.chat.webchatSettings.allowsOrigin,
      baseUrl: () => own.base,
    },
    checkResponses: options.checkResponses ?? false,
    mountOthers: (others, http) => {
      const hasDashboard = config.dashboard === 'on' && config.roles.api
      mountReference(others, http, { version, hasDashboard })
      if (hasDashboard) {
        mountDashboard(others, http, { basePath: new URL(own.base).pathname.replace(/\/$/, '') })
      }
      if (config.roles.api) {
        const { inForce } = slices.chat.webchatSettings
        mountWebchat(others, http, { readSettings: inForce, baseUrl: () => own.base })
      }
      if (metrics) mountMetrics(others, http, config.metrics, metrics)
    },
  })
}

/** Writes the file in which commands find the addresses of this server. */
function showAddress(
  { config, log }: Context,
  own: Readonly<OwnAddresses>,
  closers: Closers,
): void {
  // Not awaited: who sees that the server is ready may stop it at once.
  const written = writeAddressFile(config.dataDir, { address: own.base, local: own.local }).catch(
    (err: unknown) =>
      log.warn({ err }, 'commands in this folder cannot find the server by themselves'),
  )
  closers.add('address file', async () => {
    await written
    await removeAddressFile(config.dataDir)
  })
}

/** Renders what `/metrics` returns. */
function renderAll(
  context: Context,
  features: readonly Feature[],
  checks: readonly ReadinessCheck[],
  meter: RequestMeter,
  closers: Closers,
): () => Promise<string> {
  const ownProcess = processMetrics()
  closers.add('metrics', async () => ownProcess[Symbol.dispose]())
  const metrics = [
    ...serverMetrics(context),
    readinessMetric(checks),
    ...features.flatMap((feature) => feature.metrics ?? []),
    meter,
    ownProcess,
  ]
  return () =>
    renderMetrics(metrics, (err) => context.log.warn({ err }, 'something cannot be measured now'))
}

/** With SQLite only one server may use a folder. Registered first, so that it is released last. */
async function holdDataFolder({ dataDir }: Config, closers: Closers): Promise<void> {
  await prepareDataFolder(dataDir)
  const { holdFolder } = await import('../platform/db/sqlite-files.js')
  const hold = holdFolder(dataDir)
  closers.add('data folder', async () => hold.release())
}

/** Undefined when the operator switched the limit off. */
function createLimiter({ config, clock }: Context): RateLimiter | undefined {
  const { perMinute, burst } = config.rateLimit
  return perMinute === undefined ? undefined : createRateLimiter({ perMinute, burst, clock })
}

/** The address that programs on this machine use: without a proxy or a name that has to be resolved. */
function loopbackAddress({ host, port }: Config, listening: string | AddressInfo | null): string {
  const actual = typeof listening === 'object' && listening ? listening.port : port
  if (['0.0.0.0', '::', 'localhost'].includes(host)) return `http://127.0.0.1:${actual}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`
}

/** The address that callers use; with port 0 only the listening socket knows it. */
function ownAddress(config: Config, listening: string | AddressInfo | null): string {
  const port = typeof listening === 'object' && listening ? listening.port : config.port
  return hasPublicUrl(config) ? config.publicUrl : localAddress(config.host, port)
}

/** Whether the address for callers is another one than that of this machine. */
function hasPublicUrl({ publicUrl, host, port }: Config): boolean {
  return publicUrl !== localAddress(host, port)
}
