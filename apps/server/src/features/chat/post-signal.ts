import type { Outgoing } from '../../platform/outgoing/outgoing.js'

/** Milliseconds that the other side has to answer. */
const timeoutMs = 10_000

/**
 * Posts a signal to the webhook of an app. Rejects when it is not taken, to be tried again; also when
 * the address is private, which the operator may allow later.
 * @param json the signal as it stands in a stream
 */
export async function postSignal(
  outgoing: Outgoing,
  target: { url: string; secret: string },
  json: string,
  signal: AbortSignal,
): Promise<void> {
  const { status } = await outgoing.send(`${target.url.replace(/\/+$/, '')}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(target.secret !== '' && { 'x-secret-key': target.secret }),
    },
    body: json,
    timeoutMs,
    // The status says all.
    maximumAnswerBytes: 1024,
    signal,
  })
  if (status < 200 || status > 299) throw new Error(`The webhook answered with status ${status}`)
}
