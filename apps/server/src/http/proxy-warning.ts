import type { IncomingHttpHeaders } from 'node:http'
import type { Log } from '../platform/telemetry/log.js'

/** Host names and addresses with a port. Nothing else that a caller sends is written to the log. */
const hostPattern = /^[\w.:[\]-]{1,255}$/

const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

/**
 * Returns a function that is called with the headers of each request. At the first request that came through a proxy, it
 * logs that `BOTSTEAD_PUBLIC_URL` is missing; use it only while that setting is missing.
 */
export function createProxyWarning(log: Log): (headers: IncomingHttpHeaders) => void {
  let hasWarned = false
  return (headers) => {
    if (hasWarned || proxyHeaders.every((name) => headers[name] === undefined)) return
    hasWarned = true
    const seen = addressOf(headers)
    log.warn(
      { ...(seen !== undefined && { seen }) },
      'requests come through a proxy, but BOTSTEAD_PUBLIC_URL is not set: set it to the address that callers use, or they cannot reach the addresses of uploads and chats in responses',
    )
  }
}

/** The address that the caller probably used; undefined if the headers do not say it. */
function addressOf(headers: IncomingHttpHeaders): string | undefined {
  // A proxy that sends `Forwarded` may put its own name into `Host`.
  const host = headers['x-forwarded-host'] ?? (headers.forwarded ? undefined : headers.host)
  if (typeof host !== 'string' || !hostPattern.test(host)) return undefined
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  return `${scheme}://${host}`
}
