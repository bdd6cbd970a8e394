import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { guarded } from '../platform/guarded.js'
import type { AdmittedPeer, Peer, PeerListener } from '../platform/streams/peer.js'
import type { Log } from '../platform/telemetry/log.js'
import { callerAddress } from './caller-address.js'
import type { HttpContext } from './context.js'
import { acceptWebSockets, type Upgrades, wantsWebSocket } from './streams/index.js'

/**
 * Addresses outside of the contract at which programs open WebSockets and exchange texts. The slice that
 * serves them knows the protocol.
 */
export interface RawSocketRoute {
  /** Paths with `:name` for one segment. */
  paths: readonly string[]
  /** Maximum size in bytes of one text from the other side. */
  maxTextBytes: number
  /** Decides whether a program may connect; throws an `ApiError`, which it gets in place of a WebSocket. */
  admit(request: RawSocketRequest): Promise<AdmittedPeer>
  /** Throws the `ApiError` for requests that want no WebSocket. */
  refuse(): never
}

interface RawSocketRequest {
  /** Values of the segments in the path, decoded. */
  params: Readonly<Record<string, string>>
  /** Network address of the other side, as limits count it. */
  address: string
}

/** Mounts raw sockets. Their requests count against the address that they come from. */
export async function mountRawSockets(
  app: FastifyInstance,
  { admitUnmatched }: Pick<HttpContext, 'admitUnmatched'>,
  routes: readonly RawSocketRoute[],
  upgrades: Upgrades,
  newRequestId: () => string,
  log: Pick<Log, 'error'>,
): Promise<void> {
  const maxTextBytes = Math.max(0, ...routes.map((route) => route.maxTextBytes))
  await app.register(async (sockets) => {
    await acceptWebSockets(sockets, upgrades.servers.sockets, newRequestId, maxTextBytes)
    for (const { paths, admit, refuse } of routes) {
      for (const url of paths) {
        const admitted = new WeakMap<FastifyRequest, AdmittedPeer>()
        sockets.route({
          method: 'GET',
          url,
          exposeHeadRoute: false,
          onRequest: admitUnmatched,
          // The handshake comes after this hook: a refusal must be an ordinary response.
          preHandler: async (request) => {
            if (!wantsWebSocket(request)) refuse()
            const peer = await admit({
              params: request.params as Record<string, string>,
              address: callerAddress(request),
            })
            admitted.set(request, openOnce(request, peer))
          },
          handler: () => refuse(),
          wsHandler: (socket: WebSocket, request: FastifyRequest) => {
            const peer = admitted.get(request)
            if (peer !== undefined) connect(socket, request, peer, log)
          },
        })
      }
    }
  })
}

/** Abandons what was admitted if the connection closes before the handshake. */
function openOnce({ raw: { socket } }: FastifyRequest, admitted: AdmittedPeer): AdmittedPeer {
  let hasEnded = false
  const abandon = () => {
    if (hasEnded) return
    hasEnded = true
    admitted.abandon()
  }
  socket.once('close', abandon)
  if (socket.destroyed) abandon()
  return {
    abandon,
    open(peer) {
      hasEnded = true
      socket.off('close', abandon)
      return admitted.open(peer)
    },
  }
}

/** Milliseconds within which a connection must close once the server has begun to close it. */
const closeMilliseconds = 2000

function connect(
  webSocket: WebSocket,
  { raw: { socket } }: FastifyRequest,
  admitted: AdmittedPeer,
  log: Pick<Log, 'error'>,
): void {
  if (socket.destroyed) {
    admitted.abandon()
    return
  }
  socket.setTimeout(0)
  socket.setNoDelay(true)
  // A broken connection also emits `close`; without a listener the error would end the process.
  socket.on('error', () => {})
  const peer: Peer = {
    get pending() {
      return webSocket.bufferedAmount
    },
    send: (text) => webSocket.send(text, () => {}),
    ping: () => webSocket.ping(undefined, undefined, () => {}),
    close(code, reason) {
      webSocket.close(code, reason)
      const timer = setTimeout(() => socket.destroy(), closeMilliseconds)
      socket.once('close', () => clearTimeout(timer))
    },
    cut: () => socket.destroy(),
  }
  const listener = admitted.open(peer)
  const received = countUnfinished(listener, () => socket.destroy())
  // Anybody may send these bytes: a fault ends the connection they came from.
  const onFault = (err: unknown) => {
    log.error({ err }, 'a message of a WebSocket could not be handled; the connection is closed')
    socket.destroy()
  }
  webSocket.on(
    'message',
    guarded(onFault, (data: Buffer, isBinary: boolean) => {
      received.finish()
      listener.onText(isBinary ? undefined : data.toString('utf8'))
    }),
  )
  webSocket.once(
    'close',
    guarded(onFault, () => listener.onClose()),
  )
  socket.on(
    'data',
    guarded(onFault, (chunk: Buffer) => {
      // A long text may take minutes, and nothing else can arrive until its end: no pong either.
      listener.onBytes()
      received.add(chunk)
    }),
  )
}

/** Bytes that one read of the connection may contain beyond the end of a text. */
const readBytes = 256 * 1024

/**
 * Counts the bytes that arrive without making a whole text. The limit of a text is for those who may send
 * long ones: others must not occupy that much memory.
 */
function countUnfinished(listener: PeerListener, onExcess: () => void) {
  let bytes = 0
  return {
    add(chunk: Buffer): void {
      bytes += chunk.length
      if (bytes > listener.allowance + readBytes) onExcess()
    },
    finish(): void {
      bytes = 0
    },
  }
}
