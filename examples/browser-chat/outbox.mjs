const longestPause = 30_000

/**
 * Sends messages, each once: one that gets no answer is sent again under the same
 * `Idempotency-Key`, which the server takes for the same message. What was not sent yet is kept in
 * the browser, survives a reload, and is shared by all tabs: the lock lets one of them send at a time.
 * @param options.apiUrl the chat address
 * @param options.userKey of the sender
 * @param options.storage where unsent messages are kept
 * @param options.onChange gets the texts that wait, whenever they change
 * @param options.onRefused gets a text that can never be sent, and why
 */
export function createOutbox(options) {
  const { apiUrl, userKey, conversationId, storage, onChange, onRefused } = options
  const name = `outbox ${conversationId}`
  let pause = 1000
  let timer

  const read = () => JSON.parse(storage.getItem(name) ?? '[]')
  const show = () => onChange(read().map(({ text }) => text))
  function write(waiting) {
    storage.setItem(name, JSON.stringify(waiting))
    show()
  }

  /** Answers after how many milliseconds to try again; undefined if the message is done with. */
  async function send({ key, text }) {
    const response = await fetch(`${apiUrl}/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-user-key': userKey,
        'idempotency-key': key,
      },
      body: JSON.stringify({ conversationId, payload: { type: 'text', text } }),
    }).catch(() => undefined)
    if (response?.ok) return
    const isMomentary = !response || response.status === 429 || response.status >= 500
    if (!isMomentary) return onRefused(text, (await response.json()).message)
    pause = Math.min(pause * 2, longestPause)
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

  /** Sends what waits, in order; to be called again when the connection is back. */
  async function flush() {
    clearTimeout(timer)
    await withLock(name, sendAll)
  }

  // Another tab has added or sent something.
  addEventListener('storage', ({ key }) => key === name && show())
  show()

  return {
    flush,
    async add(text) {
      write([...read(), { key: randomKey(), text }])
      await flush()
    },
  }
}

/** Locks are there in secure contexts only (https, localhost); elsewhere keys alone prevent doubles. */
async function withLock(name, work) {
  if (navigator.locks === undefined) return await work()
  await navigator.locks.request(name, work)
}

/** As `crypto.randomUUID`, which is not there either on a page without https. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
