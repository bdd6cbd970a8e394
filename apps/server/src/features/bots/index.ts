import type { Route } from '../../http/mount.js'
import { botsRoutes } from './routes.js'
import { type BotsDeps, type BotsService, createBotsService } from './service.js'
import type { BotView } from './view.js'

export { builtInChat } from './built-in-chat.js'
export type { BotsService, ChatInstallation } from './service.js'
export { purgeBotJob } from './service.js'

export interface Bots {
  service: BotsService
  routes: Route[]
}

/** Bots of a workspace and what is installed in them. */
export function createBots(
  deps: BotsDeps & { addresses: Omit<BotView, 'keyByAlias' | 'sealer'> },
): Bots {
  const service = createBotsService(deps)
  const routes = botsRoutes({ service, view: { addresses: deps.addresses, sealer: deps.sealer } })
  return { service, routes }
}
