import type { Client } from '@botstead/contract'
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { useServer } from '../../../../test/harness.js'
import { inDatabase } from '../../../../test/tenancy/seed.js'
import { countWaiting, patientWithLocks } from '../../../../test/tenancy/waiting.js'
import { addAccount } from '../../../../test/tenant.js'
import { createOperatorAccounts } from './index.js'
import { totpCode } from './totp.js'

const password = 'seven green teapots'
const step = 30_000

interface Person {
  email: string
  client: Client
  secret: string
  recoveryCodes: string[]
}

describeSlow('a second factor', (engine) => {
  const server = useServer(engine, {}, patientWithLocks)

  const page = (cookie?: string) =>
    server().client({
      token: undefined,
      headers: { origin: server().url, ...(cookie !== undefined && { cookie }) },
    })
  const codeNow = (secret: string) => totpCode(secret, server().clock.now())

  async function addPerson(): Promise<Person> {
    const client = server().client(await addAccount(server()))
    await client.changePassword({ password })
    const { account } = await client.getAccount()
    const { secret, uri } = await client.startSecondFactor({ currentPassword: password })
    expect(uri).toContain(`secret=${secret}`)
    const { recoveryCodes } = await client.confirmSecondFactor({ code: codeNow(secret) })
    // The code that confirmed it is used up.
    server().clock.advance(step)
    return { email: account.email, client, secret, recoveryCodes }
  }

  const ticketOf = async ({ email }: Pick<Person, 'email'>) => {
    const { session, secondFactor } = await page().signInWithPassword({ email, password })
    expect(session).toBeUndefined()
    return secondFactor?.ticket ?? ''
  }

  it('is asked for after the password, which signs nobody in by itself', async () => {
    const bea = await addPerson()
    const response = await server().fetch('/v1/admin/sign-in/password', {
      method: 'POST',
      headers: { origin: server().url, 'content-type': 'application/json' },
      body: JSON.stringify({ email: bea.email, password }),
    })
    expect([response.status, response.headers.getSetCookie()]).toEqual([201, []])
    const { secondFactor } = Object(await response.json())
    const { ticket } = secondFactor
    // A ticket is neither a token nor a session.
    await expect(server().client({ token: ticket }).getAccount()).rejects.toMatchObject({
      type: 'Unauthorized',
    })
    await expect(page().createSession({ token: ticket })).rejects.toMatchObject({
      type: 'Unauthorized',
    })
    const code = codeNow(bea.secret)
    const { session } = await page().signInWithSecondFactor({ ticket, code })
    expect(session.current).toBe(true)
    expect(await bea.client.getAccountSecurity()).toMatchObject({
      secondFactor: { recoveryCodesLeft: 10 },
    })
    await expect(page().signInWithSecondFactor({ ticket, code })).rejects.toMatchObject({
      metadata: { field: 'ticket' },
    })
  })

  it('takes each code once, also of two sign-ins at the same time', async () => {
    const bea = await addPerson()
    const [first, second] = [await ticketOf(bea), await ticketOf(bea)]
    const code = codeNow(bea.secret)
    const both = await Promise.allSettled(
      [first, second].map((ticket) => page().signInWithSecondFactor({ ticket, code })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const earlier = totpCode(bea.secret, server().clock.now() - step)
    const ticket = await ticketOf(bea)
    await expect(page().signInWithSecondFactor({ ticket, code: earlier })).rejects.toMatchObject({
      type: 'Unauthorized',
      metadata: { field: 'code' },
    })
    server().clock.advance(step)
    const spaced = codeNow(bea.secret).replace(/^(...)/, '$1 ')
    await page().signInWithSecondFactor({ ticket, code: spaced })
  })

  it('takes each recovery code once, also of two sign-ins at the same time', async () => {
    const bea = await addPerson()
    expect(new Set(bea.recoveryCodes).size).toBe(10)
    const [first, second] = [await ticketOf(bea), await ticketOf(bea)]
    const code = bea.recoveryCodes[0] ?? ''
    const both = await Promise.allSettled(
      [first, second].map((ticket) => page().signInWithSecondFactor({ ticket, code })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await bea.client.getAccountSecurity()).toMatchObject({
      secondFactor: { recoveryCodesLeft: 9 },
    })
    const typed = (bea.recoveryCodes[1] ?? '').replaceAll('-', ' ').toUpperCase()
    await page().signInWithSecondFactor({ ticket: await ticketOf(bea), code: typed })
  })

  it('makes guesses wait, whatever ticket they have', async () => {
    const bea = await addPerson()
    await server().clock.hold(async () => {
      const tickets = [await ticketOf(bea), await ticketOf(bea)]
      for (let attempt = 1; attempt <= 10; attempt++) {
        const code = attempt % 2 === 0 ? '000000' : 'abcd-efgh-ijkl-mnop'
        const ticket = tickets[attempt % 2] ?? ''
        await expect(page().signInWithSecondFactor({ ticket, code })).rejects.toMatchObject({
          type: 'Unauthorized',
          metadata: { field: 'code' },
        })
      }
      const code = codeNow(bea.secret)
      const ticket = await ticketOf(bea)
      await expect(page().signInWithSecondFactor({ ticket, code })).rejects.toMatchObject({
        type: 'RateLimited',
      })
      server().clock.advance(2000)
      await page().signInWithSecondFactor({ ticket, code })
    })
  })

  it('is bound to the password that was checked, for five minutes', async () => {
    const bea = await addPerson()
    const cai = await addPerson()
    const late = await ticketOf(bea)
    server().clock.advance(5 * 60_000)
    const refused = { metadata: { field: 'ticket' } }
    await expect(
      page().signInWithSecondFactor({ ticket: late, code: codeNow(bea.secret) }),
    ).rejects.toMatchObject(refused)
    await expect(
      page().signInWithSecondFactor({ ticket: await ticketOf(bea), code: codeNow(cai.secret) }),
    ).rejects.toMatchObject({ metadata: { field: 'code' } })
    const before = await ticketOf(bea)
    const next = 'nine purple ladders'
    await bea.client.changePassword({ password: next, currentPassword: password })
    await expect(
      page().signInWithSecondFactor({ ticket: before, code: codeNow(bea.secret) }),
    ).rejects.toMatchObject(refused)
  })

  it('is asked for after a reset of the password too, unless the operator removes it', async () => {
    const bea = await addPerson()
    const reset = (options = {}) =>
      inDatabase(server(), (tenants) =>
        createOperatorAccounts({
          ...tenants,
          clock: server().clock,
          passwords: tenants.slices.passwords.service,
        }).reset(bea.email, options),
      )
    const first = await page().resetPassword({ code: await reset(), password })
    expect(first.session).toBeUndefined()
    expect(first.secondFactor?.ticket).toMatch(/^bp_tic_/)
    const code = await reset({ secondFactor: true })
    const second = await page().resetPassword({ code, password })
    expect(second.session?.current).toBe(true)
    expect(await bea.client.getAccountSecurity()).not.toHaveProperty('secondFactor')
  })

  it('begins, changes and ends only with the password, and a code of it', async () => {
    const bea = await addPerson()
    const { client } = bea
    await expect(client.startSecondFactor({ currentPassword: password })).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
    const code = () => codeNow(bea.secret)
    for (const wrong of [
      { currentPassword: 'wrong words', code: code() },
      { currentPassword: password, code: '000000' },
      { currentPassword: password, code: bea.recoveryCodes[0]?.replace(/^./, '1') ?? '' },
    ]) {
      await expect(client.removeSecondFactor(wrong)).rejects.toMatchObject({
        type: 'InvalidPayload',
      })
    }
    const renewed = await client.renewRecoveryCodes({ currentPassword: password, code: code() })
    await expect(
      client.removeSecondFactor({
        currentPassword: password,
        code: bea.recoveryCodes[0] ?? '',
      }),
    ).rejects.toMatchObject({ metadata: { field: 'code' } })
    await client.removeSecondFactor({
      currentPassword: password,
      code: renewed.recoveryCodes[0] ?? '',
    })
    const { session } = await page().signInWithPassword({ email: bea.email, password })
    expect(session?.current).toBe(true)
    const { secret } = await client.startSecondFactor({ currentPassword: password })
    expect(secret).not.toBe(bea.secret)
    await expect(client.confirmSecondFactor({ code: '000000' })).rejects.toMatchObject({
      metadata: { field: 'code' },
    })
    // Begun and not confirmed, it is asked for by nobody.
    const again = await page().signInWithPassword({ email: bea.email, password })
    expect(again.session?.current).toBe(true)
    expect((await client.listSessions()).sessions).toHaveLength(2)
    await client.confirmSecondFactor({ code: codeNow(secret) })
    expect((await client.listSessions()).sessions).toEqual([])
  })

  it.runIf(engine.name === 'postgres')(
    'ends a session that begins while it is confirmed',
    async () => {
      const client = server().client(await addAccount(server()))
      await client.changePassword({ password })
      const { email } = (await client.getAccount()).account
      const { secret } = await client.startSecondFactor({ currentPassword: password })
      const under: Promise<unknown>[] = []
      await inDatabase(server(), ({ run }) =>
        run(async (tx) => {
          // The sign-in waits where its session is stored, and not yet to be seen.
          await sql`lock table account_devices in share mode`.execute(tx)
          under.push(page().signInWithPassword({ email, password }))
          await vi.waitUntil(async () => (await countWaiting(tx)) === 1)
          const confirmed = client.confirmSecondFactor({ code: codeNow(secret) })
          under.push(confirmed)
          const waiting = vi.waitUntil(async () => (await countWaiting(tx)) === 2)
          await Promise.race([confirmed, waiting])
        }),
      )
      await Promise.all(under)
      expect((await client.listSessions()).sessions).toEqual([])
    },
  )

  it('is stored so that the database alone shows no code', async () => {
    const bea = await addPerson()
    const rows = await inDatabase(server(), async ({ db }) =>
      JSON.stringify([
        await db.selectFrom('account_second_factors').selectAll().execute(),
        await db.selectFrom('account_recovery_codes').selectAll().execute(),
        await db.selectFrom('account_passwords').selectAll().execute(),
      ]),
    )
    for (const secret of [bea.secret, password, ...bea.recoveryCodes]) {
      expect(rows).not.toContain(secret)
      expect(rows).not.toContain(secret.replaceAll('-', ''))
    }
  })
})
