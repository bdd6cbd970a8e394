import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Feature } from '../../feature.js'
import type { Meter } from '../../tenancy/metering/index.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import type { KnownIntegrations } from '../integrations/index.js'
import type { Plugins } from '../plugins/index.js'
import { type BotProfiles, createBotProfiles } from './bot-profile.js'
import type { BotRecord } from './record.js'
import { type BotsDeps, type BotsService, createBotsService } from './service.js'
import { workspaceOfBot } from './store.js'
import { type BotView, toBot, toBotSummary, withoutConfiguration } from './view.js'

export type {
  BotProfile,
  BotProfiles,
  DeclaredAction,
  DeclaredState,
  InstalledAs,
} from './bot-profile.js'
export { type BotContent, contentOf } from './content.js'
export { createFollowing } from './following.js'
export type { ChatInstallation, SignalPosting } from './lookups.js'
export type { BotRecord } from './record.js'
export { type BotsService, type BotTransfer, purgeBotJob } from './service.js'
export type { BotReachRow } from './store.js'

/** The slice of bots, as others see it. */
export interface Bots extends Feature {
  service: BotsService
  /** Cached declarations and installations of bots. */
  botProfiles: BotProfiles
}

interface Deps extends Omit<BotsDeps, 'integrations' | 'meter'>, Pick<BotView, 'addresses'> {
  workspaces: Pick<WorkspacesService, 'botCounts' | 'requireTarget'>
  integrations: { service: BotsDeps['integrations']; known: Pick<KnownIntegrations, 'of'> }
  plugins: Pick<Plugins, 'service' | 'inBots'>
  meter: BotsDeps['meter'] & Pick<Meter, 'workspaceOfBot' | 'hasCallQuota'>
}

/** Bots of a workspace and what is installed in them. */
export function createBots(deps: Deps): Bots {
  const { addresses, sealer, integrations } = deps
  const botProfiles = createBotProfiles({
    ...deps,
    integrations: integrations.known,
    plugins: deps.plugins.inBots,
  })
  const service = createBotsService({ ...deps, integrations: integrations.service })
  deps.workspaces.botCounts.fill(service.countByWorkspace)
  deps.meter.workspaceOfBot.fill(workspaceOfBot)
  return {
    name: 'bots',
    service,
    botProfiles,
    routes: botsRoutes({ service, view: { addresses, sealer } }),
    on: {
      'workspace.removed': (tx, { workspaceId }) => service.removeAll(tx, workspaceId),
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => botProfiles.forget(botId)),
      'integration.changed': async (tx, { installedIn }) => {
        for (const botId of installedIn) await service.raiseChanged(tx, botId)
      },
      'plugin.changed': async (tx, { installedIn }) => {
        for (const botId of installedIn) await service.raiseChanged(tx, botId)
      },
    },
  }
}

interface BotsRoutesDeps {
  service: BotsService
  view: Omit<BotView, 'keyByAlias'>
}

type KeyHeaders = { 'x-multiple-integrations'?: string }

function botsRoutes({ service, view }: BotsRoutesDeps): Route[] {
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
      { revision: (actor) => service.revisionOf(actor) },
    ),

    route(contract.bots.create, async ({ actor, headers, body, once }) =>
      once<BotRecord>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ bot: toBot(made, viewFor(headers)) }),
      ),
    ),

    route(contract.bots.get, async ({ actor, headers, params }) => {
      const bot = toBot(await service.get(actor, params.id), viewFor(headers))
      const isShown = actor.rights.permissions.has('configuration:read')
      return { bot: isShown ? bot : withoutConfiguration(bot) }
    }),

    route(contract.bots.update, async ({ actor, headers, params, body }) => ({
      bot: toBot(await service.update(actor, params.id, body), viewFor(headers)),
    })),

    route(contract.bots.rotateSigningSecrets, async ({ actor, params }) => ({
      newSigningSecret: await service.rotateSigningSecret(actor, params.id),
    })),

    route(contract.bots.transfer, async ({ actor, params, body }) => {
      await service.transfer(actor, params.id, body.targetWorkspaceId)
      return {}
    }),

    route(contract.bots.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),
  ]
}
