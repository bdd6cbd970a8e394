import type { BotActor } from '../../domain/actor.js'

/** What a caller may see of the files of a bot. */
export interface FileScope {
  botId: string
  /** Set for an integration: it sees its own files and those shared with integrations. */
  integrationId: string | undefined
  /** ISO 8601; files that have expired by then are gone, swept or not. */
  now: string
}

export function scopeOf(actor: BotActor, now: string): FileScope {
  return {
    botId: actor.botId,
    integrationId: actor.caller.type === 'integration' ? actor.caller.id : undefined,
    now,
  }
}
