import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { BotRecord, BotsService } from './service.js'
import { type BotView, toBot, toBotSummary } from './view.js'

interface BotsRoutesDeps {
  service: BotsService
  view: Omit<BotView, 'keyByAlias'>
}

type KeyHeaders = { 'x-multiple-integrations'?: string }

export function botsRoutes({ service, view }: BotsRoutesDeps): Route[] {
  const viewFor = (headers: KeyHeaders): BotView => ({
    ...view,
    keyByAlias: headers['x-multiple-integrations'] === 'true',
  })

  return [
    route(
      contract.bots.list,
      async ({ actor, query }) => {
        const page = await service.list(actor, query)
        return { bots: page.rows.map(toBotSummary), meta: toPageMeta(page) }
      },
      { revision: ({ workspaceId }) => service.revisionOf(workspaceId) },
    ),

    route(contract.bots.create, async ({ actor, headers, body, once }) =>
      once<BotRecord>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ bot: toBot(made, viewFor(headers)) }),
      ),
    ),

    route(contract.bots.get, async ({ actor, headers, params }) => ({
      bot: toBot(await service.get(actor, params.id), viewFor(headers)),
    })),

    route(contract.bots.update, async ({ actor, headers, params, body }) => ({
      bot: toBot(await service.update(actor, params.id, body), viewFor(headers)),
    })),

    route(contract.bots.rotateSigningSecrets, async ({ actor, params }) => ({
      newSigningSecret: await service.rotateSigningSecret(actor, params.id),
    })),

    route(contract.bots.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),
  ]
}
