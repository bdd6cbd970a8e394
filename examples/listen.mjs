import { once } from 'node:events'
import { createServer } from 'node:http'
import { createGuard } from './signed.mjs'

/** Maximum bytes of a request: a webhook of 4 MiB, escaped. */
const largest = 32 * 1024 * 1024

/**
 * Serves a bot or an integration to the server whose calls are signed with the secret, and to nobody else;
 * returns its address for that server. Settings: BOT_PORT; and on another machine than the server BOT_URL, the
 * address for the server, with BOT_HOST, the address to listen on, unless a proxy is in between.
 * @param program made with the bot SDK
 * @param secret `signingSecret` of the bot or integration
 * @param port unless BOT_PORT is set; 0 takes a free one
 */
export async function listen(program, { secret, port }) {
  if (!secret)
    throw new Error('Without the signing secret, anybody could pretend to be the server.')
  const refuse = createGuard(secret)
  // Not with the method `start` of the SDK: it listens on all interfaces, and accepts unsigned requests.
  const listener = createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error('A request failed:', error.message)
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end('{}')
    })
  })

  async function answer(request, response) {
    const { method, headers } = request
    const body = await bodyOf(request)
    if (body === undefined) return response.writeHead(413, { connection: 'close' }).end('{}')
    const result = refuse({ headers, body }) ?? (await handle({ method, headers, body, request }))
    response.writeHead(result?.status ?? 200, result?.headers).end(result?.body ?? '{}')
  }

  async function handle({ method, headers, body, request }) {
    const { pathname: path, search } = new URL(request.url, 'http://localhost')
    return await program.handler({
      method,
      headers,
      body: body.toString(),
      path,
      query: search.slice(1),
    })
  }

  listener.listen(Number(process.env.BOT_PORT ?? port), process.env.BOT_HOST ?? '127.0.0.1')
  try {
    await once(listener, 'listening')
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error
    // A line that says what to do, instead of a stack.
    console.error(
      `Port ${error.port} is in use, perhaps by the same bot in another terminal: stop that one, or set BOT_PORT to another port (0 takes a free one).`,
    )
    process.exit(1)
  }
  return process.env.BOT_URL ?? `http://127.0.0.1:${listener.address().port}`
}

/** The body of a request, or undefined if it is too large. */
async function bodyOf(request) {
  const parts = []
  let bytes = 0
  for await (const part of request) {
    bytes += part.length
    if (bytes > largest) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
