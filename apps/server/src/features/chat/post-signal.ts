/** Milliseconds that the other side has to answer. */
const timeout = 10_000

/**
 * Posts a signal to the webhook of an app. Rejects when it is not taken, to be tried again.
 * @param json the signal as it stands in a stream
 */
export async function postSignal(
  target: { url: string; secret: string },
  json: string,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(`${target.url.replace(/\/+$/, '')}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(target.secret !== '' && { 'x-secret-key': target.secret }),
    },
    body: json,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`The webhook answered with status ${response.status}`)
}
