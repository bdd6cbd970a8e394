import { ApiError, contract } from '@botstead/contract'
import { type Route, route } from './mount.js'

/** One part of the server that requests need. */
interface ReadinessCheck {
  name: string
  /** Rejects with the reason when the part does not work now. */
  check(): Promise<void>
}

interface ServiceRoutesDeps {
  checks: readonly ReadinessCheck[]
  /** Whether the server has begun to stop. */
  isStopping: () => boolean
}

/** The probes. */
export function serviceRoutes({ checks, isStopping }: ServiceRoutesDeps): Route[] {
  return [
    route(contract.service.health, async () => ({ status: 'ok' as const })),

    route(contract.service.readiness, async () => {
      if (isStopping()) throw new ApiError('Internal', 'The server is stopping.')
      const results = await Promise.all(
        checks.map(async ({ name, check }) => {
          try {
            await check()
          } catch (cause) {
            throw new ApiError('Internal', `The part "${name}" does not work.`, { cause })
          }
          return { name, status: 'ok' as const }
        }),
      )
      return { status: 'ready' as const, checks: results }
    }),
  ]
}
