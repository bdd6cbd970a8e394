import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const responses = new WeakMap<Socket, Set<ServerResponse>>()

/**
 * A response that closes with its connection, also while it waits behind others: by itself Node
 * closes only the response that is being sent, and files and sockets of the others would
 * stay open.
 */
export class TrackedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  constructor(...[request, ...options]: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(request, ...options)
    const { socket } = request
    // Node caches the address at the first read, and cannot determine it after the connection was reset.
    void socket.remoteAddress
    const all = responses.get(socket) ?? follow(socket)
    all.add(this)
    this.once('close', () => all.delete(this))
    // Errors of writes after the end of the connection are ignored.
    this.on('error', () => {})
  }
}

function follow(socket: Socket): Set<ServerResponse> {
  const all = new Set<ServerResponse>()
  responses.set(socket, all)
  socket.once('close', () => {
    for (const response of all) if (response.socket === null) abandon(response)
  })
  return all
}

/** Does what Node does with the response that is being sent. */
function abandon(response: ServerResponse): void {
  Object.assign(response, { destroyed: true, _closed: true })
  response.emit('close')
}

/** Whether a connection has responses that are not completely sent. */
export function hasPendingResponses(socket: Socket): boolean {
  return (responses.get(socket)?.size ?? 0) > 0
}

/** Whether the client has disconnected. */
export function isGone({ socket }: IncomingMessage): boolean {
  return socket.destroyed || socket.remoteAddress === undefined
}
