import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { describeEachEngine, engines } from '../../../../test/engines.js'
import { startTestServer, type TestServer } from '../../../../test/harness.js'
import {
  type Hostile,
  type IdentityProvider,
  type PersonAtProvider,
  registered,
  startHostileProvider,
  startIdentityProvider,
} from '../../../../test/identity-provider.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { countWaiting } from '../../../../test/tenancy/waiting.js'
import { addAccount } from '../../../../test/tenant.js'
import { createOperatorAccounts } from './index.js'
import { totpCode } from './totp.js'

const password = 'seven green teapots'
const newcomers = 'wkspace_newcomers'

const settingsFor = (issuer: string) => ({
  BOTSTEAD_OIDC_ISSUER: issuer,
  BOTSTEAD_OIDC_CLIENT_ID: registered.clientId,
  BOTSTEAD_OIDC_CLIENT_SECRET: registered.clientSecret,
  BOTSTEAD_OIDC_NAME: 'Example ID',
  BOTSTEAD_OIDC_DOMAINS: 'example.com',
})

/** A browser with its cookies, those of the server and of the provider alike. */
class TestBrowser {
  readonly #cookies = new Map<string, string>()
  readonly #server: TestServer

  constructor(server: TestServer) {
    this.#server = server
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url)
    const own = [...this.#cookies].filter(([key]) => key.startsWith(`${origin} `))
    const cookie = own.map(([key, value]) => `${key.slice(origin.length + 1)}=${value}`).join('; ')
    const headers = { origin, cookie, ...(init.headers as Record<string, string>) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      if (value === '') this.#cookies.delete(`${origin} ${name}`)
      else this.#cookies.set(`${origin} ${name}`, value)
    }
    return response
  }

  async call(path: string, body: object, method = 'POST') {
    const response = await this.fetch(`${this.#server.url}/v1/admin/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, said: JSON.parse(await response.text()) }
  }

  async read(path: string) {
    const response = await this.fetch(`${this.#server.url}/v1/admin/${path}`, {
      headers: { 'x-requested-with': 'test' },
    })
    return { status: response.status, said: JSON.parse(await response.text()) }
  }

  /** Begins a sign-in. @returns the address of the provider */
  async start(body: object = {}): Promise<URL> {
    const { status, said } = await this.call('sign-in/sso', body)
    expect(status, said.message).toBe(200)
    return new URL(said.url)
  }

