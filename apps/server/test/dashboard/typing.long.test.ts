import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`typing in the dashboard ${title}`, () => {
  const server = useServer()
  const bots = useHttpBots()

  // The text in effect before is none, which does not change, or another one, which does.
  it.each(['', 'tea'])(
    'forgets a text whose navigation was replaced, after “%s” was in effect',
    async (before) => {
      const { page, open, faults } = await openDashboard(server())
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      let isHeld = false
      await page.route(/\/assets\/files-[^/]*\.js$/, async (route) => {
        isHeld = true
        await released
        await route.continue()
      })
      await open(`conversations?text=${before}`)
      const field = page.getByRole('search').getByRole('searchbox').first()
      await field.waitFor()
      expect(await field.inputValue()).toBe(before)
      await field.fill('coffee')
      // Leaving the field applies its text, and the link replaces that navigation before it ends.
      await page.evaluate(`(() => {
        document.activeElement.blur()
        document.querySelector('nav a[href$="/files"]').click()
      })()`)
      await vi.waitUntil(() => isHeld)
      expect(await field.inputValue()).toBe('coffee')

      await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click()
      await page.waitForURL(/\/conversations$/)
      await vi.waitFor(async () => expect(await field.inputValue()).toBe(''))
      release()
      expect(faults).toEqual([])
    },
  )

  it('keeps what is typed while an earlier text takes effect', async () => {
    const { page, open, faults } = await openDashboard(server())
    await open('conversations')
    const field = page.getByRole('search').getByRole('searchbox').first()
    await field.pressSequentially('tea and ')
    await page.waitForURL(/[?&]text=tea/)
    await field.pressSequentially('milk')
    await page.waitForURL(/[?&]text=tea\+and\+milk/)
    expect(await field.inputValue()).toBe('tea and milk')
    expect(faults).toEqual([])
  })

  it('replaces what is selected in JSON without the browser', async () => {
    const { bot } = await server().client().createBot({ name: 'Typed', url: bots.as().url })
    const { page, open, faults } = await openDashboard(server())
    await open('deliveries', bot.id)
    await page.getByRole('button', { name: 'Send a test event' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send a test event' })
    const field = dialog.getByLabel('Payload')
    await field.fill('{"order": {"id": 17}}')
    await page.evaluate(`(() => {
      window.byBrowser = []
      addEventListener('beforeinput', ({ data, defaultPrevented }) => {
        if (!defaultPrevented) byBrowser.push(data)
      })
    })()`)
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowLeft')
    for (const _ of '{"id": 17}') await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.type('4')
    expect(await page.evaluate('byBrowser')).toEqual([])
    expect(await field.innerText()).toBe('{"order": 4}')
    // The caret is behind what was typed.
    await page.keyboard.type('2')
    expect(await field.innerText()).toBe('{"order": 42}')
    await page.keyboard.press('Control+z')
    expect(await field.innerText()).toBe('{"order": {"id": 17}}')

    await page.keyboard.press('Control+a')
    await page.keyboard.type('{')
    expect(await page.evaluate('byBrowser.includes("{")')).toBe(false)
    await page.keyboard.type('"typed": true}')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText('Accepted').waitFor()
    expect(faults).toEqual([])
  })
})
