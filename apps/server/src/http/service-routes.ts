import { ApiError, contract } from '@botstead/contract'
import { BlobStoreAwayError } from '../platform/blobs/blob-store.js'
import {
  DatabaseBusyError,
  DatabaseFullError,
  DatabaseUnavailableError,
} from '../platform/db/errors.js'
import { type Route, route } from './mount.js'

/** A part of the server that requests depend on, for `/readyz`. */
export interface ReadinessCheck {
  readonly name: string
  /**
   * Rejects with the reason when the part does not work; resolves with a sentence about what is
   * missing when it works with restrictions.
   */
  check(): Promise<unknown>
}

interface ServiceRoutesDeps {
  checks: readonly ReadinessCheck[]
  /** Identifies the installation. */
  instance: string
  /** Whether shutdown has begun. */
  isStopping: () => boolean
}

/** Milliseconds for which a result is reused, so that frequent probes cost no more. */
const freshMilliseconds = 500

/** The probes. */
export function serviceRoutes({ checks, instance, isStopping }: ServiceRoutesDeps): Route[] {
  const checkAll = async () => {
    const results = await Promise.all(checks.map(checkPart))
    const failed = results.filter((result) => 'cause' in result)
    if (failed.length === 0) return results.flatMap((result) => ('cause' in result ? [] : result))
    const reasons = failed.map(({ name, cause }) => `"${name}" does not work, ${reasonOf(cause)}`)
    const causes = failed.map(({ cause }) => cause)
    throw notReady(
      reasons.join('; '),
      causes.length === 1 ? causes[0] : new AggregateError(causes, causes.map(String).join('; ')),
    )
  }
  const results = sharedFor(freshMilliseconds, checkAll)

  return [
    route(contract.service.health, async () => ({ status: 'ok' as const, instance })),

    route(contract.service.readiness, async () => {
      if (isStopping()) throw notReady('it is stopping')
      return { status: 'ready' as const, checks: await results() }
    }),
  ]
}

/** Milliseconds after which a part that does not respond counts as failed. */
const checkMs = 5000

type Checked = { name: string; status: 'ok' } | { name: string; status: 'degraded'; detail: string }

/** Checks one part; the cause says why it does not work. */
export async function checkPart({
  name,
  check,
}: ReadinessCheck): Promise<Checked | { name: string; cause: unknown }> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`No response within ${checkMs} ms`)
    timer = setTimeout(() => reject(error), checkMs)
  })
  try {
    const detail = await Promise.race([check(), late])
    return typeof detail === 'string'
      ? { name, status: 'degraded', detail }
      : { name, status: 'ok' }
  } catch (cause) {
    return { name, cause }
  } finally {
    clearTimeout(timer)
  }
}

/** The public reason why a component does not work. Details, such as addresses, appear in the log only. */
function reasonOf(cause: unknown): string {
  if (cause instanceof DatabaseFullError) return 'because its disk is full'
  const isAway =
    cause instanceof DatabaseUnavailableError ||
    cause instanceof DatabaseBusyError ||
    cause instanceof BlobStoreAwayError
  return isAway ? 'because it does not respond' : 'for a reason that the log contains'
}

function notReady(reason: string, cause?: unknown): ApiError {
  return new ApiError('Internal', `The server is not ready: ${reason}.`, {
    status: 503,
    metadata: { retryAfterSeconds: 5 },
    ...(cause !== undefined && { cause }),
  })
}

/** Runs the work once at a time; its result also serves calls during the run and shortly after. */
function sharedFor<T>(milliseconds: number, work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  let endedAt: number | undefined
  return () => {
    const isOld = endedAt !== undefined && performance.now() - endedAt > milliseconds
    if (result === undefined || isOld) {
      endedAt = undefined
      result = work().finally(() => {
        endedAt = performance.now()
      })
    }
    return result
  }
}
