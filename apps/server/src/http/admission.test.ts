import { contract } from '@botstead/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ListeningApp, listenApp } from '../../test/http-app.js'
import { createRateLimiter } from '../platform/security/rate-limit.js'
import { mountMetrics } from './metrics.js'
import { route } from './mount.js'
import { mountReference } from './reference/index.js'
import { serviceRoutes } from './service-routes.js'

describe('the rate limit of an address', () => {
  const burst = 3
  let listening: ListeningApp
  let checks = 0
  let released: Promise<void> = Promise.resolve()

  beforeAll(async () => {
    listening = await listenApp({
      routes: [
        ...serviceRoutes({
          instance: '0123456789abcdef',
          checks: [
            {
              name: 'counted',
              check: async () => {
                checks += 1
                await released
              },
            },
          ],
          isStopping: () => false,
        }),
        route(contract.accounts.get, async () => {
          throw new Error('The handler must not be called')
        }),
      ],
      rateLimiter: createRateLimiter({ perMinute: 1, burst, clock: { now: () => 0 } }),
      exemptLoopback: false,
      allowance: burst,
      trustedProxies: ['127.0.0.0/8'],
      mountOthers: (app, context) => {
        mountReference(app, context, { version: '1.2.3', hasDashboard: false })
        mountMetrics(app, context, { access: 'loopback', token: undefined }, async () => '')
      },
    })
  })
  afterAll(async () => {
    await listening.app.close()
  })

  let addresses = 0
  const newAddress = () => {
    addresses += 1
    return `203.0.113.${addresses}`
  }
  const call = (path: string, address: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${listening.port}${path}`, {
      method,
      headers: { 'x-forwarded-for': address },
    })

  it.each([
    ['GET', '/nowhere', 404],
    ['POST', '/nowhere', 404],
    ['DELETE', '/v1/admin/account/me', 405],
    ['GET', '/v1/admin/account/me', 401],
    ['GET', '/%zz', 400],
    ['GET', '/openapi.json', 200],
    ['HEAD', '/openapi.json', 200],
    ['GET', '/docs', 200],
    ['GET', '/docs/swagger-ui.css', 200],
    ['GET', '/docs/nothing.css', 404],
    ['GET', '/favicon.ico', 200],
    ['GET', '/', 200],
    ['GET', '/metrics', 403],
  ])('counts %s %s', async (method, path, status) => {
    const address = newAddress()
    for (let left = burst - 1; left >= 0; left--) {
      const response = await call(path, address, method)
      expect(response.status).toBe(status)
      expect(response.headers.get('ratelimit-limit')).toBe(String(burst))
      expect(response.headers.get('ratelimit-remaining')).toBe(String(left))
    }
    const refused = await call(path, address, method)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('60')
    if (method === 'HEAD') return
    expect(await refused.json()).toMatchObject({ code: 429, type: 'RateLimited' })
  })

  it.each([
    ['the addresses of one IPv6 network', (n: number) => `2001:db8:1:2:${n}::1`],
    ['the ports of one address', (n: number) => `198.51.100.1:${1000 + n}`],
    [
      'the forms of one address',
      (n: number) => ['198.51.100.2', '::ffff:198.51.100.2'][n % 2] ?? '',
    ],
    ['text that is not an address', (n: number) => `_hidden${n}`],
  ])('counts %s together', async (_, addressOf) => {
    const statuses: number[] = []
    for (let n = 0; n <= burst; n++) statuses.push((await call('/nowhere', addressOf(n))).status)
    expect(statuses).toEqual([404, 404, 404, 429])
    expect((await call('/nowhere', newAddress())).status).toBe(404)
  })

  it('counts a malformed path against the caller and not against the proxy', async () => {
    const address = newAddress()
    for (let n = 0; n <= burst; n++) await call('/%zz', address)
    expect((await call('/nowhere', address)).status).toBe(429)
    expect((await call('/%zz', newAddress())).status).toBe(400)
  })

  it('never refuses a probe', async () => {
    const address = newAddress()
    for (let i = 0; i <= burst; i++) await call('/nowhere', address)
    expect((await call('/nowhere', address)).status).toBe(429)
    for (const path of ['/healthz', '/readyz', '/healthz/', '//readyz?now']) {
      for (const method of ['GET', 'HEAD']) {
        for (let i = 0; i < 10; i++) {
          const response = await call(path, address, method)
          expect(response.status).toBe(200)
          expect(response.headers.get('ratelimit-remaining')).toBe(String(burst))
        }
      }
    }
  })

  it('runs the checks once for all probes that arrive while they run', async () => {
    const before = checks
    let release = () => {}
    released = new Promise((resolve) => {
      release = resolve
    })
    let arrived = 0
    listening.app.server.on('request', () => {
      arrived += 1
      if (arrived === 50) release()
    })
    const responses = await Promise.all(Array.from({ length: 50 }, () => call('/readyz', '::1')))
    expect(responses.every(({ status }) => status === 200)).toBe(true)
    expect(checks - before).toBeLessThan(50)
  })
})
