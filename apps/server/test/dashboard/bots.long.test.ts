import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

describe.skipIf(browserPath === undefined)(`the screen of bots ${title}`, () => {
  const server = useServer()

  it('moves a bot to another workspace in which the reader may create bots', async () => {
    const client = server().client()
    const { bot } = await client.createBot({ name: 'Mover' })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open(`bots/${bot.id}?tab=settings`)
    await page.getByRole('button', { name: 'Delete the bot' }).waitFor()
    expect(await page.getByRole('button', { name: 'Move the bot' }).count()).toBe(0)
    const { id } = await client.createWorkspace({ name: 'Team' })
    await page.reload()
    await page.getByRole('button', { name: 'Move the bot' }).click()
    const move = page.getByRole('button', { name: 'Move it' })
    await page.getByLabel('Type the name of the bot').fill('Mover')
    expect(await move.isDisabled()).toBe(true)
    await page.getByRole('dialog').getByLabel('Workspace').selectOption('Team')
    await expectAccessible()
    await move.click()
    await page.getByText('There is no bot yet.').waitFor()
    const { bots } = await server().client({ workspaceId: id }).listBots()
    expect(bots.map(({ name }) => name)).toEqual(['Mover'])
    await server().client({ workspaceId: id }).deleteWorkspace({ id })
    expect(faults).toEqual([])
  })

  it('says what a bot is and how to create one, while there is none', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('bots')
    await page.getByText('There is no bot yet.').waitFor()
    expect(await page.getByText(`POST ${server().url}/v1/admin/bots`).count()).toBe(1)
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('shows the tab that is open, also where not all have room', async () => {
    const { bot } = await server().client().createBot({ name: 'Narrow' })
    const { page, open, faults } = await openDashboard(server(), { width: 390 })
    await open(`bots/${bot.id}?tab=issues`)
    const tab = page.getByRole('main').getByRole('link', { name: 'Issues' })
    await tab.waitFor()
    await vi.waitFor(async () => {
      const { x = -1, width = 0 } = (await tab.boundingBox()) ?? {}
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(390)
    })
    await server().client().deleteBot({ id: bot.id })
    expect(faults).toEqual([])
  })

  it('creates a bot, shows its key once, changes it and deletes it', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('bots')
    await page.getByRole('button', { name: 'New bot' }).first().click()
    await expectAccessible()
    await page.getByLabel('Name').fill(hostile)
    await page.getByRole('button', { name: 'Create the bot' }).click()
    await page.getByRole('heading', { name: hostile }).waitFor()

    await page.getByLabel('What the new key is for').fill('laptop')
    await page.getByRole('button', { name: 'Create a key' }).click()
    const once = page.getByText('This is the new key.')
    await once.waitFor()
    const key = await page.locator('code', { hasText: 'bp_bak_' }).textContent()
    await page.getByText('laptop', { exact: true }).waitFor()
    await expectAccessible()

    const { bots } = await server().client().listBots()
    const botId = bots[0]?.id ?? ''
    const inside = server().client({ token: key ?? '', botId })
    expect(await inside.listConversations()).toMatchObject({ conversations: [] })

    const properties = {
      greeting: { type: 'string', description: 'What it says first.' },
      tone: { type: 'string', enum: ['formal', 'plain'] },
      retries: { type: 'integer', minimum: 0 },
      isPublic: { type: 'boolean' },
      hours: { type: 'object' },
    }
    const schema = { type: 'object', properties, required: ['greeting'] }
    await server().client().updateBot({ id: botId, configuration: { schema } })
    await page.reload()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('Address').fill('http://127.0.0.1:8074')
    await page.getByLabel('Tags').fill('team: support\nlanguage: de')
    await page.getByLabel('Time limit of a call').fill('90')
    await page.getByLabel('Media files').fill('logo: https://example.com/logo.png')
    await page.getByRole('button', { name: 'Edit as JSON' }).click()
    await page.getByLabel('Configuration as JSON').fill('{"greeting":')
    await expectAccessible()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Configuration as JSON').fill('{"hours": {"from": 9}}')
    await page.getByRole('button', { name: 'Edit the fields' }).click()
    await page.getByLabel('greeting (required)').fill(hostile)
    await page.getByLabel('tone').selectOption('plain')
    await page.getByLabel('retries').fill('3')
    await page.getByLabel('isPublic').check()
    await page.getByText('Only as JSON: hours.').waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved.').waitFor()
    const { bot } = await server().client().getBot({ id: botId })
    expect(bot).toMatchObject({
      url: 'http://127.0.0.1:8074',
      tags: { team: 'support', language: 'de' },
      maxExecutionTime: 90,
      medias: [{ name: 'logo', url: 'https://example.com/logo.png' }],
    })
    expect(bot.configuration.data).toEqual({
      greeting: hostile,
      tone: 'plain',
      retries: 3,
      isPublic: true,
      hours: { from: 9 },
    })

    await page.getByRole('link', { name: 'Keys and secrets' }).click()
    await page.getByLabel('Name of the secret').fill('MAIL_KEY')
    await page.getByLabel('Its value').fill('not to be seen')
    await page.getByRole('button', { name: 'Set the secret' }).click()
    await page.getByRole('listitem').getByText('MAIL_KEY').waitFor()
    // The form is emptied when the list has been read again.
    await page.getByText('The secret MAIL_KEY is set.').waitFor()
    expect(await page.content()).not.toContain('not to be seen')
    await expectAccessible()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('listitem').getByText('MAIL_KEY').waitFor({ state: 'detached' })
    expect((await server().client().getBot({ id: botId })).bot.secrets).toEqual([])
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('Talk to it from a program').waitFor()
    const chatAddress = Object.values(bot.integrations)[0]?.webhookUrl ?? 'none'
    expect(await page.locator('pre').textContent()).toContain(chatAddress)
    await page.getByRole('link', { name: 'Settings' }).click()

    await page.reload()
    expect(await page.getByLabel('Tags').inputValue()).toBe('team: support\nlanguage: de')
    await page.getByRole('button', { name: 'Delete the bot' }).click()
    const remove = page.getByRole('button', { name: 'Delete for ever' })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel('Type the name of the bot').fill(hostile)
    await remove.click()
    await page.getByText('There is no bot yet.').waitFor()
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([])
  })

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits on a screen of %i by %i', async (width, height) => {
    await server().client().createBot({ name: hostile })
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme: 'dark',
    })
    await open('bots')
    await page.getByRole('link', { name: hostile }).first().click()
    await page.getByRole('heading', { name: hostile }).waitFor()
    const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(width)
    await expectAccessible()
    expect(faults).toEqual([])
  })
})
