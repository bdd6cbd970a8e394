import { ApiError, type Body, type contract } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import type { Addresses } from '../../../domain/addresses.js'
import { bound } from '../../../platform/bound.js'
import type { Clock } from '../../../platform/clock.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { OutgoingError } from '../../../platform/outgoing/outgoing.js'
import {
  findInstallation,
  type InstallationChange,
  type InstallationRow,
  isBuiltIn,
  isWaiting,
  patchInstallation,
  setAccount,
  settleRegistration,
} from '../../bots/installations/index.js'
import type { IntegrationLogs } from '../../bots/integrations/index.js'
import { type CallDeps, detailOf, isFinal, reasonOf, sendCall } from '../requests/index.js'
import { type IntegrationTargetDeps, targetOfInstallation } from '../targets/index.js'

type Settings = Body<typeof contract.integrations.configure>

export interface IntegrationRegistrationDeps extends CallDeps {
  db: Db
  run: Run
  clock: Clock
  queue: Queue
  domainEvents: EventDispatcher
  sealer: IntegrationTargetDeps['sealer']
  addresses: Pick<Addresses, 'webhooks'>
  integrations: IntegrationTargetDeps['integrations'] & { logs: Pick<IntegrationLogs, 'writeLine'> }
}

type Operation = 'register' | 'unregister'
/** Identifies an installation. */
interface InstallationRef {
  botId: string
  alias: string
}

/** The subject of a registration. */
interface RegistrationJob extends InstallationRef {
  /** Number of the repetition after transient failures, from 1. */
  repetition?: number
}

/** The reason for which a call failed. */
interface CallFailure {
  /** For the workspace of the bot. */
  reason: string
  /** For the developer of the integration, who may be in another workspace. */
  detail: string
  /** Whether it may succeed a moment later: nobody listened, or the integration was busy. */
  isTransient: boolean
}

const failedWith = (reason: string, isTransient: boolean): CallFailure => ({
  reason,
  detail: reason,
  isTransient,
})

const registerJob = 'integrations.register'
const againJob = 'integrations.register-again'
const unregisterJob = 'integrations.unregister'

const hour = 60 * 60 * 1000
const day = 24 * hour
/** Milliseconds between two registrations, by the name of the interval in requests. */
const intervals: Readonly<Record<string, number>> = {
  hourly: hour,
  daily: day,
  weekly: 7 * day,
  'bi-weekly': 14 * day,
  monthly: 30 * day,
  'bi-monthly': 60 * day,
  quarterly: 91 * day,
  yearly: 365 * day,
}

/** The reason for which an installation waits. */
const missingAccount =
  'It waits for its account: open the link of its setup, after which it is registered by itself.'

/** Bytes of a response that are read for the reason of a failure. */
const responseBytes = 4096
const maxReasonLength = 2000
/**
 * Repetitions of a registration that failed for a transient reason, after 1, 2, 4, ... seconds: development tools
 * announce an integration before it listens.
 */
const repetitions = 5

/**
 * Calls integrations about their installations: `register`, periodically on request, and
 * `unregister`.
 */
