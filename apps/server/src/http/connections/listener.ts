import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Share of the time to stop that open requests get; the rest is for jobs and the database. */
const shareForRequests = 0.6

/** Milliseconds between two looks for connections whose last request has been answered. */
const idleInterval = 20

/** Where an application takes its connections. */
export interface Listener {
  /** @throws if the address is in use, or is none of this machine */
  listen(address: { host: string; port: number }): Promise<void>
  /** Stops accepting, lets open requests finish, and cuts off those that take too long. */
  close(timeoutMilliseconds: number): Promise<void>
}

/** @param addressesOf looks up a name; that of the system if left out */
export function createListener(
  app: FastifyInstance,
  addressesOf: (host: string) => Promise<{ address: string }[]> = (host) =>
    lookup(host, { all: true }),
): Listener {
  const others: Server[] = []

  /** Hands every connection to another address to the one HTTP server, with its limits. */
  async function listenToo(host: string, port: number): Promise<void> {
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      app.server.emit('connection', socket),
    )
    other.listen({ host, port })
    try {
      await once(other, 'listening')
    } catch {
      // Many machines have a name for an address that they do not use, such as ::1.
      return
    }
    other.on('error', (error) => app.server.emit('error', error))
    others.push(other)
  }

  return {
    async listen({ host, port }) {
      await app.listen({ host, port })
      const own = app.server.address()
      // Some clients take 127.0.0.1 for this name and some ::1. A server listens to the first only.
      if (host !== 'localhost' || own === null || typeof own === 'string') return
      const all = await addressesOf(host).catch(() => [])
      const further = new Set(
        all.map(({ address }) => address).filter((one) => one !== own.address),
      )
      await Promise.all([...further].map((address) => listenToo(address, own.port)))
    },

    async close(timeoutMilliseconds) {
      const timer = setTimeout(
        () => app.server.closeAllConnections(),
        timeoutMilliseconds * shareForRequests,
      )
      // Connections that are idle now are closed at once; those with an open request become idle
      // later, and clients would keep them open for a next one.
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
