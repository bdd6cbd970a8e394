import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createOperatorAccounts } from '../../src/features/tenancy/sign-in/index.js'
import { totpCode } from '../../src/features/tenancy/sign-in/totp.js'
import { browserPath, newPage } from '../browser.js'
import { engines } from '../engines.js'
import { startTestServer, type TestServer, useServer } from '../harness.js'
import { type IdentityProvider, registered, startIdentityProvider } from '../identity-provider.js'
import { startMailServer } from '../mail-server.js'
import { inDatabase } from '../tenancy/seed.js'
import { addAccount, type Login } from '../tenant.js'
import { expectAccessible, openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const password = 'seven green teapots'

interface Person extends Login {
  email: string
}

async function addPerson(server: TestServer): Promise<Person> {
  const login = await addAccount(server)
  await server.client(login).changePassword({ password })
  const { account } = await server.client(login).getAccount()
  return { ...login, email: account.email }
}

/** Fills in address and password by keys alone. */
async function type(page: Page, email: string, secret: string): Promise<void> {
  await page.getByLabel('Email address').waitFor()
  await page.keyboard.type(email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(secret)
  await page.keyboard.press('Enter')
}

describe.skipIf(browserPath === undefined)(`sign-in ${title}`, () => {
  const server = useServer()

  it.each([1400, 360])('works with address and password, by keys, %i wide', async (width) => {
    const bea = await addPerson(server())
    const page = await newPage({ viewport: { width, height: 800 } })
    await page.goto(`${server().url}/dashboard/`)
    await type(page, bea.email, 'wrong words')
    const field = page.getByLabel('Password')
    await page.getByText('The address or the password is wrong.').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByLabel('Email address').inputValue()).toBe(bea.email)
    await expectAccessible(page)
    const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(width)
    await field.fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(await page.content()).not.toContain(password)
  })

  it('tells password managers what its fields are, and everybody what to do without a password', async () => {
    const page = await newPage()
    await page.goto(`${server().url}/dashboard/sign-in`)
    await page.getByLabel('Email address').waitFor()
    const completed = await page.evaluate<string[]>(
      `[...document.querySelectorAll('input')].map(({ autocomplete }) => autocomplete)`,
    )
    expect(completed).toEqual(['username', 'current-password'])
    const help = page.getByRole('button', { name: 'No password, or forgotten?' })
    expect(await help.getAttribute('aria-expanded')).toBe('false')
    await help.click()
    await page.getByText('account reset you@example.com').waitFor()
    await expectAccessible(page)
  })

  it('leads nowhere else, whatever the address says', async () => {
    const bea = await addPerson(server())
    const page = await newPage()
    const target = encodeURIComponent('https://evil.example/')
    await page.goto(
      `${server().url}/dashboard/sign-in?next=${target}&redirect=${target}&returnTo=//evil.example`,
    )
    await type(page, bea.email, password)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(new URL(page.url()).origin).toBe(server().url)
  })

  it('sets a password by a link, once', async () => {
    const bea = await addPerson(server())
    const code = await inDatabase(server(), (tenants) =>
      createOperatorAccounts({
        ...tenants,
        passwords: tenants.slices.passwords.service,
      }).reset(bea.email),
    )
    const link = `${server().url}/dashboard/reset#${code}`
    const page = await newPage()
    await page.goto(link)
    await page.getByText(`For the account ${bea.email}.`).waitFor()
    expect(page.url()).not.toContain('bp_res_')
    await page.getByLabel('Password').fill('password1234')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByText('one of the passwords that are tried first').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Password').fill('nine purple ladders')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.goto(link)
    await page.getByText('it was used or replaced, or is too old').waitFor()
    await expectAccessible(page)
  })

  it('asks for the code of an app that was set up here, or a recovery code', async () => {
    const bea = await addPerson(server())
    const { page, open, faults } = await openDashboard({ ...server(), ...bea })
    await open('account?tab=security')
    await page.getByRole('button', { name: 'Set up an app' }).click()
    await page.getByLabel('Current password').last().fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('img', { name: /^QR code/ }).waitFor()
    await expectAccessible(page)
    const dialog = page.getByRole('dialog')
    const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code that the app shows').fill(totpCode(secret, server().clock.now()))
    await page.keyboard.press('Enter')
    await page.getByText('These are your recovery codes').waitFor()
    await expectAccessible(page)
    const codes = ((await page.locator('pre').textContent()) ?? '').split('\n')
    expect(codes).toHaveLength(10)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('botstead-recovery-codes.txt')
    expect(faults).toEqual([])

    const phone = await newPage({ viewport: { width: 360, height: 740 } })
    await phone.goto(`${server().url}/dashboard/`)
    await type(phone, bea.email, password)
    const field = phone.getByLabel('Code')
    await field.waitFor()
    expect(await field.getAttribute('autocomplete')).toBe('one-time-code')
    await phone.keyboard.type('000000')
    await phone.keyboard.press('Enter')
    await phone.getByText('The code is wrong, too old or was used.').waitFor()
    await expectAccessible(phone)
    await field.fill(codes[0] ?? '')
    await phone.keyboard.press('Enter')
    await phone.getByRole('heading', { name: 'Home', level: 1 }).waitFor()

    await page.reload()
    await page.getByText('9 recovery codes are left.').waitFor()
  })

  it('is set up under "My account": password, name and address', async () => {
    const login = await addAccount(server())
    const { page, open, faults } = await openDashboard({ ...server(), ...login })
    await open('account?tab=security')
    await page.getByText('You have none.').waitFor()
    await page.getByLabel('New password').fill(password)
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByLabel('Current password').waitFor()
    await page.getByLabel('Current password').fill('wrong words')
    await page.getByLabel('New password').fill('nine purple ladders')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('The password is wrong.').waitFor()
    await page.getByLabel('Current password').fill(password)
    await page.getByRole('button', { name: 'Change the password' }).click()
    // The note of the first password may still be there; the fields are emptied by the second.
    await vi.waitFor(async () =>
      expect(await page.getByLabel('Current password').inputValue()).toBe(''),
    )

    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByLabel('Your name').fill('Bea')
    await page.getByRole('button', { name: 'Save the name' }).click()
    await page.getByText('The name is saved.').waitFor()
    const email = `new-${login.workspaceId}@example.com`
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Current password').fill('nine purple ladders')
    await page.getByRole('button', { name: 'Save the address' }).click()
    await page.getByText('The address is saved.').waitFor()
    await expectAccessible(page)
    const { account } = await server().client(login).getAccount()
    expect(account).toMatchObject({ email, displayName: 'Bea' })
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([])

    const other = await newPage()
    await other.goto(`${server().url}/dashboard/`)
    await type(other, email, 'nine purple ladders')
    await other.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('button', { name: 'Sign all others out' }).click()
    await page.getByText('All other browsers are signed out.').waitFor()
    await other.reload()
    await other.getByRole('dialog', { name: /sign in again/ }).waitFor()
  })
})

/** A device of software in a page. */
async function addDevice(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { session, authenticatorId }
}

describe.skipIf(browserPath === undefined)(`passkeys ${title}`, () => {
  const server = useServer()

  it('are added, renamed and removed under "My account", by keys, and sign in without a password', async () => {
    const bea = await addPerson(server())
    const { page, open, faults } = await openDashboard({ ...server(), ...bea })
    const laptop = await addDevice(page)
    await open('account?tab=security')
    const add = page.getByRole('button', { name: 'Add a passkey' })
    await add.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').waitFor()
    await page.keyboard.type('Laptop')
    await page.keyboard.press('Tab')
    await page.keyboard.type('wrong words')
    await page.keyboard.press('Enter')
    await dialog.getByText('The password is wrong.').waitFor()
    await expectAccessible(page)
    await dialog.getByLabel('Current password').fill(password)
    // A request that is cancelled is made again without the proof, because a code works once.
    const { session: device, authenticatorId: id } = laptop
    await device.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false })
    await page.keyboard.press('Enter')
    await dialog.getByText('The request was cancelled or timed out.').waitFor()
    await device.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: true })
    await dialog.getByLabel('Current password').fill('wrong words')
    await page.keyboard.press('Enter')
    await page.getByText('The passkey is added.').waitFor()
    await page.getByRole('button', { name: 'Rename Laptop' }).waitFor()
    await expectAccessible(page)
    const { credentials } = await laptop.session.send('WebAuthn.getCredentials', {
      authenticatorId: laptop.authenticatorId,
    })
    const [credential] = credentials
    if (credential === undefined) throw new Error('The device has no passkey')
    expect(credential).toMatchObject({ isResidentCredential: true, rpId: 'localhost' })

    const phone = await newPage({ viewport: { width: 360, height: 740 } })
    const { session, authenticatorId } = await addDevice(phone)
    await phone.goto(`${server().url}/dashboard/`)
    const button = phone.getByRole('button', { name: 'Sign in with a passkey' })
    await button.waitFor()
    await expectAccessible(phone)
    const scrolled = await phone.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(360)
    // As a password manager copies it.
    await session.send('WebAuthn.addCredential', { authenticatorId, credential })
    const setVerified = async (isUserVerified: boolean) =>
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    // Somebody else has the device.
    await setVerified(false)
    await button.click()
    await phone.getByText('The request was cancelled or timed out, or').waitFor()
    await expectAccessible(phone)
    await setVerified(true)
    await button.focus()
    await phone.keyboard.press('Enter')
    await phone.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    const sessions = await server().client(bea).listSessions({})
    expect(sessions.sessions[0]?.note).toBe('Signed in with the passkey Laptop')

    await page.getByRole('button', { name: 'Rename Laptop' }).click()
    await dialog.getByLabel('Name').fill('Old laptop')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove Old laptop' }).click()
    await dialog.getByLabel('Current password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByText('The passkey is removed.').waitFor()
    expect(await page.getByRole('button', { name: 'Remove Old laptop' }).count()).toBe(0)
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([])

    await phone.reload()
    await phone.getByRole('dialog', { name: /sign in again/ }).waitFor()
    await phone.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await phone.getByText('This passkey is not known here').waitFor()
  })

  it('are offered at the address alone at which they work', async () => {
    const page = await newPage()
    await page.goto(`${server().url.replace('localhost', '127.0.0.1')}/dashboard/sign-in`)
    await page.getByLabel('Email address').waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
    await page.getByRole('link', { name: server().url }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  })
})

