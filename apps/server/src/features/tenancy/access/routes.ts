import { contract, type Output } from '@botstead/contract'
import { noReference } from '../../../domain/refusals.js'
import { type Route, route } from '../../../http/mount.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { Reach } from './reach.js'
import type { AccessService, MadeToken } from './service.js'
import type { TokenSummaryRow } from './store.js'

export function accessRoutes(service: AccessService, reach: Reach): Route[] {
  return [
    route(contract.tokens.introspect, async ({ actor, body: { botId } }) => {
      const holder = await reach.holderIn(actor.tokenId, botId)
      if (holder === undefined) {
        throw noReference('body.botId', 'bot', botId, 'that the token may use')
      }
      return { botId, ...holder }
    }),

    route(contract.tokens.listPersonal, async ({ actor }) => ({
      pats: (await service.listPersonal(actor)).map((row) => ({
        ...toToken(row),
        ...toLimits(row),
      })),
    })),

    route(contract.tokens.createPersonal, async ({ actor, body, once }) =>
      once<MadeToken>(
        (remember) => service.createPersonal(actor, body, remember),
        (made) => ({ pat: { ...toNewToken(made), ...toLimits(made.token) } }),
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

type WireToken = Output<typeof contract.tokens.listBotKeys>['baks'][number]
type WireNewToken = Output<typeof contract.tokens.createBotKey>

function toLimits(row: TokenSummaryRow) {
  return {
    ...(decodeBoolean(row.read_only) && { readOnly: true }),
    ...(row.workspace_id !== null && { workspaceId: row.workspace_id }),
    ...(row.bot_id !== null && { botId: row.bot_id }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  }
}

/** Personal tokens and bot keys have the same form. */
function toToken(row: TokenSummaryRow): WireToken {
  return {
    id: row.id,
    createdAt: row.created_at,
    note: row.note,
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
  }
}

function toNewToken({ token, value }: MadeToken): WireNewToken {
  return { id: token.id, createdAt: token.created_at, note: token.note, value }
}
