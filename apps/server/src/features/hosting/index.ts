import { setTimeout as sleep } from 'node:timers/promises'
import type { HostingConfig } from '../../config/config.js'
import type { Addresses } from '../../domain/addresses.js'
import type { EventBus } from '../../platform/bus/event-bus.js'
import { type Clock, systemTimers, type Timers } from '../../platform/clock.js'
import type { Run, Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import type { AddressRulesOptions } from '../../platform/outgoing/address-rules.js'
import { networkListsOf } from '../../platform/outgoing/address-rules.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../platform/outgoing/outgoing.js'
import { createResponseMemory } from '../../platform/outgoing/response-memory.js'
import { createRateLimiter } from '../../platform/security/rate-limit.js'
import type { Log } from '../../platform/telemetry/log.js'
import { createCounter, gauge } from '../../platform/telemetry/metrics.js'
import type { BotsService } from '../bots/bots/index.js'
import type {
  CodeOwner,
  Deployment,
  DeploymentsService,
  HostedCode,
  Trial,
} from '../bots/deployments/index.js'
import type { IntegrationLogs, IntegrationsService } from '../bots/integrations/index.js'
import type { IssuesService } from '../bots/issues/index.js'
import type { BotLogsService } from '../bots/logs/index.js'
import type { Feature } from '../feature.js'
import type { DeploymentKeys } from '../tenancy/access/index.js'
import { createAlwaysAlive } from './always-alive.js'
import { createOutputBudget } from './budget.js'
import { createIssueReports, droppedLinesIssueOf, timeoutIssueOf, wasLate } from './code-issues.js'
import { type CompiledFile, openCompiledCode } from './compiled.js'
import { type Launcher, openLauncher } from './launch.js'
import { endLeftovers } from './leftovers.js'
import { type CodeIssue, createLineSink, type LineSink, type OutputLine } from './output.js'
import { keyOf, ownerOf } from './owners.js'
import { type Program, StartError, startProgram } from './program.js'
import { createProgramKeys } from './program-keys.js'
import { createPrograms } from './programs.js'
import type { SendOptions } from './sending.js'
import { isReason, refusal, tryOutCode } from './try-out.js'

export { CodeEndedError } from './instance.js'
export type { Suspect } from './sending.js'

/** Runs code that was deployed. */
export interface Hosting extends Feature {
  /**
   * Sends a request to the code of a bot or integration, which is started if it does not run.
   * @param options whether it may have ended the code before, and is sent alone
   * @throws OutgoingError when there is no response, a `CodeEndedError` if the code ended meanwhile; an abort by the
   * signal throws its reason
   */
  send(owner: CodeOwner, request: OutgoingRequest, options?: SendOptions): Promise<OutgoingResponse>
}

export interface HostingDeps {
  run: Run
  clock: Clock
  timers: Timers
  log: Log
  hosting: HostingConfig
  outgoing: AddressRulesOptions
  limits: {
    hostingProcesses: number
    hostingMemoryBytes: number
    hostingProcessorPercent: number
    hostingRequests: number
    hostingLogLines: number
  }
  /** Identifies the installation. */
  installation: string
  /** Minimum level of what the SDK logs in programs. */
  logLevel: string
  addresses: Pick<Addresses, 'base' | 'local' | 'webhooks'>
  deployments: Pick<DeploymentsService, 'tryOut' | 'codeOf'>
  deploymentKeys: DeploymentKeys
  bots: Pick<BotsService, 'findHosted' | 'listAlwaysAlive'>
  bus: EventBus
  integrations: { service: Pick<IntegrationsService, 'findHosted'>; logs: IntegrationLogs }
  botLogs: Pick<BotLogsService, 'writeLines'>
  issues: Pick<IssuesService, 'report' | 'reportByIntegration'>
}

/** Topic of the hints that the deployment in force of an owner, or of any owner in a workspace, may have changed. */
const topic = 'hosting'
const workspacePrefix = 'workspace:'
/** Maximum memory of a program in all, as a multiple of its heap. */
const memoryPerHeap = 3
/** Maximum output of all programs that is read in a second: reading takes time of the loop that serves all tenants. */
const outputPerSecond = { bytes: 4_000_000, lines: 1000 }
/** Maximum bytes of the responses of all programs that are read in a second, for the same reason. */
const responsesPerSecond = { bytes: 40_000_000, lines: 10_000 }
/** Maximum bytes of the responses of all programs that are in progress. */
const responseMemoryBytes = 128_000_000
/** Maximum number of issues that one program reports in a minute. */
const issuesPerMinute = 1000
/** Milliseconds from the start of a program until its compiled code is read: by then it contains the first requests. */
const compiledAfterMs = 1000

/** Makes the slice. Programs start with their first request, so that they do not delay the start of the server. */
export function createHosting(deps: HostingDeps): Hosting {
  const { run, clock, log, hosting, limits, addresses, deployments } = deps
  const { bots, integrations, bus } = deps
  const lists = networkListsOf(deps.outgoing)
  const keys = createProgramKeys(deps.deploymentKeys, log)
  const sinks = new Map<string, LineSink>()
  const report = createIssueReports(deps.issues)
  // The host program has the same limit, which code can pass that writes to its connections itself.
  const issueRate = createRateLimiter({
    perMinute: issuesPerMinute,
    burst: issuesPerMinute,
    clock,
  })
  const events = createCounter({
    name: 'botstead_hosting_events_total',
    help: 'What happened to the programs of deployed code.',
    label: 'event',
    values: ['started', 'refused', 'stopped'],
  })
  const memoryBytes = limits.hostingMemoryBytes * memoryPerHeap
  let launcher: Promise<Launcher> | undefined
  /** Resolves when the server listens: before that, code could not call it. */
  let listening: Promise<void> | undefined
  let onListening = () => {}
  let unsubscribe = () => {}
  const budget = createOutputBudget(systemTimers, outputPerSecond)
  const responses = createOutputBudget(systemTimers, responsesPerSecond)
  const responseMemory = createResponseMemory(responseMemoryBytes)
  const compiledCode = openCompiledCode(hosting.compiledFolder, log)

  function sinkOf({ owner }: Deployment): LineSink {
    const key = keyOf(owner)
    const known = sinks.get(key)
    if (known) return known
    const sink = createLineSink({
      clock,
      timers: deps.timers,
      log,
      perMinute: limits.hostingLogLines,
      onDropped: (lines) =>
        reportIssue({ owner }, droppedLinesIssueOf(lines, limits.hostingLogLines)),
      store: async (lines) =>
        owner.type === 'bot'
          ? run((tx) => deps.botLogs.writeLines(tx, owner.id, lines))
          : run((tx) => integrations.logs.writeLines(tx, owner.id, lines)),
    })
    sinks.set(key, sink)
    return sink
  }

  /** Writes a line of the server into the log of an owner. */
  function writeLine(deployment: Deployment, line: OutputLine): void {
    sinkOf(deployment).addOwn(line)
  }

  function reportIssue({ owner }: Pick<Deployment, 'owner'>, issue: CodeIssue): void {
    report(owner, issue).catch((err: unknown) =>
      log.warn({ err, owner }, 'an issue of deployed code could not be reported'),
    )
  }

  async function requireLauncher(): Promise<Launcher> {
    launcher ??= openLauncher({
      log,
      hosting,
      limits: {
        heapBytes: limits.hostingMemoryBytes,
        memoryBytes,
        processorPercent: limits.hostingProcessorPercent,
      },
      installation: deps.installation,
    })
    try {
      return await launcher
    } catch (cause) {
      launcher = undefined
      throw new StartError(`this server cannot start programs: ${String(cause)}`, { cause })
    }
  }

  async function startCode(
    hosted: HostedCode,
    code: string,
    options: { isTrial: boolean; signal?: AbortSignal },
  ): Promise<Program> {
    await listening
    const key = await keys.create(hosted, options)
    try {
      const program = await startWithKey(hosted, code, key.value, options.signal)
      void program.ended.then(key.end)
      return program
    } catch (error) {
      key.end()
      throw error
    }
  }

  async function startWithKey(
    hosted: HostedCode,
    code: string,
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<Program> {
    const api = hosting.mode === 'wrapped' ? addresses.base() : addresses.local()
    const bytes = Buffer.from(code)
    const file = await compiledCode.of(hosted.owner, bytes)
    const compiled = await file.find()
    const program = await startProgram(
      {
        launcher: await requireLauncher(),
        budget,
        responses,
        memory: responseMemory,
        reports: { linesPerMinute: limits.hostingLogLines, issuesPerMinute },
        startMs: hosting.startMs,
        memoryBytes,
        requests: limits.hostingRequests,
      },
      {
        deployment: hosted,
        code: bytes,
        compiled,
        environment: {
          ...Object.fromEntries(
            Object.entries(hosted.secrets).map(([name, value]) => [`SECRET_${name}`, value]),
          ),
          BP_API_URL: api,
          BP_TOKEN: token,
          BP_WEBHOOK_URL: addresses.webhooks(),
          BP_LOG_FORMAT: 'json',
          LOG_LEVEL: deps.logLevel,
        },
        network: lists && { ...lists, api: hostAndPortOf(api) },
      },
      {
        onLine: (line) => sinkOf(hosted).add(line),
        onIssue(issue) {
          if (issueRate.take(keyOf(hosted.owner)).allowed) reportIssue(hosted, issue)
        },
        onDropped: (lines) => sinkOf(hosted).addDropped(lines),
      },
      signal,
    ).catch(async (error: unknown) => {
      if (compiled && !signal?.aborted) await file.drop()
      throw error
    })
    void keepCompiled(file, program)
    events.add('started')
    log.info({ owner: hosted.owner, deployment: hosted.id, pid: program.pid }, 'started code')
    return program
  }

  const programs = createPrograms({
    clock,
    timers: deps.timers,
    log,
    idleMs: hosting.idleMs,
    limits: {
      processes: limits.hostingProcesses,
      requests: limits.hostingRequests,
      memoryBytes,
    },
    findHosted: ({ type, id }) =>
      type === 'bot' ? bots.findHosted(id) : integrations.service.findHosted(id),
    start: async (hosted, signal) => {
      const code = await deployments.codeOf(hosted)
      if (code === undefined) throw new StartError('its code is not stored any more')
      return await startCode(hosted, code, { isTrial: false, signal })
    },
    writeLine,
    reportIssue: (deployment, issue) => {
      events.add('stopped')
      reportIssue(deployment, issue)
    },
  })

  const alwaysAlive = createAlwaysAlive({
    timers: deps.timers,
    log,
    listAlwaysAlive: bots.listAlwaysAlive,
    programs,
    // The other half is for code that its requests start.
    maxPrograms: Math.max(1, Math.floor(limits.hostingProcesses / 2)),
  })

  /** Starts code before it is put into force, and pings it. */
  async function tryOut(
    deployment: Deployment,
    { code, secrets }: { code: string; secrets: Readonly<Record<string, string>> },
  ): Promise<Trial> {
    if (hosting.mode === 'off') {
      throw refusal(
        'this server does not run code. Its operator can switch that on with BOTSTEAD_HOSTING (see the operation guide); a bot or integration at an address of its own (url) needs no code here.',
      )
    }
    const { enter } = programs
    const hosted = { ...deployment, secrets, isSuspended: false }
    try {
      const start = () => startCode(hosted, code, { isTrial: true })
      return programs.toTrial(await tryOutCode({ enter, start, memoryBytes }, hosted), hosted)
    } catch (error) {
      if (!isReason(error)) throw error
      events.add('refused')
      writeLine(deployment, {
        level: 'error',
        message: `New code was not deployed, and what ran before stays: ${error.message}`,
        about: {},
      })
      throw refusal(error.message)
    }
  }

  /** Makes every process of the server, including this one, read the deployment in force of an owner again. */
  function publishChange(tx: Tx, owner: CodeOwner): void {
    afterCommit(tx, () => {
      programs.forget(owner)
      bus.publish({ topic, key: keyOf(owner) })
    })
  }

  async function refresh(key: string): Promise<void> {
    if (key.startsWith(workspacePrefix)) {
      await programs.refreshAll(key.slice(workspacePrefix.length))
    } else await programs.refresh(ownerOf(key))
  }

  function logFailedRefresh(err: unknown): void {
    // Nothing is lost: the next request reads the deployment in force again.
    log.warn({ err }, 'the deployment in force of a program cannot be read now')
  }

  deployments.tryOut.fill(tryOut)

  return {
    name: 'hosting',
    async send(owner, request, options) {
      if (hosting.mode === 'off') {
        const reason = 'This server does not run code: BOTSTEAD_HOSTING is off.'
        throw new OutgoingError('refused', reason)
      }
      try {
        return await programs.send(owner, request, options)
      } catch (error) {
        if (wasLate(error)) reportIssue({ owner }, timeoutIssueOf(request))
        throw error
      }
    },
    on: {
      'bot.changed': async (tx, { botId }) => publishChange(tx, { type: 'bot', id: botId }),
      'integration.changed': async (tx, { integrationId }) =>
        publishChange(tx, { type: 'integration', id: integrationId }),
      // With a workspace, each of its bots raises `bot.changed`, but its integrations raise nothing.
      'workspace.removed': async (tx, { workspaceId }) =>
        afterCommit(tx, () => bus.publish({ topic, key: `${workspacePrefix}${workspaceId}` })),
    },
    async open() {
      if (hosting.mode === 'off') return
      listening = new Promise((resolve) => {
        onListening = resolve
      })
      unsubscribe = bus.subscribe(
        { topic },
        {
          onHint: ({ key }) => {
            refresh(key).catch(logFailedRefresh)
            alwaysAlive.refresh()
          },
          onGap: () => {
            programs.refreshAll().catch(logFailedRefresh)
            alwaysAlive.refresh()
          },
        },
      )
    },
    ready() {
      if (hosting.mode === 'off') return
      onListening()
      endLeftovers(deps.installation, log).catch((err: unknown) =>
        log.warn({ err }, 'what a killed server left behind cannot be removed'),
      )
      alwaysAlive.start()
    },
    metrics: [
      events,
      gauge(
        { name: 'botstead_hosting_programs', help: 'Programs of deployed code that run.' },
        programs.countPrograms,
      ),
      gauge(
        {
          name: 'botstead_hosting_requests',
          help: 'Requests that programs of deployed code handle, or that wait for one.',
        },
        programs.countRequests,
      ),
    ],
    drain: programs.drain,
    async stop(timeLeft) {
      unsubscribe()
      alwaysAlive.stop()
      onListening()
      await programs.stop(timeLeft)
      await keys.settled()
      for (const sink of sinks.values()) await sink.flush()
      await (await launcher?.catch(() => undefined))?.close()
    },
  }
}

/** Stores the compiled code of a program after its first requests. Never rejects. */
async function keepCompiled(file: CompiledFile, program: Program): Promise<void> {
  await Promise.race([sleep(compiledAfterMs, undefined, { ref: false }), program.ended])
  const compiled = await program.compiled()
  if (compiled) await file.keep(compiled)
}

function hostAndPortOf(address: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(address)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
