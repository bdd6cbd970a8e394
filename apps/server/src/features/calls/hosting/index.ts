import type { HostingConfig } from '../../../config/config.js'
import type { Addresses } from '../../../domain/addresses.js'
import type { Clock, Timers } from '../../../platform/clock.js'
import type { Run } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { AddressRulesOptions } from '../../../platform/outgoing/address-rules.js'
import { networkListsOf } from '../../../platform/outgoing/address-rules.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { createCounter, gauge } from '../../../platform/telemetry/metrics.js'
import type { BotsService } from '../../bots/bots/index.js'
import type {
  CodeOwner,
  Deployment,
  DeploymentsService,
  HostedCode,
} from '../../bots/deployments/index.js'
import type { IntegrationLogs, IntegrationsService } from '../../bots/integrations/index.js'
import type { BotLogsService } from '../../bots/logs/index.js'
import type { Feature } from '../../feature.js'
import type { DeploymentKeys } from '../../tenancy/access/index.js'
import { type Launcher, openLauncher } from './launch.js'
import { type CodeIssue, createLineSink, type LineSink, type OutputLine } from './output.js'
import { type Program, StartError, startProgram } from './program.js'
import { createPrograms, refusal } from './programs.js'

/** Runs code that was deployed. */
export interface Hosting extends Feature {
  /**
   * Sends a request to the code of a bot or integration, which is started if it does not run.
   * @throws OutgoingError when there is no response; an abort by the signal throws its reason
   */
  send(owner: CodeOwner, request: OutgoingRequest): Promise<OutgoingResponse>
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
    hostingRequests: number
    hostingLogLines: number
  }
  /** Identifies the installation. */
  installation: string
  /** Of the log of programs. */
  logLevel: string
  addresses: Pick<Addresses, 'base' | 'local' | 'webhooks'>
  deployments: Pick<DeploymentsService, 'provideTryOut' | 'codeOf'>
  deploymentKeys: DeploymentKeys
  bots: Pick<BotsService, 'findHosted'>
  integrations: { service: Pick<IntegrationsService, 'findHosted'>; logs: IntegrationLogs }
  botLogs: Pick<BotLogsService, 'writeLines'>
}

/** Milliseconds that code has for the ping which decides whether it is put into force. */
const pingMs = 20_000

