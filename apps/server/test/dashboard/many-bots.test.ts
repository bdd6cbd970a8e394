import { describe, expect, it } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the dashboard of a workspace ${title}`, () => {
  const server = useServer()

  it('chooses the only bot by itself, and finds any of many by its name', async () => {
    const client = server().client()
    const { bot: oldest } = await client.createBot({ name: 'Filing clerk' })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files')
    await page.waitForURL(`**/${oldest.id}/files`)

    for (let made = 0; made < 105; made += 15) {
      const names = Array.from({ length: 15 }, (_, at) => `Bot ${made + at}`)
      await Promise.all(names.map(async (name) => await client.createBot({ name })))
    }
    await open('files', oldest.id)
    const choice = page.getByRole('combobox', { name: 'Bot' })
    await choice.locator('option', { hasText: 'Filing clerk' }).waitFor({ state: 'attached' })

    await open('files')
    await page.getByRole('main').getByLabel('Name of the bot').fill('clerk')
    await page.getByRole('main').getByRole('link', { name: 'Filing clerk' }).waitFor()
    await page
      .getByRole('main')
      .getByRole('link', { name: 'Bot 104' })
      .waitFor({ state: 'detached' })
    await expectAccessible()

    await choice.selectOption('Search by name …')
    const options = page.getByRole('option', { selected: true }).and(page.locator('[role=option]'))
    await page.getByRole('combobox', { name: 'Screen, bot or id' }).fill('fil')
    await page.getByRole('option', { name: 'Filing clerk Bot' }).waitFor()
    expect(await options.allInnerTexts()).toHaveLength(1)
    const shown = await page.locator('[role=option]').allInnerTexts()
    expect(shown.map((text) => text.split('\n')[0]?.toLowerCase().includes('fil'))).toEqual(
      shown.map(() => true),
    )
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${oldest.id}/home`)

    // The home of the open bot is a screen and a bot: the rows must not be taken for each other.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Screen, bot or id' }).fill('fil')
    await page.getByRole('option', { name: 'Filing clerk Bot' }).waitFor()
    expect(await page.locator('[role=option][aria-selected=true]').allInnerTexts()).toHaveLength(1)
    expect(await page.locator('[role=option]', { hasText: 'Home' }).count()).toBe(0)

    await open('bots')
    await page.getByLabel('Filter the bots').fill('CLERK')
    await page.getByRole('row', { name: /Bot 104/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /Filing clerk/ }).waitFor()
    expect(faults).toEqual([])
  })

  it('asks for a sign-in without a request that is refused', async () => {
    const page = await newPage()
    const faults: string[] = []
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
    await page.goto(`${server().url}/dashboard/`)
    await page.getByLabel('Personal access token').fill(server().token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.goto(`${server().url}/dashboard/`)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(faults).toEqual([])
  })
})
