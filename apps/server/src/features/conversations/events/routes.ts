import { contract } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { EventRecord, EventsService } from './service.js'
import { toEvent } from './view.js'

export function eventsRoutes(service: EventsService): Route[] {
  const viewFor = (actor: BotActor) => {
    const alias = aliasOf(actor)
    return ({ row, payload }: EventRecord) => toEvent(row, payload, alias)
  }

  return [
    route(contract.events.create, async ({ actor, body, once }) =>
      once<EventRecord>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ event: viewFor(actor)(made) }),
      ),
    ),

    route(contract.events.get, async ({ actor, params }) => ({
      event: viewFor(actor)(await service.get(actor, params.id)),
    })),

    route(contract.events.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { events: page.rows.map(viewFor(actor)), meta: toPageMeta(page) }
    }),

    route(contract.events.cancelScheduled, async ({ actor, params }) => {
      await service.cancelScheduled(actor, params.id)
      return {}
    }),
  ]
}
