const shortestPause = 1000
const longestPause = 30_000

/**
 * Follows a conversation: every message is told once and in order, also those that came while
 * the connection was broken. Runs until the page is left.
 * @param options.client connected client of the chat package
 * @param options.apiUrl the chat address
 * @param options.onMessage gets each message
 * @param options.onDelete gets the id of each message that is deleted
 * @param options.onDrafts gets the texts of messages that are still being written, whenever they change
 * @param options.onState gets `open` and `broken`
 */
export async function follow(options) {
  const { client, apiUrl, conversationId, onMessage, onDelete, onDrafts, onState } = options
  const told = new Set()
  const drafts = new Map()
  const draw = () => onDrafts([...drafts.values()])
  const tell = (message) => {
    if (told.has(message.id)) return
    told.add(message.id)
    // What was written piece by piece is now there as a whole.
    if (drafts.delete(message.metadata?.streamId)) draw()
    onMessage(message)
  }
  const hearDraft = ({ type, data }) => {
    if (type === 'message_stream_delta') {
      drafts.set(data.streamId, (drafts.get(data.streamId) ?? '') + data.delta)
    } else if (type !== 'message_stream_abort' || !drafts.delete(data.streamId)) return
    draw()
  }

  let pause = shortestPause
  for (;;) {
    try {
      // A stream that fails to open would go on trying in the background, unseen by the client.
      await fetch(`${apiUrl}/hello`).then(requireOk)
      // A new listener each time: one whose attempt to connect has failed stays so.
      const listener = await client.listenConversation({ id: conversationId })
      const lost = new Promise((resolve) => {
        listener.on('error', resolve)
        // The browser knows at once what the stream would find out after a minute.
        addEventListener('offline', resolve, { once: true })
      })
      // Those of before come first; what is said meanwhile has to wait for them.
      let hear = (message) => early.push(message)
      const early = []
      listener.on('message_created', (message) => hear(message))
      listener.on('message_deleted', ({ id }) => onDelete(id))
      // The client of today does not know these signals yet and hands them on as they came.
      listener.on('unknown', (signal) => hearDraft(read(signal)))
      try {
        for (const message of await missedMessages(client, conversationId, told)) tell(message)
        early.forEach(tell)
        hear = tell
        onState('open')
        pause = shortestPause
        await lost
      } finally {
        await listener.disconnect()
      }
    } catch (error) {
      // The address, the key or the part in the conversation is gone: trying again does not help.
      if ([400, 401, 403, 404].includes(error.code ?? error.status)) throw error
    }
    onState('broken')
    // A listener that comes back is told again what was written so far.
    drafts.clear()
    draw()
    await pauseOrOnline((pause * (1 + Math.random())) / 2)
    pause = Math.min(pause * 2, longestPause)
  }
}

/** Messages that were not told, oldest first: as many pages as it takes to reach those that were. */
async function missedMessages(client, conversationId, told) {
  const missed = []
  for await (const message of client.list.messages({ conversationId })) {
    if (told.has(message.id)) break
    missed.unshift(message)
  }
  return missed
}

/** A signal as it came; `ping`, which only keeps the connection alive, is none. */
function read(signal) {
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