  /** Signs in at the provider. @returns the query with which it leads back */
  async walk(from: URL): Promise<string> {
    let url = from
    for (let step = 0; step < 10; step++) {
      const method = url.pathname.startsWith('/interaction/') ? 'POST' : 'GET'
      const response = await this.fetch(url.href, { method })
      const said = await response.text()
      const location = response.headers.get('location')
      if (location === null) throw new Error(`${response.status} ${said}`)
      url = new URL(location, url)
      if (url.pathname === '/dashboard/sso') {
        expect(url.origin).toBe(this.#server.url)
        return url.search
      }
    }
    throw new Error('The provider leads in circles')
  }

  /** Signs out at the provider. */
  leave(): void {
    for (const key of this.#cookies.keys()) {
      if (!key.startsWith(this.#server.url)) this.#cookies.delete(key)
    }
  }

  finish = (query: string) => this.call('sign-in/sso/finish', { query })

  async signIn(body: object = {}) {
    return await this.finish(await this.walk(await this.start(body)))
  }

  /** Signs in as the owner of a token. */
  async enter(token: string): Promise<void> {
    expect((await this.call('sessions', { token })).status).toBe(201)
  }

  account = async () => (await this.read('account/me')).said.account
}

/** Makes the workspace that the settings name. */
async function addNewcomersWorkspace(server: TestServer): Promise<void> {
  const { account } = await server.client().getAccount()
  await inDatabase(server, ({ run }) =>
    run(async (tx) => {
      const workspace = await tx
        .selectFrom('workspaces')
        .selectAll()
        .where('id', '=', server.workspaceId)
        .executeTakeFirstOrThrow()
      await tx
        .insertInto('workspaces')
        .values({ ...workspace, id: newcomers })
        .execute()
      await tx
        .insertInto('workspace_members')
        .values({
          id: 'member_of_newcomers',
          workspace_id: newcomers,
          account_id: account.id,
          role: 'owner',
          created_at: workspace.created_at,
        })
        .execute()
    }),
  )
}

/** Notes that the address of an account is proven, as a mailed link does. */
async function prove(server: TestServer, email: string): Promise<void> {
  const patch = { email_verified: 1 }
  await inDatabase(server, ({ run }) =>
    run((tx) => tx.updateTable('accounts').set(patch).where('email', '=', email).execute()),
  )
}

let people = 0
/** Somebody with a verified address. */
function somebody(more: Partial<PersonAtProvider> = {}): PersonAtProvider & { email: string } {
  people += 1
  const sub = `person-${people}`
  return {
    sub,
    email: `${sub}@example.com`,
    email_verified: true,
    name: `Person ${people}`,
    ...more,
  }
}

describeEachEngine('single sign-on', (engine) => {
  let provider: IdentityProvider
  let server: TestServer
  beforeAll(async () => {
    provider = await startIdentityProvider()
    server = await startTestServer(engine, {
      ...settingsFor(provider.issuer),
      BOTSTEAD_OIDC_WORKSPACE: newcomers,
      BOTSTEAD_OIDC_ROLE: 'developer',
      BOTSTEAD_TRUSTED_PROXIES: '127.0.0.1',
    })
    await provider.register(server.url)
    await addNewcomersWorkspace(server)
  })
  afterAll(async () => {
    await server?.close()
    await provider?.[Symbol.asyncDispose]()
  })

  const browserOf = (person: PersonAtProvider) => {
    provider.person = person
    return new TestBrowser(server)
  }
  const asOwner = () => server.client({ workspaceId: newcomers })

  /** An account with a password and a proven address. */
  async function addPerson(email: string, { isProven = true } = {}) {
    const login = await addAccount(server)
    const client = server.client(login)
    await client.changeAccountEmail({ email })
    await client.changePassword({ password })
    if (isProven) await prove(server, email)
    return { ...login, client }
  }

  const resetByOperator = (email: string) =>
    inDatabase(server, (tenants) =>
      createOperatorAccounts({ ...tenants, passwords: tenants.slices.passwords.service }).reset(
        email,
      ),
    )

  it('makes an account of a newcomer, with a role, a session that says so, and a record', async () => {
    const person = somebody()
    const browser = browserOf(person)
    expect((await browser.read('sign-in/ways')).said.singleSignOn).toEqual({ name: 'Example ID' })
    const { status, said } = await browser.signIn({ returnTo: '/somewhere' })
    expect(status).toBe(201)
    expect(said).toMatchObject({
      returnTo: '/',
      session: { note: 'Signed in with Example ID', current: true },
    })
    const account = await browser.account()
    expect(account).toMatchObject({
      email: person.email,
      displayName: person.name,
      emailVerified: true,
    })
    const { members } = await asOwner().listWorkspaceMembers({ pageSize: 100 })
    expect(members.find(({ userId }) => userId === account.id)?.role).toBe('developer')
    const { records } = await asOwner().getAuditRecords({ id: newcomers })
    expect(records[0]).toMatchObject({
      operation: 'finishSingleSignOn',
      userId: account.id,
      userEmail: person.email,
      tokenId: said.session.id,
      value: expect.stringContaining(person.sub),
    })
    const again = await browserOf(person).signIn({ returnTo: '/somewhere' })
    expect(again.said).toMatchObject({ returnTo: '/somewhere', session: {} })
    expect((await browser.read('account/security')).said).toMatchObject({
      hasPassword: false,
      identities: [{ email: person.email }],
    })
  })

  it('knows a person by the id of the provider, also with another address', async () => {
    const person = somebody()
    await browserOf(person).signIn()
    const renamed = browserOf({ ...person, email: `new-${person.email}` })
    expect((await renamed.signIn()).status).toBe(201)
    expect(await renamed.account()).toMatchObject({ email: person.email })
  })

  it('is finished once, and in the browser that began it alone', async () => {
    const browser = browserOf(somebody())
    const query = await browser.walk(await browser.start())
    const stranger = new TestBrowser(server)
    expect(await stranger.finish(query)).toMatchObject({ status: 403, said: { type: 'Forbidden' } })
    // With a secret of its own, from a sign-in that it began.
    await stranger.start()
    expect((await stranger.finish(query)).status).toBe(403)
    expect((await browser.finish(query)).status).toBe(201)
    const { status, said } = await browser.finish(query)
    expect(status).toBe(403)
    expect(said.message).toMatch(/not begun in this browser, was used already, or took longer/)
  })

  it('refuses another state, issuer or code, and what is too old', async () => {
    const browser = browserOf(somebody())
    const changed = async (change: (query: URLSearchParams) => void) => {
      const query = new URLSearchParams(await browser.walk(await browser.start()))
      change(query)
      const { status, said } = await browser.finish(query.toString())
      expect(status, said.message).toBe(403)
      return String(said.message)
    }
    expect(await changed((query) => query.set('state', 'another'))).toMatch(/not begun/)
    expect(await changed((query) => query.delete('state'))).toMatch(/not begun/)
    expect(await changed((query) => query.set('iss', 'https://evil.example'))).toMatch(/issuer|iss/)
    expect(await changed((query) => query.delete('iss'))).toMatch(/issuer|iss/)
    const used = new URLSearchParams(await browser.walk(await browser.start())).get('code') ?? ''
    expect(await changed((query) => query.set('code', used))).toMatch(/invalid_grant/)
    expect(await changed((query) => query.append('code', 'another'))).toMatch(/code/)
    expect(
      await changed((query) => {
        query.delete('code')
        query.set('error', 'access_denied')
      }),
    ).toMatch(/^Example ID did not sign you in: it was cancelled, or is not allowed\.$/)
    const late = await browser.walk(await browser.start())
    server.clock.advance(10 * 60 * 1000)
    expect((await browser.finish(late)).status).toBe(403)
    expect((await browser.read('account/me')).status).toBe(401)
  })

  it('lets two tabs of a browser finish, one after the other', async () => {
    const browser = browserOf(somebody())
    const first = await browser.start()
    const second = await browser.start()
    expect((await browser.finish(await browser.walk(first))).status).toBe(201)
    expect((await browser.finish(await browser.walk(second))).status).toBe(201)
  })

  it('leads to no other server', async () => {
    const browser = browserOf(somebody())
    for (const returnTo of ['https://evil.example', '//evil.example', '/\\evil.example', 'evil']) {
      expect((await browser.call('sign-in/sso', { returnTo })).status, returnTo).toBe(400)
    }
    expect((await browser.signIn({ returnTo: '/here?a=b#c' })).status).toBe(201)
  })

  it('is begun and finished from pages of this server alone', async () => {
    const evil = {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
    }
    for (const [path, body] of [
      ['sso', '{}'],
      ['sso/finish', '{"query":"a=b"}'],
    ]) {
      const response = await server.fetch(`/v1/admin/sign-in/${path}`, {
        ...evil,
        body: body ?? '',
      })
      expect(response.status).toBe(403)
    }
  })

  it.each([
    ['an address that is not verified', { email_verified: false }, /has not verified your email/],
    ['no address', { email: undefined }, /has not verified your email/],
    [
      'a foreign domain',
      { email: 'a@evil.example' },
      /^People with your address at Example ID may not sign in here/,
    ],
    ['a domain below', { email: 'a@sub.example.com' }, /may not sign in here/],
    ['a domain in the name', { email: 'a@example.com@evil.example' }, /has not verified/],
  ])('refuses %s', async (_, more, message) => {
    const browser = browserOf({ ...somebody(), ...more } as PersonAtProvider)
    const { status, said } = await browser.signIn()
    expect(status).toBe(403)
    expect(said.message).toMatch(message)
    expect((await browser.read('account/me')).status).toBe(401)
  })

  it('connects an account whose address is proven, and not one that somebody else may have made', async () => {
    const owner = somebody()
    const bea = await addPerson(owner.email)
    const browser = browserOf(owner)
    expect((await browser.signIn()).status).toBe(201)
    expect((await browser.account()).id).toBe((await bea.client.getAccount()).account.id)

    const victim = somebody()
    const squatter = await addPerson(victim.email, { isProven: false })
    const refused = await browserOf(victim).signIn()
    expect(refused.status).toBe(403)
    expect(refused.said.message).toMatch(/nobody has proven here that the address is theirs/)
    expect((await squatter.client.getAccountSecurity()).identities).toEqual([])

    // The address was given to somebody else at the provider.
    const successor = somebody({ email: owner.email })
    const other = await browserOf(successor).signIn()
    expect(other.status).toBe(403)
    expect(other.said.message).toMatch(/is, or was, connected with another account of Example ID/)
  })

  it('never connects the account of the operator by itself', async () => {
    const person = somebody()
    await server.client().changeAccountEmail({ email: person.email })
    await prove(server, person.email)
    const { status, said } = await browserOf(person).signIn()
    expect(status).toBe(403)
    expect(said.message).toMatch(/operator/)
  })

  it('connects the account that is signed in, which proves itself with its password', async () => {
    const person = somebody({ email: 'elsewhere@example.com' })
    const bea = await addPerson('bea-connects@example.com', { isProven: false })
    const browser = browserOf(person)
    await browser.enter(bea.token)
    expect((await browser.call('account/sso', { currentPassword: 'wrong' })).status).toBe(400)
    const connect = async () => {
      const { said } = await browser.call('account/sso', {
        currentPassword: password,
        returnTo: '/back',
      })
      return await browser.finish(await browser.walk(new URL(said.url)))
    }
    expect(await connect()).toEqual({ status: 201, said: { returnTo: '/back' } })
    expect((await bea.client.getAccountSecurity()).identities).toMatchObject([
      { email: person.email },
    ])
    const elsewhere = browserOf(person)
    expect((await elsewhere.signIn()).status).toBe(201)
    expect((await elsewhere.account()).email).toBe('bea-connects@example.com')

    // Another person of the provider, and another account here.
    provider.person = somebody()
    browser.leave()
    expect((await connect()).said.message).toMatch(/^Your account is connected with another/)
    const cai = await addPerson('cai-connects@example.com')
    const stranger = browserOf(person)
    await stranger.enter(cai.token)
    const { said } = await stranger.call('account/sso', { currentPassword: password })
    const refused = await stranger.finish(await stranger.walk(new URL(said.url)))
    expect(refused.said.message).toMatch(/is connected with another account here/)

    // The session ended while the person was at the provider.
    const begun = await stranger.call('account/sso', { currentPassword: password })
    const query = await stranger.walk(new URL(begun.said.url))
    await cai.client.deleteOtherSessions()
    expect((await stranger.finish(query)).said.message).toMatch(/You were signed out meanwhile/)

    await bea.client.disconnectSingleSignOn({ currentPassword: password })
    expect((await elsewhere.read('account/me')).status).toBe(401)
    expect((await browserOf(person).signIn()).said.message).toMatch(/ask for an invitation/)
    const { records } = await bea.client.getAuditRecords({ id: bea.workspaceId })
    expect(records.find(({ operation }) => operation === 'disconnectSingleSignOn')).toMatchObject({
      value: expect.stringContaining(person.sub),
    })
    expect(records.filter(({ operation }) => operation === 'finishSingleSignOn')).toHaveLength(2)
  })

  it('asks for the second factor of the account', async () => {
    const person = somebody()
    const bea = await addPerson(person.email)
    const { secret } = await bea.client.startSecondFactor({ currentPassword: password })
    await bea.client.confirmSecondFactor({ code: totpCode(secret, server.clock.now()) })
    const browser = browserOf(person)
    const { status, said } = await browser.signIn()
    expect(status).toBe(201)
    expect(said.session).toBeUndefined()
    expect((await browser.read('account/me')).status).toBe(401)
    server.clock.advance(60_000)
    const { ticket } = said.secondFactor
    const code = totpCode(secret, server.clock.now())
    const done = await browser.call('sign-in/second-factor', { ticket, code })
    expect(done.said.session).toMatchObject({ note: 'Signed in with Example ID' })
  })

  it('gives no role to an account that has none, nor to a member who was removed', async () => {
    const person = somebody()
    const browser = browserOf(person)
    await browser.signIn()
    const { id } = await browser.account()
    const { members } = await asOwner().listWorkspaceMembers({ pageSize: 100 })
    const member = members.find(({ userId }) => userId === id)
    await asOwner().deleteWorkspaceMember({ id: member?.id ?? '' })
    const again = browserOf(person)
    expect((await again.signIn()).status).toBe(201)
    expect((await again.read('workspaces')).said.workspaces).toEqual([])
    const inside = await again.fetch(`${server.url}/v1/admin/bots`, {
      headers: { 'x-requested-with': 'test', 'x-workspace-id': newcomers },
    })
    expect(await inside.json()).toMatchObject({
      type: 'Unauthorized',
      message: expect.stringContaining('x-workspace-id'),
    })
    const { members: left } = await asOwner().listWorkspaceMembers({ pageSize: 100 })
    expect(left.map(({ userId }) => userId)).not.toContain(id)
  })

  it('accepts an invitation to the address of the person, with its role', async () => {
    const owner = await addPerson('owner-invites@example.com')
    const invite = async (email: string) => {
      const made = await owner.client.createWorkspaceMember({ email, role: 'manager' })
      return new URL(made.invitationUrl).hash.slice(1)
    }
    const person = somebody()
    const code = await invite(person.email)
    const returnTo = `/join#${code}`
    const other = somebody()
    const wrong = browserOf(other)
    await wrong.signIn({ invitation: code, returnTo })
    const roleOf = async (email: string) =>
      (await owner.client.listWorkspaceMembers({ pageSize: 100 })).members.find(
        (each) => each.email === email,
      )
    expect(await roleOf(other.email)).toBeUndefined()

    const browser = browserOf(person)
    expect((await browser.signIn({ invitation: code, returnTo })).said.returnTo).toBe('/')
    expect(await roleOf(person.email)).toMatchObject({ role: 'manager' })
    expect((await roleOf(person.email))?.userId).toBe((await browser.account()).id)

    // Somebody with an account goes on to the page of the invitation.
    const next = await invite(other.email)
    const known = await browserOf(other).signIn({ invitation: next, returnTo: `/join#${next}` })
    expect(known.said.returnTo).toBe(`/join#${next}`)
  })

  it('gives newcomers the role of an open invitation to their workspace', async () => {
    const person = somebody()
    await asOwner().createWorkspaceMember({ email: person.email, role: 'manager' })
    await browserOf(person).signIn()
    const { members } = await asOwner().listWorkspaceMembers({ pageSize: 100 })
    expect(members.filter(({ email }) => email === person.email)).toMatchObject([
      { role: 'manager', userId: expect.any(String) },
    ])
    const { records } = await asOwner().getAuditRecords({ id: newcomers })
    expect(records[0]).toMatchObject({
      operation: 'finishSingleSignOn',
      value: expect.stringContaining('manager'),
    })
  })

  it('ends with the link of the operator, which removes the connection', async () => {
    const person = somebody()
    await addPerson(person.email)
    const browser = browserOf(person)
    await browser.signIn()
    await resetByOperator(person.email)
    expect((await browser.read('account/me')).status).toBe(401)
    // Whoever may have stolen the account at the provider does not come back, nor its next owner.
    expect((await browserOf(person).signIn()).said.message).toMatch(
      /was removed\. Sign in as before/,
    )
    const successor = browserOf(somebody({ email: person.email }))
    expect((await successor.signIn()).said.message).toMatch(/is, or was, connected/)
  })

  it('ends with a new password by a link, whoever made the connection', async () => {
    const person = somebody({ email: 'thief@example.com' })
    const bea = await addPerson('bea-resets@example.com')
    const code = await resetByOperator('bea-resets@example.com')
    const thief = browserOf(person)
    await thief.enter(bea.token)
    const begun = await thief.call('account/sso', { currentPassword: password })
    await thief.finish(await thief.walk(new URL(begun.said.url)))
    expect((await bea.client.getAccountSecurity()).identities).toHaveLength(1)
    const other = new TestBrowser(server)
    const done = await other.call('sign-in/reset', { code, password: `${password} again` })
    expect(done.status, done.said.message).toBe(201)
    expect((await other.read('account/security')).said.identities).toEqual([])
    expect((await browserOf(person).signIn()).status).toBe(403)
  })

  it.runIf(engine.name === 'postgres')(
    'ends with the link of the operator, also while it is made',
    async () => {
      const person = somebody({ email: 'late@example.com' })
      const bea = await addPerson('bea-is-late@example.com')
      const { id } = (await bea.client.getAccount()).account
      const browser = browserOf(person)
      await browser.enter(bea.token)
      const begun = await browser.call('account/sso', { currentPassword: password })
      const query = await browser.walk(new URL(begun.said.url))
      const under: Promise<unknown>[] = []
      await inDatabase(server, ({ run }) =>
        run(async (tx) => {
          // The connection waits where it is stored, and not yet to be seen.
          await sql`select id from accounts where id = ${id} for update`.execute(tx)
          under.push(browser.finish(query))
          await vi.waitUntil(async () => (await countWaiting(tx)) === 1)
          under.push(resetByOperator('bea-is-late@example.com'))
          await vi.waitUntil(async () => (await countWaiting(tx)) === 2)
        }),
      )
      await Promise.all(under)
      expect((await bea.client.getAccountSecurity()).identities).toEqual([])
      expect((await browserOf(person).signIn()).status).toBe(403)
    },
  )

  it('makes no second account of a person, nor one again that was deleted or had its connection removed', async () => {
    const changing = somebody()
    const browser = browserOf(changing)
    await browser.signIn()
    const moved = { email: `moved-${changing.email}` }
    expect((await browser.call('account/email', moved, 'PUT')).status).toBe(200)
    expect((await browser.call('account/sso/remove', {})).said.type).toBe('ReferenceConstraint')
    expect((await browser.call('account/password', { password }, 'PUT')).status).toBe(200)
    const removed = await browser.call('account/sso/remove', { currentPassword: password })
    expect(removed.status).toBe(200)
    const refused = await browserOf(changing).signIn()
    expect(refused.said.message).toMatch(/ask for an invitation/)

    const leaving = somebody()
    const last = browserOf(leaving)
    await last.signIn()
    expect((await last.call('account/me', {})).status).toBe(200)
    expect((await browserOf(leaving).signIn()).status).toBe(403)
    const made = await asOwner().createWorkspaceMember({ email: leaving.email, role: 'viewer' })
    const invitation = new URL(made.invitationUrl).hash.slice(1)
    const invited = browserOf(leaving)
    expect((await invited.signIn({ invitation })).status).toBe(201)
    expect(await invited.account()).toMatchObject({ email: leaving.email })
  })

  it('asks the provider anew who connects an account', async () => {
    const bea = await addPerson('bea-is-asked@example.com')
    const browser = browserOf(somebody())
    await browser.enter(bea.token)
    const { said } = await browser.call('account/sso', { currentPassword: password })
    expect(new URL(said.url).searchParams.get('prompt')).toBe('login')
    expect((await browser.start()).searchParams.has('prompt')).toBe(false)
  })

  it('counts sign-ins that are begun from one address and not finished', async () => {
    const begin = () =>
      server.fetch('/v1/admin/sign-in/sso', {
        method: 'POST',
        headers: {
          origin: server.url,
          'content-type': 'application/json',
          'x-forwarded-for': '203.0.113.77',
        },
        body: '{}',
      })
    for (let each = 0; each < 100; each++) expect((await begin()).status).toBe(200)
    const refused = await begin()
    expect(refused.status).toBe(429)
    expect(await refused.text()).toMatch(/begun and not finished/)
    // Cancelled ones end by themselves, however many there were.
    server.clock.advance(10 * 60 * 1000)
    for (let each = 0; each < 3; each++) expect((await begin()).status).toBe(200)
  })
})

describe('a provider that is hostile or away', () => {
  let provider: Hostile
  let server: TestServer
  beforeAll(async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    provider = await startHostileProvider()
    server = await startTestServer(engine, settingsFor(provider.issuer))
  })
  afterAll(async () => {
    await server?.close()
    await provider?.[Symbol.asyncDispose]()
  })

  /** Comes back from the provider, which signs the claims that are given for the nonce of the sign-in. */
  async function comeBack(claims: (nonce: string) => Record<string, unknown>) {
    const browser = new TestBrowser(server)
    const url = await browser.start()
    provider.claims = claims(url.searchParams.get('nonce') ?? '')
    const state = url.searchParams.get('state') ?? ''
    const query = new URLSearchParams({ code: 'any', state, iss: provider.issuer })
    return await browser.finish(query.toString())
  }
  const good = (nonce: string) => ({
    sub: 'ann',
    nonce,
    email: 'a@example.com',
    email_verified: true,
  })
  const discovery = '/.well-known/openid-configuration'
  /** Lets the server forget the documents. */
  const forget = () => server.clock.advance(60 * 60 * 1000)

  it.each<[string, (nonce: string) => Record<string, unknown>, RegExp]>([
    ['nobody whom it knows', good, /ask for an invitation/],
    ['another nonce', () => good('another'), /nonce/],
    ['no nonce', () => ({ ...good(''), nonce: undefined }), /nonce/],
    ['another issuer', (nonce) => ({ ...good(nonce), iss: 'https://evil.example' }), /iss/],
    ['another audience', (nonce) => ({ ...good(nonce), aud: 'another' }), /aud/],
    ['an end in the past', (nonce) => ({ ...good(nonce), exp: 1000 }), /exp/],
    [
      'an id with control characters',
      (nonce) => ({ ...good(nonce), sub: 'a\0b' }),
      /id of the person/,
    ],
  ])('lets nobody in with %s', async (_, claims, message) => {
    const { status, said } = await comeBack(claims)
    expect(said.message).toMatch(message)
    expect(status).toBe(403)
  })

  it('lets nobody in with a signature of somebody else', async () => {
    const keys = { keys: [{ kty: 'EC', crv: 'P-256', kid: 'one', alg: 'ES256', use: 'sig' }] }
    const point = {
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    }
    forget()
    provider.instead['/jwks'] = (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ keys: keys.keys.map((key) => ({ ...key, ...point })) }))
    }
    const { status, said } = await comeBack(good)
    expect(said.message).toMatch(/signature/)
    expect(status).toBe(403)
    delete provider.instead['/jwks']
    forget()
  })

