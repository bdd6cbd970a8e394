const shortestPause = 1000
const maxPause = 30_000

/**
 * Follows a conversation: `onMessage` is called once for every message and in order, also for those that
 * arrived while the connection was broken. Runs until the page is closed.
 * @param options.client connected client of the chat package
 * @param options.apiUrl the chat address
 * @param options.onMessage called with each message
 * @param options.onDelete called with the id of each message that is deleted
 * @param options.onDrafts called with the texts of messages that are still being written, on each change
 * @param options.onTyping called with true when the bot starts writing, and with false when it stops
 * @param options.onState called with `open` and `broken`
 */
export async function follow(options) {
  const { client, apiUrl, conversationId, onMessage, onDelete, onDrafts, onTyping, onState } =
    options
  const seen = new Set()
  const drafts = new Map()
  const draw = () => onDrafts([...drafts.values()])
  const show = (message) => {
    if (seen.has(message.id)) return
    seen.add(message.id)
    // The message that was written piece by piece is now complete.
    if (drafts.delete(message.metadata?.streamId)) draw()
    onMessage(message)
  }
  const update = ({ type, data }) => {
    if (type.startsWith('typing_')) return onTyping(type === 'typing_started')
    if (type === 'message_stream_delta') {
      drafts.set(data.streamId, (drafts.get(data.streamId) ?? '') + data.delta)
    } else if (type !== 'message_stream_abort' || !drafts.delete(data.streamId)) return
    draw()
  }

  let pause = shortestPause
  for (;;) {
    try {
      // The client would silently retry a stream that fails to open.
      await fetch(`${apiUrl}/hello`).then(requireOk)
      // A new listener each time: one whose connection attempt has failed stays unusable.
      const listener = await client.listenConversation({ id: conversationId })
      const lost = new Promise((resolve) => {
        listener.on('error', resolve)
        // The browser knows at once what the stream would detect only after a minute.
        addEventListener('offline', resolve, { once: true })
      })
      // Missed messages come first; later ones have to wait for them.
      let receive = (message) => early.push(message)
      const early = []
      listener.on('message_created', (message) => receive(message))
      listener.on('message_deleted', ({ id }) => onDelete(id))
      // The current client does not know these signals and passes them on unchanged.
      listener.on('unknown', (signal) => update(parse(signal)))
      try {
        for (const message of await missedMessages(client, conversationId, seen)) show(message)
        early.forEach(show)
        receive = show
        onState('open')
        pause = shortestPause
        await lost
      } finally {
        await listener.disconnect()
      }
    } catch (error) {
      // The address, the key or the participation is gone: a retry is useless.
      if ([400, 401, 403, 404].includes(error.code ?? error.status)) throw error
    }
    onState('broken')
    // A reconnected listener receives again what was written so far.
    drafts.clear()
    draw()
    onTyping(false)
    await pauseOrOnline((pause * (1 + Math.random())) / 2)
    pause = Math.min(pause * 2, maxPause)
  }
}

/** Messages that were missed, oldest first: reads as many pages as needed to reach known ones. */
async function missedMessages(client, conversationId, seen) {
  const missed = []
  for await (const message of client.list.messages({ conversationId })) {
    if (seen.has(message.id)) break
    missed.unshift(message)
  }
  return missed
}

/** Parses a signal. `ping`, which only keeps the connection alive, is no JSON. */
function parse(signal) {
  return String(signal).startsWith('{') ? JSON.parse(signal) : { type: signal }
}

function pauseOrOnline(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
    addEventListener('online', resolve, { once: true })
  })
}

function requireOk({ ok, status }) {
  if (!ok) throw Object.assign(new Error(`status ${status}`), { status })
}
