import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { addAccount } from '../tenant.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the screen of the workspace ${title}`, () => {
  const server = useServer()

  it('renames the workspace, and shows the refusal of a handle at its field', async () => {
    const { page, open, expectAccessible } = await openDashboard(server())
    await open('workspace')
    await page.getByLabel('Name').fill('Support')
    await page.getByLabel('Handle').fill('Not a handle')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Must match/).waitFor()
    expect(await page.getByLabel('Handle').getAttribute('aria-invalid')).toBe('true')
    await expectAccessible()
    await page.getByLabel('Handle').fill('support')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved.').waitFor()
    const { workspaceId } = server()
    expect(await server().client().getWorkspace({ id: workspaceId })).toMatchObject({
      name: 'Support',
      handle: 'support',
    })
  })

  it('makes a token that works, shows it once and revokes it', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('account?tab=tokens')
    await page.getByLabel('What it is for').fill('<b>script</b>')
    await page.getByRole('button', { name: 'Create a token' }).click()
    const token = await page.locator('code', { hasText: 'bp_pat_' }).textContent()
    const client = server().client({ token: token ?? '' })
    expect((await client.getAccount()).account.email).toContain('@')
    await page.reload()
    await page.getByText('<b>script</b>').waitFor()
    expect(await page.content()).not.toContain(token)
    await expectAccessible()

    const row = page.getByRole('listitem').filter({ hasText: '<b>script</b>' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    await expect(client.getAccount()).rejects.toMatchObject({ type: 'Unauthorized' })
    expect(faults).toEqual([])
  })

  it('lists the signed-in browsers and signs one out', async () => {
    const other = await openDashboard(server())
    await other.open('bots')
    const { page, open, expectAccessible } = await openDashboard(server())
    await open('account?tab=sessions')
    await page.getByText('(this one)').waitFor()
    await expectAccessible()
    const { sessions } = await server().client().listSessions()
    const buttons = page.getByRole('main').getByRole('button', { name: 'Sign out', exact: true })
    for (let left = sessions.length - 1; left > 0; left--) {
      await buttons.first().click()
      await vi.waitFor(async () =>
        expect(await page.getByRole('main').getByRole('listitem').count()).toBe(left),
      )
    }
    await other.page.reload()
    await other.page.getByRole('dialog', { name: /sign in again/ }).waitFor()
    expect(await page.getByText('(this one)').count()).toBe(1)
    await page.getByRole('button', { name: 'Sign out here' }).click()
    await page.getByLabel('Email address').waitFor()
    expect((await server().client().listSessions()).sessions).toEqual([])
  })

  it('shows the limits with what is used of them', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server(), { width: 360 })
    await open('workspace?tab=limits')
    await page.getByRole('heading', { name: 'Limits of the server' }).waitFor()
    await page.getByRole('meter').first().waitFor()
    await expectAccessible()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(360)
    expect(faults).toEqual([])
  })

  it('shows the version, the parts and the settings of the server to its operator alone', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('workspace?tab=server')
    await page.getByRole('heading', { name: 'Parts' }).waitFor()
    await page.getByText('BOTSTEAD_DATA_DIR=').waitFor()
    await expectAccessible()
    await page.keyboard.press('/')
    await page.keyboard.type('SESSION_LIFETIME')
    await page.keyboard.press('Enter')
    await page.getByText('BOTSTEAD_DATA_DIR=').waitFor({ state: 'detached' })
    await page.getByText('BOTSTEAD_SESSION_LIFETIME=').waitFor()
    expect(faults).toEqual([])
    const { token, workspaceId } = await addAccount(server())
    const other = await openDashboard({ ...server(), token, workspaceId })
    await other.open('workspace?tab=server')
    await other.page.getByText(/Only the operator of the server/).waitFor()
  })
})
