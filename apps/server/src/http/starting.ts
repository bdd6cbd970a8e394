import { once } from 'node:events'
import { createServer } from 'node:http'

/** Rejects with the error of the system if a server cannot listen at an address. */
export async function requireFreeAddress(address: { host: string; port: number }): Promise<void> {
  const server = createServer().listen(address)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

/** Milliseconds that a start may take before callers are told about it. */
const patienceMs = 1000

/**
 * Responds at the address of a server whose start takes long, as with migrations of a large database: `/healthz` is
 * fine, so that no supervisor ends it, and everything else is told to come back.
 * @returns ends it, so that the server can listen there
 */
export function respondWhileStarting(
  address: { host: string; port: number },
  phase: () => string,
): () => Promise<void> {
  const server = createServer((request, response) => {
    const isAlive = request.method === 'GET' && request.url?.split('?', 1)[0] === '/healthz'
    const body = isAlive
      ? { status: 'ok' }
      : {
          id: '',
          code: 503,
          type: 'Internal',
          message: `The server is not ready: ${phase()}.`,
          metadata: { retryAfterSeconds: 5 },
        }
    response.writeHead(isAlive ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'close',
      ...(!isAlive && { 'retry-after': '5' }),
    })
    response.end(JSON.stringify(body))
  })
  // An address that cannot be used is reported by the server itself.
  server.on('error', () => {})
  const timer = setTimeout(() => server.listen(address), patienceMs)
  return async () => {
    clearTimeout(timer)
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
}
