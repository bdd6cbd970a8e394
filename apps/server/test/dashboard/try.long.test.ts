import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

describe.skipIf(browserPath === undefined)(`the screen to try a bot ${title}`, () => {
  const server = useServer()
  const bots = useHttpBots()

  async function createBot(name: string, url?: string) {
    const { bot } = await server()
      .client()
      .createBot({ name, ...(url && { url }) })
    return bot
  }

  it('chats as a new user, beside what happens meanwhile', async () => {
    const bot = await createBot(hostile, bots.as('echo').url)
    // With a single bot there would be nothing to choose.
    await createBot('Another')
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('try')
    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('heading', { name: `Chat with ${hostile}` }).waitFor()
    await expectAccessible()
    await page.getByLabel('Name of the user').fill(hostile)
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.waitForURL(/\/try\/conv_/)
    const conversationId = page.url().split('/').at(-1) ?? ''
    const chat = page.getByRole('region', { name: 'Chat' })
    // The box has the focus already.
    await page.locator('textarea:focus').waitFor()
    await page.keyboard.type(hostile)
    await page.keyboard.press('Enter')
    await chat.getByText(hostile).first().waitFor()
    await page
      .getByRole('button', { name: /^Delivered to the bot/ })
      .first()
      .waitFor()

    // Options can be pressed, and say what they stand for.
    const own = server().client({ botId: bot.id })
    await own.createMessage({
      conversationId,
      userId: bot.id,
      type: 'choice',
      payload: { text: 'Which one?', options: [{ label: 'The pump', value: 'pump' }] },
      tags: {},
    })
    await chat.getByRole('button', { name: 'The pump' }).click()
    await chat.getByText('pump', { exact: true }).first().waitFor()
    await own.writeBotLogs({ logs: [{ level: 'warn', message: hostile, conversationId }] })
    await page.getByLabel('Transcript').getByText('Warning', { exact: true }).waitFor()
    await expectAccessible()

    // The chat goes on after a reload, and can be begun anew.
    await page.reload()
    await chat.getByText(hostile).first().waitFor()
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByRole('link', { name: 'Go on with the chat of this tab' }).waitFor()
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.getByText('Say something to the bot.').waitFor()
    expect(page.url()).not.toContain(conversationId)
    await page.getByRole('link', { name: 'Open the conversation' }).click()
    await page.waitForURL(/\/conversations\/conv_/)
    expect(faults).toEqual([])
  })

  it('shows a message while the bot writes it', async () => {
    const bot = await createBot('Writer')
    const { page, open, faults } = await openDashboard(server())
    await open('try', bot.id)
    await page.getByText('What you write waits until the bot has one.').waitFor()
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.waitForURL(/\/try\/conv_/)
    const conversationId = page.url().split('/').at(-1) ?? ''
    const chat = page.getByRole('region', { name: 'Chat' })
    await page.getByText('Say something to the bot.').waitFor()
    await page.getByLabel('Message', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await chat.getByText('Hello').waitFor()
    await page.getByLabel('Transcript').getByText('Hello').first().waitFor()
    const own = server().client({ botId: bot.id })
    for (const [sequence, delta] of ['Good ', 'mor'].entries()) {
      const signal = { type: 'delta', streamId: 'one', createdAt: 'now', sequence, delta }
      const input = { conversationId, signal }
      await own.callAction({ type: 'chat:publishMessageStream', input })
    }
    await chat.getByText('Good mor', { exact: true }).waitFor()
    await own.createMessage({
      conversationId,
      userId: bot.id,
      type: 'text',
      payload: { text: 'Good morning', metadata: { streamId: 'one' } },
      tags: {},
    })
    await chat.getByText('Good morning', { exact: true }).waitFor()
    await chat.getByText('Good mor', { exact: true }).waitFor({ state: 'detached' })
    // The key of a user stays in its tab.
    const other = await openDashboard(server())
    await other.open(`try/${conversationId}`, bot.id)
    await other.page.getByText('belongs to another tab').waitFor()
    expect([...faults, ...other.faults]).toEqual([])
  })

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits on a screen of %i by %i', async (width, height) => {
    const bot = await createBot(hostile.repeat(2), bots.as('refusing').url)
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme: 'dark',
    })
    await open('try', bot.id)
    await page.getByRole('button', { name: 'Begin' }).click()
    await page.getByLabel('Message', { exact: true }).fill(hostile.repeat(5))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('region', { name: 'Chat' }).getByText(hostile).first().waitFor()
    await expectAccessible()
    if (width === 360) await page.getByRole('link', { name: 'What happens' }).click()
    await page.getByRole('button', { name: 'Replay' }).first().waitFor()
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      width,
    )
    await expectAccessible()
    expect(faults).toEqual([])
  })
})
