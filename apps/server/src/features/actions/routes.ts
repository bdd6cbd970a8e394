import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import type { ActionsService } from './service.js'

export function actionsRoutes(service: ActionsService): Route[] {
  return [
    route(contract.actions.call, async ({ actor, body }) => {
      const { output, cached } = await service.call(actor, body)
      return { output, meta: { cached } }
    }),
  ]
}
