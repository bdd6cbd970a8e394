import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { eventually } from '../jobs.js'
import { openDashboard, untilRefreshed } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

describe.skipIf(browserPath === undefined)(`the home screen ${title}`, () => {
  const bots = useHttpBots()

  describe('of an empty server', () => {
    const server = useServer()

    it('says what to do first, and leads there', async () => {
      const { page, open, faults, expectAccessible } = await openDashboard(server())
      await open('home')
      await page.getByRole('heading', { name: 'First steps' }).waitFor()
      await page.getByText('npx botstead bots create First').waitFor()
      await expectAccessible()
      await page.getByRole('link', { name: 'Create a bot here' }).click()
      await page.getByRole('dialog', { name: 'New bot' }).waitFor()
      expect(faults).toEqual([])
    })
  })

  describe('of a server on which everything works', () => {
    const server = useServer()

    it('says so in one sentence', async () => {
      await server().client().createBot({ name: 'Support', url: bots.as().url })
      const { page, open, faults, expectAccessible } = await openDashboard(server())
      await open('home')
      await page.getByRole('heading', { name: 'Everything works.' }).waitFor()
      await page.getByRole('region', { name: 'Bots' }).getByText('Works').waitFor()
      await expectAccessible()
      await page.getByRole('button', { name: 'Hide the first steps' }).click()
      await page.reload()
      await page.getByRole('heading', { name: 'Everything works.' }).waitFor()
      expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0)
      expect(faults).toEqual([])
    })
  })

  describe('of a server a part of which has less to work with', () => {
    const server = useServer()

    it('names the part and what it lacks, and leads to the state of the server', async () => {
      await server().client().createBot({ name: 'Support', url: bots.as().url })
      const { page, open, faults, expectAccessible } = await openDashboard(server())
      const detail = 'searches work by words only: the extension is missing'
      await page.route('**/readyz', async (route) => {
        const checks = [{ name: 'search', status: 'degraded', detail }]
        await route.fulfill({ json: { status: 'ready', checks } })
      })
      await open('home')
      await page.getByRole('heading', { name: 'less than it could: search' }).waitFor()
      await page.getByText(detail).waitFor()
      await expectAccessible()
      expect(faults).toEqual([])
    })
  })

  describe('of a server on which something fails', () => {
    const server = useServer()

    it.each([
      [1400, 900],
      [360, 640],
      [3840, 2160],
    ])('says what is worst on a screen of %i by %i, and leads there', async (width, height) => {
      const botId = await failingBot(server(), bots.as('refusing').url)
      const { page, open, faults, expectAccessible } = await openDashboard(server(), {
        width,
        height,
        colorScheme: 'dark',
      })
      await open('home', botId)
      await page.getByRole('heading', { name: `${hostile}: 1 delivery of the last day` }).waitFor()
      const errors = page.getByRole('region', { name: 'Errors of the last day' })
      // As it happened, without placeholders.
      await errors.getByText(/^Status 4\d\d: I do not want this\.$/).waitFor()
      await errors
        .getByRole('img', { name: /Errors in each of the last 24 hours: 0, .*1$/ })
        .waitFor()
      await expectAccessible()
      const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect(scrolled).toBeLessThanOrEqual(width)
      expect(faults).toEqual([])

      const link = page.getByRole('link', { name: `${hostile}: 1 delivery` })
      expect(await link.getAttribute('href')).toMatch(
        new RegExp(`/${botId}/deliveries\\?status=failed&range=24h$`),
      )
      const error = errors.getByRole('link', { name: 'I do not want this.' })
      expect(await error.getAttribute('href')).toMatch(
        new RegExp(`/${botId}/deliveries/delivery_\\w+\\?status=failed&range=24h$`),
      )
    })
  })

  describe('of a server whose errors somebody resolves', () => {
    const server = useServer()

    it('counts resolved errors no more, in other tabs too, until they are reopened', async () => {
      const botId = await failingBot(server(), bots.as('refusing').url)
      const { page, open, faults, expectAccessible } = await openDashboard(server())
      const other = await openDashboard(server())
      await other.page.clock.install()
      for (const tab of [{ open }, other]) await tab.open('home', botId)
      const resolve = page.getByRole('button', { name: 'Resolve' })
      await resolve.waitFor()
      await other.page.getByRole('button', { name: 'Resolve' }).waitFor()
      await resolve.focus()
      await page.keyboard.press('Enter')
      // It is offered for some seconds.
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('heading', { name: '1 delivery of the last day failed.' }).waitFor()
      await page.getByRole('heading', { name: 'Everything works.' }).waitFor({ state: 'detached' })
      await resolve.click()
      await page.getByRole('heading', { name: 'Everything works.' }).waitFor()
      const errors = page.getByRole('region', { name: 'Errors of the last day' })
      await errors.getByText('None.').waitFor()
      await expectAccessible()
      // The state of the workspace may be some seconds old.
      server().clock.advance(60_000)
      await untilRefreshed(
        other.page,
        other.page.getByRole('heading', { name: 'Everything works.' }),
      )
      expect([...faults, ...other.faults]).toEqual([])
    })

    it('says that a bot had errors and works again, once it succeeds', async () => {
      const botId = await failingBot(server(), bots.as('refusing').url)
      const { page, open, faults, expectAccessible } = await openDashboard(server())
      await page.clock.install()
      await open('home', botId)
      await page.getByRole('heading', { name: '1 delivery of the last day failed.' }).waitFor()
      await server().client().updateBot({ id: botId, url: bots.as().url })
      await write(server(), botId)
      await eventually(async () => {
        const { deliveries } = await server().client().listDeliveries({ id: botId })
        expect(deliveries.map(({ status }) => status)).toContain('delivered')
      })
      server().clock.advance(60_000)
      await untilRefreshed(page, page.getByRole('heading', { name: 'Everything works.' }))
      const health = page.getByRole('region', { name: 'Bots' })
      await health.getByText('It had errors before it last succeeded:').waitFor()
      await health.getByRole('link', { name: '1 delivery of the last day failed.' }).waitFor()
      await expectAccessible()
      expect(faults).toEqual([])
    })
  })

  describe('of a workspace of somebody else', () => {
    const server = useServer()

    it('says that the reader may not see it', async () => {
      const { page } = await openDashboard(server())
      await page.goto(`${server().url}/dashboard/00000000-0000-4000-8000-000000000000/all/home`)
      await page.getByRole('heading', { name: 'You may not see this' }).waitFor()
    })
  })
})

/** A bot that refused the only message that somebody wrote to it. */
async function failingBot(server: TestServer, url: string): Promise<string> {
  const admin = server.client()
  const { bot } = await admin.createBot({ name: hostile, url })
  await write(server, bot.id)
  await eventually(async () => {
    const { deliveries } = await admin.listDeliveries({ id: bot.id, status: 'failed' })
    expect(deliveries).toHaveLength(1)
  })
  // The state of the workspace may be some seconds old.
  server.clock.advance(60_000)
  return bot.id
}

/** Writes to a bot in a new conversation. */
async function write(server: TestServer, botId: string): Promise<void> {
  const { bot } = await server.client().getBot({ id: botId })
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const { key: userKey } = await server.client({ webhookId }).chatCreateUser({})
  const chat = server.client({ webhookId, userKey })
  const { conversation } = await chat.chatCreateConversation({})
  const payload = { type: 'text' as const, text: 'Hello' }
  await chat.chatCreateMessage({ conversationId: conversation.id, payload })
}
