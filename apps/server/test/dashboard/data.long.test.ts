import { describe, expect, it } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)>'

describe.skipIf(browserPath === undefined)(`the screen of data ${title}`, () => {
  const server = useServer()

  /** A bot with one of everything that the screen shows. */
  async function seed() {
    const { bot } = await server()
      .client()
      .createBot({
        name: 'Data',
        states: { profile: { type: 'bot', schema: { type: 'object', required: ['level'] } } },
      })
    const client = server().client({ botId: bot.id })
    const { user } = await client.createUser({ name: hostile, tags: { team: 'a' } })
    await client.createUser({ name: 'Other', tags: {} })
    const { conversation } = await client.createConversation({ channel: 'channel', tags: {} })
    const { event } = await client.createEvent({
      type: hostile,
      payload: { text: hostile },
      conversationId: conversation.id,
      schedule: { delay: 86_400_000 },
    })
    const { workflow } = await client.createWorkflow({ name: 'nightly', status: 'listening' })
    await client.setState({
      type: 'bot',
      id: bot.id,
      name: 'profile',
      payload: { level: 1 },
    })
    return { bot, client, user, conversation, event, workflow }
  }

  it('asks for a bot, then bans and unbans a user that a filter found', async () => {
    const { bot, client, user } = await seed()
    await server().client().createBot({ name: 'Second' })
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('data')
    await page.getByRole('heading', { name: 'Choose a bot' }).waitFor()
    await expectAccessible()
    await page.getByRole('main').getByRole('link', { name: 'Data' }).first().click()
    await page.getByText('Other').waitFor()
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('menuitem', { name: 'Tag' }).click()
    await page.keyboard.type('team=a')
    await page.keyboard.press('Enter')
    await page.getByText('Other').waitFor({ state: 'detached' })
    expect(page.url()).toContain('tag=team%3Da')
    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('button', { name: 'Ban' }).click()
    await page.getByText('The user is banned.').waitFor()
    expect((await client.getUser({ id: user.id })).user.banned).toBe(true)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('The ban is lifted.').waitFor()
    expect((await client.getUser({ id: user.id })).user.banned).toBeUndefined()
    await expectAccessible()
    expect(page.url()).toContain(`/${bot.id}/data/${user.id}`)
    expect(faults).toEqual([])
  })

  it('names users who stated no name by the end of their ids', async () => {
    const { bot, client } = await seed()
    const { user } = await client.createUser({ tags: {} })
    const { user: stated } = await client.createUser({ name: 'Ada', tags: {} })
    const name = `Visitor ${user.id.slice(-3).toUpperCase()}`
    for (const { id } of [user, stated]) {
      const { conversation } = await client.createConversation({ channel: 'channel', tags: {} })
      const { id: conversationId } = conversation
      await client.addParticipant({ id: conversationId, userId: id })
      const payload = { text: `Hello from ${id}` }
      await client.createMessage({ conversationId, userId: id, type: 'text', payload, tags: {} })
    }
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('data', bot.id)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Show' }).click()
    await page.getByRole('row').filter({ hasText: user.id }).getByRole('link', { name }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Write as' }).selectOption(name)
    await page.getByPlaceholder(`Write as ${name}`).waitFor()
    await expectAccessible()
    await open('conversations', bot.id)
    await page.getByRole('row').filter({ hasText: stated.id }).getByText('Ada').waitFor()
    expect(faults).toEqual([])
  })

  it('shows events and cancels a scheduled one', async () => {
    const { bot, client, event, conversation } = await seed()
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('data?tab=events&status=scheduled', bot.id)
    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('link', { name: conversation.id }).waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The event is canceled.').waitFor()
    expect((await client.getEvent({ id: event.id })).event.status).toBe('canceled')
    await page.keyboard.press('Escape')
    await page.getByText('No event matches.').waitFor()
    expect(page.url()).toContain('tab=events')
    expect(faults).toEqual([])
  })

  it('shows workflows', async () => {
    const { bot, workflow } = await seed()
    const { page, open, expectAccessible } = await openDashboard(server(), { width: 360 })
    await open(`data/${workflow.id}?tab=workflows`, bot.id)
    await page.getByRole('heading', { name: 'nightly' }).waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(360)
    await expectAccessible()
  })

  it('changes a state, and shows what its schema refuses', async () => {
    const { bot, client } = await seed()
    const { page, open, expectAccessible } = await openDashboard(server())
    await open('data?tab=states', bot.id)
    await page.getByLabel('Name of the state').fill('profile')
    await page.getByRole('button', { name: 'Look up' }).click()
    const value = page.getByLabel('Value')
    await value.fill('{"other": true}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/level/).waitFor()
    await expectAccessible()
    await value.fill('{"level": 2}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The state is saved.').waitFor()
    const { state } = await client.getState({ type: 'bot', id: bot.id, name: 'profile' })
    expect(state.payload).toEqual({ level: 2 })
  })
})
