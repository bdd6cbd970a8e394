/** An open WebSocket to a program that sends and receives texts. After its end all calls do nothing. */
export interface Peer {
  /** Bytes that the network has not taken yet. */
  readonly pending: number
  /** Queues a text; never waits. */
  send(text: string): void
  /** Requests a sign of life, which every client of the protocol returns by itself. */
  ping(): void
  /**
   * Ends the connection after what is queued.
   * @param code of the WebSocket protocol, or an own one from 4000
   * @param reason at most 123 bytes
   */
  close(code: number, reason: string): void
  /** Ends the connection at once; what is queued is lost. */
  cut(): void
}

/** Receives the events of one connection; its methods must not throw. */
export interface PeerListener {
  /** A whole text arrived; undefined for bytes that are no text. */
  onText(text: string | undefined): void
  /** Bytes arrived, of whatever kind: the other side is alive. */
  onBytes(): void
  /** Called once, when the connection is gone. */
  onClose(): void
  /** Bytes that may arrive now before they make a whole text. */
  readonly allowance: number
}

/** A connection that was admitted and holds a slot until it is opened and closed, or abandoned. */
export interface AdmittedPeer {
  open(peer: Peer): PeerListener
  /** The connection broke before it was opened. */
  abandon(): void
}
