const shortestPause = 1000
const longestPause = 30_000

/**
 * Follows a conversation: every message is told once and in order, also those that came while
 * the connection was broken. Runs until the page is left.
 * @param options.client connected client of the chat package
 * @param options.apiUrl the chat address
 * @param options.onMessage gets each message
 * @param options.onState gets `open` and `broken`
 */
export async function follow({ client, apiUrl, conversationId, onMessage, onState }) {
  const told = new Set()
  const tell = (message) => {
    if (told.has(message.id)) return
    told.add(message.id)
    onMessage(message)
  }

  let pause = shortestPause
  for (;;) {
    try {
      // A stream that fails to open would go on trying in the background, unseen by the client.
      await fetch(`${apiUrl}/hello`).then(requireOk)
      // A new listener each time: one whose attempt to connect has failed stays so.
      const listener = await client.listenConversation({ id: conversationId })
      const lost = new Promise((resolve) => listener.on('error', resolve))
      // Those of before come first; what is said meanwhile has to wait for them.
      let hear = (message) => early.push(message)
      const early = []
      listener.on('message_created', (message) => hear(message))
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
    await new Promise((resolve) => setTimeout(resolve, (pause * (1 + Math.random())) / 2))
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

function requireOk({ ok, status }) {
  if (!ok) throw Object.assign(new Error(`status ${status}`), { status })
}
