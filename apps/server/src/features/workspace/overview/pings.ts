import type { Clock } from '../../../platform/clock.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import type { Outgoing } from '../../../platform/outgoing/outgoing.js'
import { callReceiver } from '../../calls/requests/index.js'
import type { Targets } from '../../calls/targets/index.js'
import type { Hosting } from '../../hosting/index.js'

export interface PingsDeps {
  clock: Clock
  targets: Pick<Targets, 'of'>
  outgoing: Outgoing
  hosting: Pick<Hosting, 'send'>
}

/** Pings of the programs of bots. */
export interface Pings {
  /** Reasons for which bots do not respond, by id. Only the first of the given bots are asked, and only those at a URL. */
  findSilent(botIds: readonly string[]): Promise<Map<string, string>>
}

/** Milliseconds that a program has to respond. */
const timeoutMs = 3000
/** Maximum number of bots that one overview asks. */
const maxAsked = 20

/**
 * Asks the programs of bots at a url whether they are there: one that is gone shows no error until somebody writes
 * to it. Their responses are used for some seconds.
 */
export function createPings({ targets, ...deps }: PingsDeps): Pings {
  const known = createFactCache<{ silence: string | undefined }>({
    clock: deps.clock,
    maxFacts: 1000,
    read: async (botId) => ({ silence: await ask(botId) }),
  })

  async function ask(botId: string): Promise<string | undefined> {
    const target = await targets.of({ botId, integration: '' })
    if (target === undefined || !('url' in target.at)) return undefined
    const call = { operation: 'ping', type: 'ping', body: '{}' }
    const { status, verdict } = await callReceiver(deps, { ...target, timeoutMs }, call)
    // Any response below 500 shows that the program is there, as for receivers that are paused.
    if (verdict.result === 'delivered' || (status !== null && status < 500)) return undefined
    return verdict.error
  }

  return {
    async findSilent(botIds) {
      const found = await Promise.all(
        botIds.slice(0, maxAsked).map(async (id) => [id, (await known.get(id))?.silence] as const),
      )
      return new Map(
        found.flatMap(([id, silence]) => (silence === undefined ? [] : [[id, silence]])),
      )
    },
  }
}
