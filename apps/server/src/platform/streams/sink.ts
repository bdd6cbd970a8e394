import type { Frame } from './frame.js'

/** The reason for which the server ends a stream: `stopping`, after which clients may reconnect, or `unauthorized`. */
export type EndReason = 'stopping' | 'unauthorized'

/** Codes of RFC 6455 with which the server closes WebSockets. */
export const closeCodes = { goingAway: 1001, policyViolation: 1008 } as const

/** An open connection to a listener, over whatever transport. After its end all calls do nothing. */
export interface Sink {
  /** Bytes that the network has not taken yet. */
  readonly pending: number
  /** Queues a frame; never waits. */
  send(frame: Frame): void
  /** Sends what keeps the connection alive. */
  ping(): void
  /** Resolves once the network has taken enough to go on, or the connection is gone. */
  ready(): Promise<void>
  /** Ends the connection after what is queued. @param reason default: `stopping` */
  end(reason?: EndReason): void
  /** Ends the connection at once; what is queued is lost. */
  cut(): void
  /** Calls back once when the connection is gone, at once if it is already. */
  onClose(callback: () => void): void
}

/** Begins to serve an admitted connection. */
export type StartStream = (sink: Sink) => void
