import type { Route } from '../../../http/mount.js'
import { type Audiences, createAudiences } from './audience.js'
import { botsRoutes } from './routes.js'
import { type BotsDeps, type BotsService, createBotsService } from './service.js'
import type { BotView } from './view.js'

export type {
  Audience,
  Audiences,
  Creation,
  DeclaredAction,
  DeclaredState,
  InstalledAs,
  IntegrationDeclarations,
} from './audience.js'
export { builtInChat } from './built-in-chat.js'
export type { Catalogue, CatalogueEntry, InstallationChange } from './catalogue.js'
export type { ChatInstallation, SignalPosting } from './chat-installations.js'
export { chatShapes } from './chat-shapes.js'
export {
  checkEntries,
  checkSchemas,
  logUncheckedPatterns,
  mergeMap,
  withoutNullAttributes,
} from './definition.js'
export {
  findInstallation,
  findInstallationByWebhook,
  listRegistrationStatuses,
  patchInstallation,
  settleRegistration,
} from './installation-store.js'
export { mergeSecrets, type SealedSecrets } from './secrets.js'
export { requireServerAddress } from './server-address.js'
export { type BotsService, purgeBotJob } from './service.js'
export type { InstallationRow } from './store.js'

export interface Bots {
  service: BotsService
  /** Who has to be told of what happens in bots. */
  audiences: Audiences
  routes: Route[]
}

/** Bots of a workspace and what is installed in them. */
export function createBots(deps: BotsDeps & Pick<BotView, 'addresses'>): Bots {
  const { addresses, sealer } = deps
  const audiences = createAudiences(deps)
  const service = createBotsService({
    ...deps,
    onChanged: (botId) => {
      audiences.forget(botId)
      deps.onChanged(botId)
    },
  })
  return { service, audiences, routes: botsRoutes({ service, view: { addresses, sealer } }) }
}
