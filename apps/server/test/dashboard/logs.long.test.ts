import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
const minute = 60_000

describe.skipIf(browserPath === undefined)(`the screen of logs ${title}`, () => {
  describe('without a line', () => {
    const server = useServer()

    it('says what would be there and how to write it, and shows the first line by itself', async () => {
      const { page, open, faults, expectAccessible } = await openDashboard(server())
      const botId = await addBot(server(), 'Support')
      await open('logs')
      await page.getByText('There is no line yet.').waitFor()
      expect(await page.getByText(`x-bot-id: ${botId}`).count()).toBe(1)
      await expectAccessible()
      await write(server(), botId, [{ level: 'info', message: 'The first line' }])
      await page.getByRole('cell', { name: 'The first line' }).waitFor()
      expect(faults).toEqual([])
    })
  })

  describe('with lines', () => {
    const server = useServer()

    it('filters, keeps the filter in the address, and opens a line with its links', async () => {
      const botId = await addBot(server(), hostile)
      const at = new Date(server().clock.now() - 10 * minute).toISOString()
      await write(server(), botId, [
        { level: 'info', message: 'Asked the shop', timestamp: at },
        {
          level: 'error',
          message: `Broken ${hostile}\n  at line 2`,
          timestamp: at,
          conversationId: 'conv_1',
        },
        { level: 'warn', message: 'Slow answer', timestamp: at },
      ])
      const { page, open, faults, expectAccessible } = await openDashboard(server())
      await open('logs')
      const cell = (name: string) => page.getByRole('cell', { name })
      await cell('Asked the shop').waitFor()
      await page.getByRole('img', { name: /Error 1, Warning 1, Info \d/ }).waitFor()
      await expectAccessible()

      await page.keyboard.press('/')
      await page.keyboard.type('broken')
      await page.keyboard.press('Enter')
      await cell('Asked the shop').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.getByRole('menuitem', { name: 'Level at least' }).click()
      await page.getByRole('combobox', { name: 'Level at least' }).selectOption('error')
      await page.waitForURL(/text=broken.*minLevel=error/)

      await page.reload()
      await cell('Broken').waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Line of a log' }).waitFor()
      await page.getByRole('link', { name: 'conv_1' }).waitFor()
      await expectAccessible()

      // The address alone leads to the line.
      await open(`logs/${page.url().split('/').at(-1)?.split('?')[0]}?level=debug`)
      await page.getByText('at line 2').waitFor()
      await page.getByText('No line matches all of these filters.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Clear the filters' }).click()
      await cell('Asked the shop').waitFor()
      await page.getByRole('row', { name: 'Broken' }).getByRole('link', { name: 'Open' }).click()
      await page.waitForURL(/\/conversations\/conv_1$/)
      expect(faults).toEqual([])
    })

    it('says how many lines are new, and moves nothing until asked', async () => {
      const botId = await addBot(server(), 'Support')
      await write(server(), botId, [{ level: 'info', message: 'Line before' }])
      const { page, open, faults } = await openDashboard(server())
      await open('logs?text=line', botId)
      await page.getByRole('cell', { name: 'Line before' }).waitFor()
      await write(server(), botId, [
        { level: 'warn', message: 'Line one of two' },
        { level: 'info', message: 'Line two of two' },
        { level: 'info', message: 'Something else' },
      ])
      await page.getByRole('button', { name: '2 new' }).waitFor()
      expect(await page.getByRole('cell', { name: 'of two' }).count()).toBe(0)
      await page.keyboard.press('.')
      await page.getByRole('cell', { name: 'of two' }).nth(1).waitFor()
      await page.getByRole('button', { name: '2 new' }).waitFor({ state: 'detached' })
      expect(faults).toEqual([])
    })

    it('goes on with what came while the connection was lost', async () => {
      const botId = await addBot(server(), 'Support')
      await write(server(), botId, [{ level: 'info', message: 'Again one' }])
      const { page, open } = await openDashboard(server())
      await open('logs?text=again', botId)
      await page.getByRole('cell', { name: 'Again one' }).waitFor()
      await page.context().setOffline(true)
      await write(server(), botId, [{ level: 'info', message: 'Again two' }])
      await page.context().setOffline(false)
      await page.getByRole('button', { name: '1 new' }).click()
      await page.getByRole('cell', { name: 'Again two' }).waitFor()
      expect(await page.getByRole('cell', { name: 'Again' }).count()).toBe(2)
    })

    it('zooms in by dragging over the chart, and back', async () => {
      const botId = await addBot(server(), 'Charted')
      const at = new Date(server().clock.now() - 12 * 60 * minute).toISOString()
      await write(server(), botId, [{ level: 'error', message: 'Half a day ago', timestamp: at }])
      const { page, open, faults } = await openDashboard(server())
      await open('logs?text=Half', botId)
      const canvas = page.locator('.u-over')
      await canvas.waitFor()
      await page.getByRole('img', { name: 'Error 1' }).waitFor()
      const box = await canvas.boundingBox()
      if (box === null) throw new Error('The chart is shown')
      await page.mouse.move(box.x + box.width * 0.8, box.y + 20)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * 0.9, box.y + 20)
      await page.mouse.up()
      await page.waitForURL(/since=.*until=/)
      await page.getByText('No line matches').waitFor()
      await page.getByRole('img', { name: 'Error 0' }).waitFor()
      await page.goBack()
      await page.getByRole('cell', { name: 'Half a day ago' }).waitFor()
      await page.goForward()
      await page.getByRole('button', { name: 'All times' }).click()
      await page.getByRole('cell', { name: 'Half a day ago' }).waitFor()
      expect(faults).toEqual([])
    })

    it('says that a workspace is not that of the reader', async () => {
      const { page } = await openDashboard(server())
      await page.goto(`${server().url}/dashboard/00000000-0000-4000-8000-000000000000/all/logs`)
      await page.getByRole('heading', { name: 'You may not see this' }).first().waitFor()
    })

    it.each([
      [360, 640],
      [3840, 2160],
    ])('fits on a screen of %i by %i', async (width, height) => {
      const botId = await addBot(server(), hostile)
      await write(server(), botId, [{ level: 'error', message: `Wide ${hostile.repeat(20)}` }])
      const { page, open, faults, expectAccessible } = await openDashboard(server(), {
        width,
        height,
        colorScheme: 'dark',
      })
      await open('logs?text=Wide', botId)
      await page.getByRole('cell', { name: 'Wide' }).first().waitFor()
      await expectAccessible()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Line of a log' }).waitFor()
      const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect(scrolled).toBeLessThanOrEqual(width)
      await expectAccessible()
      expect(faults).toEqual([])
    })
  })
})

type LogsInput = Parameters<ReturnType<TestServer['client']>['writeBotLogs']>[0]

async function addBot(server: TestServer, name: string): Promise<string> {
  const { bot } = await server.client().createBot({ name })
  return bot.id
}

async function write(server: TestServer, botId: string, logs: LogsInput['logs']): Promise<void> {
  await server.client({ botId }).writeBotLogs({ logs })
}
