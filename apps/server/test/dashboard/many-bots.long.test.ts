import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { type TestServer, useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
/** Bots besides the oldest one: more than two pages, and more than the overview has. */
const others = 205

describe.skipIf(browserPath === undefined)(`the dashboard of a workspace ${title}`, () => {
  const server = useServer()

  it('chooses the only bot by itself', async () => {
    const { bot } = await server().client().createBot({ name: 'Only one' })
    const { page, open, faults } = await openDashboard(server())
    await open('files')
    await page.waitForURL(`**/${bot.id}/files`)
    expect(faults).toEqual([])
  })

  it('asks for a sign-in without a request that is refused', async () => {
    const page = await newPage()
    const faults: string[] = []
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()))
    await page.goto(`${server().url}/dashboard/`)
    await page.getByRole('button', { name: 'Use a token instead' }).click()
    await page.getByLabel('Personal access token').fill(server().token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.goto(`${server().url}/dashboard/`)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    expect(faults).toEqual([])
  })
})

describe.skipIf(browserPath === undefined)(`the dashboard of many bots ${title}`, () => {
  const server = useServer()
  const https = useHttpBots()
  let oldest: string
  let conversationId: string

  beforeAll(async () => {
    const client = server().client()
    const { bot } = await client.createBot({ name: 'Filing clerk', url: https.as().url })
    oldest = bot.id
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey } = await server().client({ webhookId }).chatCreateUser({})
    const chat = server().client({ webhookId, userKey })
    conversationId = (await chat.chatCreateConversation({})).conversation.id
    const payload = { type: 'text' as const, text: 'Hello' }
    await chat.chatCreateMessage({ conversationId, payload })
    await inParts(others - 1, (at) => client.createBot({ name: `Bot ${at}` }))
    // By itself, so that it is the newest one.
    await client.createBot({ name: `Bot ${others - 1}` })
  })

  it('finds any of them by its name, its id and in pages', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('bots', oldest)
    const bar = page.getByRole('navigation', { name: 'Screens' })
    const choice = bar.getByRole('combobox', { name: 'Bot' })
    await expectChosen(choice, 'Filing clerk')
    await choice.selectOption('All bots')
    await page.waitForURL('**/all/bots')
    await choose(page, choice, 'FILING')
    await page.waitForURL(`**/${oldest}/bots`)

    await choice.selectOption('All bots')
    await page.waitForURL('**/all/bots')
    await choice.selectOption('Search by name …')
    const dialog = page.getByRole('dialog', { name: 'Choose a bot' })
    const options = dialog.getByRole('option')
    await vi.waitFor(async () => expect(await options.count()).toBe(100))
    await expectAccessible()
    await dialog.getByRole('button', { name: 'Show more' }).click()
    await vi.waitFor(async () => expect(await options.count()).toBe(200))
    await dialog.getByRole('button', { name: 'Show more' }).click()
    await vi.waitFor(async () => expect(await options.count()).toBe(others + 1))
    expect(await dialog.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    await dialog.getByRole('combobox').fill(oldest)
    await vi.waitFor(async () => expect(await options.count()).toBe(1))
    await dialog.getByRole('combobox').fill('nobody has this name')
    await dialog.getByText('No bot has this text in its name.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expectChosen(choice, 'All bots')
    expect(faults).toEqual([])
  })

  it('goes to one by the palette, in which one row is selected that matches', async () => {
    const { page, open, faults } = await openDashboard(server())
    await open('home', oldest)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Screen, bot or id' })
    const rows = page.locator('[role=option]')
    // The home of the open bot is a screen and a bot: the rows must not be taken for each other.
    for (const typed of ['', 'f', 'fi', 'fil']) {
      await field.fill(typed)
      await vi.waitFor(async () => {
        const shown = await rows.allInnerTexts()
        expect(shown.filter((text) => !labelOf(text).toLowerCase().includes(typed))).toEqual([])
        const selected = await page.locator('[role=option][aria-selected=true]').allInnerTexts()
        expect(selected).toEqual(shown.slice(0, 1))
        expect(await field.getAttribute('aria-activedescendant')).toBe(
          await rows.first().getAttribute('id'),
        )
      })
    }
    await page.getByRole('option', { name: 'Filing clerk Bot' }).waitFor()
    expect((await rows.allInnerTexts()).map(labelOf)).toEqual(['Files', 'Filing clerk'])
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${oldest}/files`)

    await page.keyboard.press('Control+k')
    await field.fill('fil')
    await page.getByRole('option', { name: 'Filing clerk Bot' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await selectedRow(page, 'Filing clerk').waitFor()
    expect(await page.locator('[role=option][aria-selected=true]').count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${oldest}/home`)
    await page.getByRole('main').getByRole('link', { name: 'Filing clerk', exact: true }).waitFor()

    await open('bots')
    await page.getByRole('heading', { name: 'Bots', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await field.fill(oldest)
    await selectedRow(page, 'Filing clerk').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${oldest}/home`)
    expect(faults).toEqual([])
  })

  it('goes by the palette to one of many whose names share a word', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('home', oldest)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    // Neither is among the newest: the first is found by its whole name, the second on the next page.
    const field = page.getByRole('combobox', { name: 'Screen, bot or id' })
    await field.fill('bot 7')
    const selected = { selected: true, exact: true }
    await page.getByRole('option', { name: 'Bot 7 Bot', ...selected }).waitFor()
    await field.fill('bot 1')
    await page.getByRole('option', { name: 'Bot 199 Bot' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('option', { name: 'Bot 1 Bot', ...selected }).waitFor()
    await expectAccessible()
    await field.press('Enter')
    await page.getByRole('main').getByRole('link', { name: 'Bot 1', exact: true }).waitFor()
    expect(faults).toEqual([])
  })

  it('asks for one on screens of one bot, and finds them in their list', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('files')
    const main = page.getByRole('main')
    await main.getByRole('link', { name: 'Bot 204' }).waitFor()
    await main.getByRole('button', { name: 'Show more' }).click()
    await main.getByRole('link', { name: 'Bot 50', exact: true }).waitFor()
    await main.getByLabel('Name of the bot').fill('clerk')
    await main.getByRole('link', { name: 'Filing clerk' }).waitFor()
    await main.getByRole('link', { name: 'Bot 204' }).waitFor({ state: 'detached' })
    await expectAccessible()

    await open('bots')
    await page.getByLabel('Filter the bots').fill('CLERK')
    await page.getByRole('row', { name: /Bot 204/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /Filing clerk/ }).waitFor()
    expect(faults).toEqual([])
  })

  it('says in their list that more cannot be loaded, and loads it when asked to', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await refuseLaterPages(page, 'bots')
    await open('bots')
    await page.getByRole('row', { name: /Bot 204/ }).waitFor()
    const list = `document.querySelector('table[aria-label=Bots]').parentElement`
    await page.evaluate(`${list}.scrollTo(0, ${list}.scrollHeight)`)
    await page.getByRole('alert').getByText('More could not be loaded.').waitFor()
    await page.getByText('100, more below').waitFor()
    await expectAccessible()
    // It was asked for once.
    expect(faults.splice(0)).toEqual([expect.stringContaining('400')])
    await page.unrouteAll()
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
    await page.getByText('200, more below').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('filters conversations by one', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('conversations')
    await page.getByRole('row', { name: /Filing clerk/ }).waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Bot' }).click()
    const choice = page.getByRole('main').getByRole('combobox', { name: 'Bot' })
    await choice.selectOption('Bot 204')
    await page.getByText('No conversation matches').waitFor()
    await choose(page, choice, 'clerk')
    await page.waitForURL(new RegExp(`[?&]bot=${oldest}`))
    await page.getByRole('row', { name: /Filing clerk/ }).waitFor()
    await expectAccessible()
    await page.reload()
    await expectChosen(choice, 'Filing clerk')
    await page.getByRole('button', { name: 'Remove the filter Bot' }).click()
    await page.waitForURL((url) => !url.searchParams.has('bot'))
    expect(faults).toEqual([])
  })

  it('sends a test event to one', async () => {
    const { page, open, faults } = await openDashboard(server())
    await open('deliveries?dialog=test')
    const dialog = page.getByRole('dialog', { name: 'Send a test event' })
    const choice = dialog.getByRole('combobox', { name: 'Bot' })
    await expectChosen(choice, 'Bot 204')
    await choose(page, choice, 'clerk')
    await expectChosen(choice, 'Filing clerk')
    // Enter in the search did not send the form around it.
    expect(await dialog.getByText(/ccepted/).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText('Accepted').waitFor()
    expect(faults).toEqual([])
  })

  it('installs an integration in one', async () => {
    const { integration } = await server()
      .client()
      .createIntegration({ name: 'mail', version: '1.0.0' })
    const { page, open, faults } = await openDashboard(server())
    await open(`integrations/${integration.id}?tab=install`)
    const choice = page.getByRole('main').getByRole('combobox', { name: 'Bot' })
    await choose(page, choice, 'clerk')
    await expectChosen(choice, 'Filing clerk')
    await page.getByRole('button', { name: 'Install' }).click()
    await page.getByText('It is installed.').waitFor()
    await page.getByRole('link', { name: 'Installations' }).click()
    await page.getByRole('main').getByRole('link', { name: 'Filing clerk' }).waitFor()
    expect(faults).toEqual([])
  })

  it('says on Home how one works, and that not all are shown', async () => {
    const { page, open, faults } = await openDashboard(server())
    await open('home')
    await page.getByRole('button', { name: 'Show 200' }).click()
    await page.getByText(`These are 200 of ${others + 1} bots`).waitFor()
    await page.getByRole('link', { name: 'The list of bots' }).click()
    await page.getByRole('heading', { name: 'Bots', level: 1 }).waitFor()
    for (const name of ['Bot 204', 'Bot 99', 'Filing clerk']) {
      const { bots } = await server().client().listBots({ name })
      await open('home', bots[0]?.id)
      await page.getByRole('main').getByRole('link', { name, exact: true }).waitFor()
    }
    expect(faults).toEqual([])
  })

  it('names them in the logs, and lists all receivers that are paused', async () => {
    const client = server().client()
    await server()
      .client({ botId: oldest })
      .writeBotLogs({ logs: [{ level: 'info', message: 'Filed' }] })
    const { page, open, faults } = await openDashboard(server())
    await open('logs?text=Filed')
    await page.getByRole('row', { name: /Filing clerk.*Filed|Filed.*Filing clerk/ }).waitFor()

    const ids = await botIds(server())
    await inParts(101, (at) => client.pauseDeliveries({ id: ids[at] ?? '' }))
    await open('deliveries')
    const panel = page.getByRole('region', { name: 'Receivers that fail or are paused' })
    await panel.getByText('More than 100 receivers').waitFor()
    await panel.getByRole('button', { name: 'Show all 100' }).click()
    await panel.getByRole('button', { name: 'Show more' }).click()
    await panel.getByText('101 receivers fail or are paused', { exact: true }).waitFor()
    expect(await panel.getByRole('button', { name: /^Resume/ }).count()).toBe(101)
    expect(faults).toEqual([])
  })

  it('lists all users of a conversation', async () => {
    const client = server().client({ botId: oldest })
    await inParts(100, async (at) => {
      const { user } = await client.createUser({ name: `Guest ${at}`, tags: {} })
      await client.addParticipant({ id: conversationId, userId: user.id })
    })
    const { page, open, faults } = await openDashboard(server(), { width: 1800 })
    await open(`conversations/${conversationId}`)
    const about = page.getByRole('complementary', { name: 'About the conversation' })
    const guests = about.locator('li strong')
    await vi.waitFor(async () => expect(await guests.count()).toBe(100))
    const author = page.getByLabel('Write as')
    await author.selectOption('List more users …')
    await vi.waitFor(async () => expect(await guests.count()).toBe(101))
    expect(await author.locator('option').count()).toBe(102)
    expect(await about.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('finds any of many workspaces', async () => {
    const client = server().client()
    await inParts(101, (at) => client.createWorkspace({ name: `Branch ${at}` }))
    const { page, open, faults } = await openDashboard(server())
    await open('bots')
    const { name } = await client.getWorkspace({ id: server().workspaceId })
    const choice = page.getByRole('combobox', { name: 'Workspace' })
    await expectChosen(choice, name)
    await choice.selectOption('Branch 100')
    await page.getByText('There is no bot yet.').waitFor()
    // A page that cannot be read is not asked for again and again.
    await refuseLaterPages(page, 'workspaces')
    await choice.selectOption('Search by name …')
    const dialog = page.getByRole('dialog', { name: 'Choose a workspace' })
    await dialog.getByText('It is refused.').waitFor()
    await dialog.getByRole('combobox').fill('Branch 100')
    await dialog.getByRole('option', { name: 'Branch 100', selected: true }).waitFor()
    expect(faults.splice(0)).toEqual([expect.stringContaining('400')])
    await page.unrouteAll()
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.getByRole('combobox').fill(name.toUpperCase())
    await dialog.getByRole('option', { name, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/${server().workspaceId}/all/bots`)
    await page.goto(`${server().url}/dashboard/`)
    await page.waitForURL(`**/${server().workspaceId}/all/home`)
    expect(faults).toEqual([])
  })
})

