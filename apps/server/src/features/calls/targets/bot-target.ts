import type { BotsService } from '../../bots/bots/index.js'
import type { Target } from './targets.js'

/** Seconds that a bot has for a call when it does not say how long it needs. */
const defaultSeconds = 60
/** Longest time that a call may take, whatever the bot says. */
const mostSeconds = 15 * 60

/** How the server of a bot is called; undefined if it has none. */
export async function findBotTarget(
  bots: Pick<BotsService, 'findServer'>,
  botId: string,
): Promise<Target | undefined> {
  const server = await bots.findServer(botId)
  if (server === undefined) return undefined
  return {
    url: server.url,
    headers: { 'x-bot-id': botId, 'x-bp-configuration': toHeader(server.configuration) },
    secrets: server.secrets,
    timeoutMs: Math.min(server.maxExecutionTime || defaultSeconds, mostSeconds) * 1000,
  }
}

/** An object as text that a header can carry. */
function toHeader(configuration: Record<string, unknown>): string {
  // The SDK of bots reads the object as text inside of an object.
  const wrapped = { payload: JSON.stringify(configuration) }
  return Buffer.from(JSON.stringify(wrapped)).toString('base64')
}
