import { createClient } from '@botstead/contract'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { createCommandPlace } from '../command-place.js'
import { makeBot, type ReachableServer } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { freePort } from '../ports.js'
import { startServerProcess } from '../processes.js'
import { startTcpProxy } from '../tcp-proxy.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const day = 86_400_000

describe.skipIf(browserPath === undefined)(`a chat whose server fails or changes ${title}`, () => {
  const server = useServer()

  const log = (page: Page) => page.getByRole('log', { name: 'Messages' })
  const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' })
  const connected = (page: Page) => page.getByRole('button', { name: 'Add files' }).waitFor()
  const ended = (page: Page) => page.getByRole('status').filter({ hasText: 'This is a new one' })
  async function write(page: Page, text: string) {
    await composer(page).fill(text)
    await page.keyboard.press('Enter')
  }
  async function unsentAreGone(page: Page) {
    await vi.waitFor(async () => expect(await page.locator('.outgoing').count()).toBe(0))
  }
  /** Words of the messages that are shown, in their order. */
  const textsOf = async (page: Page) => await log(page).locator('.markdown').allInnerTexts()

  /** The share page of a new bot. */
  async function meet(
    at: ReachableServer,
    { url = at.url, prepare }: { url?: string; prepare?(page: Page): Promise<void> } = {},
  ) {
    const { bot, client, webhookId } = await makeBot(at)
    const page = await newPage({ locale: 'en' })
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    let openings = 0
    page.on('request', (request) => {
      if (request.url().includes('/initialize')) openings += 1
    })
    await prepare?.(page)
    await page.goto(`${url}/webchat/${webhookId}`)
    await connected(page)
    const conversations = async () => (await client.listConversations({})).conversations
    const conversationId = async () => (await conversations())[0]?.id ?? ''
    const say = async (type: string, payload: Record<string, unknown>) => {
      const author = { conversationId: await conversationId(), userId: bot.id, tags: {} }
      return (await client.createMessage({ ...author, type, payload })).message
    }
    /** Words of the messages of users, oldest first. */
    const received = async () =>
      (await client.listMessages({})).messages
        .filter(({ direction }) => direction === 'incoming')
        .map(({ payload }) => Object(payload).text)
        .reverse()
    return {
      page,
      faults,
      bot: { id: bot.id, client, webhookId, conversations, conversationId, say, received },
      openings: () => openings,
    }
  }

  it('continues by itself after a kill of the server in the middle of an answer', async () => {
    await using place = await createCommandPlace()
    const token = 'a-token-for-tests-only'
    const settings = {
      ...place.environment,
      PORT: String(await freePort()),
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
    }
    let process = await startServerProcess(settings)
    onTestFinished(() => process.kill())
    const { workspaces } = await createClient({ baseUrl: process.url, token }).listWorkspaces()
    const at = { url: process.url, token, workspaceId: workspaces[0]?.id ?? '' }
    const { page, bot, faults } = await meet(at)
    await write(page, 'Before')
    await unsentAreGone(page)
    const conversationId = await bot.conversationId()
    const piece = (sequence: number, delta: string) =>
      bot.client.callAction({
        type: 'chat:publishMessageStream',
        input: {
          conversationId,
          signal: { type: 'delta', streamId: 'one', createdAt: 'now', sequence, delta },
        },
      })
    await piece(1, 'Half of ')
    await log(page).getByText('Half of', { exact: true }).waitFor()

    await process.kill()
    await page.getByRole('status').filter({ hasText: 'The connection is lost' }).waitFor()
    await write(page, 'While it was away')
    await log(page).getByText('Is sent when the connection is back').waitFor()
    await composer(page).fill('Not yet')
    process = await startServerProcess(settings)
    await log(page).getByText('Is sent').waitFor({ state: 'detached', timeout: 60_000 })
    await unsentAreGone(page)
    await piece(2, 'an answer')
    await log(page).getByText('Half of an answer', { exact: true }).waitFor()
    await bot.say('text', { text: 'Half of an answer, and all', metadata: { streamId: 'one' } })
    await log(page).getByText('Half of an answer, and all', { exact: true }).waitFor()

    expect(await composer(page).inputValue()).toBe('Not yet')
    await page.keyboard.press('Enter')
    await unsentAreGone(page)
    expect(await bot.received()).toEqual(['Before', 'While it was away', 'Not yet'])
    const shown = await textsOf(page)
    expect(shown.toSorted()).toEqual(
      ['Before', 'While it was away', 'Half of an answer, and all', 'Not yet'].toSorted(),
    )
    expect(await bot.conversations()).toHaveLength(1)
    expect(faults).toEqual([])
  })

  it('shows after a day of sleep what was sent meanwhile, once and in order', async () => {
    const proxy = await startTcpProxy(server().url)
    const { page, bot, openings } = await meet(server(), {
      url: proxy.url,
      prepare: (opening) => opening.clock.install(),
    })
    await write(page, 'Good night')
    await unsentAreGone(page)
    const before = openings()
    proxy.freeze()
    await bot.say('text', { text: 'In the evening' })
    await server().pass(day)
    await bot.say('text', { text: 'In the morning' })
    expect(await textsOf(page)).toEqual(['Good night'])
    proxy.thaw()
    // Its timers are late, and its clock jumps.
    await page.clock.fastForward(day)
    await log(page).getByText('In the morning').waitFor()
    await write(page, 'Good morning')
    await unsentAreGone(page)
    expect(await textsOf(page)).toEqual([
      'Good night',
      'In the evening',
      'In the morning',
      'Good morning',
    ])
    expect(await bot.received()).toEqual(['Good night', 'Good morning'])
    expect(await bot.conversations()).toHaveLength(1)
    expect(openings() - before).toBeLessThan(4)
  })

  it('states that its conversation has ended when its key is revoked, and keeps what is written', async () => {
    const { page, bot, openings } = await meet(server())
    await write(page, 'A secret')
    await unsentAreGone(page)
    await composer(page).fill('Half a sentence')
    const visitors = async () =>
      (await bot.client.listUsers({})).users.map(({ id }) => id).filter((id) => id !== bot.id)
    const [visitor = ''] = await visitors()
    const before = openings()
    await server().client({ botId: bot.id }).revokeUserKeys({ id: visitor })
    await ended(page).waitFor()
    expect(await log(page).getByText('A secret').count()).toBe(0)
    expect(openings() - before).toBe(1)
    expect(await composer(page).inputValue()).toBe('Half a sentence')
    await page.keyboard.press('Enter')
    await unsentAreGone(page)
    await ended(page).waitFor({ state: 'detached' })
    expect(await bot.received()).toEqual(['A secret', 'Half a sentence'])
    expect(await textsOf(page)).toEqual(['Half a sentence'])
    expect(await visitors()).toHaveLength(2)

    // The same while the page is closed.
    await page.goto('about:blank')
    for (const id of await visitors()) {
      await server().client({ botId: bot.id }).revokeUserKeys({ id })
    }
    await page.goto(`${server().url}/webchat/${bot.webhookId}`)
    await ended(page).waitFor()
    await write(page, 'Here again')
    await unsentAreGone(page)
    expect(await textsOf(page)).toEqual(['Here again'])
  })

  it('states that its conversation has ended when the bot deletes it', async () => {
    const { page, bot } = await meet(server())
    await write(page, 'Hello')
    await unsentAreGone(page)
    await bot.client.deleteConversation({ id: await bot.conversationId() })
    await ended(page).waitFor()
    await write(page, 'Once more')
    await unsentAreGone(page)
    expect(await textsOf(page)).toEqual(['Once more'])
    const users = (await bot.client.listUsers({})).users.filter(({ id }) => id !== bot.id)
    expect(users).toHaveLength(1)
  })

  it('follows what the bot changes and deletes, also after a reload', async () => {
    const { page, bot, faults } = await meet(server())
    const first = await bot.say('text', { text: 'A mistake' })
    const second = await bot.say('text', { text: 'Nonsense' })
    await log(page).getByText('Nonsense').waitFor()
    await bot.client.updateMessage({ id: first.id, tags: {}, payload: { text: 'Corrected' } })
    await bot.client.deleteMessage({ id: second.id })
    await log(page).getByText('Corrected').waitFor()
    await log(page).getByText('Nonsense').waitFor({ state: 'detached' })
    expect(await textsOf(page)).toEqual(['Corrected'])
    await page.reload()
    await log(page).getByText('Corrected').waitFor()
    expect(await textsOf(page)).toEqual(['Corrected'])
    expect(faults).toEqual([])
  })
})
