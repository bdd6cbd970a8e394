import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Share of the shutdown time for open requests; the rest is for jobs and the database. */
const shareForRequests = 0.6

/** Milliseconds between two checks for connections whose last response has been sent. */
const idleInterval = 20

/** Accepts the connections of an application. */
export interface Listener {
  /** @throws if the address is in use or does not belong to this machine */
  listen(address: { host: string; port: number }): Promise<void>
  /** Stops accepting, lets open requests finish, and cuts off those that take too long. */
  close(timeoutMilliseconds: number): Promise<void>
}

/** @param addressesOf resolves a host name; the system resolver by default */
export function createListener(
  app: FastifyInstance,
  addressesOf: (host: string) => Promise<{ address: string }[]> = (host) =>
    lookup(host, { all: true }),
): Listener {
  const others: Server[] = []

  /** Passes connections to another address to the same HTTP server, under the same limits. */
  async function listenAlsoOn(host: string, port: number): Promise<void> {
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      app.server.emit('connection', socket),
    )
    other.listen({ host, port })
    try {
      await once(other, 'listening')
    } catch {
      // Many machines resolve names to addresses that they do not have, such as ::1.
      return
    }
    other.on('error', (error) => app.server.emit('error', error))
    others.push(other)
  }

  return {
    async listen({ host, port }) {
      await app.listen({ host, port })
      const own = app.server.address()
      // Some clients connect to 127.0.0.1 for this name, others to ::1. A server listens on the first only.
      if (host !== 'localhost' || own === null || typeof own === 'string') return
      const all = await addressesOf(host).catch(() => [])
      const further = new Set(
        all.map(({ address }) => address).filter((one) => one !== own.address),
      )
      await Promise.all([...further].map((address) => listenAlsoOn(address, own.port)))
    },

    async close(timeoutMilliseconds) {
      const timer = setTimeout(
        () => app.server.closeAllConnections(),
        timeoutMilliseconds * shareForRequests,
      )
      // Idle connections are closed at once; those with an open request become idle
      // later, and clients would keep them open for another request.
      const idle = setInterval(() => app.server.closeIdleConnections(), idleInterval)
      try {
        const closed = others.map((other) => once(other, 'close'))
        for (const other of others) other.close()
        await Promise.all([app.close(), ...closed])
      } finally {
        clearTimeout(timer)
        clearInterval(idle)
      }
    },
  }
}
