import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A call to the webhook of an app, as it came. */
interface Posted {
  path: string
  headers: IncomingHttpHeaders
  /** As it was signed. */
  body: string
  signal: { type: string; data: Record<string, unknown> }
}

export interface WebhookApp {
  url: string
  /** Calls with a response status below 300. */
  taken: Posted[]
  /** All calls. */
  posted: Posted[]
  /** Statuses of the next responses; then 200. */
  answers: number[]
}

/** The webhook of an app, for the signals of a chat; it ends with the test. */
export async function startWebhookApp(): Promise<WebhookApp> {
  const app = {
    url: '',
    taken: [] as Posted[],
    posted: [] as Posted[],
    answers: [] as number[],
  }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { url: path = '', headers } = request
    const call = { path, headers, body, signal: JSON.parse(body) }
    const status = app.answers.shift() ?? 200
    app.posted.push(call)
    if (status < 300) app.taken.push(call)
    response.writeHead(status).end(status < 300 ? 'thanks' : 'no')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  app.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/signals`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return app
}
