import type { BotsService } from '../bots/bots/index.js'
import type { Target } from '../calls/targets/index.js'

/** Milliseconds that the webhook of an app has for an answer. */
const timeoutMs = 10_000

/** How the webhook of a bot's chat is called; undefined if it has none. */
export async function findSignalTarget(
  bots: Pick<BotsService, 'findSignalAddress'>,
  botId: string,
): Promise<Target | undefined> {
  const address = await bots.findSignalAddress(botId)
  if (address === undefined) return undefined
  return {
    url: `${address.url.replace(/\/+$/, '')}/`,
    headers: address.secret === '' ? {} : { 'x-secret-key': address.secret },
    secrets: address.signingSecrets,
    timeoutMs,
    plain: true,
  }
}
