import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { useServer } from '../harness.js'
import { addAccount, addViewer, uploadText } from '../tenant.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the members of a workspace ${title}`, () => {
  const server = useServer()

  /** A dashboard of a person in the workspace of another one. */
  const openAs = async (login: { token: string; workspaceId: string }, width = 1400) =>
    await openDashboard({ ...server(), ...login }, { width })

  it('are invited, and join in another browser', async () => {
    const ann = await addAccount(server())
    const { page, open, faults, expectAccessible } = await openAs(ann)
    await open('workspace?tab=members')
    await page.getByText('(you)').waitFor()
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('Email address').fill('Bea@Example.com')
    await page.getByLabel('Role', { exact: true }).selectOption('viewer')
    await page.getByText('Sees bots, conversations and files, and changes nothing.').waitFor()
    await expectAccessible()
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    await page.getByText('It works once, for seven days').waitFor()
    await expectAccessible()
    const address = (await page.getByRole('dialog').locator('code').textContent()) ?? ''
    await page.keyboard.press('Escape')
    const row = page.getByRole('listitem').filter({ hasText: /bea@example.com/i })
    await row.getByText('Invited', { exact: true }).waitFor()

    const bea = await newPage()
    await bea.goto(address)
    await bea.getByRole('heading', { name: 'Join Own' }).waitFor()
    await bea.getByText('bea@example.com', { exact: true }).waitFor()
    expect(bea.url()).toBe(`${server().url}/dashboard/join`)
    await bea.getByLabel('Your name').fill('Bea')
    await bea.getByLabel('Password').fill('bea@example.com')
    await bea.getByRole('button', { name: 'Join' }).click()
    await bea.getByText('Must not be your address or name').waitFor()
    await bea.getByLabel('Password').fill('seven green teapots')
    await bea.getByRole('button', { name: 'Join' }).click()
    // Home is not open to viewers: they begin with what is.
    await bea.getByRole('heading', { name: 'Conversations', level: 1 }).waitFor()
    expect(new URL(bea.url()).pathname).toContain(ann.workspaceId)
    await bea.goBack()
    expect(bea.url()).not.toContain('bp_inv_')

    await page.reload()
    await row.getByText('member since').waitFor()
    await row.getByRole('button', { name: 'Role of Bea: viewer' }).waitFor()
    expect(faults).toEqual([])

    // Somebody without any workspace is not lost.
    const { members } = await server().client(ann).listWorkspaceMembers()
    await server()
      .client(ann)
      .deleteWorkspaceMember({ id: members[1]?.id ?? '' })
    await bea.goto(`${server().url}/dashboard/`)
    await bea.getByRole('heading', { name: 'You are not a member of any workspace' }).waitFor()
    await bea.getByLabel('Name').fill('Of Bea')
    await bea.getByRole('button', { name: 'Create a workspace' }).click()
    await bea.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  })

  it('get other roles, which their open pages follow, and are removed', async () => {
    const ann = await addAccount(server())
    const { bot } = await server().client(ann).createBot({ name: 'Helper' })
    const viewer = await addViewer(server(), ann.workspaceId)
    const { account } = await server().client(viewer).getAccount()
    const name = account.displayName || account.email
    const { page: bea, open: openOfBea } = await openAs(viewer)
    await openOfBea(`bots/${bot.id}`)
    await bea.getByRole('heading', { name: 'Helper' }).waitFor()
    expect(await bea.getByRole('button', { name: /New bot|Ping/ }).count()).toBe(0)
    expect(await bea.getByRole('link', { name: /Settings|Keys and secrets|Access/ }).count()).toBe(
      0,
    )

    const { page, open, faults, expectAccessible } = await openAs(ann)
    await open('workspace?tab=members')
    await chooseRole(page, name, 'developer')
    await page.getByText(`${name} is developer now.`).waitFor()
    await bea.reload()
    await bea.getByRole('button', { name: 'New bot' }).waitFor()
    await bea.getByRole('button', { name: 'New bot' }).click()
    await bea.getByLabel('Name').fill('By Bea')
    // Without a reload, the refusal shows the page that the role has changed.
    await chooseRole(page, name, 'viewer')
    await page.getByText(`${name} is viewer now.`).waitFor()
    await bea.getByRole('button', { name: 'Create the bot' }).click()
    await bea.getByRole('button', { name: 'New bot' }).waitFor({ state: 'detached' })

    const row = page.getByRole('listitem').filter({ hasText: account.email })
    await row.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await row.waitFor({ state: 'detached' })
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('join with the account that is signed in, after a sign-in if there is one', async () => {
    const ann = await addAccount(server())
    const cai = await addAccount(server())
    const { account } = await server().client(cai).getAccount()
    const client = server().client(ann)
    const invite = async () =>
      await client.createWorkspaceMember({ email: account.email, role: 'manager' })
    const first = await invite()
    const page = await newPage()
    await page.goto(first.invitationUrl)
    await page.getByLabel('Your name').fill('Cai')
    await page.getByLabel('Password').fill('seven green teapots')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByText('sign in with it, then open the invitation again').waitFor()
    await page.getByRole('button', { name: 'I have an account: sign in first' }).click()
    await page.getByRole('button', { name: 'Use a token instead' }).click()
    await page.getByLabel('Personal access token').fill(cai.token)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Join as / }).click()
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toContain(ann.workspaceId)

    await page.goto(first.invitationUrl)
    await page.getByText('it was used, withdrawn or replaced').waitFor()
    expect(page.url()).not.toContain('bp_inv_')
    await client.deleteWorkspaceMember({ id: first.id })
    const second = await invite()
    await page.goto(second.invitationUrl)
    await page.getByRole('button', { name: 'Use another account' }).click()
    await page.getByLabel('Your name').waitFor()
    await page.reload()
    await page.getByText('Open the address of the invitation again').waitFor()
  })

  it('see no more than their role has, and why', async () => {
    const ann = await addAccount(server())
    const { bot } = await server().client(ann).createBot({ name: 'Helper' })
    await uploadText(server().client({ ...ann, botId: bot.id }), 'own.txt', 'Words')
    const viewer = await addViewer(server(), ann.workspaceId)
    const { page, open, faults, expectAccessible } = await openAs(viewer)
    await open('files', bot.id)
    await page.getByRole('link', { name: 'own.txt' }).click()
    await page.getByRole('link', { name: 'Download' }).waitFor()
    expect(await page.getByRole('button', { name: /Upload|Replace|Index|Delete/ }).count()).toBe(0)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    const bar = page.getByRole('navigation', { name: 'Screens' })
    expect(await bar.getByRole('link', { name: /Home|Logs|Deliveries/ }).count()).toBe(0)
    await open('logs')
    await page.getByText('Your role in this workspace, viewer, does not include Logs.').waitFor()
    await expectAccessible()
    await page.getByRole('link', { name: 'Members and their roles' }).click()
    await page.getByText('Your role is viewer.').waitFor()
    expect(await page.getByRole('button', { name: /Invite|^Role of/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'General' }).click()
    await page.getByText('Created').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)

    // A role without anything of bots begins with the workspace.
    const { id } = await server().client(viewer).getWorkspaceMember()
    await server().client(ann).updateWorkspaceMember({ id, role: 'billing' })
    await open('home')
    await page.getByRole('heading', { name: 'Workspace', level: 1 }).waitFor()
    expect(await bar.getByRole('link', { name: 'Bots' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('are managed by keys, and on a phone; the last owner stays', async () => {
    const ann = await addAccount(server())
    const { page, open, faults, expectAccessible } = await openAs(ann, 360)
    await open('workspace?tab=members')
    await page.getByText('(you)').waitFor()
    await page.keyboard.press('n')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('dee@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('It works once, for seven days').waitFor()
    await page.keyboard.press('Escape')
    const [, dee] = (await server().client(ann).listWorkspaceMembers()).members
    const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(360)
    await expectAccessible()
    await page.getByRole('button', { name: 'Role of dee@example.com: developer' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: /^viewer/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('dee@example.com is viewer now.').waitFor()
    expect(dee?.role).toBe('developer')

    await page.getByRole('button', { name: 'Actions for dee@example.com' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'New address' }).waitFor()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Invitation for dee@example.com' })
    const address = (await dialog.locator('code').textContent()) ?? ''
    const reader = server().client({ token: undefined, headers: { origin: server().url } })
    const code = new URL(address).hash.slice(1)
    expect((await reader.getInvitation({ code })).role).toBe('viewer')
    await page.keyboard.press('Escape')

    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Leave the workspace' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Leave the workspace?' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('The last owner of a workspace must stay').waitFor()
    expect(faults.filter((fault) => !fault.includes('409'))).toEqual([])
  })

  it('limit a bot to some of them', async () => {
    const ann = await addAccount(server())
    const { bot } = await server().client(ann).createBot({ name: 'Secret plans' })
    const bea = await addViewer(server(), ann.workspaceId)
    const eve = await addViewer(server(), ann.workspaceId)
    const { account } = await server().client(bea).getAccount()
    const { page, open, faults, expectAccessible } = await openAs(ann)
    await open(`bots/${bot.id}?tab=access`)
    await page.getByLabel('Visible to').selectOption('some members')
    await page.getByRole('checkbox', { name: account.displayName || account.email }).check()
    await expectAccessible()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The list is saved.').waitFor()
    await vi.waitFor(async () => {
      expect((await server().client(bea).listBots()).bots).toHaveLength(1)
      expect((await server().client(eve).listBots()).bots).toHaveLength(0)
    })
    await page.reload()
    await page.getByRole('checkbox', { name: account.displayName || account.email }).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The list is saved.').waitFor()
    const { users } = await server().client(ann).getBotAllowlist({ botId: bot.id })
    expect(users).toEqual([])
    expect(faults).toEqual([])
  })

  it('make tokens that may do less than they', async () => {
    const ann = await addAccount(server())
    const { bot } = await server().client(ann).createBot({ name: 'Helper' })
    const { page, open, faults, expectAccessible } = await openAs(ann)
    await open('account?tab=tokens')
    await page.getByLabel('What it is for').fill('A monitor')
    await page.getByLabel('Read only').check()
    await page.getByLabel('This workspace only').check()
    await page.getByLabel('Bot of the token').selectOption('Helper')
    await page.getByLabel('Works until').fill('2099-01-01T12:00')
    await expectAccessible()
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByText('Limits: reads only, only the bot Helper, until').waitFor()
    const token = (await page.locator('code', { hasText: 'bp_pat_' }).textContent()) ?? ''
    const limited = server().client({ token, workspaceId: ann.workspaceId })
    expect((await limited.getBot({ id: bot.id })).bot.name).toBe('Helper')
    await expect(limited.createBot({})).rejects.toMatchObject({ type: 'Forbidden' })
    expect(faults).toEqual([])
  })

  it('delete their account, unless they are the last owner of a workspace', async () => {
    const ann = await addAccount(server())
    const bea = await addViewer(server(), ann.workspaceId)
    const { account } = await server().client(bea).getAccount()
    const { page, open, expectAccessible } = await openAs(bea)
    await open('account')
    const dialog = page.getByRole('dialog')
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete the account' }).click()
      await dialog.getByLabel('Type the address').fill(account.email)
      await dialog.getByRole('button', { name: 'Delete for ever' }).click()
    }
    await remove()
    await dialog.getByText('is the last owner of workspace').waitFor()
    await expectAccessible()
    await page.keyboard.press('Escape')
    const { workspaces } = await server().client(bea).listWorkspaces({})
    for (const { id } of workspaces.filter(({ ownerId }) => ownerId === account.id)) {
      await server()
        .client({ ...bea, workspaceId: id })
        .deleteWorkspace({ id })
    }
    await remove()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expect(server().client(bea).getAccount()).rejects.toMatchObject({ type: 'Unauthorized' })
  })
})

/** Chooses a role of a member in the list. */
async function chooseRole(page: Page, name: string, role: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^Role of ${name}`) }).click()
  await page.getByRole('menuitem', { name: new RegExp(`^${role}`) }).click()
}
