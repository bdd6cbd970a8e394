import { describe, expect, it } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { useServer } from '../harness.js'
import { openDashboard } from './page.js'

describe('the dashboard over HTTP', () => {
  const server = useServer()
  const get = (path: string, accept = 'text/html') =>
    server().fetch(path, { redirect: 'manual', headers: { accept } })

  it('is where browsers that open the root address are sent', async () => {
    const response = await get('/')
    expect([response.status, response.headers.get('location')]).toEqual([302, 'dashboard'])
    expect((await get('/', 'application/json')).status).toBe(200)
  })

  it.each(['/dashboard', '/dashboard/', '/dashboard/w/all/conversations/conv_1?tab=raw'])(
    'is the same page at %s, with a strict policy',
    async (path) => {
      const response = await get(path)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('<base href="/dashboard/">')
      const policy = response.headers.get('content-security-policy')
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      expect(response.headers.get('cache-control')).toBe('no-cache')
      expect(response.headers.get('x-frame-options')).toBe('DENY')
    },
  )

  it('has files that never change, and says when one is gone', async () => {
    const page = await (await get('/dashboard')).text()
    const [, path] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? []
    const script = await get(`/dashboard/${path}`)
    expect(script.headers.get('cache-control')).toContain('immutable')
    expect(script.headers.get('content-type')).toContain('javascript')
    for (const path of [
      'assets/old-AAAA.js',
      'assets/../index.html',
      'assets/%2e%2e%2f.vite%2fmanifest.json',
    ]) {
      const response = await get(`/dashboard/${path}`)
      const isPage = response.headers.get('content-type')?.startsWith('text/html') === true
      expect(isPage ? 200 : 404).toBe(response.status)
    }
    expect((await get('/dashboard/assets/old-AAAA.js')).status).toBe(404)
  })
})

describe('a server without a dashboard', () => {
  const server = useServer(undefined, { BOTSTEAD_DASHBOARD: 'off' })

  it('has no page for it', async () => {
    expect((await server().fetch('/dashboard')).status).toBe(404)
  })
})

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the frame of the dashboard ${title}`, () => {
  const server = useServer()

  it('signs in by the link of the first start, once, and keeps no code in the address', async () => {
    const page = await newPage()
    const link = `${server().url}/dashboard/sign-in#${server().server.firstStart?.signInCode}`
    await page.goto(link)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(page.url()).toBe(`${server().url}/dashboard/${server().workspaceId}/all/home`)
    expect(await page.evaluate('document.cookie')).toBe('')

    const other = await newPage()
    await other.goto(link)
    const refusal = other.getByRole('alert')
    await refusal.getByText('The code is not valid, was used already or is older').waitFor()
    expect(other.url()).not.toContain('bp_code_')
    // A link that is pasted into the open page loads nothing anew, and is tried nevertheless.
    const [sent] = await Promise.all([
      other.waitForRequest((request) => request.postData()?.includes('bp_code_pasted') === true),
      other.evaluate("location.hash = 'bp_code_pasted'"),
    ])
    await sent.response()
    await other.getByRole('alert').waitFor()
    expect(other.url()).not.toContain('bp_code_')
    await other.getByRole('button', { name: 'Use a token instead' }).click()
    await other.getByLabel('Personal access token').fill(server().token)
    await other.keyboard.press('Enter')
    await other.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  })

  it('says why it refuses a token, at the field and without a path', async () => {
    const page = await newPage()
    await page.goto(`${server().url}/dashboard/sign-in`)
    await page.getByRole('button', { name: 'Use a token instead' }).click()
    const field = page.getByLabel('Personal access token')
    await field.fill('bp_pat_of_nobody')
    await page.keyboard.press('Enter')
    await page.getByText('The token is not valid, or was revoked.').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    const { bot } = await server().client().createBot({})
    const key = await server().client().createBotApiKey({ botId: bot.id, note: 'of a bot' })
    await field.fill(key.value)
    await page.keyboard.press('Enter')
    await page.getByText('This is the key of a bot or an integration').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('main').innerText()).not.toMatch(/(body|query|params)\./)
  })

  it('asks to sign in again over the page, and keeps what was typed', async () => {
    const { page, open } = await openDashboard(server())
    await open('bots?new=bot')
    await page.getByLabel('Name').fill('Typed before the session ended')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Create the bot' }).click()
    await page.getByText('You are signed out').waitFor()
    const dialog = page.getByRole('dialog', { name: /sign in again/ })
    await dialog.getByRole('button', { name: 'Use a token instead' }).click()
    await dialog.getByLabel('Personal access token').fill(server().token)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed before the session ended')
    await page.getByRole('button', { name: 'Create the bot' }).click()
    await page.getByRole('heading', { name: 'Typed before the session ended' }).waitFor()
  })

  it('goes everywhere by keyboard', async () => {
    const { page, open, faults } = await openDashboard(server())
    await open('home')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('b')
    await page.getByRole('heading', { name: 'Bots', level: 1 }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Go to Bots').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('home')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(faults).toEqual([])
  })

  it('has a menu of the person who is signed in, by name', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('home')
    const button = page.getByRole('button', { name: 'Administrator' })
    await button.focus()
    await page.keyboard.press('Enter')
    const items = page.getByRole('menuitem')
    await items.first().waitFor()
    expect(await items.allTextContents()).toEqual([
      'My account',
      'Go to…Ctrl K',
      'Keyboard shortcuts?',
      'Colours: systemChange to light',
      'Sign out',
    ])
    await page.getByRole('menuitem', { name: 'Colours' }).click()
    await page.locator('html[style*="light"]').waitFor()
    await button.click()
    await page.getByRole('menuitem', { name: 'My account' }).click()
    await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Fold the bar' }).click()
    await button.waitFor()
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('says that the server is gone, and goes on when it is back', async () => {
    const { page, open } = await openDashboard(server())
    await open('bots')
    await page.getByRole('heading', { name: 'Bots', level: 1 }).waitFor()
    await page.context().setOffline(true)
    await page.getByText('New bot').click()
    await page.getByLabel('Name').fill('Offline')
    await page.getByRole('button', { name: 'Create the bot' }).click()
    await page.getByText('The server cannot be reached. Trying again.').waitFor()
    await page.context().setOffline(false)
    await page
      .getByText('The server cannot be reached. Trying again.')
      .waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create the bot' }).click()
    await page.getByRole('heading', { name: 'Offline' }).waitFor()
  })
})