describe.skipIf(browserPath === undefined)(`mail for sign-in ${title}`, () => {
  it('has the link for who forgot their password, and that of an invitation', async () => {
    await using mails = await startMailServer()
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    const server = await startTestServer(engine, {
      BOTSTEAD_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      BOTSTEAD_MAIL_FROM: 'bots@example.com',
    })
    try {
      const bea = await addPerson(server)
      const page = await newPage({ viewport: { width: 360, height: 740 } })
      await page.goto(`${server.url}/dashboard/sign-in`)
      await page.getByRole('button', { name: 'Forgot password?' }).click()
      await page.keyboard.type(bea.email)
      await expectAccessible(page)
      await page.keyboard.press('Enter')
      await page.getByText(`If ${bea.email} has an account here`).waitFor()
      await vi.waitFor(() => expect(mails.mails).toHaveLength(1), { timeout: 20_000 })
      const link = /http\S+reset#\S+/.exec(mails.mails[0]?.text ?? '')?.[0] ?? ''
      await page.goto(link)
      await page.getByLabel('Password').fill('nine purple ladders')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()

      const { page: admin, open, faults } = await openDashboard(server)
      await open('workspace?tab=members&new=member')
      await admin.getByLabel('Email address').fill('cai@example.com')
      expect(await admin.getByLabel('Send the invitation by mail').isChecked()).toBe(true)
      await admin.keyboard.press('Enter')
      await admin.getByText('is on its way to cai@example.com').waitFor()
      await expectAccessible(admin)
      await vi.waitFor(() => expect(mails.mails).toHaveLength(2), { timeout: 20_000 })
      expect(mails.mails[1]).toMatchObject({ to: ['cai@example.com'] })
      expect(faults).toEqual([])
    } finally {
      await server.close()
    }
  })
})

