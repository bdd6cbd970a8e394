import type { Client } from '@botstead/contract'
import { describe, expect, it, vi } from 'vitest'
import { type Deviations, keyKinds, TestAuthenticator } from '../../../../test/authenticator.js'
import { describeEachEngine } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { PasskeyBrowser, password } from '../../../../test/passkey-browser.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { patientWithLocks } from '../../../../test/tenancy/waiting.js'
import { addAccount, type Login } from '../../../../test/tenant.js'
import { createOperatorAccounts } from './index.js'
import { totpCode } from './totp.js'
import { relyingPartyAt, requireRelyingParty } from './webauthn.js'

const minute = 60_000
/** Where nobody listens: no test signs in there. */
const provider = 'http://localhost:1/'

/** An attestation with something that should be certificates. */
const certified = (format: string) => ({ format, statement: new Map([['x5c', Buffer.alloc(10)]]) })

interface Owner extends Login {
  client: Client
  email: string
  browser: PasskeyBrowser
}

describeEachEngine('passkeys', (engine) => {
  const server = useServer(
    engine,
    {
      BOTSTEAD_TRUSTED_PROXIES: '127.0.0.1',
      BOTSTEAD_OIDC_ISSUER: provider,
      BOTSTEAD_OIDC_CLIENT_ID: 'botstead',
    },
    patientWithLocks,
  )
  const newBrowser = () => new PasskeyBrowser(server().url)
  const newDevice = (kind?: keyof typeof keyKinds) => new TestAuthenticator(server().url, kind)

  /** Somebody with an account who is signed in in a browser. */
  async function addPerson({ hasPassword = true } = {}): Promise<Owner> {
    const login = await addAccount(server())
    const client = server().client(login)
    if (hasPassword) await client.changePassword({ password })
    const browser = newBrowser()
    await browser.enter(login.token)
    return { ...login, client, browser, email: (await client.getAccount()).account.email }
  }

  /** Somebody with a passkey. */
  async function addOwner(): Promise<Owner & { device: TestAuthenticator; id: string }> {
    const person = await addPerson()
    const device = newDevice()
    const { status, said } = await person.browser.add(device)
    expect(status, said.message).toBe(200)
    return { ...person, device, id: said.passkey.id }
  }

  const countChallenges = () =>
    inDatabase(server(), async ({ db }) => {
      const rows = await db.selectFrom('passkey_challenges').select('hash').execute()
      return rows.length
    })

  const recordsOf = async ({ client, workspaceId }: Owner) =>
    (await client.getAuditRecords({ id: workspaceId })).records

  const operate = <T>(
    work: (accounts: ReturnType<typeof createOperatorAccounts>) => Promise<T>,
  ): Promise<T> =>
    inDatabase(server(), (tenants) =>
      work(createOperatorAccounts({ ...tenants, passwords: tenants.slices.passwords.service })),
    )

  it.each(Object.keys(keyKinds) as (keyof typeof keyKinds)[])(
    'sign a browser in without address and password, with a key of %s',
    async (kind) => {
      const bea = await addPerson()
      const device = newDevice(kind)
      device.isSynced = true
      const added = await bea.browser.add(device)
      expect(added.said, added.said.message).toMatchObject({
        passkey: { name: 'Laptop', host: 'localhost', syncable: true, backedUp: true },
      })
      const browser = newBrowser()
      const { status, said } = await browser.signIn(device)
      expect(status, said.message).toBe(201)
      expect(said.session).toMatchObject({
        current: true,
        note: 'Signed in with the passkey Laptop',
      })
      expect(await browser.email()).toBe(bea.email)
      const { passkeys } = await bea.client.listPasskeys({})
      expect(passkeys).toMatchObject([{ id: added.said.passkey.id, name: 'Laptop' }])
      expect(passkeys[0]?.lastUsedAt).toBeDefined()
      expect(await bea.client.getAccountSecurity()).toMatchObject({ passkeys: 1 })
      const records = await recordsOf(bea)
      expect(records.slice(0, 2)).toMatchObject([
        { operation: 'signInWithPasskey', tokenId: said.session.id },
        { operation: 'finishPasskey', resourceName: 'Laptop' },
      ])
    },
  )

  it('are offered at the public address alone', async () => {
    const ways = await server().client().getSignInWays({})
    expect(ways.passkeys).toEqual({ origin: server().url })
    const { said } = await newBrowser().begin()
    expect(said.options).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
    expect(Buffer.from(said.options.challenge, 'base64url')).toHaveLength(32)
    // A proxy that forwards another name changes nothing.
    const other = new PasskeyBrowser(server().url, { 'x-forwarded-host': 'evil.example' })
    expect((await other.begin()).said.options.rpId).toBe('localhost')
    const foreign = await server().fetch('/v1/admin/sign-in/passkey', {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
      body: '{}',
    })
    expect(foreign.status).toBe(403)
  })

  it.each<[string, Deviations, RegExp]>([
    ['another origin', { origin: 'https://evil.example' }, /origin/],
    ['a server beside', { origin: 'http://login.localhost' }, /origin/],
    ['another port', { origin: 'http://localhost:1' }, /origin/],
    ['another host', { rpId: 'example.com' }, /RP ID/],
    ['another ceremony', { type: 'webauthn.create' }, /response type/],
    ['a device that did not check its owner', { isVerified: false }, /could not be verified/],
    ['another challenge', { challenge: 'AAAA' }, /not begun in this browser/],
    ['data that was changed', { isForged: true }, /signature/],
    ['another account', { userHandle: 'YWNjbnRfb3RoZXI' }, /not known here/],
  ])('are refused for %s', async (_, deviations, message) => {
    const { device, id } = await addOwner()
    const browser = newBrowser()
    const { status, said } = await browser.signIn(device, deviations)
    expect(status).toBe(401)
    expect(said.message).toMatch(message)
    expect(await browser.email()).toBeUndefined()
    expect(id).toMatch(/^passkey_/)
  })

  it.each<[string, Deviations, RegExp]>([
    ['another origin', { origin: 'https://evil.example' }, /origin/],
    ['another host', { rpId: 'evil.example' }, /RP ID/],
    ['another ceremony', { type: 'webauthn.get' }, /response type/],
    ['a device that did not check its owner', { isVerified: false }, /not be verified/],
    ['another challenge', { challenge: 'AAAA' }, /not begun in this browser/],
    ['certificates of its maker', { attestation: certified('packed') }, /was not asked for/],
    ['those of another kind', { attestation: certified('android-key') }, /was not asked for/],
    ['an unknown attestation', { attestation: certified('new') }, /was not asked for/],
    // The library makes as many bytes of a number.
    ['a number in place of a key', { key: [[-2, 20_000_000]] }, /its key is not of a kind/],
    ['a short key', { key: [[-2, Buffer.alloc(31)]] }, /its key is not of a kind/],
    ['another curve', { key: [[-1, 2]] }, /its key is not of a kind/],
    ['another algorithm', { key: [[3, -257]] }, /its key is not of a kind/],
    [
      'a huge exponent',
      {
        key: [
          [1, 3],
          [3, -257],
          [-1, Buffer.alloc(256, 1)],
          [-2, Buffer.alloc(256, 1)],
        ],
      },
      /its key is not of a kind/,
    ],
    ['no attestation', { attestation: { format: 'packed', statement: new Map() } }, /not accepted/],
  ])('are not added for %s', async (_, deviations, message) => {
    const { browser, client } = await addPerson()
    const { status, said } = await browser.add(newDevice(), deviations)
    expect(status).toBe(400)
    expect(said.message).toMatch(message)
    expect((await client.listPasskeys({})).passkeys).toEqual([])
  })

  it('are not added if they are malformed', async () => {
    const { browser } = await addPerson()
    // Empty, an empty array, nested arrays, and arrays in place of bytes, as CBOR writes them.
    for (const bytes of ['a0', '80', '81'.repeat(10_000), 'a168617574684461746180']) {
      const { said } = await browser.start()
      const made = newDevice().create(said.options)
      made.response.attestationObject = Buffer.from(bytes, 'hex').toString('base64url')
      const stored = await browser.store('Laptop', made)
      expect(stored.status).toBe(400)
      expect(stored.said.message).toBe('The passkey was not accepted: it is malformed.')
    }
  })

  it('use each challenge once, in the browser and for the purpose for which it was made', async () => {
    const { device, browser: own } = await addOwner()
    const browser = newBrowser()
    const { said } = await browser.begin()
    const proof = device.get(said.options)
    const stranger = newBrowser()
    expect((await stranger.finish(proof)).status).toBe(401)
    await stranger.begin()
    expect((await stranger.finish(proof)).status).toBe(401)
    expect((await browser.finish(proof)).status).toBe(201)
    expect((await browser.finish(proof)).said.message).toMatch(/was used or replaced/)

    // One for a new passkey signs nobody in, and one for a sign-in adds nothing.
    const adding = await own.start()
    expect(
      (await own.finish(device.get({ ...adding.said.options, rpId: 'localhost' }))).status,
    ).toBe(401)
    const signing = await own.begin()
    const made = newDevice().create({ ...signing.said.options, rp: { id: 'localhost' } })
    expect((await own.store('Phone', made)).status).toBe(400)
  })

  it('let one of two finish that use a challenge at the same time', async () => {
    const { device } = await addOwner()
    const browser = newBrowser()
    const { said } = await browser.begin()
    const proof = device.get(said.options)
    const both = await Promise.all([browser.finish(proof), browser.finish(proof)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 401])
  })

  it('are waited for five minutes', async () => {
    const { device, browser: own } = await addOwner()
    const browser = newBrowser()
    const { said } = await browser.begin()
    const adding = await own.start()
    server().clock.advance(5 * minute)
    expect((await browser.finish(device.get(said.options))).status).toBe(401)
    const late = await own.store('Phone', newDevice().create(adding.said.options))
    expect(late.said.message).toMatch(/longer than five minutes/)
    server().clock.advance(60 * minute)
    await vi.waitFor(async () => expect(await countChallenges()).toBe(0))
  })

  it('are refused, and recorded, if their counter does not grow', async () => {
    const bea = await addOwner()
    const { device } = bea
    expect((await newBrowser().signIn(device, { counter: 7 })).status).toBe(201)
    for (const counter of [7, 6, 0]) {
      const browser = newBrowser()
      const { status, said } = await browser.signIn(device, { counter })
      expect(status, said.message).toBe(401)
      expect(said.message).toMatch(/may have been copied/)
      expect(await browser.email()).toBeUndefined()
      const [record] = await recordsOf(bea)
      expect(record).toMatchObject({
        operation: 'signInWithPasskey',
        resourceId: bea.id,
        value: `{"passkeyRefusedForItsCounter":{"from":7,"to":${counter}}}`,
      })
    }
    // Without the signature of the device nothing is recorded.
    const before = (await recordsOf(bea)).length
    expect((await newBrowser().signIn(device, { counter: 3, isForged: true })).status).toBe(401)
    expect(await recordsOf(bea)).toHaveLength(before)
    expect((await newBrowser().signIn(device, { counter: 4_294_967_295 })).status).toBe(201)
  })

  it('are used once with each value of the counter, also of two sign-ins at the same time', async () => {
    const { device } = await addOwner()
    const browsers = [newBrowser(), newBrowser()]
    const proofs: [PasskeyBrowser, object][] = []
    for (const browser of browsers) {
      const { said } = await browser.begin()
      proofs.push([browser, device.get(said.options, { counter: 9 })])
    }
    const both = await Promise.all(proofs.map(([browser, proof]) => browser.finish(proof)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 401])
  })

  it('need the password, and the code of the second factor, to be added', async () => {
    const bea = await addPerson()
    expect((await bea.browser.start({})).status).toBe(400)
    expect((await bea.browser.start({ currentPassword: 'wrong words' })).said.metadata.field).toBe(
      'currentPassword',
    )
    const { secret } = await bea.client.startSecondFactor({ currentPassword: password })
    await bea.client.confirmSecondFactor({ code: totpCode(secret, server().clock.now()) })
    server().clock.advance(minute)
    await bea.browser.enter(bea.token)
    const missing = await bea.browser.start()
    expect([missing.status, missing.said.metadata.field]).toEqual([400, 'code'])
    const wrong = await bea.browser.start({ currentPassword: password, code: '000000' })
    expect([wrong.status, wrong.said.metadata.field]).toEqual([400, 'code'])
    const code = totpCode(secret, server().clock.now())
    const { status, said } = await bea.browser.start({ currentPassword: password, code })
    expect(status, said.message).toBe(200)
    const device = newDevice()
    expect((await bea.browser.store('Laptop', device.create(said.options))).status).toBe(200)
    // The device checks its owner: that is both factors.
    const browser = newBrowser()
    const signedIn = await browser.signIn(device)
    expect(signedIn.said.secondFactor).toBeUndefined()
    expect(await browser.email()).toBe(bea.email)
  })

  it('need a recent sign-in of an account without a password, which keeps the last one', async () => {
    const bea = await addPerson({ hasPassword: false })
    // A token alone is no browser that a person has just signed in.
    const device = newDevice()
    const { said } = await bea.browser.start({})
    const added = await bea.browser.store('Laptop', device.create(said.options))
    await expect(bea.client.startPasskey({})).rejects.toMatchObject({ type: 'InvalidPayload' })
    server().clock.advance(11 * minute)
    expect((await bea.browser.start({})).said.message).toMatch(/sign out, sign in/)
    // Whoever has a token of the account is not its owner for that.
    await bea.browser.enter(bea.token)
    expect((await bea.browser.start({})).said.message).toMatch(/sign out, sign in/)
    await bea.browser.signIn(device)
    const remove = () => bea.browser.call(`account/passkeys/${added.said.passkey.id}/remove`, {})
    const refused = await remove()
    expect(refused.said).toMatchObject({ type: 'ReferenceConstraint' })
    server().clock.advance(11 * minute)
    expect((await remove()).status).toBe(400)
    // Nor does a stolen session get there in two steps.
    const setPassword = () => bea.browser.call('account/password', { password }, 'PUT')
    expect((await setPassword()).said.message).toMatch(/sign out, sign in/)
    const moved = await bea.browser.call('account/email', { email: `x-${bea.email}` }, 'PUT')
    expect(moved.status).toBe(400)
    const removal = await bea.browser.call('account/me', {})
    expect(removal.said.message).toMatch(/sign out, sign in/)
    const connecting = await bea.browser.call('account/sso', {})
    expect(connecting.said.message).toMatch(/sign out, sign in/)
    await bea.browser.signIn(device)
    expect((await setPassword()).status).toBe(200)
    await bea.client.deletePasskey({ id: added.said.passkey.id, currentPassword: password })
    expect((await newBrowser().signIn(device)).status).toBe(401)
  })

  it('are kept if the others were made for another host', async () => {
    const bea = await addPerson({ hasPassword: false })
    const add = async (name: string, device = newDevice()): Promise<string> => {
      const { said } = await bea.browser.start({})
      return (await bea.browser.store(name, device.create(said.options))).said.passkey.id
    }
    const remove = (id: string) => bea.browser.call(`account/passkeys/${id}/remove`, {})
    const device = newDevice()
    const old = await add('Old', device)
    await bea.browser.signIn(device)
    await inDatabase(server(), ({ run }) =>
      run((tx) =>
        tx.updateTable('passkeys').set({ host: 'old.example.com' }).where('id', '=', old).execute(),
      ),
    )
    const current = await add('New')
    expect((await remove(current)).said).toMatchObject({ type: 'ReferenceConstraint' })
    expect((await remove(old)).status).toBe(200)
  })

  it('may all be removed where the account is connected with the provider, and the connection may not then', async () => {
    const bea = await addPerson({ hasPassword: false })
    const { said } = await bea.browser.start({})
    const device = newDevice()
    const added = await bea.browser.store('Laptop', device.create(said.options))
    await bea.browser.signIn(device)
    const { account } = await bea.client.getAccount()
    await inDatabase(server(), ({ run }) =>
      run((tx) =>
        tx
          .insertInto('account_identities')
          .values({
            issuer: provider,
            subject: account.id,
            account_id: account.id,
            email: account.email,
            created_at: account.createdAt,
          })
          .execute(),
      ),
    )
    const removed = await bea.browser.call(`account/passkeys/${added.said.passkey.id}/remove`, {})
    expect(removed.status, removed.said.message).toBe(200)
    expect(await bea.client.getAccountSecurity()).toMatchObject({ passkeys: 0 })
    // Then the connection is the last one.
    const refused = await bea.browser.call('account/sso/remove', {})
    expect(refused.said).toMatchObject({ type: 'ReferenceConstraint' })
    const { identities } = await bea.client.getAccountSecurity()
    expect(identities).toHaveLength(1)
  })

  it('are not added in a browser that was signed out meanwhile', async () => {
    const bea = await addPerson()
    const begin = async () => newDevice().create((await bea.browser.start()).said.options)
    const first = await begin()
    // The same person, with a token and the cookies of nobody.
    await expect(
      bea.client.finishPasskey({ name: 'Laptop', credential: first }),
    ).rejects.toMatchObject({ type: 'InvalidPayload' })
    // A browser with the token alone has begun it, and is not signed in.
    const headless = new PasskeyBrowser(server().url, { authorization: `Bearer ${bea.token}` })
    const begun = await headless.start()
    const stored = await headless.store('Laptop', newDevice().create(begun.said.options))
    expect(stored.said).toMatchObject({ type: 'InvalidPayload' })
    expect(stored.said.message).toMatch(/You were signed out meanwhile/)

    const second = await begin()
    await bea.client.changePassword({ password: 'nine purple ladders', currentPassword: password })
    await bea.browser.enter(bea.token)
    expect((await bea.browser.store('Laptop', second)).said.message).toMatch(/Begin again/)
  })

  it('belong to one account each, and know nothing of those of others', async () => {
    const bea = await addOwner()
    const cai = await addPerson()
    const { said } = await cai.browser.start()
    expect(said.options.excludeCredentials).toEqual([])
    const again = await cai.browser.store('Stolen', bea.device.create(said.options))
    expect(again.said).toMatchObject({ type: 'AlreadyExists' })
    const { id } = bea
    await expect(cai.client.updatePasskey({ id, name: 'Mine' })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
    await expect(cai.client.deletePasskey({ id, currentPassword: password })).rejects.toMatchObject(
      { type: 'ResourceNotFound' },
    )
    // The device now has the account of the other one, and the key of before.
    expect((await newBrowser().signIn(bea.device)).status).toBe(401)
    const own = await bea.browser.start()
    expect(own.said.options.excludeCredentials).toEqual([
      { type: 'public-key', id: bea.device.id.toString('base64url') },
    ])
  })

  it('are renamed, and removed with the other sessions', async () => {
    const bea = await addOwner()
    const { id } = bea
    const { passkey } = await bea.client.updatePasskey({ id, name: 'Old laptop' })
    expect(passkey).toMatchObject({ id, name: 'Old laptop' })
    const browser = newBrowser()
    await browser.signIn(bea.device)
    await expect(bea.client.deletePasskey({ id })).rejects.toMatchObject({
      metadata: { field: 'currentPassword' },
    })
    await bea.client.deletePasskey({ id, currentPassword: password })
    expect(await browser.email()).toBeUndefined()
    expect((await newBrowser().signIn(bea.device)).said.message).toMatch(/not known here/)
    await expect(bea.client.deletePasskey({ id, currentPassword: password })).rejects.toMatchObject(
      { type: 'ResourceNotFound' },
    )
    expect((await recordsOf(bea)).map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['updatePasskey', 'deletePasskey']),
    )
  })

  it('are twenty of an account at most', async () => {
    const bea = await addPerson()
    for (let each = 1; each < 20; each++) {
      expect((await bea.browser.add(newDevice(), {}, `Number ${each}`)).status).toBe(200)
    }
    const elsewhere = newBrowser()
    await elsewhere.enter(bea.token)
    const one = await bea.browser.start()
    const stored = await bea.browser.store('Last', newDevice().create(one.said.options))
    expect(stored.status, stored.said.message).toBe(200)
    const full = await elsewhere.start()
    expect(full.said).toMatchObject({ type: 'LimitExceeded' })
    expect((await bea.client.listPasskeys({})).passkeys).toHaveLength(20)
  })

  it('end with a reset by the operator, and with each link that sets a password', async () => {
    const bea = await addOwner()
    const browser = newBrowser()
    await browser.signIn(bea.device)
    expect(
      (await operate((accounts) => accounts.list())).find(({ email }) => email === bea.email),
    ).toMatchObject({ passkeys: 1 })
    await operate((accounts) => accounts.reset(bea.email))
    expect(await browser.email()).toBeUndefined()
    expect((await newBrowser().signIn(bea.device)).status).toBe(401)

    let links = 0
    const mailLink = async (email: string) => {
      const other = `other-${links++}-${email}`
      const code = await operate((accounts) => accounts.create(other, 'Other'))
      await inDatabase(server(), ({ run }) =>
        run(async (tx) => {
          const account = await tx
            .selectFrom('accounts')
            .select('id')
            .where('email', '=', email)
            .executeTakeFirstOrThrow()
          await tx
            .updateTable('password_resets')
            .set({ account_id: account.id, mailed_to: email })
            .where('account_id', 'in', (query) =>
              query.selectFrom('accounts').select('id').where('email', '=', other),
            )
            .execute()
        }),
      )
      return code
    }
    // Somebody who only named the address may have added the passkey.
    const cai = await addOwner()
    const browserOfCai = newBrowser()
    const next = 'nine purple ladders'
    const first = await mailLink(cai.email)
    await browserOfCai.call('sign-in/reset', { code: first, password: next })
    expect((await newBrowser().signIn(cai.device)).status).toBe(401)

    // Somebody else may also have known the password.
    const device = newDevice()
    const { said } = await browserOfCai.start({ currentPassword: next })
    await browserOfCai.store('Laptop', device.create(said.options))
    expect((await newBrowser().signIn(device)).status).toBe(201)
    const second = await mailLink(cai.email)
    await newBrowser().call('sign-in/reset', { code: second, password })
    expect((await newBrowser().signIn(device)).status).toBe(401)
  })

  it('stay when the password changes, and go with the account', async () => {
    const bea = await addOwner()
    const next = 'nine purple ladders'
    await bea.client.changePassword({ password: next, currentPassword: password })
    const browser = newBrowser()
    expect((await browser.signIn(bea.device)).status).toBe(201)
    await bea.client.deleteWorkspace({ id: bea.workspaceId })
    await browser.call('account/me', { currentPassword: next })
    expect((await newBrowser().signIn(bea.device)).said.message).toMatch(/not known here/)
  })

  it('count sign-ins that are begun from one address and not finished', async () => {
    const { device } = await addOwner()
    await server().clock.hold(async () => {
      const there = { 'x-forwarded-for': '203.0.113.7' }
      for (let each = 1; each <= 100; each++) {
        expect((await new PasskeyBrowser(server().url, there).begin()).status).toBe(200)
        // For the general limit of requests, which is as large.
        if (each === 50) server().clock.advance(10_000)
      }
      const { status, said } = await new PasskeyBrowser(server().url, there).begin()
      expect(status).toBe(429)
      expect(said.message).toMatch(/begun and not finished/)
      const elsewhere = new PasskeyBrowser(server().url, { 'x-forwarded-for': '198.51.100.7' })
      expect((await elsewhere.signIn(device)).status).toBe(201)
      // Cancelled ones end by themselves, however many there were.
      server().clock.advance(5 * minute)
      for (let each = 1; each <= 3; each++) {
        expect((await new PasskeyBrowser(server().url, there).begin()).status).toBe(200)
      }
    })
  })
})

describe('the address of a server', () => {
  it.each([
    ['https://bots.example.com', 'bots.example.com'],
    ['https://bots.example.com:8443/below', 'bots.example.com'],
    ['https://intranet', 'intranet'],
    ['http://localhost:8075', 'localhost'],
    ['http://bots.localhost', 'bots.localhost'],
    ['http://bots.example.com', undefined],
    ['http://192.0.2.7:8075', undefined],
    ['https://192.0.2.7', undefined],
    ['https://[2001:db8::7]', undefined],
    ['http://127.0.0.1:8075', undefined],
    ['http://[::1]:8075', undefined],
  ])('%s has passkeys for %s', (address, host) => {
    expect(relyingPartyAt(address)?.id).toBe(host)
  })

  it('is named in the refusal where browsers permit none', () => {
    expect(() => requireRelyingParty('http://192.0.2.7:8075/below')).toThrow(
      /not available at http:\/\/192\.0\.2\.7:8075: .*Set BOTSTEAD_PUBLIC_URL/,
    )
  })
})
