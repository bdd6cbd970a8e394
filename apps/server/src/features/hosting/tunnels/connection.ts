import type { Timers } from '../../../platform/clock.js'
import type { Peer, PeerListener } from '../../../platform/streams/peer.js'
import {
  helloFrame,
  type ResponseFrame,
  readFrame,
  requestFrame,
  type TunnelRequest,
  type TunnelResponse,
  tunnelCodes,
} from './protocol.js'

/** The connection broke, or never worked, before the response to a request. */
export class ConnectionLostError extends Error {
  override name = 'ConnectionLostError'
}

/** A request does not fit into the limits of the connection. */
export class ConnectionLimitError extends Error {
  override name = 'ConnectionLimitError'
}

export interface ConnectionLimits {
  /** Requests that may wait for a response. */
  requests: number
  /** Bytes of one text. */
  messageBytes: number
}

export interface ConnectionOptions {
  /** Identifies the connection, unlike any other. */
  id: string
  tunnelId: string
  /** Network address of the developer. */
  address: string
  peer: Peer
  timers: Timers
  limits: ConnectionLimits
  /** Called once, when it is gone. */
  onClose: (connection: TunnelConnection) => void
}

/** Milliseconds between two signs of life that are requested; without one of either the connection is cut. */
const pingMs = 20_000
/** Texts that are no response to a request and that may arrive between two pings; tools say hello every 5 s. */
const maxUnrequested = 200
/** Bytes of such a text. */
const unrequestedBytes = 64 * 1024

/** The WebSocket of a developer's tool, through which the server sends requests. */
export class TunnelConnection implements PeerListener {
  readonly id: string
  readonly tunnelId: string
  readonly address: string
  readonly #peer: Peer
  readonly #timers: Timers
  readonly #limits: ConnectionLimits
  readonly #onClose: (connection: TunnelConnection) => void
  readonly #waiting = new Map<string, Waiting>()
  /** Ids of requests that were given up: the tool may still respond to them. */
  readonly #abandoned = new Set<string>()
  readonly #probes = new Set<() => void>()
  #open = true
  #isAlive = true
  #unrequested = 0
  #cancelPing = () => {}

  constructor({ id, tunnelId, address, peer, timers, limits, onClose }: ConnectionOptions) {
    this.id = id
    this.tunnelId = tunnelId
    this.address = address
    this.#peer = peer
    this.#timers = timers
    this.#limits = limits
    this.#onClose = onClose
    this.#ping()
  }

  get isOpen(): boolean {
    return this.#open
  }

  get allowance(): number {
    const isOwed = this.#waiting.size > 0 || this.#abandoned.size > 0
    return isOwed ? this.#limits.messageBytes : unrequestedBytes
  }

  /**
   * Sends a request and returns the response, whatever its status.
   * @param signal gives the request up; the response is ignored then
   * @throws ConnectionLostError, ConnectionLimitError, or the reason of the signal
   */
  async send(id: string, request: TunnelRequest, signal: AbortSignal): Promise<TunnelResponse> {
    signal.throwIfAborted()
    if (!this.#open) throw new ConnectionLostError()
    const { requests, messageBytes } = this.#limits
    if (this.#waiting.size >= requests) {
      throw new ConnectionLimitError(
        `The tunnel has ${requests} calls without a response. The operator can raise BOTSTEAD_MAX_TUNNEL_REQUESTS.`,
      )
    }
    const text = requestFrame(id, request)
    const bytes = Buffer.byteLength(text)
    if (bytes > messageBytes) {
      throw new ConnectionLimitError(
        `The call has ${bytes} bytes in JSON, and the tunnel takes ${messageBytes}. The operator can raise BOTSTEAD_MAX_TUNNEL_MESSAGE_BYTES.`,
      )
    }
    // A tool that does not read must not make the server keep everything.
    if (this.#peer.pending + bytes > 2 * messageBytes) {
      throw new ConnectionLimitError('The tool at the other end of the tunnel reads too slowly.')
    }
    return await new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.reject(signal.reason)
        this.#abandon(id)
      }
      const end = () => {
        this.#waiting.delete(id)
        signal.removeEventListener('abort', giveUp)
      }
      const waiting: Waiting = {
        resolve: (response) => {
          end()
          resolve(response)
        },
        reject: (error) => {
          end()
          reject(error)
        },
      }
      this.#waiting.set(id, waiting)
      signal.addEventListener('abort', giveUp)
      this.#peer.send(text)
    })
  }

  /** Whether the other side gives a sign of life within some milliseconds. */
  async probe(milliseconds: number): Promise<boolean> {
    if (!this.#open) return false
    return await new Promise((resolve) => {
      const end = (alive: boolean) => {
        this.#probes.delete(seen)
        cancel()
        resolve(alive)
      }
      const seen = () => end(this.#open)
      const cancel = this.#timers.after(milliseconds, () => end(false))
      this.#probes.add(seen)
      this.#peer.ping()
    })
  }

  close(code: number, reason: string): void {
    this.#peer.close(code, reason)
    this.#end()
  }

  /** Ends it at once, without a word. */
  cut(): void {
    this.#peer.cut()
    this.#end()
  }

  onText(text: string | undefined): void {
    if (!this.#open) return
    const frame = text === undefined ? undefined : readFrame(text)
    if (frame === undefined) {
      this.close(tunnelCodes.invalidResponse, 'invalid response payload')
      return
    }
    if (frame.type === 'response') {
      const waiting = this.#waiting.get(frame.requestId)
      if (waiting !== undefined) {
        settle(waiting, frame)
        return
      }
      if (this.#abandoned.delete(frame.requestId)) return
    }
    // Greetings are normal, floods of them are not.
    this.#unrequested += 1
    if (this.#unrequested > maxUnrequested) {
      this.close(tunnelCodes.invalidResponse, 'too many messages')
    }
  }

  onBytes(): void {
    this.#isAlive = true
    for (const seen of [...this.#probes]) seen()
  }

  onClose(): void {
    this.#end()
  }

  #abandon(id: string): void {
    this.#abandoned.add(id)
    if (this.#abandoned.size <= this.#limits.requests) return
    const [oldest = id] = this.#abandoned
    this.#abandoned.delete(oldest)
  }

  #ping(): void {
    this.#cancelPing = this.#timers.after(pingMs, () => {
      if (!this.#isAlive) {
        this.cut()
        return
      }
      this.#isAlive = false
      this.#unrequested = 0
      this.#peer.ping()
      // Some proxies count messages only.
      if (this.#peer.pending === 0) this.#peer.send(helloFrame)
      this.#ping()
    })
  }

  #end(): void {
    if (!this.#open) return
    this.#open = false
    this.#cancelPing()
    for (const seen of [...this.#probes]) seen()
    for (const waiting of [...this.#waiting.values()]) waiting.reject(new ConnectionLostError())
    this.#onClose(this)
  }
}

/** Maximum bytes of the headers of a response, as HTTP clients have it. */
const maxHeaderBytes = 16 * 1024

function settle(waiting: Waiting, { response, headerBytes }: ResponseFrame): void {
  if (headerBytes <= maxHeaderBytes) waiting.resolve(response)
  else {
    waiting.reject(
      new ConnectionLimitError(
        `The headers of the response have more than ${maxHeaderBytes} bytes.`,
      ),
    )
  }
}

interface Waiting {
  resolve(response: TunnelResponse): void
  reject(error: unknown): void
}
