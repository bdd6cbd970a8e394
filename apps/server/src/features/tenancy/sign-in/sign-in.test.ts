import { scryptSync } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { startTestServer, type TestServer, useServer } from '../../../../test/harness.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { addAccount, type Login } from '../../../../test/tenant.js'
import { createOperatorAccounts } from './index.js'

const password = 'seven green teapots'
const minute = 60_000

/** A call from a page of the server, with the cookies of its browser. */
async function post(
  server: TestServer,
  path: string,
  body: object,
  headers: Record<string, string> = {},
) {
  const response = await server.fetch(`/v1/admin/${path}`, {
    method: path.startsWith('account/') ? 'PUT' : 'POST',
    headers: { origin: server.url, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const cookie = response.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ')
  const { id: _, ...said } = JSON.parse(await response.text())
  return { status: response.status, retryAfter: response.headers.get('retry-after'), cookie, said }
}

const signIn = (
  server: TestServer,
  email: string,
  secret = password,
  headers: Record<string, string> = {},
) => post(server, 'sign-in/password', { email, password: secret }, headers)

/** The session among the cookies of a browser, without the secret by which it is known. */
const sessionIn = (cookie: string) => cookie.split('; ').find((each) => !each.includes('_device='))

async function addPerson(server: TestServer): Promise<Login & { email: string }> {
  const login = await addAccount(server)
  await server.client(login).changePassword({ password })
  const { account } = await server.client(login).getAccount()
  return { ...login, email: account.email }
}

async function statusOf(server: TestServer, cookie: string): Promise<number> {
  const headers = { cookie, origin: server.url }
  const response = await server.fetch('/v1/admin/account/me', { headers })
  await response.arrayBuffer()
  return response.status
}

const asOperator = <T>(
  server: TestServer,
  work: (accounts: ReturnType<typeof createOperatorAccounts>) => Promise<T>,
): Promise<T> =>
  inDatabase(server, (tenants) =>
    work(createOperatorAccounts({ ...tenants, passwords: tenants.slices.passwords.service })),
  )

describeSlow('sign-in with a password', (engine) => {
  const server = useServer(engine, { BOTSTEAD_TRUSTED_PROXIES: '127.0.0.1' })

  it('begins a session of the account, in any spelling of its address', async () => {
    const bea = await addPerson(server())
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const { status, cookie, said } = await signIn(server(), bea.email.toUpperCase(), password, {
      'user-agent': agent,
      'x-forwarded-for': '203.0.113.9',
    })
    expect(status).toBe(201)
    expect(said.session).toMatchObject({
      device: 'Firefox on Linux',
      address: '203.0.113.9',
      current: true,
    })
    expect(await statusOf(server(), cookie)).toBe(200)
    const { sessions } = await server().client(bea).listSessions()
    expect(sessions).toMatchObject([{ device: 'Firefox on Linux', address: '203.0.113.9' }])
    expect(await server().client(bea).getAccountSecurity()).toMatchObject({ hasPassword: true })
  })

  it('says the same about wrong passwords, unknown addresses and accounts without one', async () => {
    const bea = await addPerson(server())
    const cai = await addAccount(server())
    const { account } = await server().client(cai).getAccount()
    const wrong = await signIn(server(), bea.email, 'another password')
    expect(wrong).toMatchObject({
      status: 401,
      cookie: '',
      said: { type: 'Unauthorized', metadata: { in: 'body', field: 'password' } },
    })
    expect(await signIn(server(), 'nobody@example.org')).toEqual(wrong)
    expect(await signIn(server(), account.email)).toEqual(wrong)
    expect(await server().client(cai).getAccountSecurity()).toEqual({
      hasPassword: false,
      identities: [],
      passkeys: 0,
    })
  })

  it('never adopts a session that a browser has, and ends it', async () => {
    const bea = await addPerson(server())
    const first = await signIn(server(), bea.email)
    const second = await signIn(server(), bea.email, password, { cookie: first.cookie })
    expect(sessionIn(second.cookie)).not.toBe(sessionIn(first.cookie))
    expect(await statusOf(server(), first.cookie)).toBe(401)
    expect(await statusOf(server(), second.cookie)).toBe(200)
    const name = sessionIn(first.cookie)?.split('=')[0]
    const planted = await signIn(server(), bea.email, password, {
      cookie: `${name}=bp_ses_chosen-by-somebody-else`,
    })
    expect(planted.cookie).not.toContain('chosen-by-somebody-else')
  })

  it('is refused from pages of others', async () => {
    const bea = await addPerson(server())
    const evil = { origin: 'https://evil.example' }
    expect(await signIn(server(), bea.email, password, evil)).toMatchObject({
      status: 403,
      cookie: '',
    })
    const reset = await asOperator(server(), (accounts) => accounts.reset(bea.email))
    const body = { code: reset, password: 'nine purple ladders' }
    expect((await post(server(), 'sign-in/reset', body, evil)).status).toBe(403)
    const { cookie } = await signIn(server(), bea.email)
    const change = { password: 'nine purple ladders', currentPassword: password }
    expect((await post(server(), 'account/password', change, { ...evil, cookie })).status).toBe(401)
  })

  it('waits longer with each wrong password, by account, also for unknown addresses', async () => {
    const bea = await addPerson(server())
    for (const email of [bea.email, 'nobody-else@example.org']) {
      await server().clock.hold(async () => {
        for (let attempt = 1; attempt <= 10; attempt++) {
          expect((await signIn(server(), email, 'wrong words')).status).toBe(401)
        }
        const refused = await signIn(server(), email)
        expect(refused).toMatchObject({ status: 429, retryAfter: '1', cookie: '' })
        server().clock.advance(1000)
        expect((await signIn(server(), email, 'wrong words')).status).toBe(401)
        expect((await signIn(server(), email)).retryAfter).toBe('2')
        server().clock.advance(5 * minute)
      })
    }
    expect((await signIn(server(), bea.email)).status).toBe(201)
    expect((await signIn(server(), bea.email, 'wrong words')).status).toBe(401)
  })

  it('counts attempts that are made at once', async () => {
    const bea = await addPerson(server())
    await server().clock.hold(async () => {
      const attempts = Array.from({ length: 25 }, () => signIn(server(), bea.email, 'wrong words'))
      const statuses = (await Promise.all(attempts)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 401)).toHaveLength(10)
      expect(statuses.filter((status) => status === 429)).toHaveLength(15)
    })
  })

  it('does not wait in a browser of the owner while others guess, and is not slower to count there', async () => {
    const bea = await addPerson(server())
    const { cookie } = await signIn(server(), bea.email)
    await server().clock.hold(async () => {
      for (let attempt = 1; attempt <= 10; attempt++) {
        await signIn(server(), bea.email, 'wrong words')
      }
      expect((await signIn(server(), bea.email)).status).toBe(429)
      expect((await signIn(server(), bea.email, password, { cookie })).status).toBe(201)
      // The success of the owner gives those who guess no new attempts.
      expect((await signIn(server(), bea.email)).status).toBe(429)
      for (let attempt = 1; attempt <= 10; attempt++) {
        await signIn(server(), bea.email, 'wrong words', { cookie })
      }
      expect((await signIn(server(), bea.email, password, { cookie })).status).toBe(429)
    })
  })

  it('waits by network address, which one known account does not reset', async () => {
    const bea = await addPerson(server())
    const from = { 'x-forwarded-for': '203.0.113.77' }
    await server().clock.hold(async () => {
      for (let each = 1; each <= 29; each++) {
        expect((await signIn(server(), `guess-${each}@example.org`, password, from)).status).toBe(
          401,
        )
      }
      expect((await signIn(server(), bea.email, password, from)).status).toBe(201)
      expect((await signIn(server(), 'guess-30@example.org', password, from)).status).toBe(401)
      expect((await signIn(server(), bea.email, password, from)).status).toBe(429)
      const elsewhere = { 'x-forwarded-for': '203.0.113.78' }
      expect((await signIn(server(), bea.email, password, elsewhere)).status).toBe(201)
    })
  })

  it.each([
    'short',
    'aaaaaaaaaaaaaaaa',
    'Password12345',
    'p@ssw0rd2026!',
    'qwertyuiop',
    '0987654321',
    '1q2w3e4r5t6z',
    'i love you 1234',
  ])('takes no password such as %s', async (chosen) => {
    const client = server().client(await addAccount(server()))
    await expect(client.changePassword({ password: chosen })).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringMatching(/characters|tried first/),
      metadata: { field: 'password' },
    })
  })

  it('takes no password that is the address or the name', async () => {
    const login = await addAccount(server())
    const client = server().client(login)
    await client.updateAccount({ displayName: 'Beatrix Lovelace' })
    const { account } = await client.getAccount()
    const local = account.email.split('@')[0] ?? ''
    for (const chosen of [
      account.email,
      local,
      `${local}!`,
      'beatrix lovelace',
      'BeatrixLovelace1',
    ]) {
      await expect(client.changePassword({ password: chosen })).rejects.toMatchObject({
        message: expect.stringContaining('address or name'),
      })
    }
    let currentPassword: string | undefined
    for (const chosen of [
      'Lovelace plays chess',
      '8305-1729-4410-22',
      'Käsekuchen über alles',
      '🫖🦆🪜🎻🧭🪁🫧🧩🪴🥨',
    ]) {
      await client.changePassword({
        password: chosen,
        ...(currentPassword !== undefined && { currentPassword }),
      })
      currentPassword = chosen
    }
  })

  it('changes the password with the present one alone, and ends all other sessions', async () => {
    const bea = await addPerson(server())
    const [here, there] = [await signIn(server(), bea.email), await signIn(server(), bea.email)]
    const next = 'nine purple ladders'
    const { cookie } = here
    const change = (body: object) => post(server(), 'account/password', body, { cookie })
    for (const body of [{ password: next }, { password: next, currentPassword: 'wrong words' }]) {
      expect(await change(body)).toMatchObject({
        status: 400,
        said: { metadata: { in: 'body', field: 'currentPassword' } },
      })
    }
    expect(await statusOf(server(), there.cookie)).toBe(200)
    expect((await change({ password: next, currentPassword: password })).status).toBe(200)
    expect(await statusOf(server(), here.cookie)).toBe(200)
    expect(await statusOf(server(), there.cookie)).toBe(401)
    expect((await signIn(server(), bea.email)).status).toBe(401)
    expect((await signIn(server(), bea.email, next)).status).toBe(201)
    await server().client(bea).getAccount()
  })

  it('makes guesses of the current password in a stolen session wait too', async () => {
    const bea = await addPerson(server())
    const change = (currentPassword: string) =>
      server().client(bea).changePassword({ password: 'nine purple ladders', currentPassword })
    await server().clock.hold(async () => {
      for (let attempt = 1; attempt <= 10; attempt++) {
        await expect(change('wrong words')).rejects.toMatchObject({ type: 'InvalidPayload' })
      }
      await expect(change(password)).rejects.toMatchObject({ type: 'RateLimited' })
    })
  })

  it('changes the address, which is unique', async () => {
    const bea = await addPerson(server())
    const cai = await addPerson(server())
    const client = server().client(bea)
    await expect(client.changeAccountEmail({ email: 'bea-new@example.com' })).rejects.toMatchObject(
      { metadata: { field: 'currentPassword' } },
    )
    await expect(
      client.changeAccountEmail({ email: cai.email, currentPassword: password }),
    ).rejects.toMatchObject({ type: 'AlreadyExists', metadata: { field: 'email' } })
    const email = `New-${bea.email}`
    await client.changeAccountEmail({ email, currentPassword: password })
    expect((await client.getAccount()).account.email).toBe(email.toLowerCase())
    expect((await signIn(server(), email)).status).toBe(201)
    expect((await signIn(server(), bea.email)).status).toBe(401)
  })

  it('ends the other sessions on request', async () => {
    const bea = await addPerson(server())
    const [here, there] = [await signIn(server(), bea.email), await signIn(server(), bea.email)]
    const page = server().client({
      token: undefined,
      headers: { cookie: here.cookie, origin: server().url },
    })
    expect(await page.deleteOtherSessions()).toEqual({ ended: 1 })
    expect(await statusOf(server(), there.cookie)).toBe(401)
    expect((await page.listSessions()).sessions).toMatchObject([{ current: true }])
    expect(await server().client(bea).deleteOtherSessions()).toEqual({ ended: 1 })
  })

  it('sets a password by a link of the operator, once, and ends the sessions', async () => {
    const bea = await addPerson(server())
    const { cookie } = await signIn(server(), bea.email)
    const [code, older] = await asOperator(server(), async (accounts) => {
      const first = await accounts.reset(bea.email)
      return [await accounts.reset(bea.email.toUpperCase()), first]
    })
    await vi.waitFor(async () => expect(await statusOf(server(), cookie)).toBe(401), 7000)
    const page = server().client({ token: undefined, headers: { origin: server().url } })
    expect(await page.getPasswordReset({ code })).toMatchObject({ email: bea.email })
    const next = 'nine purple ladders'
    expect((await post(server(), 'sign-in/reset', { code, password: bea.email })).status).toBe(400)
    const both = await Promise.all([
      post(server(), 'sign-in/reset', { code, password: next }),
      post(server(), 'sign-in/reset', { code, password: `${next} too` }),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 404])
    const winner = both[0].status === 201 ? next : `${next} too`
    expect((await signIn(server(), bea.email, winner)).status).toBe(201)
    expect((await signIn(server(), bea.email)).status).toBe(401)
    // Links that were made before are of no use any more.
    expect((await post(server(), 'sign-in/reset', { code: older, password: next })).status).toBe(
      404,
    )
    await expect(page.getPasswordReset({ code })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })

  it('lets a new account set its password', async () => {
    const code = await asOperator(server(), (accounts) => accounts.create('Dee@Example.com', 'Dee'))
    await expect(
      asOperator(server(), (accounts) => accounts.create('dee@example.com', 'Dee')),
    ).rejects.toThrow('There is an account')
    const { status, cookie } = await post(server(), 'sign-in/reset', { code, password })
    expect(status).toBe(201)
    expect(await statusOf(server(), cookie)).toBe(200)
    expect((await signIn(server(), 'dee@example.com')).status).toBe(201)
    expect(await asOperator(server(), (accounts) => accounts.list())).toContainEqual(
      expect.objectContaining({ email: 'dee@example.com', hasPassword: true }),
    )
  })

  it('hashes passwords with 32 MiB, as OWASP lists', async () => {
    const plain = await startTestServer(engine, {}, undefined, { passwordCost: undefined })
    try {
      const bea = await addPerson(plain)
      const hashes = await inDatabase(plain, ({ db }) =>
        db.selectFrom('account_passwords').select('hash').execute(),
      )
      expect(hashes).toEqual([{ hash: expect.stringMatching(/^scrypt\$15\$8\$3\$/) }])
      expect((await signIn(plain, bea.email)).status).toBe(201)
    } finally {
      await plain.close()
    }
  })

  it('hashes a password anew that was hashed with less work', async () => {
    const bea = await addPerson(server())
    const salt = Buffer.alloc(16, 7)
    const key = scryptSync(password, salt, 32, { N: 256, r: 8, p: 1 })
    const weak = ['scrypt', 8, 8, 1, salt.toString('base64url'), key.toString('base64url')].join(
      '$',
    )
    const { account } = await server().client(bea).getAccount()
    const stored = () =>
      inDatabase(server(), ({ db }) =>
        db
          .selectFrom('account_passwords')
          .select('hash')
          .where('account_id', '=', account.id)
          .executeTakeFirst(),
      )
    await inDatabase(server(), ({ run }) =>
      run(async (tx) => {
        await tx
          .updateTable('account_passwords')
          .set({ hash: weak })
          .where('account_id', '=', account.id)
          .execute()
      }),
    )
    expect((await signIn(server(), bea.email)).status).toBe(201)
    expect((await stored())?.hash).toMatch(/^scrypt\$9\$8\$1\$/)
    expect((await signIn(server(), bea.email)).status).toBe(201)
  })

  // Last, because accounts are made by the clock of the system.
  it('refuses a link after a day', async () => {
    const bea = await addPerson(server())
    const code = await asOperator(server(), (accounts) => accounts.reset(bea.email))
    server().clock.advance(25 * 60 * minute)
    expect((await post(server(), 'sign-in/reset', { code, password })).status).toBe(404)
  })
})
