import type { Socket } from 'node:net'
import type { Frame } from '../../platform/streams/frame.js'
import type { Sink } from '../../platform/streams/sink.js'

interface Framing {
  /** The bytes of a frame in this transport. */
  of(frame: Frame): Buffer
  ping: Buffer
  /** Says goodbye after what is queued. Default: the connection is ended. */
  end?(): void
}

/** Stands for a connection that is gone already. */
export const goneSink: Sink = {
  pending: 0,
  send: () => {},
  ping: () => {},
  ready: async () => {},
  end: () => {},
  cut: () => {},
  onClose: (callback) => callback(),
}

/** Milliseconds in which a connection has to end after it was asked to. */
const farewellMilliseconds = 2000

/**
 * A sink that writes to a connection itself: the same buffer for all listeners, nothing copied and
 * nothing queued but by the connection.
 */
export function socketSink(socket: Socket, framing: Framing): Sink {
  let open = !socket.destroyed
  const callbacks: (() => void)[] = []
  socket.once('close', () => {
    open = false
    for (const callback of callbacks) callback()
  })
  // A broken connection ends with `close` as well; without a listener this would end the process.
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
    end: () => {
      if (!open) return
      open = false
      if (framing.end) framing.end()
      else socket.end()
      const timer = setTimeout(() => socket.destroy(), farewellMilliseconds)
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
