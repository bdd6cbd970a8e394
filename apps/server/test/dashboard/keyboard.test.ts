import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { pressWhileComposing } from '../composing.js'
import { type TestServer, useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

/** Maximum number of presses of a key until the focus is where it is wanted. */
const maxSteps = 80

// Nothing here clicks or sets the focus: what a key does not reach would make a test fail.
describe.skipIf(browserPath === undefined)(`the dashboard by keys alone ${title}`, () => {
  const server = useServer()
  const bots = useHttpBots()

  it('signs in with a token, and finds the answer to a question', async () => {
    const { bot, client } = await addBot(server(), 'Librarian')
    const content = '# Travel\n\nTrips are booked by the office, two weeks ahead.'
    const size = Buffer.byteLength(content)
    const { file } = await client.upsertFile({ key: 'travel.md', size, index: true })
    await fetch(file.uploadUrl, { method: 'PUT', body: content })
    await client.getFile({ id: file.id, waitFor: 'indexing_completed' })

    const page = await newPage()
    await page.goto(`${server().url}/dashboard/`)
    await page.getByLabel('Email address').waitFor()
    await step(page, 'Tab', 'Use a token instead')
    await page.keyboard.press('Enter')
    await page.getByLabel('Personal access token').waitFor()
    await page.keyboard.type(server().token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()

    await goTo(page, 'Librarian')
    await page.waitForURL(`**/${bot.id}/home`)
    await press(page, 'g', 's')
    await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('Who books my trip?')
    const first = page.getByRole('article', { name: /^Passage 1/ })
    await first.locator('mark', { hasText: 'Trips' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await page.getByLabel('Question').inputValue()).toBe('Who books my trip?')
    await step(page, 'Tab', 'Why this one')
    await page.keyboard.press('Enter')
    await first.getByRole('row', { name: /words 1/ }).waitFor()
    await step(page, 'Shift+Tab', 'travel.md')
    await page.keyboard.press('Enter')
    await page.locator('li[aria-current=true]', { hasText: 'Trips are booked' }).waitFor()
  })

  it('reacts to the keys of a screen from the moment that shows it', async () => {
    const { bot } = await addBot(server(), 'Slow')
    const { page, open } = await openDashboard(server())
    await open('home', bot.id)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await slowDown(page)
    await press(page, 'g', 's')
    await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('Who')
    expect(await page.getByLabel('Question').inputValue()).toBe('Who')
  })

  it('leaves the keys of an input method to it', async () => {
    const { bot } = await addBot(server(), 'Composed')
    const { page, open, faults } = await openDashboard(server())
    await open('search', bot.id)
    const question = page.getByLabel('Question')
    await question.fill('日本')
    await pressWhileComposing(question, 'Escape')
    expect(await nameOfFocus(page)).toBe('Question')
    await page.keyboard.press('Control+k')
    const choice = page.getByLabel('Screen, bot or id')
    await choice.fill('Home')
    await page.getByRole('option', { name: 'Home', selected: true }).waitFor()
    await pressWhileComposing(choice, 'Enter')
    expect(await choice.inputValue()).toBe('Home')
    expect(new URL(page.url()).pathname).toMatch(/\/search$/)
    await choice.press('Enter')
    await page.waitForURL(/\/home$/)
    expect(faults).toEqual([])
  })

  it('leaves what was typed on a screen there, when another one takes long to appear', async () => {
    const { bot } = await addBot(server(), 'Slow screens')
    const { page, open } = await openDashboard(server())
    await open('search', bot.id)
    await page.getByLabel('Question').waitFor()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/assets/*.js', async (route) => {
      await released
      await route.continue()
    })
    await page.getByLabel('Question').fill('typed')
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await page.waitForURL(/\/home/)
    // Longer than the pause after which a text takes effect.
    await page.waitForTimeout(600)
    release()
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  it('goes to a screen of the bot that was chosen last, before the page shows that bot', async () => {
    const { bot } = await addBot(server(), 'Chosen')
    const { page, open } = await openDashboard(server())
    // The keys come as soon as the address has changed.
    await page.addInitScript(`(() => {
      const { pushState } = History.prototype
      History.prototype.pushState = function (...change) {
        pushState.apply(this, change)
        if (!location.pathname.endsWith('/${bot.id}/search')) return
        queueMicrotask(() => {
          for (const key of ['g', 'h']) {
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
          }
        })
      }
    })()`)
    await open('search')
    await page.getByRole('main').getByRole('link', { name: 'Chosen' }).click()
    await page.waitForURL(/\/home$/)
    expect(page.url()).toContain(`/${bot.id}/home`)
  })

  it('finds the conversation without an answer, and replays what failed', async () => {
    const { bot, write } = await addBot(server(), 'Refusing', bots.as('refusing').url)
    await (await addBot(server(), 'Calm', bots.as().url)).write('Somebody answers me')
    const conversationId = await write('Nobody answers me')
    const { page, open, faults } = await openDashboard(server())
    await open('home')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await press(page, 'g', 'c')
    await page.getByRole('row').getByText('Failed').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('answers')
    await page.keyboard.press('Escape')
    await page.waitForURL(/[?&]text=answers/)
    await step(page, 'Tab', 'Filter')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem').first().waitFor()
    await step(page, 'ArrowDown', 'Failed delivery')
    await page.keyboard.press('Enter')
    await waitForFocus(page, 'Failed delivery')
    await page.keyboard.type('yes')
    await page.waitForURL(/[?&]failed=yes/)
    await page.keyboard.press('Escape')
    await leave(page)
    await press(page, 'j', 'Enter')
    await page.waitForURL(`**/conversations/${conversationId}?*failed=yes*`)
    await page.getByRole('button', { name: /^Not delivered to the bot/ }).waitFor()
    await server().client().updateBot({ id: bot.id, url: bots.as().url })
    await page.keyboard.press('r')
    await page.getByRole('button', { name: /^Delivered to the bot/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/conversations\?(?=.*failed=yes)(?=.*text=answers)/)
    expect(faults).toEqual([])
  })

  it('creates a bot, makes a key and deletes the bot', async () => {
    const { page, open, faults } = await openDashboard(server())
    await open('bots')
    await beginNewBot(page)
    await page.keyboard.type('Made by keys')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Made by keys' }).waitFor()

    await step(page, 'Tab', 'What the new key is for')
    await page.keyboard.type('laptop')
    await page.keyboard.press('Enter')
    await page.getByText('This is the new key.').waitFor()

    await step(page, 'Shift+Tab', 'Settings')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Delete the bot' }).waitFor()
    await step(page, 'Tab', 'Delete the bot')
    await page.keyboard.press('Enter')
    await waitForFocus(page, 'Type the name of the bot: Made by keys')
    await page.keyboard.type('Made by keys')
    await page.keyboard.press('Enter')
    await page.getByText('Made by keys is deleted.').waitFor()
    expect(faults).toEqual([])
  })

  it('returns the focus to where it was when a dialog closes', async () => {
    const { page, open, faults } = await openDashboard(server())
    await open('bots')
    await beginNewBot(page)
    await page.keyboard.press('Escape')
    await waitForFocus(page, 'New bot')
    await page.keyboard.press('Control+k')
    await waitForFocus(page, 'Screen, bot or id')
    await page.keyboard.press('Escape')
    await waitForFocus(page, 'New bot')
    expect(faults).toEqual([])
  })

  it('replays a delivery', async () => {
    const { bot, write } = await addBot(server(), 'Orders', bots.as('refusing').url)
    await write('An order')
    const { page, open, faults } = await openDashboard(server())
    await open('home', bot.id)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await press(page, 'g', 'd')
    await page.getByRole('row').getByText('Failed').waitFor()
    await server().client().updateBot({ id: bot.id, url: bots.as().url })
    await press(page, 'j', 'Enter')
    await page.getByRole('heading', { name: 'message_created' }).waitFor()
    await page.keyboard.press('r')
    await page.getByRole('region', { name: 'Attempts' }).getByText('Attempt 2').waitFor()
    await page.getByRole('row').getByText('Delivered').waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/deliveries$/)
    expect(faults).toEqual([])
  })
})

/** Makes the page defer for long what it defers until it has shown something, as on a busy machine. */
async function slowDown(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const { postMessage } = MessagePort.prototype
    MessagePort.prototype.postMessage = function (...message) {
      setTimeout(() => postMessage.apply(this, message), 100)
    }
  })()`)
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** Opens the dialog for a new bot, on the screen of bots. */
async function beginNewBot(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Bots', level: 1 }).waitFor()
  await step(page, 'Tab', 'New bot')
  await page.keyboard.press('Enter')
  await waitForFocus(page, 'Name')
}

/** Goes to a screen or a bot by its name. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await waitForFocus(page, 'Screen, bot or id')
  await page.keyboard.type(name)
  await page.getByRole('option', { name, selected: true }).waitFor()
  await page.keyboard.press('Enter')
}

/** Presses a key until what has the name has the focus. */
async function step(page: Page, key: string, name: string): Promise<void> {
  const passed: string[] = []
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const focused = await nameOfFocus(page)
    if (focused === name) return
    passed.push(focused)
    await page.keyboard.press(key)
    // Menus move the focus in a task of its own.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
  }
  throw new Error(`${key} does not lead to “${name}”, but to ${[...new Set(passed)].join(', ')}`)
}

async function waitForFocus(page: Page, name: string): Promise<void> {
  await vi.waitFor(async () => expect(await nameOfFocus(page)).toBe(name))
}

/** Leaves a field, so that single keys are those of the page again. */
async function leave(page: Page): Promise<void> {
  while (
    await page.evaluate<boolean>("document.activeElement?.matches('input, select') ?? false")
  ) {
    await page.keyboard.press('Tab')
  }
}

/** The name of what has the focus, as it is read aloud: its label, or else its text. */
async function nameOfFocus(page: Page): Promise<string> {
  return await page.evaluate<string>(`(() => {
    const focused = document.activeElement
    const label = focused?.getAttribute('aria-label') ?? focused?.labels?.[0]?.textContent
    return (label ?? focused?.textContent ?? '').trim()
  })()`)
}

/** A bot, and a function that writes to it in a new conversation, whose id it returns. */
async function addBot(server: TestServer, name: string, url?: string) {
  const { bot } = await server.client().createBot({ name, ...(url !== undefined && { url }) })
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  return {
    bot,
    client: server.client({ botId: bot.id }),
    write: async (text: string): Promise<string> => {
      const { key: userKey } = await server.client({ webhookId }).chatCreateUser({})
      const chat = server.client({ webhookId, userKey })
      const { conversation } = await chat.chatCreateConversation({})
      const payload = { type: 'text' as const, text }
      await chat.chatCreateMessage({ conversationId: conversation.id, payload })
      return conversation.id
    },
  }
}
