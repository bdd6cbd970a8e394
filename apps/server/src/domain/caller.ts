import type { BotActor } from './actor.js'

/** Alias of the integration that calls; undefined for the bot and people. */
export function aliasOf(actor: BotActor): string | undefined {
  return actor.caller.type === 'integration' ? actor.caller.alias : undefined
}
