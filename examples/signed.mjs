import { createHmac, timingSafeEqual } from 'node:crypto'

/** Older requests are refused, in seconds, so that recorded requests cannot be replayed. */
const patience = 300
/**
 * Seconds after its time in which a signature may come again: signatures of equal calls in the same second
 * are equal, such as two registrations.
 */
const grace = 5

/**
 * Whether the server sent a request: it signs each with the secret of the bot.
 * @param body exactly as it was received
 * @param secret `signingSecret` of the bot or integration
 */
export function isSigned(request, secret) {
  return signatureIn(request, secret) !== undefined
}

/**
 * Makes a check of requests, which returns the response to those that must not be handled: not from the
 * server, too old, or handled before.
 * @param secret `signingSecret` of the bot or integration
 */
export function createGuard(secret) {
  /** The time of each signature that was accepted, until it is too old to be accepted again. */
  const accepted = new Map()

  return function refuse(request) {
    const found = signatureIn(request, secret)
    if (found === undefined) return refusal(401, 'The signature is missing, wrong or too old.')
    for (const [signature, time] of accepted) {
      if (isRecent(time)) break
      accepted.delete(signature)
    }
    // After this status the server sends an event again with a new signature: should two equal calls be late,
    // nothing is lost.
    if (accepted.has(found.signature) && !isRecent(found.time, grace)) {
      return refusal(425, 'This signature was used before.')
    }
    accepted.set(found.signature, found.time)
  }
}

/** The valid signature of a request with its time in seconds, or undefined. */
function signatureIn({ headers, body = '' }, secret) {
  const parts = (headers['x-botstead-signature'] ?? '').split(',').map((part) => part.split('='))
  const time = parts.find(([name]) => name === 't')?.[1]
  if (!isRecent(time)) return undefined
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  // While secrets are rotated there is a signature of each: one valid signature is enough.
  const isValid = parts.some(([name, hex = '']) => {
    const given = Buffer.from(hex, 'hex')
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
  return isValid ? { signature: expected.toString('hex'), time } : undefined
}

function isRecent(time, seconds = patience) {
  return Math.abs(Date.now() / 1000 - Number(time)) <= seconds
}

function refusal(status, message) {
  return { status, body: JSON.stringify({ message }) }
}
