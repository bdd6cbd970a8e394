import type { FastifyReply, FastifyRequest } from 'fastify'

/** Bytes of a body that are still read, and dropped, after its request was refused. */
const bytesToDrop = 4 * 1024 * 1024
/** Milliseconds for that. */
const timeToDrop = 5000
/** Milliseconds between two looks at how far it is. */
const interval = 100

/**
 * When an upload is answered before its end, the rest is read and dropped for a moment, as other
 * servers do: closing at once would reset the connection, and the sender might never see why. Whoever
 * goes on sending is cut off; whoever was nearly done keeps the connection.
 */
export function discardUnreadBody(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  reply.raw.once('finish', () => {
    const { socket } = raw
    if (raw.readableEnded) return
    raw.on('error', () => undefined)
    // Node no longer tells an answered request that its connection is gone. Whoever still reads the
    // body, such as a store with an open file, would wait for ever.
    const giveUp = () => void raw.destroy()
    if (socket.destroyed) return giveUp()
    socket.once('close', giveUp)
    raw.once('end', () => socket.off('close', giveUp))
    raw.resume()
    const first = socket.bytesRead
    const end = performance.now() + timeToDrop
    const timer = setInterval(() => {
      const isDone = raw.readableEnded || socket.destroyed
      const isEnough = socket.bytesRead - first > bytesToDrop || performance.now() > end
      if (isDone || isEnough) clearInterval(timer)
      if (!isDone && isEnough) socket.destroy()
    }, interval)
    timer.unref()
  })
}
