const maxPause = 30_000

/**
 * Sends messages, each once: one without a response is sent again with the same
 * `Idempotency-Key`, so that the server stores it once. Unsent messages are kept in
 * the browser, survive a reload, and are shared by all tabs: the lock lets one of them send at a time.
 * @param options.apiUrl the chat address
 * @param options.userKey of the sender
 * @param options.storage where unsent messages are kept
 * @param options.onChange called with the unsent payloads on each change
 * @param options.onRefused called with a payload that the server refused, and the reason
 */
export function createOutbox(options) {
  const { apiUrl, userKey, conversationId, storage, onChange, onRefused } = options
  const name = `outbox ${conversationId}`
  let pause = 1000
  let timer

  const read = () => JSON.parse(storage.getItem(name) ?? '[]')
  const show = () => onChange(read().map(({ payload }) => payload))
  function write(waiting) {
    storage.setItem(name, JSON.stringify(waiting))
    show()
  }

  /** Returns the milliseconds until the next attempt; undefined if the message is sent or refused. */
  async function send({ key, payload }) {
    const response = await fetch(`${apiUrl}/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-user-key': userKey,
        'idempotency-key': key,
      },
      body: JSON.stringify({ conversationId, payload }),
    }).catch(() => undefined)
    if (response?.ok) return
    const isRetryable = !response || response.status === 429 || response.status >= 500
    if (!isRetryable) return onRefused(payload, (await response.json()).message)
    pause = Math.min(pause * 2, maxPause)
    return Math.max(pause, 1000 * Number(response?.headers.get('retry-after') ?? 0))
  }

  async function sendAll() {
    for (let [first] = read(); first !== undefined; [first] = read()) {
      const again = await send(first)
      if (again !== undefined) {
        timer = setTimeout(flush, again)
        return
      }
      pause = 1000
      write(read().filter(({ key }) => key !== first.key))
    }
  }

  /** Sends unsent messages in order; called again when the connection is back. */
  async function flush() {
    clearTimeout(timer)
    await withLock(name, sendAll)
  }

  // Another tab has added or sent a message.
  addEventListener('storage', ({ key }) => key === name && show())
  show()

  return {
    flush,
    async add(payload) {
      write([...read(), { key: randomKey(), payload }])
      await flush()
    },
  }
}

/** Locks exist in secure contexts only (https, localhost); elsewhere the keys alone prevent duplicates. */
async function withLock(name, work) {
  if (navigator.locks === undefined) return await work()
  await navigator.locks.request(name, work)
}

/** Like `crypto.randomUUID`, which is missing too on a page without https. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
