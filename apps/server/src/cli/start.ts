import { Command } from 'commander'
import type { Server } from '../app/container.js'
import type { FirstStart } from '../app/first-start.js'
import { type Config, loadConfig } from '../config/config.js'
import { createLog, createOutageLog, type Log } from '../platform/telemetry/log.js'
import type { Tracing } from '../platform/telemetry/tracing.js'
import { signInLink } from './dashboard.js'
import { findRunningDemo } from './running.js'
import { out } from './terminal.js'

/** `botstead start`: runs the server until it is stopped. */
export function startCommand(): Command {
  return new Command('start').description('Start the server.').action(async () => {
    const { config, warnings, settings } = loadConfig(undefined, { envFile: '.env' })
    let tracing: Tracing | undefined
    const log = await createLog({
      level: config.logLevel,
      pretty: out.isTerminal,
      ...(config.tracing && { fields: () => tracing?.currentIds() }),
    })
    tracing = await openTracing(config, log)
    for (const warning of warnings) log.warn(warning)
    const stopOnFault = endOnFault(log, config.shutdownTimeoutMs)
    // Loaded on demand: commands that only call a server do not wait for it.
    const { startServer } = await import('../app/container.js')
    let signal: Promise<NodeJS.Signals> | undefined
    const server = await startServer({
      config,
      settings,
      log,
      tracing,
      // Until then, a signal ends the process at once: nothing was promised, and migrations are undone.
      beforeListening: () => {
        signal = nextSignal()
      },
    }).catch(async (error: unknown) => {
      throw await explainPort(error)
    })
    stopOnFault(server.stop)
    if (server.firstStart !== undefined) welcome(config, server, server.firstStart)
    else if (out.isTerminal && config.roles.api) greet(config, server)
    await untilStopped(config, server, { signal })
    process.exit(process.exitCode ?? 0)
  })
}

/** Names the demonstration if it has the port. */
async function explainPort(error: unknown): Promise<unknown> {
  const { code, port } = Object(error)
  const demo = code === 'EADDRINUSE' ? await findRunningDemo() : undefined
  if (demo === undefined || new URL(demo.address).port !== String(port)) return error
  return new Error(
    `Port ${port} is in use by the demonstration: press Ctrl-C in its terminal, or set PORT to another port.`,
  )
}

/** Traces, if they are set up: their packages are loaded only then. */
async function openTracing(
  { tracing }: Pick<Config, 'tracing'>,
  log: Log,
): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined
  const { createOtlpTracing } = await import('../platform/telemetry/otlp-tracing.js')
  log.info({ collector: new URL(tracing.url).host }, 'traces are sent')
  return createOtlpTracing(
    tracing,
    createOutageLog(log, {
      begins: 'the collector does not take traces, they are lost meanwhile',
      ends: 'the collector takes traces again',
    }),
  )
}

/** Takes the next signal to stop, which no longer ends the process by itself. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

interface StopOptions {
  /** The signal that is waited for, if it was taken before. */
  signal?: Promise<NodeJS.Signals> | undefined
  /** Called when the signal has come. */
  onSignal?: () => void
}

/** Waits for a signal, then stops in an orderly way; a second signal ends the process at once. */
export async function untilStopped(
  config: Pick<Config, 'shutdownTimeoutMs'>,
  server: Pick<Server, 'log' | 'stop'>,
  { signal: taken = nextSignal(), onSignal }: StopOptions = {},
): Promise<void> {
  const signal = await taken
  const endNow = (again: NodeJS.Signals) => {
    server.log.warn({ signal: again }, 'stopping at once')
    endProcess(server.log)
  }
  process.on('SIGINT', endNow)
  process.on('SIGTERM', endNow)
  onSignal?.()
  server.log.info({ signal }, 'stopping')
  await server.stop(config.shutdownTimeoutMs)
  server.log.info('stopped')
}

const line = (name: string, value: string) => `  ${name.padEnd(12)} ${value}\n`

/** Printed at later starts, for people: between the lines of the log they would look for the address. */
function greet({ dashboard }: Config, { address }: Pick<Server, 'address'>): void {
  const hasDashboard = dashboard === 'on'
  out.text(
    [
      '\nBotstead is ready.\n\n',
      line('address', address),
      line('reference', `${address}/docs`),
      hasDashboard ? line('dashboard', `${address}/dashboard`) : '',
      hasDashboard
        ? '\nIn another terminal, "npx botstead dashboard" prints a link that signs a browser in.\n'
        : '',
      '\n',
    ].join(''),
  )
}

/**
 * Printed once, at the first start, for the first call. A token from the operator
 * is known to them and stays out of the output, which containers keep as their log.
 */
function welcome(config: Config, server: Server, first: FirstStart): void {
  const given = { shown: 'the one in BOTSTEAD_ADMIN_TOKEN', sent: '$BOTSTEAD_ADMIN_TOKEN' }
  const token = first.isNew ? { shown: first.token, sent: first.token } : given
  out.text(
    [
      '\nBotstead is ready. This is shown once:\n\n',
      line('address', server.address),
      line('token', token.shown),
      line('workspace', first.workspaceId),
      line('reference', `${server.address}/docs`),
      ...(first.signInCode === undefined
        ? []
        : [line('dashboard', signInLink(server.address, first.signInCode))]),
      first.signInCode === undefined
        ? ''
        : '\nThe link to the dashboard signs one browser in, within an hour.',
      `\nThe token is kept in ${first.tokenFile}. Your first call:\n\n`,
      `  curl ${server.address}/v1/admin/bots -H "Authorization: Bearer ${token.sent}" -H 'x-workspace-id: ${first.workspaceId}'\n\n`,
    ].join(''),
  )
  server.log.debug({ dataDir: config.dataDir }, 'first start')
}

/** Maximum time in milliseconds for open requests: the process may have inconsistent state. */
const maxMilliseconds = 10_000
/** Milliseconds after which the process ends even if not everything is closed. */
const graceMilliseconds = 1000

/** Milliseconds that calls to the system have to return when the process ends. */
const callsMilliseconds = 1000

/**
 * Ends the process with status 1, also where a call to the system hangs, such as to a network disk that is away:
 * `process.exit` waits for the threads of such calls, for ever.
 */
function endProcess(log: Log): void {
  const hasOpenCalls = () =>
    process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq'))
  if (!hasOpenCalls()) process.exit(1)
  setTimeout(() => {
    if (!hasOpenCalls()) process.exit(1)
    log.fatal('a call to a disk does not return, the process is killed')
    process.kill(process.pid, 'SIGKILL')
  }, callsMilliseconds)
}

/** Stops a server, each of its parts within the remaining time. */
type Stop = (timeoutMilliseconds: number) => Promise<void>

/**
 * Ends the process after an uncaught exception or an unhandled rejection: the interrupted code may have
 * left inconsistent state. It is logged once, open requests are finished, and status 1 makes the
 * supervisor restart the process.
 *
 * @returns a function that receives the server's stop function, once there is one
 */
function endOnFault(log: Log, timeoutMilliseconds: number): (stop: Stop) => void {
  const limit = Math.min(timeoutMilliseconds, maxMilliseconds)
  const exit = () => endProcess(log)
  let stop: Stop = async () => {}
  let isEnding = false
  process.on('uncaughtException', (err, origin) => {
    if (isEnding) return
    isEnding = true
    process.exitCode = 1
    log.fatal({ err, origin }, 'uncaught exception, the process exits')
    setTimeout(exit, limit + graceMilliseconds)
    stop(limit).then(exit, exit)
  })
  return (given) => {
    stop = given
  }
}
