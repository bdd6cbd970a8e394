import type { Log } from '../platform/log.js'

/** Milliseconds that open requests get at most: what the process still does may be wrong. */
const mostMilliseconds = 10_000
/** Milliseconds after which the process ends although not everything was closed. */
const graceMilliseconds = 1000

/** Ends a server, each of its parts within what is left of the time. */
type Stop = (timeoutMilliseconds: number) => Promise<void>

/**
 * Ends the process after an exception that nobody caught, or a rejection that nobody handled: whatever
 * was interrupted may hold wrong state from then on, so that nothing goes on silently. It is told once,
 * open requests are finished, and status 1 has whoever supervises the process start it again.
 *
 * @returns is to be called with what stops the server once there is one
 */
export function endOnFault(log: Log, timeoutMilliseconds: number): (stop: Stop) => void {
  const limit = Math.min(timeoutMilliseconds, mostMilliseconds)
  const exit = () => process.exit(1)
  let stop: Stop = async () => {}
  let isEnding = false
  process.on('uncaughtException', (err, origin) => {
    if (isEnding) return
    isEnding = true
    process.exitCode = 1
    log.fatal({ err, origin }, 'unforeseen fault, the process ends: it is to be started again')
    setTimeout(exit, limit + graceMilliseconds)
    stop(limit).then(exit, exit)
  })
  return (given) => {
    stop = given
  }
}
