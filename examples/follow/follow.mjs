import { setTimeout as sleep } from 'node:timers/promises'

const shortestPause = 500
const maxPause = 30_000
/** The server sends something every 30 seconds: a connection that is silent for longer is dead. */
const maxSilence = 60_000

/**
 * Yields every signal of a conversation once and in order, also those that were sent while the connection
 * was broken. Continues until `signal` aborts; throws when the server refuses.
 * @param options.address the chat address
 * @param options.last number of the last handled signal; the following ones come first
 */
export async function* follow({ address, userKey, conversationId, last, signal }) {
  let pause = shortestPause
  while (!signal?.aborted) {
    try {
      for await (const frame of listen({ address, userKey, conversationId, last, signal })) {
        pause = shortestPause
        // Frames without a number are not repeated; "ping" only shows that the connection is alive.
        if (frame.data !== 'ping') yield { ...JSON.parse(frame.data), number: frame.id }
        // Only after the caller has handled it and requested the next one.
        last = frame.id ?? last
      }
    } catch (error) {
      // The address, the key or the participation is gone: a retry is useless.
      if ([400, 401, 403, 404].includes(error.status)) throw error
    }
    if (signal?.aborted) return
    // With jitter, so that the clients of a restarted server do not reconnect all at once.
    await sleep((pause * (1 + Math.random())) / 2, undefined, { signal }).catch(() => {})
    pause = Math.min(pause * 2, maxPause)
  }
}

/** The frames of one connection. */
async function* listen({ address, userKey, conversationId, last, signal }) {
  const abort = new AbortController()
  let silence = setTimeout(() => abort.abort(), maxSilence)
  try {
    const response = await fetch(`${address}/conversations/${conversationId}/listen`, {
      headers: {
        'x-user-key': userKey,
        ...(last !== undefined && { 'last-event-id': String(last) }),
      },
      signal: AbortSignal.any([abort.signal, ...(signal ? [signal] : [])]),
    })
    if (!response.ok) {
      throw Object.assign(new Error(await response.text()), { status: response.status })
    }
    let text = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(silence)
      silence = setTimeout(() => abort.abort(), maxSilence)
      const frames = (text + chunk).split('\n\n')
      // The last frame is incomplete.
      text = frames.pop()
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1]
        const id = /^id: (\d+)$/m.exec(frame)?.[1]
        if (data !== undefined) yield { data, id: id === undefined ? undefined : Number(id) }
      }
    }
  } finally {
    clearTimeout(silence)
    abort.abort()
  }
}
