import type { Agent } from 'undici'
import {
  type HeldBytes,
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
  sendThrough,
} from '../../platform/outgoing/outgoing.js'
import type { OutputShare } from './budget.js'
import { connectorTo } from './program-socket.js'

export interface ProgramClientDeps {
  /** The class of its clients, which the server loads when it starts a program. */
  Client: typeof Agent
  /** Path of the socket of the program. */
  path: string
  /** The part of the program of what is read of the responses of all programs. */
  share: OutputShare
  /** Its part of the memory for responses that are in progress. */
  held: HeldBytes
  /** Maximum number of requests at a time. */
  requests: number
}

/** Sends requests to a program. */
export interface ProgramClient {
  /** Sends a request to the code. @throws OutgoingError when there is no response */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
  /** Whether the event loop of the program runs: in an endless loop it does not. */
  responds(): Promise<boolean>
  /** The code cache of V8 as it is now; undefined if the code was loaded with one, or if there is no response. */
  compiled(): Promise<Buffer | undefined>
  /** Ends all connections. */
  destroy(): Promise<void>
}

/** Milliseconds within which the host program responds, unless the code is in an endless loop. */
export const probeMs = 2000
/** Maximum bytes of compiled code: more is not kept. */
const maxCompiledBytes = 16 * 2 ** 20
const origin = 'http://program'

export function createProgramClient(deps: ProgramClientDeps): ProgramClient {
  const { Client, path, share, held, requests } = deps
  const connect = (connections: number, maxBodyLength: number): Agent =>
    new Client({
      connect: connectorTo(path, { share, maxBodyLength }),
      connections,
      pipelining: 1,
      // Each request has its own time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  const client = connect(requests, maxCompiledBytes)
  /** A client of its own, so that a probe does not wait behind requests for a connection. */
  const prober = connect(1, 0)

  return {
    send: (request) => sendThrough(client, { origin, path: '/' }, request, held),

    async responds() {
      try {
        await sendThrough(
          prober,
          { origin, path: '/health' },
          { method: 'HEAD', headers: {}, timeoutMs: probeMs, maxResponseBytes: 0 },
        )
        return true
      } catch (error) {
        return !(error instanceof OutgoingError && error.failure === 'timeout')
      }
    },

    async compiled() {
      const response = await sendThrough(
        client,
        { origin, path: '/compiled' },
        { method: 'GET', headers: {}, timeoutMs: probeMs, maxResponseBytes: maxCompiledBytes },
        held,
      ).catch(() => undefined)
      return response?.status === 200 && !response.cut ? response.body : undefined
    },

    async destroy() {
      await Promise.all([client.destroy(), prober.destroy()])
    },
  }
}