/** Makes the slice. Programs start with their first request, so that a start of the server costs nothing. */
export function createHosting(deps: HostingDeps): Hosting {
  const { run, clock, log, hosting, limits, addresses, deployments, deploymentKeys } = deps
  const { bots, integrations } = deps
  const lists = networkListsOf(deps.outgoing)
  const sinks = new Map<string, LineSink>()
  const events = createCounter({
    name: 'botstead_hosting_events_total',
    help: 'What happened to the programs of deployed code.',
    label: 'event',
    values: ['started', 'refused', 'stopped'],
  })
  let launcher: Promise<Launcher> | undefined

  function sinkOf({ owner }: Deployment): LineSink {
    const key = `${owner.type}:${owner.id}`
    const known = sinks.get(key)
    if (known) return known
    const sink = createLineSink({
      clock,
      log,
      perMinute: limits.hostingLogLines,
      store: async (lines) =>
        owner.type === 'bot'
          ? run((tx) => deps.botLogs.writeLines(tx, owner.id, lines))
          : run((tx) => integrations.logs.writeLines(tx, owner.id, lines)),
    })
    sinks.set(key, sink)
    return sink
  }

  function writeLine(deployment: Deployment, line: OutputLine): void {
    sinkOf(deployment).add(line)
  }

  function reportIssue(deployment: Deployment, { title, description, about }: CodeIssue): void {
    writeLine(deployment, { level: 'error', message: `${title}: ${description}`, about })
  }

  async function startCode(hosted: HostedCode, code: string, isInForce: boolean): Promise<Program> {
    launcher ??= openLauncher({
      log,
      hosting,
      memoryBytes: limits.hostingMemoryBytes,
      installation: deps.installation,
    })
    const token = await deploymentKeys.ensure(hosted, isInForce)
    const api = hosting.mode === 'wrapped' ? addresses.base() : addresses.local()
    const program = await startProgram(
      {
        launcher: await launcher,
        startMs: hosting.startMs,
        requests: limits.hostingRequests,
      },
      {
        deployment: hosted,
        code,
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
        onLine: (line) => writeLine(hosted, line),
        onIssue: (issue) => reportIssue(hosted, issue),
      },
    )
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
      memoryBytes: limits.hostingMemoryBytes * 3,
    },
    findHosted: ({ type, id }) =>
      type === 'bot' ? bots.findHosted(id) : integrations.service.findHosted(id),
    start: async (hosted) => {
      const code = await deployments.codeOf(hosted)
      if (code === undefined) throw new StartError('its code is not stored any more')
      return await startCode(hosted, code, true)
    },
    writeLine,
    reportIssue: (deployment, issue) => {
      events.add('stopped')
      reportIssue(deployment, issue)
    },
  })

  /** Starts code before it is put into force, and asks it whether it works. */
  async function tryOut(
    deployment: Deployment,
    { code, secrets }: { code: string; secrets: Readonly<Record<string, string>> },
  ) {
    if (hosting.mode === 'off') {
      throw refusal(
        'this server does not run code. Its operator can switch that on with BOTSTEAD_HOSTING (see the operation guide); a bot or integration at an address of its own (url) needs no code here.',
      )
    }
    const hosted: HostedCode = { ...deployment, secrets, alwaysAlive: false }
    const leave = await programs.enter()
    let program: Program | undefined
    try {
      program = await startCode(hosted, code, false)
      void program.ended.finally(leave)
      await requirePing(program, deployment)
      return programs.toTrial(program, hosted)
    } catch (error) {
      if (program) void program.end()
      else leave()
      await deploymentKeys.remove(deployment.id)
      if (!(error instanceof StartError || error instanceof OutgoingError)) throw error
      events.add('refused')
      writeLine(deployment, {
        level: 'error',
        message: `New code was not deployed, and what ran before stays: ${error.message}`,
        about: {},
      })
      throw refusal(error.message)
    }
  }

  deployments.provideTryOut(tryOut)

  return {
    name: 'hosting',
    async send(owner, request) {
      if (hosting.mode !== 'off') return await programs.send(owner, request)
      throw new OutgoingError('refused', 'This server does not run code: BOTSTEAD_HOSTING is off.')
    },
    on: {
      'bot.changed': async (tx, { botId }) =>
        afterCommit(tx, () => programs.forget({ type: 'bot', id: botId })),
      'integration.changed': async (tx, { integrationId }) =>
        afterCommit(tx, () => programs.forget({ type: 'integration', id: integrationId })),
    },
    metrics: [
      events,
      gauge(
        { name: 'botstead_hosting_programs', help: 'Programs of deployed code that run.' },
        programs.count,
      ),
      gauge(
        {
          name: 'botstead_hosting_requests',
          help: 'Requests that programs of deployed code handle, or that wait for one.',
        },
        programs.open,
      ),
    ],
    async stop(timeLeft) {
      await programs.stop(timeLeft)
      for (const sink of sinks.values()) await sink.flush()
      await (await launcher?.catch(() => undefined))?.close()
    },
  }
}

/** Pings code as the platform does. @throws StartError if it does not respond as it should */
async function requirePing(program: Program, { owner }: Deployment): Promise<void> {
  const { status, body } = await program.send({
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-bot-id': owner.id,
      'x-bot-user-id': owner.id,
      'x-bp-operation': 'ping',
      'x-bp-type': 'ping',
      'x-bp-configuration': Buffer.from('{}').toString('base64'),
      ...(owner.type === 'integration' && {
        'x-integration-id': owner.id,
        'x-integration-alias': 'ping',
        'x-webhook-id': owner.id,
      }),
    },
    body: '{}',
    timeoutMs: pingMs,
    maxResponseBytes: 4096,
  })
  if (status >= 200 && status < 300) return
  throw new StartError(
    `it responded to a ping with status ${status}: ${body.toString('utf8').slice(0, 500)}`,
  )
}

function hostAndPortOf(address: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(address)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
