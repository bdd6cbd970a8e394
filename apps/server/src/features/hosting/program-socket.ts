import { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import type { OutputShare } from './budget.js'
import { createResponseForm } from './response-form.js'

interface ResponseBounds {
  /** The part of the program of what is read of all programs. */
  share: OutputShare
  /** Maximum bytes of the body of a response. */
  maxBodyLength: number
}

/** Connects a client to the socket of a program; what comes from there is bounded before it is parsed. */
export function connectorTo(path: string, bounds: ResponseBounds): buildConnector.connector {
  return (_, callback) => {
    const socket = new ProgramSocket(bounds)
    const onError = (error: Error) => callback(error, null)
    socket.once('error', onError).once('connect', () => {
      socket.off('error', onError)
      callback(null, socket)
    })
    socket.connect({ path })
  }
}

/** Reads within the budget, and ends itself at what is no response. A stream behind the socket would delay replies. */
class ProgramSocket extends Socket {
  readonly #share: OutputShare
  readonly #check: (piece: Buffer) => void
  #isWaiting = false

  constructor({ share, maxBodyLength }: ResponseBounds) {
    super()
    this.#share = share
    this.#check = createResponseForm(maxBodyLength)
  }

  /** Node calls it with what it has read, and stops reading when it returns false. */
  override push(piece: Buffer | null): boolean {
    if (piece === null || this.destroyed) return super.push(piece)
    try {
      this.#check(piece)
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
      return false
    }
    const mayGoOn = this.#share.take({ bytes: piece.length, lines: 1 })
    return super.push(piece) && mayGoOn
  }

  /** Node calls it when more may be read. */
  override _read(size: number): void {
    if (this.#isWaiting) return
    if (this.#share.take({})) {
      super._read(size)
      return
    }
    this.#isWaiting = true
    this.#share.wait(() => {
      this.#isWaiting = false
      if (!this.destroyed) super._read(size)
    })
  }
}
