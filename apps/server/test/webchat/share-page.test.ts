import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useWebchats } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the share page of a chat ${title}`, () => {
  const chats = useWebchats()

  it('is a chat without a web site: by keyboard, in the dark theme, without motion', async () => {
    const { open, chatServer, botName } = chats()
    const { page, faults, expectAccessible } = await open(chatServer.chat, {
      colorScheme: 'dark',
      reducedMotion: 'reduce',
      locale: 'en-GB',
    })
    await page.locator('textarea:focus').waitFor()
    expect(await page.title()).toBe(botName)
    await page.getByRole('heading', { level: 1, name: botName }).waitFor()
    await page.keyboard.type('Hello')
    await page.keyboard.press('Enter')
    await vi.waitFor(() => expect(chatServer.calls('POST', '/messages')).toHaveLength(1))
    chatServer.signal('typing_started', {})
    const dot = page.locator('.typing i').first()
    await dot.waitFor()
    const animationOf = new Function('element', 'return getComputedStyle(element).animationName')
    expect(await dot.evaluate(animationOf as (element: unknown) => string)).toBe('none')
    chatServer.sendAsBot({
      type: 'choice',
      text: 'Tea?',
      options: [{ label: 'Yes', value: 'yes' }],
    })
    await page.getByRole('button', { name: 'Yes' }).waitFor()
    await expectAccessible()
    // Backwards from the field for messages: the button for files, then the last message of the bot.
    for (const name of ['Add files', 'Not helpful', 'Helpful', 'Yes']) {
      await page.keyboard.press('Shift+Tab')
      await page.locator(`button:focus:is([aria-label="${name}"], :text-is("${name}"))`).waitFor()
    }
    await page.keyboard.press('Enter')
    await vi.waitFor(() => expect(chatServer.calls('POST', '/messages')).toHaveLength(2))
    expect(faults).toEqual([])
  })

  it('fits on a screen of 320 pixels, from right to left', async () => {
    const { open, chatServer, script } = chats()
    const narrow = { viewport: { width: 320, height: 560 }, locale: 'ar' }
    const { length: before } = chatServer.conversations
    const { page, faults, expectAccessible } = await open(chatServer.chat, narrow)
    await page.getByRole('textbox', { name: 'رسالة' }).waitFor()
    // The page is there before its conversation.
    await vi.waitFor(() => expect(chatServer.conversations.length).toBeGreaterThan(before))
    const width = 'document.documentElement.scrollWidth'
    chatServer.sendAsBot({
      type: 'text',
      text: `${'long'.repeat(60)} https://a.example/${'x'.repeat(90)}`,
    })
    chatServer.sendAsBot({
      type: 'text',
      text: '| a | b |\n|---|---|\n| aaaaaaaaaaaaaaaaaaaaaaaaaaaa | bbbbbbbbbbbbbbbb |',
    })
    chatServer.sendAsBot({
      type: 'carousel',
      items: [1, 2].map((number) => ({ title: `بطاقة ${number}`, actions: [] })),
    })
    await page.getByText('بطاقة 2').waitFor()
    const inside = new Function('element', 'return element.scrollWidth - element.clientWidth')
    const overflow = async () => await page.locator('.log').evaluate(inside as () => number)
    expect(await overflow()).toBe(0)
    expect(await page.evaluate(width)).toBe(320)
    const own = await page.getByRole('button', { name: 'إرسال' }).boundingBox()
    expect(own?.x).toBeLessThan(20)
    await expectAccessible()

    // The same in the corner of a page: there it has the whole screen.
    await page.close()
    const other = await open(
      {
        html: `<!doctype html><html lang="ar" dir="rtl"><meta name="viewport" content="width=device-width"><title>Shop</title><body><main><h1>Shop</h1></main>${script('data-open')}</body></html>`,
      },
      narrow,
    )
    const dialog = other.page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'رسالة' }).waitFor()
    expect(await dialog.boundingBox()).toEqual({ x: 0, y: 0, width: 320, height: 560 })
    await other.expectAccessible()
    const isInert = async () => await other.page.evaluate('document.body.inert')
    expect(await isInert()).toBe(true)
    await other.page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await isInert()).toBe(false)
    expect([...faults, ...other.faults]).toEqual([])
  })

  it('states that there is no chat at an unknown address', async () => {
    const { open, chatServer } = chats()
    const { page, expectAccessible } = await open(`${chatServer.chat}x`)
    await page.getByRole('heading', { name: 'There is no chat at this address' }).waitFor()
    await expectAccessible()
  })
})
