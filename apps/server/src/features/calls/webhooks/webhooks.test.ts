import { gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { installMail } from '../../../../test/remote/integration.js'
import { useRemote } from '../../../../test/remote/server.js'

describeEachEngine('webhooks', (engine) => {
  const server = useServer(engine)
  const remote = useRemote()

  async function install() {
    const mail = await installMail(server(), remote())
    const webhookId = mail.installed?.webhookId ?? ''
    const call = (rest: string, init?: RequestInit) =>
      server().fetch(`/webhooks/${webhookId}${rest}`, { redirect: 'manual', ...init })
    return { ...mail, webhookId, call }
  }

  const brief =
    'The integration did not respond. The log of the integration records the reason with the id of this response.'
  /** A refusal that tells strangers where to find the reason, but not the reason. */
  const reasonless = (type: string, code: number) => ({
    type,
    code,
    id: expect.stringMatching(/^req_/),
    message: expect.stringMatching(/with the id of this response\.$/),
  })

  /** The last request as the integration received it. */
  const received = () => {
    const { req } = remote().requestsOf('webhook_received').at(-1)?.json ?? {}
    return Object(req)
  }

  it('pass requests to the integration unchanged, and return its response', async () => {
    const { call, webhookId } = await install()
    remote().behave(() => ({
      status: 202,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'set-cookie': ['a=1', 'b=2'],
        'x-own': 'kept',
        'x-bp-secret': 'dropped',
      },
      body: 'Taken',
    }))
    const response = await call('/a%20b//c/?x=%41&x=2&&', {
      method: 'POST',
      headers: { 'X-Hook': 'Yes', 'content-type': 'application/json', traceparent: '00-1-2-01' },
      body: '{"n": 1.0, "n": 2}',
    })
    expect(response.status).toBe(202)
    expect(await response.text()).toBe('Taken')
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(response.headers.get('x-own')).toBe('kept')
    expect(response.headers.get('x-bp-secret')).toBeNull()
    expect(received()).toMatchObject({
      method: 'POST',
      path: '/a%20b//c/',
      query: 'x=%41&x=2&&',
      body: '{"n": 1.0, "n": 2}',
      headers: { 'x-hook': 'Yes', 'content-type': 'application/json' },
    })
    expect(remote().requestsOf('webhook_received')[0]?.headers).toMatchObject({
      'x-webhook-id': webhookId,
      traceparent: '00-1-2-01',
    })
  })

  it('neither pass on the session of a browser nor change it', async () => {
    const { call } = await install()
    const session = 'botstead_0123abcd=bp_ses_secret'
    const mixed = await call('', { headers: { cookie: `a=1; ${session}; b="2"; botstead_x=3` } })
    expect(mixed.status).toBe(200)
    expect(received()).toMatchObject({ headers: { cookie: 'a=1; b="2"; botstead_x=3' } })
    await call('', { headers: { cookie: session } })
    expect(Object(received()).headers).not.toHaveProperty('cookie')

    const headers = {
      'set-cookie': [
        'a=1; Path=/',
        `${session}; Path=/`,
        ` =${session}`,
        'botstead_0123abcd=; Max-Age=0',
      ],
      'clear-site-data': '"cookies"',
    }
    remote().behave(() => ({ headers }))
    const response = await call('')
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/'])
    expect(response.headers.get('clear-site-data')).toBeNull()
  })

  it('give pages an origin of their own, beside their own policies', async () => {
    const { call } = await install()
    const page = { 'content-type': 'text/html', 'content-security-policy': "img-src 'none'" }
    remote().behave(() => ({ headers: page, body: '<script>fetch("/v1/admin/bots")</script>' }))
    const policies = (await call('')).headers.get('content-security-policy')
    expect(policies).toMatch(/^img-src 'none', sandbox .*allow-scripts/)
    expect(policies).not.toContain('allow-same-origin')
  })

  it('accept every method, requests without a body, and preflights', async () => {
    const { call } = await install()
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const headers = { origin: 'https://example.com', 'access-control-request-method': 'PUT' }
      const response = await call('', { method, headers })
      expect(response.status).toBe(200)
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
      expect(received()).toMatchObject({ method, path: '/', query: '' })
      expect(received()).not.toHaveProperty('body')
    }
  })

  it('relay redirects and errors, and log failures', async () => {
    const { call, admin, integration } = await install()
    remote().behave(() => ({ status: 302, headers: { location: 'https://example.com/' } }))
    const moved = await call('/oauth')
    expect([moved.status, moved.headers.get('location')]).toEqual([302, 'https://example.com/'])
    remote().behave(() => ({ status: 400, body: { code: 400, message: 'Übler Haken' } }))
    const refused = await call('')
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { code: 400, message: 'Übler Haken' },
    ])
    remote().behave(() => ({ breaks: true }))
    const broken = await call('')
    const noResponse = Object(await broken.json())
    expect([broken.status, noResponse]).toEqual([
      502,
      { ...reasonless('Runtime', 502), message: brief },
    ])
    await admin.updateIntegration({ id: integration.id, maxExecutionTime: 1 } as never)
    remote().behave(() => undefined)
    const late = await call('')
    expect([late.status, await late.json()]).toEqual([504, reasonless('OperationTimeout', 504)])
    await admin.updateIntegration({ id: integration.id, url: 'http://10.1.2.3:9/hidden' } as never)
    const inside = await call('')
    const text = await inside.text()
    expect([inside.status, JSON.parse(text)]).toEqual([
      502,
      { ...reasonless('Runtime', 502), message: brief },
    ])
    expect(text).not.toMatch(/10\.1\.2\.3|network|address/i)
    const query = { id: integration.id, timeStart: '2020-01-01T00:00:00Z', level: 'error' }
    await vi.waitFor(async () => {
      const { logs } = await admin.getIntegrationLogs({ ...query, messageContains: 'webhook' })
      expect(logs).toHaveLength(4)
      const reasons = logs.map(({ message }) => message).join('\n')
      expect(reasons).toContain(`(request ${noResponse.id})`)
      expect(reasons).toContain('10.1.2.3 is not a public address')
    })
    const { logs } = await admin.getIntegrationLogs({ ...query, messageContains: 'üBLER' })
    expect(logs).toHaveLength(1)
  })

  it('refuse requests that cannot be passed on', async () => {
    const { call, install: change } = await install()
    const count = () => remote().requestsOf('webhook_received').length
    const before = count()
    const binary = await call('', { method: 'POST', body: gzipSync('text') })
    expect(binary.status).toBe(415)
    const large = await call('', { method: 'POST', body: 'x'.repeat(4 * 1024 * 1024 + 1) })
    expect(large.status).toBe(413)
    expect((await server().fetch('/webhooks/unknown')).status).toBe(404)
    expect((await server().fetch('/webhooks')).status).toBe(404)
    expect((await server().fetch('/webhooks/oauth?state=unknown')).status).toBe(404)
    await change({ enabled: false })
    expect((await call('')).status).toBe(404)
    expect(count()).toBe(before)
  })

  it('find the installation of an OAuth redirect, and store the account that a response names', async () => {
    const { webhookId, now } = await install()
    remote().behave(() => ({ headers: { 'x-bp-integration-identifier': 'acme' } }))
    const response = await server().fetch(`/webhooks/oauth/done?state=${webhookId}&code=1`)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-bp-integration-identifier')).toBeNull()
    expect(received()).toMatchObject({ path: '/oauth/done', query: `state=${webhookId}&code=1` })
    expect((await now())?.identifier).toBe('acme')
  })
})
