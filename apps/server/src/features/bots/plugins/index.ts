import type { Feature } from '../../feature.js'
import { createDereferencing } from './dereferencing.js'
import { createPluginsInBots, type PluginsInBots } from './in-bots.js'
import { pluginsRoutes } from './routes.js'
import { createPluginsService, type PluginsService, type PluginsServiceDeps } from './service.js'

export type { PluginDefinition } from './definition.js'
export type { InstalledPlugin, PluginRecord, PluginsInBots } from './in-bots.js'
export { pluginsIn } from './installation-store.js'
export type { PluginPatches } from './installations.js'
export type { PluginsService } from './service.js'
export { toPluginInstallation } from './view.js'

type Deps = PluginsServiceDeps &
  Parameters<typeof createDereferencing>[0] &
  Parameters<typeof createPluginsInBots>[0]

/** The slice of plugins, as others see it. */
export interface Plugins extends Feature {
  service: PluginsService
  /** The plugins that are installed in bots. */
  inBots: PluginsInBots
}

/** Plugins: parts of bots. Tools build their code into bots; the server keeps what they declare. */
export function createPlugins(deps: Deps): Plugins {
  const service = createPluginsService(deps)
  return {
    name: 'plugins',
    service,
    inBots: createPluginsInBots(deps),
    routes: pluginsRoutes({ service, dereference: createDereferencing(deps) }),
  }
}