/** Answers each request for another than the first page of a list with a refusal. */
async function refuseLaterPages(page: Page, things: string): Promise<void> {
  const json = { code: 400, id: 'err_x', type: 'InvalidQuery', message: 'It is refused.' }
  await page.route(new RegExp(`/v1/admin/${things}\\?.*nextToken=`), (route) =>
    route.fulfill({ status: 400, json }),
  )
}

/** The selected row of a list that is no native one. */
function selectedRow(page: Page, name: string): Locator {
  return page.locator('[role=option][aria-selected=true]', { hasText: name })
}

/** The first line of a row. */
function labelOf(text: string): string {
  return text.split('\n')[0] ?? ''
}

/** Chooses a bot by the search of a field. */
async function choose(page: Page, choice: Locator, typed: string): Promise<void> {
  await choice.selectOption('Search by name …')
  const dialog = page.getByRole('dialog', { name: 'Choose a bot' })
  await dialog.getByRole('combobox', { name: 'Name or id of the bot' }).fill(typed)
  await dialog.getByRole('option', { name: 'Filing clerk', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
}

async function expectChosen(choice: Locator, name: string): Promise<void> {
  await vi.waitFor(async () =>
    expect(await choice.locator('option:checked').innerText()).toBe(name),
  )
}

/** Does something so many times, some at a time. */
async function inParts(count: number, act: (at: number) => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += 15) {
    const part = Array.from({ length: Math.min(15, count - done) }, (_, at) => done + at)
    await Promise.all(part.map(act))
  }
}

/** Ids of the newest 200 bots. */
async function botIds(server: TestServer): Promise<string[]> {
  const ids: string[] = []
  let nextToken: string | undefined
  do {
    const { bots, meta } = await server
      .client()
      .listBots({ pageSize: 100, ...(nextToken !== undefined && { nextToken }) })
    ids.push(...bots.map(({ id }) => id))
    nextToken = meta.nextToken
  } while (nextToken !== undefined && ids.length < 200)
  return ids
}
