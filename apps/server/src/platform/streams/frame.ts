/** Opcode of a whole text message, with the bit that says it is the last frame of it. */
const wholeText = 0x81

/**
 * One signal in the bytes of both transports. Each form is made at its first use and is the same for
 * all listeners, so that telling ten thousand of them costs one serialisation.
 */
export class Frame {
  readonly #json: string
  readonly #sequence: number | string | undefined
  #eventStream: Buffer | undefined
  #webSocket: Buffer | undefined

  /**
   * @param signal what happened
   * @param sequence where it stands in the log, without line breaks; undefined if a listener that has it cannot go on from there
   */
  constructor(signal: { type: string; data: object }, sequence: number | string | undefined) {
    this.#json = JSON.stringify(signal)
    this.#sequence = sequence
  }

  /** A server-sent event; its id is the sequence. */
  get eventStream(): Buffer {
    this.#eventStream ??= Buffer.from(
      `${this.#sequence === undefined ? '' : `id: ${this.#sequence}\n`}event: message\ndata: ${this.#json}\n\n`,
    )
    return this.#eventStream
  }

  /** A frame of WebSocket; the sequence stands beside the members of the signal. */
  get webSocket(): Buffer {
    this.#webSocket ??= toTextFrame(
      this.#sequence === undefined
        ? this.#json
        : `${this.#json.slice(0, -1)},"sequence":${JSON.stringify(this.#sequence)}}`,
    )
    return this.#webSocket
  }

  /** The signal alone. */
  get json(): string {
    return this.#json
  }
}

/**
 * Messages that keep an idle connection alive. Only real messages reset the timeout of clients: comments
 * and pings of the protocol do not.
 */
export const keepAlive = {
  eventStream: Buffer.from('event: message\ndata: ping\n\n'),
  webSocket: toTextFrame('ping'),
}

/** The bytes by which a server sends a text; servers do not mask. */
function toTextFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.from([wholeText, length]), payload])
  if (length < 65_536) {
    const head = Buffer.from([wholeText, 126, 0, 0])
    head.writeUInt16BE(length, 2)
    return Buffer.concat([head, payload])
  }
  const head = Buffer.alloc(10)
  head.writeUInt8(wholeText, 0)
  head.writeUInt8(127, 1)
  head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}
