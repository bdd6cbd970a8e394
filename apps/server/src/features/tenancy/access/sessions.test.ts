import { describe, expect, it } from 'vitest'
import { describeEachEngine, sqliteEngine } from '../../../../test/engines.js'
import { startTestServer, type TestServer, useServer } from '../../../../test/harness.js'
import { freePort } from '../../../../test/ports.js'
import { addAccount } from '../../../../test/tenant.js'

const day = 24 * 60 * 60 * 1000

/** Headers that a page of a server sends with a request that changes something. */
const ownPage = ({ url }: TestServer) => ({ origin: url, 'content-type': 'application/json' })

/** Signs a browser in. Returns its cookie as it sends it, with what the server said about it. */
async function signIn(server: TestServer, body: object, headers: Record<string, string> = {}) {
  const response = await server.fetch('/v1/admin/sessions', {
    method: 'POST',
    headers: { ...ownPage(server), ...headers },
    body: JSON.stringify(body),
  })
  const set = response.headers.get('set-cookie') ?? ''
  const said: {
    session: { id: string; note: string; current: boolean }
    type: string
    message: string
    metadata: { in: string; field: string }
  } = JSON.parse(await response.text())
  return { response, set, cookie: set.split(';', 1)[0] ?? '', ...said }
}

/** The status of reading the account with a cookie. */
async function statusOf(server: TestServer, cookie: string, headers: Record<string, string>) {
  const response = await server.fetch('/v1/admin/account/me', { headers: { cookie, ...headers } })
  await response.arrayBuffer()
  return response.status
}

