import { describe, expect, it, vi } from 'vitest'
import { startBotProcess } from '../bot-processes.js'
import { browserPath } from '../browser.js'
import { pressWhileComposing } from '../composing.js'
import { useWebchats } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

/** Styles that break embedded content, as existing pages have them, and stronger ones. */
const hostile = `
  * { all: unset !important; position: static !important; color: red !important; }
  *, ::before, ::after { animation: none !important; font-size: 3px !important; letter-spacing: 9px }
  body > *, html > * { display: none !important; opacity: 0 !important; transform: scale(0) !important }
  button { display: none !important } div { visibility: hidden !important }
  html { direction: rtl; font-size: 62.5%; transform: none } body { transform: translateX(-2000px) }
  h1 { all: revert }`

/** Runs in the page: returns some properties that styles of a page could change. */
const lookOf = new Function(
  'element',
  'const { fontSize, letterSpacing, visibility, direction } = getComputedStyle(element); return { fontSize, letterSpacing, visibility, direction }',
) as (element: unknown) => Record<string, string>

const pageOf = (inside: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>Shop</title>${head}</head><body><main><h1>Shop</h1>${inside}</main></body></html>`

describe.skipIf(browserPath === undefined)(`the script for pages ${title}`, () => {
  const chats = useWebchats()

  it('adds a button that does not affect the page and is not affected by it', async () => {
    const { open, script, chatServer, botName } = chats()
    const csp = `default-src 'none'; script-src ${chatServer.url}; style-src 'nonce-own'; connect-src ${chatServer.url}; require-trusted-types-for 'script'`
    const site = {
      html: pageOf(
        '<p id="own">Text</p>',
        `<style nonce="own">${hostile}</style>${script('data-language="en"')}`,
      ),
      headers: { 'content-security-policy': csp },
    }
    const { page, faults } = await open(site)
    const button = page.getByRole('button', { name: `Open the chat with ${botName}` })
    await button.waitFor()
    expect(chatServer.received).toEqual([])
    const box = await button.boundingBox()
    expect(box).toMatchObject({ width: 56, height: 56, x: 1000 - 16 - 56, y: 800 - 16 - 56 })
    const added = `(() => {
      const frame = document.body.appendChild(document.createElement('iframe'))
      const names = Object.keys(window).filter((name) => !(name in frame.contentWindow) && name !== '0')
      frame.remove()
      return names
    })()`
    expect(await page.evaluate(added)).toEqual(['botpress'])
    const before = await page.locator('#own').evaluate(lookOf)

    await button.click()
    const dialog = page.getByRole('dialog', { name: botName })
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Hello')
    await page.keyboard.press('Enter')
    await dialog.getByText('Hello').waitFor()
    await vi.waitFor(() => expect(chatServer.calls('POST', '/messages')).toHaveLength(1))
    // The message that comes back replaces the one that is being sent, which has no look any more.
    await vi.waitFor(async () =>
      expect(await dialog.getByText('Hello').evaluate(lookOf)).toEqual({
        fontSize: '15px',
        letterSpacing: 'normal',
        visibility: 'visible',
        direction: 'ltr',
      }),
    )
    expect(await page.locator('#own').evaluate(lookOf)).toEqual(before)
    expect(await page.evaluate(added)).toEqual(['botpress'])
    expect(faults).toEqual([])
  })

  it('works with a nonce alone, and by keyboard alone', async () => {
    const { open, script, chatServer, botName } = chats()
    const csp = `default-src 'none'; script-src 'nonce-abc' 'strict-dynamic'; connect-src ${chatServer.url}`
    const { page, faults } = await open({
      html: pageOf('', script('nonce="abc" data-language="en"')),
      headers: { 'content-security-policy': csp },
    })
    await page.getByRole('button', { name: 'Open the chat' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('textarea:focus').waitFor()
    await page.keyboard.type('By keys')
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('By keys').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const focused = 'document.activeElement?.shadowRoot?.activeElement?.ariaLabel'
    expect(await page.evaluate(focused)).toBe(`Open the chat with ${botName}`)
    // The button counts a message that arrives while the chat is closed.
    chatServer.sendAsBot({ type: 'text', text: 'Are you there?' })
    await page.getByRole('button', { name: `${botName}, new messages: 1` }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Are you there?').first().waitFor()
    expect(faults).toEqual([])
  })

  it('leaves the keys of an input method to it, in the order of each browser', async () => {
    const { open, script, chatServer } = chats()
    chatServer.received.length = 0
    const html = pageOf('', script('data-language="en" data-open'))
    const { page, faults } = await open({ html })
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('日本')
    await pressWhileComposing(field, 'Enter')
    await pressWhileComposing(field, 'Escape')
    expect(await field.inputValue()).toBe('日本')
    expect(await page.getByRole('dialog').isVisible()).toBe(true)
    expect(chatServer.calls('POST', '/messages')).toEqual([])
    // Without an input method, the same keys send and close.
    await field.press('Enter')
    await page.getByRole('log').getByText('日本').waitFor()
    await field.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(faults).toEqual([])
  })

  it('is accessible, closed and open', async () => {
    const { open, script, botName } = chats()
    const { page, faults, expectAccessible } = await open({
      html: pageOf('', script('data-language="de" data-color="#ffdd00" data-place="left"')),
    })
    const button = page.getByRole('button', { name: `Chat mit ${botName} öffnen` })
    await button.waitFor()
    expect((await button.boundingBox())?.x).toBe(16)
    await expectAccessible()
    await button.click()
    await page.locator('textarea:focus').waitFor()
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('leaves the page as it was when the chat cannot be loaded, and tries again', async () => {
    const { open, script, chatServer } = chats()
    const { page } = await open({ html: pageOf('', script('data-language="en"')) })
    const button = page.getByRole('button', { name: 'Open the chat' })
    await button.waitFor()
    await page.evaluate(
      'window.errors = []; window.botpress.on("error", () => window.errors.push(1))',
    )
    chatServer.down()
    await button.click()
    await page.getByText('The chat could not be loaded. Press the button to try again.').waitFor()
    expect(await button.getAttribute('aria-expanded')).toBe('false')
    expect(await page.evaluate('window.errors')).toEqual([1])
    chatServer.up()
    await button.click()
    await page.getByRole('dialog').waitFor()
    await page.getByText('could not be loaded').waitFor({ state: 'hidden' })
  })

  it('opens with the page if an attribute requests it, with a name and a greeting', async () => {
    const { open, script } = chats()
    const { page, faults } = await open({
      html: pageOf('', script('data-open data-name="Helper" data-greeting="Hi, **you**!"')),
    })
    const dialog = page.getByRole('dialog', { name: 'Helper' })
    await dialog.getByText('you', { exact: true }).waitFor()
    const focused = 'document.activeElement.localName'
    expect(await page.evaluate(focused)).toBe('body')
    expect(faults).toEqual([])
  })
  it('stays open on the next page of the site, in the same tab, and leaves the focus there', async () => {
    const { open, script } = chats()
    const { page, faults } = await open({
      html: pageOf('<input aria-label="Search" autofocus>', script('data-language="en"')),
    })
    await page.getByRole('button', { name: 'Open the chat' }).click()
    await page.getByRole('dialog').waitFor()
    await page.reload()
    await page.getByRole('dialog').waitFor()
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    expect(await page.evaluate('document.activeElement.localName')).toBe('input')
    await page.getByRole('button', { name: 'Close the chat' }).first().click()
    await page.reload()
    await page.getByRole('button', { name: 'Open the chat' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('works on the page of the example', async () => {
    const { open, chatServer, webhookId } = chats()
    chatServer.received.length = 0
    const script = ['examples/web-page/main.mjs', `${chatServer.url}/chat/${webhookId}`]
    const settings = { PAGE_PORT: '0' }
    await using site = await startBotProcess({ url: '', token: '' }, script, /^or,/m, settings)
    const [, address = ''] = /^Open (\S+)$/m.exec(site.output()) ?? []
    const { page } = await open(address)
    await page.getByRole('button', { name: 'Where is my order?' }).click()
    await page.getByRole('log').getByText('Where is my order?').waitFor()
    await page.getByText('Last message: Where is my order?').waitFor()
    await vi.waitFor(() =>
      expect(chatServer.calls('PUT', '/users/me')).toMatchObject([
        { body: { name: 'Ada', userData: { plan: 'gold' } } },
      ]),
    )
  })
})
