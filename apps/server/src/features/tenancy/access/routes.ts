import { ApiError, contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import type { MadeToken } from './new-token.js'
import type { Reach } from './reach.js'
import type { AccessService } from './service.js'
import { toNewToken, toToken } from './view.js'

export function accessRoutes(service: AccessService, reach: Reach): Route[] {
  return [
    route(contract.tokens.introspect, async ({ actor, body: { botId } }) => {
      const holder = await reach.holderIn(actor.tokenId, botId)
      if (holder === undefined) {
        throw new ApiError(
          'ReferenceNotFound',
          `body.botId: there is no bot ${botId} that the token may use.`,
          { metadata: { in: 'body', field: 'botId' } },
        )
      }
      return { botId, ...holder }
    }),

    route(contract.tokens.listPersonal, async ({ actor }) => ({
      pats: (await service.listPersonal(actor)).map(toToken),
    })),

    route(contract.tokens.createPersonal, async ({ actor, body, once }) =>
      once<MadeToken>(
        (remember) => service.createPersonal(actor, body, remember),
        (made) => ({ pat: toNewToken(made) }),
      ),
    ),

    route(contract.tokens.removePersonal, async ({ actor, params }) => {
      await service.removePersonal(actor, params.id)
      return {}
    }),

    route(contract.tokens.listBotKeys, async ({ actor, query }) => ({
      baks: (await service.listBotKeys(actor, query.botId)).map(toToken),
    })),

    route(contract.tokens.createBotKey, async ({ actor, body, once }) =>
      once<MadeToken>((remember) => service.createBotKey(actor, body, remember), toNewToken),
    ),

    route(contract.tokens.removeBotKey, async ({ actor, params }) => {
      await service.removeBotKey(actor, params.id)
      return {}
    }),

    route(contract.tokens.listIntegrationKeys, async ({ actor, query }) => ({
      iaks: (await service.listIntegrationKeys(actor, query.integrationId)).map(toToken),
    })),

    route(contract.tokens.createIntegrationKey, async ({ actor, body, once }) =>
      once<MadeToken>(
        (remember) => service.createIntegrationKey(actor, body, remember),
        toNewToken,
      ),
    ),

    route(contract.tokens.removeIntegrationKey, async ({ actor, params }) => {
      await service.removeIntegrationKey(actor, params.id)
      return {}
    }),
  ]
}