describeEachEngine('the session of a browser', (engine) => {
  const server = useServer(engine)

  it('begins with a token and is a cookie that scripts cannot read', async () => {
    const { response, set, cookie, session } = await signIn(server(), {
      token: server().token,
      note: 'Firefox on Linux',
    })
    expect(response.status).toBe(201)
    expect(set).toMatch(
      /^botstead_[0-9a-f]{8}=bp_ses_[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    )
    expect(session).toMatchObject({ note: 'Firefox on Linux', current: true })
    expect(await statusOf(server(), cookie, { origin: server().url })).toBe(200)
    expect(await statusOf(server(), cookie, { 'x-requested-with': 'page' })).toBe(200)
  })

  it('begins with a code of the first start, once', async () => {
    const code = server().server.firstStart?.signInCode
    const first = await signIn(server(), { code })
    expect(first.response.status).toBe(201)
    expect(await statusOf(server(), first.cookie, { origin: server().url })).toBe(200)
    const second = await signIn(server(), { code })
    expect(second.response.status).toBe(401)
    expect(second.type).toBe('Unauthorized')
    expect(second.metadata).toEqual({ in: 'body', field: 'code' })
    expect(second.set).toBe('')
  })

  it('acts for its account in workspaces and bots, like a token', async () => {
    const { cookie } = await signIn(server(), { token: server().token })
    const headers = { cookie, origin: server().url }
    const asBrowser = server().client({ token: undefined, headers })
    const { bot } = await asBrowser.createBot({ name: 'Made in a browser' })
    const inside = server().client({ token: undefined, headers, botId: bot.id })
    expect(await inside.listConversations()).toEqual({ conversations: [], meta: {} })
    expect((await asBrowser.introspect({ botId: bot.id })).botId).toBe(bot.id)
  })

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another port of the machine', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['no origin and no header of a page', {}],
    ['an image on another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling site', { 'sec-fetch-site': 'same-site', 'x-requested-with': 'page' }],
  ])('is refused from %s', async (_, headers: Record<string, string>) => {
    const { cookie } = await signIn(server(), { token: server().token })
    expect(await statusOf(server(), cookie, headers)).toBe(401)
    const create = await server().fetch('/v1/admin/bots', {
      method: 'POST',
      headers: {
        cookie,
        'x-workspace-id': server().workspaceId,
        'content-type': 'application/json',
        ...headers,
      },
      body: '{}',
    })
    expect(create.status).toBe(401)
    expect(await create.json()).toMatchObject({ message: expect.stringContaining('Origin') })
  })

  it('cannot change anything without an origin', async () => {
    const { cookie } = await signIn(server(), { token: server().token })
    const response = await server().fetch('/v1/admin/account/pats', {
      method: 'POST',
      headers: { cookie, 'x-requested-with': 'page', 'content-type': 'application/json' },
      body: '{"note":""}',
    })
    expect(response.status).toBe(401)
  })

  it('does not begin from another page, or with what is not a token of a person', async () => {
    const foreign = await signIn(
      server(),
      { token: server().token },
      { origin: 'https://evil.example' },
    )
    expect(foreign.response.status).toBe(403)
    expect(foreign.set).toBe('')

    const { bot } = await server().client().createBot({})
    const { value: key } = await server().client().createBotApiKey({ botId: bot.id })
    const { cookie } = await signIn(server(), { token: server().token })
    const cases: [object, number, string][] = [
      [{ token: 'bp_pat_nobody' }, 401, 'token'],
      [{ token: key }, 403, 'token'],
      [{ token: cookie.split('=')[1] }, 401, 'token'],
      [{ code: 'bp_code_none' }, 401, 'code'],
      [{}, 400, 'token'],
      [{ token: server().token, code: 'both' }, 400, 'token'],
    ]
    for (const [body, status, field] of cases) {
      const { response, set, metadata } = await signIn(server(), body)
      expect([response.status, set, metadata.field]).toEqual([status, '', field])
    }
  })

  it('is no bearer token', async () => {
    const { cookie } = await signIn(server(), { token: server().token })
    const [, value = ''] = cookie.split('=')
    const client = server().client({ token: value })
    await expect(client.getAccount()).rejects.toMatchObject({ type: 'Unauthorized' })
  })

  it('is a session: a token in its cookie is not accepted', async () => {
    const { cookie } = await signIn(server(), { token: server().token })
    const [name] = cookie.split('=')
    const stale = `${name}=${server().token}`
    expect(await statusOf(server(), stale, { origin: server().url })).toBe(401)
  })

  it('is left aside where the request has a token', async () => {
    const other = await addAccount(server())
    const { cookie } = await signIn(server(), { token: server().token })
    const headers = { cookie, origin: 'https://evil.example' }
    const client = server().client({ ...other, headers })
    const plain = server().client(other)
    expect(await client.getAccount()).toEqual(await plain.getAccount())
  })

  it('is listed and can be ended, by its account alone', async () => {
    const other = await addAccount(server())
    const { cookie, session } = await signIn(server(), { ...other, note: 'phone' })
    const headers = { cookie, origin: server().url }
    const browser = server().client({ token: undefined, headers })
    expect((await browser.listSessions()).sessions).toMatchObject([
      { note: 'phone', current: true },
    ])
    expect((await server().client(other).listSessions()).sessions).toMatchObject([
      { id: session.id, current: false },
    ])
    expect((await browser.listPersonalAccessTokens()).pats.map(({ note }) => note)).not.toContain(
      'phone',
    )
    await expect(server().client().deleteSession({ id: session.id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    const ended = await server().fetch('/v1/admin/sessions/current', { method: 'DELETE', headers })
    expect(ended.status).toBe(200)
    expect(ended.headers.get('set-cookie')).toContain('=; Path=/; Expires=Thu, 01 Jan 1970')
    expect(await statusOf(server(), cookie, { origin: server().url })).toBe(401)
    expect((await server().client(other).listSessions()).sessions).toEqual([])
  })

  it('is one of at most a hundred of an account; the oldest end', async () => {
    const other = await addAccount(server())
    const first = await signIn(server(), other)
    for (let count = 0; count < 100; count++) await signIn(server(), other)
    expect(await statusOf(server(), first.cookie, { origin: server().url })).toBe(401)
    expect((await server().client(other).listSessions()).sessions).toHaveLength(100)
  })

  it('ends by itself', async () => {
    const { cookie } = await signIn(server(), { token: server().token })
    server().clock.advance(14 * day - 60_000)
    expect(await statusOf(server(), cookie, { origin: server().url })).toBe(200)
    server().clock.advance(60_000)
    expect(await statusOf(server(), cookie, { origin: server().url })).toBe(401)
    expect((await server().client().listSessions()).sessions).toEqual([])
  })
})

describe('a server behind https', () => {
  it('sets a cookie that travels by https alone, below its path', async () => {
    const port = await freePort()
    const origin = 'https://bots.example.com'
    const settings = { PORT: String(port), BOTSTEAD_PUBLIC_URL: `${origin}/bp` }
    const server = await startTestServer(sqliteEngine, settings)
    try {
      const response = await fetch(`http://127.0.0.1:${port}/v1/admin/sessions`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify({ token: server.token }),
      })
      expect(response.headers.get('set-cookie')).toMatch(
        /^botstead_.*; Path=\/bp; .*; HttpOnly; Secure; SameSite=Strict$/,
      )
    } finally {
      await server.close()
    }
  })

  it('accepts no cookie that another host of its domain can set', async () => {
    const port = await freePort()
    const origin = 'https://bots.example.com'
    const settings = { PORT: String(port), BOTSTEAD_PUBLIC_URL: origin }
    const server = await startTestServer(sqliteEngine, settings)
    try {
      const url = `http://127.0.0.1:${port}`
      const response = await fetch(`${url}/v1/admin/sessions`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify({ token: server.token }),
      })
      const set = response.headers.get('set-cookie') ?? ''
      expect(set).toMatch(/^__Host-botstead_[0-9a-f]{8}=bp_ses_.*; Path=\/; .*; Secure;/)
      const [cookie = ''] = set.split(';', 1)
      const read = (given: string) =>
        fetch(`${url}/v1/admin/account/me`, { headers: { origin, cookie: given } })
      expect((await read(cookie)).status).toBe(200)
      expect((await read(cookie.replace('__Host-', ''))).status).toBe(401)
    } finally {
      await server.close()
    }
  })
})

describeEachEngine('a server that allows pages of others', (engine) => {
  const allowed = 'https://www.example.com'
  const server = useServer(engine, { BOTSTEAD_ALLOWED_ORIGINS: allowed })

  it('does not accept their sessions', async () => {
    const { cookie } = await signIn(server(), { token: server().token })
    expect(await statusOf(server(), cookie, { origin: allowed })).toBe(401)
    const { response } = await signIn(server(), { token: server().token }, { origin: allowed })
    expect(response.status).toBe(403)
  })
})

describe('a server without a dashboard', () => {
  describeEachEngine('where browsers cannot sign in', (engine) => {
    const server = useServer(engine, { BOTSTEAD_DASHBOARD: 'off' })

    it('says which setting allows it', async () => {
      const { response, message } = await signIn(server(), { token: server().token })
      expect(response.status).toBe(403)
      expect(message).toContain('BOTSTEAD_DASHBOARD')
      expect(server().server.firstStart?.signInCode).toBeUndefined()
    })
  })
})