  it.each<[string, () => void, RegExp]>([
    [
      'another issuer in its documents',
      () => {
        provider.metadata = { issuer: 'https://evil.example' }
      },
      /issuer/,
    ],
    [
      'an address for people that is a script',
      () => {
        provider.metadata = { authorization_endpoint: 'javascript:alert(1)//' }
      },
      /was not accepted/,
    ],
    [
      'a redirect',
      () => {
        provider.instead[discovery] = (_, response) =>
          response.writeHead(302, { location: discovery }).end()
      },
      /was not accepted/,
    ],
    [
      'documents without end',
      () => {
        provider.instead[discovery] = (_, response) => {
          response.setHeader('content-type', 'application/json')
          const more = () => {
            while (!response.destroyed && response.write('{'.repeat(65_536))) {}
          }
          response.on('drain', more)
          more()
        }
      },
      /sent more than 256 KB/,
    ],
    [
      'no JSON',
      () => {
        provider.instead[discovery] = (_, response) => response.end('<html>')
      },
      /was not accepted/,
    ],
  ])('says what is wrong with %s', async (_, misbehave, message) => {
    forget()
    misbehave()
    const { status, said } = await new TestBrowser(server).call('sign-in/sso', {})
    expect(said.message).toMatch(message)
    expect(status).toBe(403)
    provider.metadata = {}
    provider.instead = {}
    forget()
    expect((await comeBack(good)).said.message).toMatch(/ask for an invitation/)
  })

