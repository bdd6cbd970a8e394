import { setTimeout as sleep } from 'node:timers/promises'
import type { Addresses } from '../../../domain/addresses.js'
import type { Clock } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import { OutgoingError } from '../../../platform/outgoing/errors.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { type CallDeps, reasonOf, sendCall } from '../../calls/requests/index.js'
import type { InstallationChange, InstallationRow } from '../bots/index.js'
import {
  builtInChat,
  findInstallation,
  listRegistrationStatuses,
  settleRegistration,
} from '../bots/index.js'
import type { KnownIntegrations } from './known.js'
import type { IntegrationLogs } from './logs.js'
import { targetOf } from './target.js'

export interface RegistrationDeps extends CallDeps {
  db: Db
  run: Run
  clock: Clock
  queue: Queue
  sealer: Sealer
  addresses: Addresses
  known: KnownIntegrations
  logs: Pick<IntegrationLogs, 'note'>
}

type Operation = 'register' | 'unregister'
interface Place {
  botId: string
  alias: string
}

const registerJob = 'integrations.register'
const againJob = 'integrations.register-again'
const unregisterJob = 'integrations.unregister'

const hour = 60 * 60 * 1000
const day = 24 * hour
/** Milliseconds between two registrations, by the name that integrations ask for them. */
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

/** Milliseconds that whoever changes an installation waits to hear how its registration went. */
const patience = 3000
const pollMs = 25
/** Bytes of an answer that are read for its reason. */
const answerBytes = 4096
const longestReason = 2000

export function createRegistration(deps: RegistrationDeps) {
  const { db, run, clock, queue, sealer, addresses, known, logs } = deps

  /** Calls an integration about an installation. Answers why it failed, undefined if it did not. */
  async function tell(
    operation: Operation,
    row: InstallationRow,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const failure = await attempt(operation, row, signal)
    logs.note({
      integrationId: row.integration_id,
      botId: row.bot_id,
      level: failure === undefined ? 'info' : 'error',
      message: `${operation} ${failure === undefined ? 'succeeded' : `failed: ${failure}`}`,
    })
    return failure?.slice(0, longestReason)
  }

  async function attempt(operation: Operation, row: InstallationRow, signal: AbortSignal) {
    const configuration = decodeJson<Record<string, unknown>>(sealer.open(row.configuration))
    const target = targetOf(await known.of(row.integration_id), { ...row, configuration })
    if (target === undefined) return 'The integration has no address to be called at.'
    const body = JSON.stringify({ webhookUrl: `${addresses.webhooks()}/${row.webhook_id}` })
    try {
      const call = { operation, type: operation, body, signal }
      const { status, body: answer } = await sendCall(deps, target, call, answerBytes)
      return status >= 200 && status < 300 ? undefined : reasonOf(answer)
    } catch (error) {
      if (error instanceof OutgoingError) return error.message
      throw error
    }
  }

  const register: JobHandler<Place> = {
    concurrency: 8,
    handler: async ({ payload: { botId, alias } }, { signal }) => {
      const row = await findInstallation(db, botId, alias)
      if (row === undefined) return
      const operation = dueOperation(row)
      if (operation === undefined) return
      const failure = await tell(operation, row, signal)
      const status = outcomes[operation][failure === undefined ? 'done' : 'failed']
      await run((tx) => settleRegistration(tx, row, { status, status_reason: failure ?? null }))
    },
  }

  const again: JobHandler<Place> = {
    concurrency: 4,
    handler: async ({ payload: { botId, alias } }, { signal }) => {
      const row = await findInstallation(db, botId, alias)
      if (!row?.register_every || row.enabled !== 1) return
      if (row.status !== 'registered' && row.status !== 'registration_failed') return
      const failure = await tell('register', row, signal)
      const status = failure === undefined ? 'registered' : 'registration_failed'
      await run(async (tx) => {
        await settleRegistration(tx, row, { status, status_reason: failure ?? null })
        await scheduleNext(tx, { botId, alias }, row.register_every)
      })
    },
  }

  const unregister: JobHandler<{ row: InstallationRow }> = {
    concurrency: 4,
    handler: async ({ payload: { row } }, { signal }) => {
      await tell('unregister', row, signal)
    },
  }

  async function scheduleNext(tx: Tx, place: Place, every: string | null): Promise<void> {
    const interval = every === null ? undefined : intervals[every]
    if (interval === undefined) return
    const key = keyOf(place)
    await queue.enqueue(tx, {
      ...{ kind: againJob, key, payload: place, runAt: clock.now() + interval },
    })
  }

  return {
    jobs: { [registerJob]: register, [againJob]: again, [unregisterJob]: unregister },

    /** Asks, with the change of an installation, for the calls that follow from it. */
    async enqueue(tx: Tx, change: InstallationChange): Promise<void> {
      const { before, after } = change
      const isGone = before && before.integration_id !== after?.integration_id
      if (isGone && before.integration_id !== builtInChat.id && isRegistered(before)) {
        // The row of the installation will be gone, so that the job carries what it was.
        const key = `${before.webhook_id}/${before.integration_id}`
        await queue.enqueue(tx, { kind: unregisterJob, key, payload: { row: before } })
      }
      if (after && dueOperation(after)) {
        const place = { botId: after.bot_id, alias: after.alias }
        await queue.enqueue(tx, { kind: registerJob, key: keyOf(place), payload: place })
      }
    },

    scheduleNext,

    /** Waits, for a moment, until no registration of a bot is under way. */
    async untilSettled(botId: string): Promise<void> {
      const deadline = performance.now() + patience
      while (performance.now() < deadline) {
        const statuses = await listRegistrationStatuses(db, botId)
        if (!statuses.some((status) => status.endsWith('_pending'))) return
        await sleep(pollMs)
      }
    },
  }
}

const outcomes = {
  register: { done: 'registered', failed: 'registration_failed' },
  unregister: { done: 'unregistered', failed: 'unregistration_failed' },
} as const

/** What an integration has to be told about an installation. */
function dueOperation({ status }: InstallationRow): Operation | undefined {
  if (status === 'registration_pending') return 'register'
  return status === 'unregistration_pending' ? 'unregister' : undefined
}

/** Whether the integration may believe that it is registered. */
function isRegistered({ enabled, status }: InstallationRow): boolean {
  return enabled === 1 && status !== 'registration_failed'
}

function keyOf({ botId, alias }: Place): string {
  return `${botId}/${alias}`
}