export function createIntegrationRegistration(deps: IntegrationRegistrationDeps) {
  const { db, run, clock, integrations } = deps

  const register: JobHandler<RegistrationJob> = {
    concurrency: 8,
    handler: async ({ payload: { botId, alias, repetition = 0 } }, { signal }) => {
      const row = await findInstallation(db, botId, alias)
      if (row === undefined) return
      const operation = dueOperation(row) ?? (repetition > 0 ? failedOperation(row) : undefined)
      if (operation === undefined) return
      if (operation === 'register' && (await waitsForAccount(deps, row))) {
        const waiting = { status: 'registration_pending', status_reason: missingAccount } as const
        return await run((tx) => settleRegistration(tx, row, waiting))
      }
      const failure = await callIntegration(deps, operation, row, signal)
      const status = outcomes[operation][failure === undefined ? 'done' : 'failed']
      await run(async (tx) => {
        await settleRegistration(tx, row, { status, status_reason: failure?.reason ?? null })
        if (operation === 'register' && failure?.isTransient && repetition < repetitions) {
          const runAt = clock.now() + 1000 * 2 ** repetition
          await enqueueRegistration(deps, tx, { botId, alias, repetition: repetition + 1 }, runAt)
        }
      })
    },
  }

  const again: JobHandler<InstallationRef> = {
    concurrency: 4,
    handler: async ({ payload: { botId, alias } }, { signal }) => {
      const row = await findInstallation(db, botId, alias)
      if (!row?.register_every || row.enabled !== 1) return
      if (row.status !== 'registered' && row.status !== 'registration_failed') return
      const failure = await callIntegration(deps, 'register', row, signal)
      const status = failure === undefined ? 'registered' : 'registration_failed'
      await run(async (tx) => {
        await settleRegistration(tx, row, { status, status_reason: failure?.reason ?? null })
        await scheduleNext(deps, tx, { botId, alias }, row.register_every)
      })
    },
  }

  const unregister: JobHandler<{ row: InstallationRow }> = {
    concurrency: 4,
    handler: async ({ payload: { row } }, { signal }) => {
      // It may have been deleted with its workspace, and its log with it.
      if ((await integrations.known.of(row.integration_id)) === undefined) return
      await callIntegration(deps, 'unregister', row, signal)
    },
  }

  return {
    ...bound(deps, { enqueue: enqueueCalls, configure: configureInstallation }),
    jobs: { [registerJob]: register, [againJob]: again, [unregisterJob]: unregister },
  }
}

/**
 * Calls an integration about an installation. Returns why the call failed; undefined on success.
 */
async function callIntegration(
  deps: IntegrationRegistrationDeps,
  operation: Operation,
  row: InstallationRow,
  signal: AbortSignal,
): Promise<CallFailure | undefined> {
  const failure = await attemptCall(deps, operation, row, signal)
  deps.integrations.logs.writeLine({
    integrationId: row.integration_id,
    botId: row.bot_id,
    level: failure === undefined ? 'info' : 'error',
    message: `${operation} ${failure === undefined ? 'succeeded' : `failed: ${failure.detail}`}`,
  })
  return failure && { ...failure, reason: failure.reason.slice(0, maxReasonLength) }
}

async function attemptCall(
  deps: IntegrationRegistrationDeps,
  operation: Operation,
  row: InstallationRow,
  signal: AbortSignal,
): Promise<CallFailure | undefined> {
  const target = await targetOfInstallation(deps, row)
  if (target === undefined) {
    return failedWith('The integration has no address to be called at.', false)
  }
  const body = JSON.stringify({ webhookUrl: `${deps.addresses.webhooks()}/${row.webhook_id}` })
  try {
    const { status, body: responseBody } = await sendCall(
      deps,
      target,
      { operation, type: operation, body, signal },
      responseBytes,
    )
    if (status >= 200 && status < 300) return undefined
    return failedWith(reasonOf(responseBody), !isFinal(status))
  } catch (error) {
    if (error instanceof OutgoingError) {
      const isTransient = error.failure === 'connection'
      return { reason: error.message, detail: detailOf(error), isTransient }
    }
    throw error
  }
}

/** Whether an installation is registered only once a person has connected it to an account. */
async function waitsForAccount(
  { integrations }: IntegrationRegistrationDeps,
  row: InstallationRow,
): Promise<boolean> {
  if (row.identifier !== null) return false
  const definition = (await integrations.known.of(row.integration_id))?.definition
  const type = row.configuration_type
  const configuration = type === null ? definition?.configuration : definition?.configurations[type]
  return configuration?.identifier.required === true
}

async function enqueueRegistration(
  { queue }: IntegrationRegistrationDeps,
  tx: Tx,
  job: RegistrationJob,
  runAt?: number,
): Promise<void> {
  await queue.enqueue(tx, {
    kind: registerJob,
    key: keyOf(job),
    payload: job,
    ...(runAt !== undefined && { runAt }),
  })
}

