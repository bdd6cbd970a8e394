import type { IncomingHttpHeaders } from 'node:http'
import type { Log } from '../platform/telemetry/log.js'

/** What a host is written with, so that the log says nothing else; at most as long as a name may be. */
const host = /^[\w.:[\]-]{1,255}$/

/**
 * Returns a function that looks at the headers of requests until one came through a proxy, and then says once which
 * setting is missing. To be called only while that setting is missing.
 */
export function createProxyNotice(log: Log): (headers: IncomingHttpHeaders) => void {
  let isDone = false
  return (headers) => {
    if (isDone) return
    const { forwarded, host: asked } = headers
    const name = headers['x-forwarded-host'] ?? (forwarded ? undefined : asked)
    const isForwarded =
      forwarded ??
      headers['x-forwarded-for'] ??
      headers['x-forwarded-host'] ??
      headers['x-forwarded-proto']
    if (isForwarded === undefined) return
    isDone = true
    const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
    const seen = typeof name === 'string' && host.test(name) ? `${scheme}://${name}` : undefined
    log.warn(
      { ...(seen !== undefined && { seen }) },
      'requests come through a proxy, but BOTSTEAD_PUBLIC_URL is not set: set it to the address that callers use, or they cannot reach the addresses of uploads and chats in responses',
    )
  }
}
