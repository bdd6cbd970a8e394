import { afterCommit } from '../../../platform/db/transaction.js'
import type { Feature } from '../../feature.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import type { KnownIntegrations } from '../integrations/index.js'
import { type BotProfiles, createBotProfiles } from './bot-profile.js'
import { botsRoutes } from './routes.js'
import { type BotsDeps, type BotsService, createBotsService } from './service.js'
import type { BotView } from './view.js'

export type {
  BotProfile,
  BotProfiles,
  DeclaredAction,
  DeclaredState,
  InstalledAs,
} from './bot-profile.js'
export type { ChatInstallation, SignalPosting } from './lookups.js'
export { type BotsService, purgeBotJob } from './service.js'

export interface Bots extends Feature {
  service: BotsService
  /** What bots declare and have installed, cached. */
  botProfiles: BotProfiles
}

interface Deps extends Omit<BotsDeps, 'integrations'>, Pick<BotView, 'addresses'> {
  workspaces: Pick<WorkspacesService, 'provideBotCounts'>
  integrations: { service: BotsDeps['integrations']; known: Pick<KnownIntegrations, 'of'> }
}

/** Bots of a workspace and what is installed in them. */
export function createBots(deps: Deps): Bots {
  const { addresses, sealer, integrations } = deps
  const botProfiles = createBotProfiles({ ...deps, integrations: integrations.known })
  const service = createBotsService({ ...deps, integrations: integrations.service })
  deps.workspaces.provideBotCounts(service.countByWorkspace)
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
    },
  }
}
