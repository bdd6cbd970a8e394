import type { EventBus } from '../../platform/bus/event-bus.js'
import type { Clock, Timers } from '../../platform/clock.js'
import type { Run, Tx } from '../../platform/db/schema.js'
import { afterCommit } from '../../platform/db/transaction.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../platform/outgoing/outgoing.js'
import { createCounter, gauge, type Metric } from '../../platform/telemetry/metrics.js'
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
import type { Meter } from '../tenancy/metering/index.js'
import { createAlwaysAlive } from './always-alive.js'
import { timeoutIssueOf, wasLate } from './code-issues.js'
import { CodeOutput } from './code-output.js'
import { CodeStarter, type CodeStarterDeps } from './code-starter.js'
import { endLeftovers } from './leftovers.js'
import { keyOf, ownerOf } from './owners.js'
import { type Program, StartError } from './program.js'
import { createPrograms, type Programs } from './programs.js'
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

export interface HostingDeps extends Omit<CodeStarterDeps, 'memoryBytes' | 'output'> {
  run: Run
  clock: Clock
  timers: Timers
  limits: CodeStarterDeps['limits'] & { hostingProcesses: number }
  deployments: Pick<DeploymentsService, 'tryOut' | 'codeOf'>
  meter: Pick<Meter, 'begin'>
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
/** Makes the slice. Programs start with their first request, so that they do not delay the start of the server. */
export function createHosting(deps: HostingDeps): Hosting {
  const { log, hosting, deployments, bus } = deps
  const parts = openParts(deps)
  const { output, starter, programs, events } = parts
  const alwaysAlive = createAlwaysAlive({
    timers: deps.timers,
    log,
    listAlwaysAlive: deps.bots.listAlwaysAlive,
    programs,
    // The other half is for code that its requests start.
    maxPrograms: Math.max(1, Math.floor(deps.limits.hostingProcesses / 2)),
  })
  let unsubscribe = () => {}
  deployments.tryOut.fill((deployment, given) => tryOut(parts, deployment, given))

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
        if (wasLate(error)) output.reportIssue({ owner }, timeoutIssueOf(request))
        throw error
      }
    },
    on: {
      'bot.changed': async (tx, { botId }) => publishChange(parts, tx, { type: 'bot', id: botId }),
      'integration.changed': async (tx, { integrationId }) =>
        publishChange(parts, tx, { type: 'integration', id: integrationId }),
      // With a workspace, each of its bots raises `bot.changed`, but its integrations raise nothing.
      'workspace.removed': async (tx, { workspaceId }) =>
        afterCommit(tx, () => bus.publish({ topic, key: `${workspacePrefix}${workspaceId}` })),
    },
    async open() {
      if (hosting.mode === 'off') return
      starter.holdUntilListening()
      unsubscribe = bus.subscribe(
        { topic },
        {
          onHint: ({ key }) => {
            refreshSoon(parts, refresh(programs, key))
            alwaysAlive.refresh()
          },
          onGap: () => {
            refreshSoon(parts, programs.refreshAll())
            alwaysAlive.refresh()
          },
        },
      )
    },
    ready() {
      if (hosting.mode === 'off') return
      starter.release()
      endLeftovers(deps.installation, log).catch((err: unknown) =>
        log.warn({ err }, 'what a killed server left behind cannot be removed'),
      )
      alwaysAlive.start()
    },
    metrics: [events, ...programMetrics(programs)],
    drain: programs.drain,
    async stop(timeLeft) {
      unsubscribe()
      alwaysAlive.stop()
      starter.release()
      await programs.stop(timeLeft)
      await starter.settled()
      await output.flush()
      await starter.close()
    },
  }
}

/** The parts that the functions of this slice share. */
interface HostingParts extends HostingDeps {
  output: CodeOutput
  starter: CodeStarter
  programs: Programs
  events: ReturnType<typeof createEvents>
  /** Maximum bytes of memory of a program and all that it starts. */
  memoryBytes: number
}

