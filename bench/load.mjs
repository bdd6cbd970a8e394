// A load on one address: requests per second and latencies.
import autocannon from 'autocannon'

/**
 * @param {string} url
 * @param {{ seconds?: number, connections?: number, requests: object[], amount?: number }} load
 * @returns {Promise<{ perSecond: number, p50: number, p99: number, failed: number }>}
 */
export async function load(url, { seconds = 6, connections = 64, requests, amount }) {
  const result = await autocannon({
    url,
    connections,
    requests,
    ...(amount === undefined ? { duration: seconds } : { amount }),
  })
  return {
    perSecond: (result['2xx'] ?? 0) / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  }
}

/** Warms up a path before it is measured, so that only compiled code is compared. */
export async function measure(url, options) {
  await load(url, { ...options, seconds: 2 })
  const figures = await load(url, options)
  if (figures.failed > 0) throw new Error(`${figures.failed} requests to ${url} failed`)
  return figures
}
