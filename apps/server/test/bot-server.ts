import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A message as a bot receives it. */
export interface ReceivedMessage {
  conversationId: string
  payload: Record<string, unknown>
}

/**
 * A small bot: an HTTP server that is called for every message of a user. It responds once `respond`
 * is done. Ends with the test.
 *
 * @returns the address, for the `url` of a bot
 */
export async function startBot(
  respond: (message: ReceivedMessage) => Promise<void>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { event } = (await json(request)) as { event?: { type: string; payload: EventPayload } }
    const message = event?.payload.message
    if (message !== undefined) await respond(message)
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('No port was given')
  return `http://127.0.0.1:${address.port}`
}

interface EventPayload {
  message?: ReceivedMessage
}
