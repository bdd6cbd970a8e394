import type { FastifyReply, FastifyRequest } from 'fastify'

/** Bytes of a body that are still read, and dropped, after its request was refused. */
const bytesToDrop = 4 * 1024 * 1024
/** Milliseconds for that. */
const timeToDrop = 5000

/**
 * When an upload is answered before its end, the rest is read and dropped for a moment, as other
 * servers do: closing at once would reset the connection, and the sender might never see why. Whoever
 * goes on sending is cut off; whoever was nearly done keeps the connection.
 */
export function discardUnreadBody(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  // Before Node hears of it, which would drop what nobody has begun to read, without a word.
  reply.raw.prependOnceListener('finish', () => {
    const { socket } = raw
    if (raw.readableEnded) return
    raw.on('error', () => undefined)
    raw.read()
    // Node no longer tells an answered request that its connection is gone. Whoever still reads the
    // body, such as a store with an open file, would wait for ever.
    if (socket.destroyed) return void raw.destroy()
    const first = socket.bytesRead
    const late = setTimeout(() => socket.destroy(), timeToDrop).unref()
    const giveUp = () => {
      clearTimeout(late)
      raw.destroy()
    }
    socket.once('close', giveUp)
    raw.once('end', () => {
      clearTimeout(late)
      socket.off('close', giveUp)
    })
    // Each time that something comes: between two looks a fast sender could bring all there is.
    raw.on('data', () => {
      if (socket.bytesRead - first > bytesToDrop) socket.destroy()
    })
    raw.resume()
  })
}