function createEvents() {
  return createCounter({
    name: 'botstead_hosting_events_total',
    help: 'What happened to the programs of deployed code.',
    label: 'event',
    values: ['started', 'refused', 'stopped'],
  })
}

function openParts(deps: HostingDeps): HostingParts {
  const { log, hosting, limits, deployments, bots, integrations } = deps
  const events = createEvents()
  const memoryBytes = limits.hostingMemoryBytes * memoryPerHeap
  const output = new CodeOutput({
    ...deps,
    linesPerMinute: limits.hostingLogLines,
    integrationLogs: integrations.logs,
  })
  const starter = new CodeStarter({ ...deps, memoryBytes, output })
  const programs = createPrograms({
    clock: deps.clock,
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
      return await startCode({ ...deps, starter, events }, hosted, code, { isTrial: false, signal })
    },
    writeLine: (deployment, line) => output.writeLine(deployment, line),
    reportIssue: (deployment, issue) => {
      events.add('stopped')
      output.reportIssue(deployment, issue)
    },
  })
  return { ...deps, output, starter, programs, events, memoryBytes }
}

async function startCode(
  { starter, events, log, meter }: Pick<HostingParts, 'starter' | 'events' | 'log' | 'meter'>,
  hosted: HostedCode,
  code: string,
  options: { isTrial: boolean; signal?: AbortSignal },
): Promise<Program> {
  const program = await starter.start(hosted, code, options)
  events.add('started')
  const { type, id } = hosted.owner
  if (type === 'bot') void program.ended.then(meter.begin(id, 'hosted_time'))
  log.info({ owner: hosted.owner, deployment: hosted.id, pid: program.pid }, 'started code')
  return program
}

/** Starts code before it is put into force, and pings it. */
async function tryOut(
  parts: HostingParts,
  deployment: Deployment,
  { code, secrets }: { code: string; secrets: Readonly<Record<string, string>> },
): Promise<Trial> {
  const { hosting, programs, events, output, memoryBytes } = parts
  if (hosting.mode === 'off') {
    throw refusal(
      'this server does not run code. Its operator can switch that on with BOTSTEAD_HOSTING (see the operation guide); a bot or integration at an address of its own (url) needs no code here.',
    )
  }
  const { enter } = programs
  const hosted = { ...deployment, secrets, isSuspended: false }
  try {
    const start = () => startCode(parts, hosted, code, { isTrial: true })
    return programs.toTrial(await tryOutCode({ enter, start, memoryBytes }, hosted), hosted)
  } catch (error) {
    if (!isReason(error)) throw error
    events.add('refused')
    output.writeLine(deployment, {
      level: 'error',
      message: `New code was not deployed, and what ran before stays: ${error.message}`,
      about: {},
    })
    throw refusal(error.message)
  }
}

/** Makes every process of the server, including this one, read the deployment in force of an owner again. */
function publishChange({ programs, bus }: HostingParts, tx: Tx, owner: CodeOwner): void {
  afterCommit(tx, () => {
    programs.forget(owner)
    bus.publish({ topic, key: keyOf(owner) })
  })
}

/** Reads the deployments in force again that a hint is about. */
async function refresh(programs: Programs, key: string): Promise<void> {
  if (key.startsWith(workspacePrefix)) {
    await programs.refreshAll(key.slice(workspacePrefix.length))
  } else await programs.refresh(ownerOf(key))
}

function refreshSoon({ log }: HostingParts, refreshed: Promise<void>): void {
  refreshed.catch((err: unknown) => {
    // Nothing is lost: the next request reads the deployment in force again.
    log.warn({ err }, 'the deployment in force of a program cannot be read now')
  })
}

function programMetrics({ countPrograms, countRequests }: Programs): Metric[] {
  return [
    gauge(
      { name: 'botstead_hosting_programs', help: 'Programs of deployed code that run.' },
      countPrograms,
    ),
    gauge(
      {
        name: 'botstead_hosting_requests',
        help: 'Requests that programs of deployed code handle, or that wait for one.',
      },
      countRequests,
    ),
  ]
}
