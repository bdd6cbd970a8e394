import { createHmac, timingSafeEqual } from 'node:crypto'

/** Older requests are refused, in seconds, so that recorded requests cannot be replayed. */
const patience = 300

/**
 * Whether the server sent a request: it signs each with the secret of the bot.
 * @param body exactly as it was received
 * @param secret `signingSecret` of the bot
 */
export function isSigned({ headers, body = '' }, secret) {
  const parts = (headers['x-botstead-signature'] ?? '').split(',').map((part) => part.split('='))
  const time = parts.find(([name]) => name === 't')?.[1]
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= patience)) return false
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest()
  // While secrets are rotated there is a signature of each: one valid signature is enough.
  return parts.some(([name, hex = '']) => {
    const given = Buffer.from(hex, 'hex')
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** Makes a bot refuse requests that are not from its server. */
export function refuseOthers(bot, secret) {
  const { handler } = bot
  bot.handler = async (request) => {
    if (isSigned(request, secret)) return await handler(request)
    return { status: 401, body: JSON.stringify({ message: 'The signature does not fit.' }) }
  }
}
