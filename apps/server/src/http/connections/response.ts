import { type IncomingMessage, ServerResponse } from 'node:http'

/** Counts a response, with its status and the milliseconds since the head of its request arrived. */
type Observe = (status: number, milliseconds: number) => void

/** A response that is sent in one piece if it is one text, and whose late writes do not end the process. */
export class Response<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Called when the operating system has taken all of the response; not called if the client has disconnected before. */
  observe: Observe | undefined = undefined
  readonly #startedAt = performance.now()

  constructor(...options: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(...options)
    // A write after the end of the connection fails with an event.
    this.on('error', ignore)
  }

  /**
   * Writes a text before it ends the response. If Node gets the text with the end, it sends an empty text after
   * it, and the system call for two pieces takes a quarter of the time of an empty request.
   */
  override end(...rest: unknown[]): this {
    const [text, encoding, callback] = rest
    const isText = typeof text === 'string' && text !== '' && !encoding && !callback
    const { socket } = this
    if (!isText || socket === null || this.writableEnded) {
      if (this.observe !== undefined) this.once('finish', this.#report)
      return super.end(...(rest as Parameters<ServerResponse['end']>))
    }
    // Head and text become one piece, and leave now: Node itself would wait for the next tick.
    socket.cork()
    this.write(text)
    socket.uncork()
    // What the operating system did not take is sent as fast as the client reads, and counts as time.
    const isTaken = socket.writableLength === 0
    if (!isTaken && this.observe !== undefined) this.once('finish', this.#report)
    super.end()
    if (isTaken) this.#report()
    return this
  }

  #report(): void {
    if (!this.destroyed) this.observe?.(this.statusCode, performance.now() - this.#startedAt)
  }
}

/**
 * Calls a function when a response was sent, and never if the client disconnects before. The framework's hook for
 * this takes as long as the validation of a short body.
 */
export function observeResponse(response: ServerResponse, observe: Observe): void {
  if (response instanceof Response) response.observe = observe
}

function ignore(): void {}

/** Whether the client has disconnected. */
export function isGone({ socket }: IncomingMessage): boolean {
  return socket.destroyed || socket.remoteAddress === undefined
}
