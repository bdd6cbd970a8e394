import type { Clock } from '../../../platform/clock.js'
import { afterCommit } from '../../../platform/db/after-commit.js'
import type { BotsService } from '../../bots/bots/index.js'
import { builtInChat } from '../../bots/installations/index.js'
import type { Feature } from '../../feature.js'
import { findBotTarget } from './bot-target.js'
import { findIntegrationTarget, type IntegrationTargetDeps } from './integration-target.js'
import { createTargets, type Target, type Targets } from './targets.js'

export { findBotTarget } from './bot-target.js'
export {
  findIntegrationTarget,
  type IntegrationTargetDeps,
  targetOfInstallation,
} from './integration-target.js'
export { createTargets, type Target, type Targets } from './targets.js'

/** Finds where the signals of a bot's chat are posted; undefined if nowhere. */
type FindChatTarget = (botId: string) => Promise<Target | undefined>

export interface CallTargets extends Feature, Targets {
  /** Plugs in the chat, whose signals are posted to an address of the app. */
  provideChatTarget(find: FindChatTarget): void
}

export interface CallTargetsDeps extends IntegrationTargetDeps {
  clock: Clock
  bots: { service: Pick<BotsService, 'findServer'> }
}

/** Where bots, integrations and apps are called. */
export function createCallTargets(deps: CallTargetsDeps): CallTargets {
  let findChatTarget: FindChatTarget = async () => undefined
  const targets = createTargets({
    clock: deps.clock,
    findTarget: async ({ botId, integration }) => {
      if (integration === '') return await findBotTarget(deps.bots.service, botId)
      if (integration === builtInChat.alias) return await findChatTarget(botId)
      return await findIntegrationTarget(deps, botId, integration)
    },
  })
  return {
    name: 'targets',
    of: targets.of,
    forget: targets.forget,
    provideChatTarget(find) {
      findChatTarget = find
    },
    on: {
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => targets.forget(botId)),
    },
  }
}
