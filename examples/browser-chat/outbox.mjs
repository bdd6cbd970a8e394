/**
 * Sends messages, each once: one that gets no answer is sent again under the same
 * `Idempotency-Key`, which the server takes for the same message. What was not sent yet is kept in
 * the browser and survives a reload.
 * @param options.apiUrl the chat address
 * @param options.userKey of the sender
 * @param options.storage where unsent messages are kept
 * @param options.onChange gets the texts that wait, whenever they change
 */
export function createOutbox({ apiUrl, userKey, conversationId, storage, onChange }) {
  const name = `outbox ${conversationId}`
  const waiting = JSON.parse(storage.getItem(name) ?? '[]')
  let isSending = false

  function keep() {
    storage.setItem(name, JSON.stringify(waiting))
    onChange(waiting.map(({ text }) => text))
  }

  async function send({ key, text }) {
    const response = await fetch(`${apiUrl}/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-user-key': userKey,
        'idempotency-key': key,
      },
      body: JSON.stringify({ conversationId, payload: { type: 'text', text } }),
    })
    if (response.status === 429 || response.status >= 500) throw new Error('Not now')
    if (!response.ok) alert(`Not sent: ${(await response.json()).message}`)
  }

  /** Sends what waits, in order; to be called again when the connection is back. */
  async function flush() {
    if (isSending) return
    isSending = true
    try {
      while (waiting.length > 0) {
        await send(waiting[0])
        waiting.shift()
        keep()
      }
    } catch {
      // Kept for the next call.
    } finally {
      isSending = false
    }
  }

  return {
    flush,
    async add(text) {
      waiting.push({ key: crypto.randomUUID(), text })
      keep()
      await flush()
    },
  }
}
