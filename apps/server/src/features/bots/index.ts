import type { Route } from '../../http/mount.js'
import { botsRoutes } from './routes.js'
import { type BotsDeps, type BotsService, createBotsService } from './service.js'
import type { BotView } from './view.js'

export { builtInChat } from './built-in-chat.js'
export { type BotsService, type ChatInstallation, purgeBotJob } from './service.js'

export interface Bots {
  service: BotsService
  routes: Route[]
}

/** Bots of a workspace and what is installed in them. */
export function createBots(deps: BotsDeps & Pick<BotView, 'addresses'>): Bots {
  const { addresses, sealer } = deps
  const service = createBotsService(deps)
  return { service, routes: botsRoutes({ service, view: { addresses, sealer } }) }
}