describe.skipIf(browserPath === undefined)(`single sign-on ${title}`, () => {
  let provider: IdentityProvider
  let server: TestServer
  beforeAll(async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    provider = await startIdentityProvider()
    server = await startTestServer(engine, {
      BOTSTEAD_OIDC_ISSUER: provider.issuer,
      BOTSTEAD_OIDC_CLIENT_ID: registered.clientId,
      BOTSTEAD_OIDC_CLIENT_SECRET: registered.clientSecret,
      BOTSTEAD_OIDC_NAME: 'Example ID',
      BOTSTEAD_OIDC_DOMAINS: 'example.com',
    })
    await provider.register(server.url)
  })
  afterAll(async () => {
    await server?.close()
    await provider?.[Symbol.asyncDispose]()
  })

  /** Presses the button of the page of the provider. */
  async function goOn(page: Page): Promise<void> {
    const button = page.getByRole('button', { name: /^Continue as/ })
    await button.waitFor()
    await button.focus()
    await page.keyboard.press('Enter')
  }

  it('joins by an invitation, and later signs in, by keys', async () => {
    const email = 'dora@example.com'
    provider.person = { sub: 'dora', email, email_verified: true, name: 'Dora' }
    const { invitationUrl } = await server
      .client()
      .createWorkspaceMember({ email, role: 'developer' })
    const page = await newPage()
    await page.goto(invitationUrl)
    await page.getByRole('button', { name: 'Sign in with Example ID' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await goOn(page)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(page.url()).not.toContain('code=')

    const phone = await newPage({ viewport: { width: 360, height: 740 } })
    await phone.goto(`${server.url}/dashboard/`)
    const button = phone.getByRole('button', { name: 'Sign in with Example ID' })
    await button.waitFor()
    await expectAccessible(phone)
    const scrolled = await phone.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(360)
    const focused = () => phone.evaluate<string>('document.activeElement?.textContent ?? ""')
    for (let each = 0; each < 6 && !(await focused()).includes('Example ID'); each++) {
      await phone.keyboard.press('Tab')
    }
    expect(await focused()).toBe('Sign in with Example ID')
    await phone.keyboard.press('Enter')
    await goOn(phone)
    await phone.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  })

  it('says in words why somebody is refused, and leads back', async () => {
    provider.person = { sub: 'eve', email: 'eve@evil.example', email_verified: true, name: 'Eve' }
    const page = await newPage()
    await page.goto(`${server.url}/dashboard/sign-in`)
    await page.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await goOn(page)
    await page.getByText('People with your address at Example ID may not sign in here').waitFor()
    expect(page.url()).toBe(`${server.url}/dashboard/sso`)
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sign in to Botstead' }).waitFor()
  })

  it('connects an account that has a password', async () => {
    provider.person = { sub: 'cai', email: 'cai@example.com', email_verified: true, name: 'Cai' }
    const cai = await addPerson(server)
    const { page, open } = await openDashboard({ ...server, ...cai })
    await open('account?tab=security')
    await page.getByRole('button', { name: 'Connect with Example ID' }).click()
    await page.getByRole('dialog').getByLabel('Current password').fill(password)
    await page.keyboard.press('Enter')
    await goOn(page)
    await page.getByText('cai@example.com, connected').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Remove the connection' }).click()
    await page.getByRole('dialog').getByLabel('Current password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Connect with Example ID' }).waitFor()
  })
})
