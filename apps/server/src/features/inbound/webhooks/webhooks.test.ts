import { gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { installMail } from '../../../../test/remote/integration.js'
import { useRemote } from '../../../../test/remote/server.js'

describeSlow('webhooks', (engine) => {
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

  it('say that a response without a type is a page or a text, which browsers do not guess', async () => {
    const { call } = await install()
    for (const [body, type] of [
      ['  <!doctype html><p>Hello', 'text/html; charset=utf-8'],
      ['Hello', 'text/plain; charset=utf-8'],
    ]) {
      remote().behave(() => ({ headers: { 'content-type': '' }, body: String(body) }))
      const response = await call('')
      expect([response.headers.get('content-type'), await response.text()]).toEqual([type, body])
    }
  })

  it('refuse a response whose status is none of HTTP', async () => {
    const { call } = await install()
    remote().behave(() => ({ status: 999 }))
    const response = await call('')
    expect(await response.json()).toEqual(reasonless('Runtime', 502))
  })

  it('neither pass on the cookies of a browser nor change what it keeps of the host', async () => {
    const { call } = await install()
    const cookie = 'a=1; botstead_0123abcd=bp_ses_secret'
    expect((await call('', { headers: { cookie } })).status).toBe(200)
    expect(Object(received()).headers).not.toHaveProperty('cookie')

    const headers = {
      'set-cookie': ['a=1; Path=/', 'botstead_0123abcd=; Max-Age=0'],
      'clear-site-data': '"cookies"',
      'strict-transport-security': 'max-age=31536000',
      nel: '{"report_to":"a"}',
      'report-to': '{"group":"a"}',
    }
    remote().behave(() => ({ headers }))
    const response = await call('')
    expect(response.status).toBe(200)
    for (const name of Object.keys(headers)) expect(response.headers.get(name)).toBeNull()
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
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
    const missing = { type: 'InvalidQuery', message: expect.stringContaining('state is missing') }
    const refusals = [
      ['/oauth/wizard/start', missing],
      ['/webhooks/oauth?code=1', missing],
      ['/webhooks/oauth?state=unknown', { message: expect.stringContaining('webhook id unknown') }],
      ['/webhooks/unknown/oauth', { message: 'There is no webhook unknown.' }],
    ] as const
    for (const [path, error] of refusals) {
      const text = await (await server().fetch(path)).text()
      expect(JSON.parse(text)).toMatchObject(error)
      // These addresses work while the integration is switched off.
      expect(text).not.toContain('switched off')
    }
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

  it('reach an installation at the root of the origin too, also one that is switched off', async () => {
    const { webhookId, install: change } = await install()
    remote().behave(() => ({ headers: { 'content-type': 'text/html' }, body: '<form></form>' }))
    for (const enabled of [true, false]) {
      await change({ enabled })
      const page = await server().fetch(`/oauth/wizard/start?state=${webhookId}`)
      expect([page.status, await page.text()]).toEqual([200, '<form></form>'])
      expect(received()).toMatchObject({
        method: 'GET',
        path: '/oauth/wizard/start',
        query: `state=${webhookId}`,
      })
      const posted = await server().fetch(`/webhooks/oauth/wizard/next?state=${webhookId}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'bp_name=%C3%9Cber+us',
      })
      expect(posted.headers.get('content-security-policy')).toMatch(/^sandbox .*allow-forms/)
      expect(received()).toMatchObject({
        method: 'POST',
        path: '/oauth/wizard/next',
        body: 'bp_name=%C3%9Cber+us',
      })
      const direct = await server().fetch(`/webhooks/${webhookId}/oauth/wizard`)
      expect(direct.status).toBe(200)
      expect(received()).toMatchObject({ path: '/oauth/wizard' })
    }
  })

  it('show a person how a setup ended', async () => {
    for (const path of ['/oauth', '/webhooks/oauth', '/app/oauth', '/apps/oauth']) {
      const reason = encodeURIComponent('No <script>alert(1)</script> & "no" access')
      const failed = await server().fetch(
        `${path}/interstitial?success=false&errorMessage=${reason}`,
      )
      const html = await failed.text()
      expect(failed.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(failed.headers.get('content-security-policy')).toMatch(/^default-src 'none';/)
      expect(html).toContain('did not succeed')
      expect(html).toContain('No &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;no&quot; access')
      const done = await server().fetch(`${path}/interstitial?success=true&errorMessage=none`)
      const end = await done.text()
      expect(end).toMatch(/reports that it succeeded(?!.*none)/s)
      // The addresses of the page can be made by anybody.
      expect(html + end).not.toMatch(/is connected|is set up|was changed/)
    }
  })

  it('send a browser to that page where the integration has nothing to show', async () => {
    const { webhookId } = await install()
    const visit = async (accept: string) => {
      const headers = { accept }
      const path = `/oauth?state=${webhookId}&code=1`
      return await server().fetch(path, { redirect: 'manual', headers })
    }
    const end = `${server().url}/oauth/interstitial`
    const browser = 'text/html,application/xhtml+xml'
    expect((await visit(browser)).headers.get('location')).toBe(`${end}?success=true`)
    expect((await visit('*/*')).status).toBe(200)
    remote().behave(() => ({ status: 400, body: { message: 'Wrong code' } }))
    expect((await visit(browser)).headers.get('location')).toBe(
      `${end}?success=false&errorMessage=Wrong+code`,
    )
    remote().behave(() => ({ headers: { 'x-bp-disable-interstitial': 'true' }, body: 'Mine' }))
    expect(await (await visit(browser)).text()).toBe('Mine')
    remote().behave(() => ({ status: 303, headers: { location: 'https://example.com/' } }))
    expect((await visit(browser)).headers.get('location')).toBe('https://example.com/')
  })

  it('register an installation again once it has its account', async () => {
    remote().behave(({ headers }) =>
      headers['x-bp-operation'] === 'register' ? { status: 400, body: 'Set it up first' } : {},
    )
    const { webhookId, installed, now } = await install()
    expect(installed).toMatchObject({ status: 'registration_failed' })
    remote().behave(() => ({ headers: { 'x-bp-integration-identifier': 'acme' } }))
    await server().fetch(`/oauth/done?state=${webhookId}`)
    await vi.waitFor(async () =>
      expect(await now()).toMatchObject({ status: 'registered', identifier: 'acme' }),
    )
    const times = remote().requestsOf('register').length
    await server().fetch(`/oauth/done?state=${webhookId}`)
    expect(await now()).toMatchObject({ status: 'registered' })
    expect(remote().requestsOf('register')).toHaveLength(times)
  })

  it('leave an installation waiting that needs an account, until it has one', async () => {
    const { admin, integration, bot, inMail, now } = await install()
    await admin.updateIntegration({
      id: integration.id,
      configuration: { schema: {}, identifier: { required: true } },
    })
    const integrations = { mail: { integrationId: integration.id, configuration: {} } }
    const { bot: changed } = await admin.updateBot({ id: bot.id, integrations })
    expect(changed.integrations.mail).toMatchObject({
      status: 'registration_pending',
      statusReason: expect.stringContaining('waits for its account'),
    })
    expect(remote().requestsOf('register')).toHaveLength(1)
    await inMail.configureIntegration({ identifier: 'acme' })
    await vi.waitFor(async () => expect((await now())?.status).toBe('registered'))
    expect(remote().requestsOf('register')).toHaveLength(2)
  })
})
