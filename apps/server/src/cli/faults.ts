import type { Log } from '../platform/telemetry/log.js'

/** Most milliseconds for open requests: the process may work on wrong state. */
const mostMilliseconds = 10_000
/** Milliseconds after which the process ends although not everything was closed. */
const graceMilliseconds = 1000

/** Ends a server, each of its parts within what is left of the time. */
type Stop = (timeoutMilliseconds: number) => Promise<void>

/**
 * Ends the process after an uncaught exception or an unhandled rejection: what it interrupted may have
 * left wrong state behind. It is logged once, open requests are finished, and status 1 lets the
 * supervisor restart the process.
 *
 * @returns takes what stops the server, once there is one
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
    log.fatal({ err, origin }, 'uncaught exception, the process exits')
    setTimeout(exit, limit + graceMilliseconds)
    stop(limit).then(exit, exit)
  })
  return (given) => {
    stop = given
  }
}
