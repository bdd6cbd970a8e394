import { contract } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import type { Feature } from '../../feature.js'
import { type BotRegistrationDeps, createBotRegistration } from './bots.js'
import { createIntegrationRegistration, type IntegrationRegistrationDeps } from './integrations.js'

/** Registration calls: to deployed bots, and to integrations about their installations. */
export function createRegistration(
  deps: BotRegistrationDeps & IntegrationRegistrationDeps,
): Feature {
  const ofBots = createBotRegistration(deps)
  const ofIntegrations = createIntegrationRegistration(deps)
  return {
    name: 'registration',
    jobs: { ...ofBots.jobs, ...ofIntegrations.jobs },
    routes: [
      route(contract.integrations.configure, async ({ actor, body }) => {
        await ofIntegrations.configure(actor, body)
        return {}
      }),
    ],
    on: {
      'bot.deployed': (tx, { botId }) => ofBots.enqueue(tx, botId),
      'installations.changed': async (tx, { changes }) => {
        for (const change of changes) await ofIntegrations.enqueue(tx, change)
      },
    },
  }
}
