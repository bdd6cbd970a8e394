import { connect, type Socket } from 'node:net'
import { ApiError } from '@botstead/contract'
import type { FastifyInstance } from 'fastify'
import { vi } from 'vitest'
import { type AppOptions, createApp } from '../src/http/app.js'
import { createIds } from '../src/platform/ids.js'
import { createLog } from '../src/platform/telemetry/log.js'

/** The HTTP layer alone, listening on a free port. */
export interface ListeningApp {
  app: FastifyInstance
  port: number
  /** A plain connection, with the end that the server has of it. */
  connect(): Promise<{ client: Socket; server: Socket }>
}

const nobody = (): never => {
  throw new ApiError('Unauthorized', 'Nobody is known here.')
}

/** Listens with a few routes; what is not given is as lax as it can be. */
export async function listenApp(
  options: Pick<AppOptions, 'routes'> & Partial<AppOptions>,
): Promise<ListeningApp> {
  const app = await createApp({
    authenticator: {
      account: nobody,
      token: nobody,
      workspace: nobody,
      bot: nobody,
      chat: nobody,
      chatUser: nobody,
      holderOf: nobody,
    },
    idempotency: {
      find: async () => undefined,
      save: async () => {},
      isTaken: () => false,
      sweep: async () => 0,
    },
    rateLimiter: undefined,
    throttle: () => undefined,
    exemptLoopback: true,
    allowance: 100,
    log: await createLog({ level: 'silent' }),
    newRequestId: () => createIds().next('req'),
    trustedProxies: [],
    bodyLimits: { small: { bytes: 5_000_000 }, large: { bytes: 5_000_000 } },
    allowedOrigins: undefined,
    meter: undefined,
    checkResponses: true,
    ...options,
  })
  let accepted: Socket[] = []
  app.server.on('connection', (socket) => accepted.push(socket))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  return {
    app,
    port,
    connect: async () => {
      const client = connect(port, '127.0.0.1')
      // The server may end a connection while this side still sends.
      client.on('error', () => undefined)
      // Several may connect at once.
      const isOther = ({ remotePort }: Socket) => remotePort !== client.localPort
      const server = await vi.waitUntil(
        () => !client.connecting && accepted.find((each) => !isOther(each)),
        { interval: 1 },
      )
      accepted = accepted.filter(isOther)
      return { client, server }
    },
  }
}