async function scheduleNext(
  { queue, clock }: IntegrationRegistrationDeps,
  tx: Tx,
  installation: InstallationRef,
  every: string | null,
): Promise<void> {
  const interval = every === null ? undefined : intervals[every]
  if (interval === undefined) return
  await queue.enqueue(tx, {
    kind: againJob,
    key: keyOf(installation),
    payload: installation,
    runAt: clock.now() + interval,
  })
}

/** Whether a developer runs the calling integration, with a token of their own. */
async function isInDevelopment(
  { integrations }: IntegrationRegistrationDeps,
  caller: { id: string; authority: string },
): Promise<boolean> {
  if (caller.authority !== 'developer') return false
  return (await integrations.known.of(caller.id))?.isDev === true
}

/** Enqueues the calls that a change of an installation requires, in its transaction. */
async function enqueueCalls(
  deps: IntegrationRegistrationDeps,
  tx: Tx,
  change: InstallationChange,
): Promise<void> {
  const { before, after } = change
  const isGone = before && before.integration_id !== after?.integration_id
  if (isGone && !isBuiltIn(before) && isRegistered(before)) {
    // The row of the installation will be gone, so the job carries its content.
    const key = `${before.webhook_id}/${before.integration_id}`
    await deps.queue.enqueue(tx, { kind: unregisterJob, key, payload: { row: before } })
  }
  if (after && dueOperation(after)) {
    await enqueueRegistration(deps, tx, { botId: after.bot_id, alias: after.alias })
  }
}

/** Stores the account of the calling integration, or the interval of its registrations. */
async function configureInstallation(
  deps: IntegrationRegistrationDeps,
  { botId, caller }: BotActor,
  settings: Settings,
): Promise<void> {
  if (caller.type !== 'integration') {
    throw new ApiError('Forbidden', 'Only an integration may configure its installation.')
  }
  // Requests of the other service follow the account, so that nobody else may report one.
  if (caller.authority !== 'key' && !(await isInDevelopment(deps, caller))) {
    throw new ApiError(
      'Forbidden',
      'This call needs the key of the integration. A personal access token is accepted for an integration in development only, in a workspace in which you may write.',
    )
  }
  const { alias } = caller
  const { identifier, scheduleRegisterCall: every } = settings
  await deps.run(async (tx) => {
    const row = await findInstallation(tx, botId, alias)
    if (row === undefined || row.integration_id !== caller.id) {
      throw new ApiError('Forbidden', `The integration ${caller.id} is not installed in this bot.`)
    }
    if (every !== undefined) {
      await patchInstallation(tx, botId, alias, { register_every: every })
    }
    if (identifier !== undefined) await setAccount(tx, deps, row, identifier)
    if (every !== undefined && every !== row.register_every) {
      await scheduleNext(deps, tx, { botId, alias }, every)
    }
  })
}

const outcomes = {
  register: { done: 'registered', failed: 'registration_failed' },
  unregister: { done: 'unregistered', failed: 'unregistration_failed' },
} as const

/** The operation with which an integration must be called about an installation, if any. */
function dueOperation({ status }: InstallationRow): Operation | undefined {
  if (status === 'registration_pending') return 'register'
  return status === 'unregistration_pending' ? 'unregister' : undefined
}

/** The operation to repeat after a transient failure; undefined if the installation was changed since. */
function failedOperation({ enabled, status }: InstallationRow): Operation | undefined {
  return enabled === 1 && status === 'registration_failed' ? 'register' : undefined
}

/** Whether the integration may consider itself registered. */
function isRegistered(row: InstallationRow): boolean {
  return row.enabled === 1 && row.status !== 'registration_failed' && !isWaiting(row)
}

function keyOf({ botId, alias }: InstallationRef): string {
  return `${botId}/${alias}`
}
