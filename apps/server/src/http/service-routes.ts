import { ApiError, contract } from '@botstead/contract'
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
  /** Whether shutdown has begun. */
  isStopping: () => boolean
}

/** Milliseconds for which a result is reused, so that frequent probes cost no more. */
const freshMilliseconds = 500

/** The probes. */
export function serviceRoutes({ checks, isStopping }: ServiceRoutesDeps): Route[] {
  const checkAll = async () =>
    await Promise.all(
      checks.map(async ({ name, check }) => {
        const detail = await check().catch((cause: unknown) => {
          throw new ApiError('Internal', `The part "${name}" does not work.`, { cause })
        })
        return typeof detail === 'string'
          ? { name, status: 'degraded' as const, detail }
          : { name, status: 'ok' as const }
      }),
    )
  const results = sharedFor(freshMilliseconds, checkAll)

  return [
    route(contract.service.health, async () => ({ status: 'ok' as const })),

    route(contract.service.readiness, async () => {
      if (isStopping()) throw new ApiError('Internal', 'The server is stopping.')
      return { status: 'ready' as const, checks: await results() }
    }),
  ]
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