  it('is not led to addresses of the inner network', async () => {
    forget()
    provider.metadata = { token_endpoint: 'http://10.0.0.1/token' }
    const { status, said } = await comeBack(good)
    // The address is for the operator alone.
    expect(said.message).toBe(
      'Example ID does not respond. Try again later, or sign in in another way.',
    )
    expect(status).toBe(504)
    provider.metadata = {}
    forget()
  })

  it('ends documents that come drop by drop', async () => {
    forget()
    provider.instead[discovery] = (_, response) => {
      response.setHeader('content-type', 'application/json')
      const drops = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(drops))
    }
    const { status, said } = await new TestBrowser(server).call('sign-in/sso', {})
    expect(status).toBe(504)
    expect(said.message).toMatch(
      /^Example ID does not respond\. Try again later, or sign in in another way\.$/,
    )
    provider.instead = {}
  }, 60_000)

  it('lets the server start, and says that it is away', async () => {
    const [engine] = engines
    if (engine === undefined) return
    const gone = await startHostileProvider()
    await gone[Symbol.asyncDispose]()
    const other = await startTestServer(engine, settingsFor(gone.issuer))
    const { status, said } = await new TestBrowser(other).call('sign-in/sso', {})
    expect(status).toBe(504)
    expect(said.message).toMatch(/^Example ID does not respond\./)
    await other.close()
  })
})
