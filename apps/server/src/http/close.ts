import type { FastifyInstance } from 'fastify'

/** Share of the time to stop that open requests get; the rest is for jobs and the database. */
const shareForRequests = 0.6

/** Milliseconds between two looks for connections whose last request has been answered. */
const idleInterval = 20

/** Stops accepting, lets open requests finish, and cuts off those that take too long. */
export async function closeHttp(app: FastifyInstance, timeoutMilliseconds: number): Promise<void> {
  const timer = setTimeout(
    () => app.server.closeAllConnections(),
    timeoutMilliseconds * shareForRequests,
  )
  // Connections that are idle now are closed at once; those with an open request become idle later,
  // and clients would keep them open for a next one.
  const idle = setInterval(() => app.server.closeIdleConnections(), idleInterval)
  try {
    await app.close()
  } finally {
    clearTimeout(timer)
    clearInterval(idle)
  }
}
