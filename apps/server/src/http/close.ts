import type { FastifyInstance } from 'fastify'

/** Share of the time to stop that open requests get; the rest is for jobs and the database. */
const shareForRequests = 0.6

/** Stops accepting, lets open requests finish, and cuts off those that take too long. */
export async function closeHttp(app: FastifyInstance, timeoutMilliseconds: number): Promise<void> {
  const timer = setTimeout(
    () => app.server.closeAllConnections(),
    timeoutMilliseconds * shareForRequests,
  )
  try {
    await app.close()
  } finally {
    clearTimeout(timer)
  }
}
