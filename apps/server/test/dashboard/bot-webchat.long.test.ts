import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)></script><script>alert(2)</script>'

describe.skipIf(browserPath === undefined)(`the web chat of a bot ${title}`, () => {
  const server = useServer()

  async function makeBot(name = 'Helper') {
    const { bot } = await server().client().createBot({ name })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { id } = bot
    const stored = async () => (await server().client().getBotWebchatSettings({ id })).webchat
    return { id, webhookId, path: `bots/${id}?tab=webchat`, stored }
  }

  it('is edited with a preview that shows what is not saved yet', async () => {
    const { id, path, stored, webhookId } = await makeBot()
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(path)
    const preview = page.frameLocator('iframe[title="Preview of the web chat"]')
    await preview.getByRole('heading', { name: 'Helper' }).waitFor()
    await expectAccessible()

    await page.getByLabel('Title').fill(hostile)
    await preview.getByRole('heading', { name: hostile }).waitFor()
    await page.getByLabel('Greeting').fill('**Welcome**, ask me')
    await preview.locator('strong', { hasText: 'Welcome' }).waitFor()
    await page.getByLabel('Suggested questions').fill('Who are you?\n\n  What now? ')
    await preview.getByRole('button', { name: 'What now?' }).waitFor()
    await page.getByLabel('Placeholder of the message field').fill('Ask')
    await preview.getByPlaceholder('Ask').waitFor()
    await page.getByLabel('Placeholder of the message field').fill('')
    await preview.getByPlaceholder('Ask').waitFor({ state: 'detached' })
    await page.getByLabel('Language').selectOption('de')
    await preview.getByRole('textbox', { name: 'Nachricht' }).waitFor()
    await page.getByLabel('Colour', { exact: true }).fill('#aa0000')
    await page.getByLabel('Theme').selectOption('dark')
    await preview.locator('[data-theme=dark]').waitFor()
    await page.getByLabel('Side of the button').selectOption('left')
    await preview.locator('[data-side=left]').waitFor()
    await page.getByLabel('Users can send files').uncheck()
    await preview.locator('input[type=file]').waitFor({ state: 'detached' })
    expect((await stored()).changed).toEqual([])

    // The preview speaks to nobody.
    await preview.getByRole('button', { name: 'Who are you?' }).click()
    await preview.getByText('This is a preview: nothing is sent to the bot.').first().waitFor()
    expect((await server().client({ botId: id }).listUsers()).users).toEqual([])

    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The settings are saved.').waitFor()
    const { settings, changed } = await stored()
    expect(settings).toMatchObject({
      botName: hostile,
      greeting: '**Welcome**, ask me',
      suggestedQuestions: ['Who are you?', 'What now?'],
      language: 'de',
      color: '#aa0000',
      themeMode: 'dark',
      position: 'left',
      allowFileUpload: false,
      feedbackEnabled: true,
    })
    expect(changed).not.toContain('composerPlaceholder')
    const { code } = await server().client().getBotWebchat({ id, type: 'preconfigured' })
    await page.getByText(code).waitFor()
    await page.getByRole('button', { name: 'Copy', exact: true }).waitFor()
    const link = page.getByRole('link', { name: `${server().url}/webchat/${webhookId}` })
    expect(await link.getAttribute('target')).toBe('_blank')
    await page.getByLabel('What it shows').selectOption('configurable')
    await page.getByText('window.botpress.init').waitFor()

    await page.getByRole('button', { name: 'Reset all settings' }).click()
    await preview.getByRole('heading', { name: 'Helper' }).waitFor()
    expect((await stored()).changed).toEqual([])
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('has web sites that are refused with the rule, and stored as browsers write them', async () => {
    const { path, stored } = await makeBot()
    const { page, open, expectAccessible } = await openDashboard(server())
    await open(path)
    const sites = page.getByRole('textbox', { name: 'Web sites' })
    await sites.fill('https://shop.example\nshop.example/path')
    await page.getByRole('button', { name: 'Save the web sites' }).click()
    await page.getByText('Entry 2 must be').waitFor()
    expect(await sites.getAttribute('aria-invalid')).toBe('true')
    await expectAccessible()
    await sites.fill('https://Shop.example:443\n')
    await page.getByRole('button', { name: 'Save the web sites' }).click()
    await page.getByText('The allowed web sites are saved.').waitFor()
    expect(await sites.inputValue()).toBe('https://shop.example')
    expect((await stored()).allowedOrigins).toEqual(['https://shop.example'])
    // The preview is a page of the server itself.
    await page.reload()
    await page
      .frameLocator('iframe[title="Preview of the web chat"]')
      .getByRole('heading', { name: 'Helper' })
      .waitFor()
  })

  it('is edited on a phone and by keyboard, and the preview leaves the focus where it is', async () => {
    const { path, stored } = await makeBot()
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width: 320,
      height: 640,
      colorScheme: 'dark',
    })
    await open(path)
    const preview = page.frameLocator('iframe[title="Preview of the web chat"]')
    await preview.getByRole('heading', { name: 'Helper' }).waitFor()
    expect(await page.evaluate('document.activeElement.tagName')).not.toBe('IFRAME')
    const width = 'document.documentElement.scrollWidth'
    expect(await page.evaluate<number>(width)).toBeLessThanOrEqual(320)
    // A part longer than the screen scrolls by itself; the page does not.
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBe(640)
    // In so small a frame nothing would open it again.
    expect(await preview.getByRole('button', { name: 'Close the chat' }).count()).toBe(0)
    await page.getByLabel('Title').focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Ada')
    await preview.getByRole('heading', { name: 'Ada' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('The settings are saved.').waitFor()
    expect((await stored()).settings.botName).toBe('Ada')
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('says so when the chat is switched off', async () => {
    const { id, path } = await makeBot()
    const client = server().client({ headers: { 'x-multiple-integrations': 'true' } })
    await client.updateBot({ id, integrations: { chat: { enabled: false } } })
    const { page, open, expectAccessible } = await openDashboard(server())
    await open(path)
    await page.getByText('The chat of this bot is switched off').waitFor()
    expect(await page.locator('iframe').count()).toBe(0)
    await expectAccessible()
  })

  it('has a preview that pages of others can neither show nor feed', async () => {
    const { webhookId } = await makeBot()
    const address = `${server().url}/webchat/${webhookId}/preview`
    const response = await fetch(address)
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
    expect(response.headers.get('x-frame-options')).toBe('SAMEORIGIN')
    const unknown = await server().fetch('/webchat/unknown/preview')
    expect(unknown.status).toBe(404)

    const pages = createServer((_request, answer) => {
      answer.writeHead(200, { 'content-type': 'text/html' })
      answer.end(`<title>Evil</title><button>Open</button><script>
        document.querySelector('button').onclick = () => {
          const opened = window.open('${address}')
          setInterval(() => {
            window.sent = (window.sent ?? 0) + 1
            const settings = { botName: 'Fed', greeting: 'Fed' }
            opened.postMessage({ type: 'webchat-preview-settings', settings }, '*')
          }, 20)
        }
      </script><iframe src="${address}"></iframe>`)
    }).listen(0, '127.0.0.1')
    await once(pages, 'listening')
    onTestFinished(() => {
      pages.closeAllConnections()
      pages.close()
    })
    const page = await newPage()
    const refused = page.waitForEvent('console', (line) => line.text().includes('frame-ancestors'))
    await page.goto(`http://localhost:${(pages.address() as AddressInfo).port}`)
    await refused
    const opening = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Open' }).click()
    const opened = await opening
    await opened.waitForLoadState()
    const before = await page.evaluate<number>('window.sent ?? 0')
    await vi.waitFor(async () =>
      expect(await page.evaluate<number>('window.sent ?? 0')).toBeGreaterThan(before + 5),
    )
    expect(await opened.locator('botstead-webchat').count()).toBe(0)
  })
})
