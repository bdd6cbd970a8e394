import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createOperatorAccounts } from '../../src/features/tenancy/sign-in/index.js'
import { browserPath, newPage } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
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

  it('is set up under "My account": password, name and address', async () => {
    const login = await addAccount(server())
    const { page, open, faults } = await openDashboard({ ...server(), ...login })
    await open('account?tab=security')
    await page.getByText('You have none.').waitFor()
    await page.getByLabel('New password').fill(password)
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByLabel('Present password').waitFor()
    await page.getByLabel('Present password').fill('wrong words')
    await page.getByLabel('New password').fill('nine purple ladders')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('The password is wrong.').waitFor()
    await page.getByLabel('Present password').fill(password)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('Other browsers are signed out.').first().waitFor()

    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByLabel('Your name').fill('Bea')
    await page.getByRole('button', { name: 'Save the name' }).click()
    await page.getByText('The name is saved.').waitFor()
    const email = `new-${login.workspaceId}@example.com`
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Present password').fill('nine purple ladders')
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
