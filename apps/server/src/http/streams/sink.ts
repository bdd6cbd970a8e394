import type { Socket } from 'node:net'
import type { Frame } from '../../platform/streams/frame.js'
import type { EndReason, Sink } from '../../platform/streams/sink.js'

interface Framing {
  /** The bytes of a frame in this transport. */
  of(frame: Frame): Buffer
  ping: Buffer
  /** Sends a closing message after what is queued. Default: the connection is closed. */
  end?(reason: EndReason): void
}

/** Represents a connection that is already closed. */
export const closedSink: Sink = {
  pending: 0,
  send: () => {},
  ping: () => {},
  ready: async () => {},
  end: () => {},
  cut: () => {},
  onClose: (callback) => callback(),
}

/** Milliseconds within which a connection must close once the server has begun to close it. */
const closeMilliseconds = 2000

/**
 * A sink that writes directly to a connection: the same buffer for all listeners, without copies and
 * without a queue other than that of the connection.
 */
export function socketSink(socket: Socket, framing: Framing): Sink {
  let open = !socket.destroyed
  const callbacks: (() => void)[] = []
  socket.once('close', () => {
    open = false
    for (const callback of callbacks) callback()
  })
  // A broken connection also emits `close`; without a listener the error would end the process.
  socket.on('error', () => {})
  const write = (bytes: Buffer) => {
    if (open) socket.write(bytes)
  }
  return {
    get pending() {
      return socket.writableLength
    },
    send: (frame) => write(framing.of(frame)),
    ping: () => write(framing.ping),
    ready: async () => {
      if (!open || !socket.writableNeedDrain) return
      await new Promise<void>((resolve) => {
        const done = () => {
          socket.off('drain', done)
          socket.off('close', done)
          resolve()
        }
        socket.on('drain', done)
        socket.on('close', done)
      })
    },
    end: (reason = 'stopping') => {
      if (!open) return
      open = false
      if (framing.end) framing.end(reason)
      else socket.end()
      const timer = setTimeout(() => socket.destroy(), closeMilliseconds)
      socket.once('close', () => clearTimeout(timer))
    },
    cut: () => {
      open = false
      socket.destroy()
    },
    onClose: (callback) => {
      if (socket.destroyed) callback()
      else callbacks.push(callback)
    },
  }
}
