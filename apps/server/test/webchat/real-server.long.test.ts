import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { startTcpProxy } from '../tcp-proxy.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the chat on a server ${title}`, () => {
  const server = useServer()
  const bots = useHttpBots()

  const log = (page: Page) => page.getByRole('log', { name: 'Messages' })
  async function write(page: Page, text: string) {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.keyboard.press('Enter')
  }

  it('says what became of a message, also after a reload and a lost connection', async () => {
    const admin = server().client()
    const { bot } = await admin.createBot({ name: 'Late' })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const proxy = await startTcpProxy(server().url)
    const page = await newPage({ locale: 'en' })
    await page.goto(`${proxy.url}/webchat/${webhookId}`)
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    const note = (text: string) => log(page).locator('.note').getByText(text, { exact: true })
    // The bot has no address yet.
    await write(page, 'one')
    await note('Sent').waitFor()
    await admin.updateBot({ id: bot.id, url: bots.as().url })
    await note('Delivered').waitFor()
    await page.reload()
    await note('Delivered').waitFor()

    await admin.updateBot({ id: bot.id, url: bots.as('refusing').url })
    await write(page, 'two')
    await note('Could not be answered').waitFor()
    expect(await note('Delivered').count()).toBe(0)
    await page.reload()
    await note('Could not be answered').waitFor()

    // The page is told afterwards of deliveries that end while it is not connected.
    await admin.updateBot({ id: bot.id, url: bots.as().url })
    const { deliveries } = await admin.listDeliveries({ id: bot.id, status: 'failed' })
    proxy.freeze()
    await admin.replayDelivery({ id: bot.id, deliveryId: deliveries[0]?.id ?? '' })
    await vi.waitFor(async () => {
      const ended = await admin.listDeliveries({ id: bot.id, status: 'delivered' })
      expect(ended.deliveries).toHaveLength(2)
    })
    expect(await note('Delivered').count()).toBe(0)
    proxy.thaw()
    await note('Delivered').waitFor()
    expect(await note('Could not be answered').count()).toBe(0)
  })

  it('talks with a bot: words, files, thumbs, history, a second visit', async () => {
    const { bot } = await server()
      .client()
      .createBot({ name: 'Echo', url: bots.as('echo').url })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const own = server().client({ botId: bot.id })
    const page = await newPage({ locale: 'en' })
    const faults: string[] = []
    page.on('console', (line) => {
      if (line.type() === 'error') faults.push(line.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    await page.goto(`${server().url}/webchat/${webhookId}`)
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    await write(page, 'Hello')
    await log(page).getByText('Hello').first().waitFor()
    await vi.waitFor(async () => expect(await page.locator('.outgoing').count()).toBe(0))
    const conversationId = (await own.listConversations()).conversations[0]?.id ?? ''
    const say = async (type: string, payload: Record<string, unknown>) =>
      await own.createMessage({ conversationId, userId: bot.id, type, payload, tags: {} })

    await say('choice', { text: 'Tea?', options: [{ label: 'Yes', value: 'yes' }] })
    await log(page).getByRole('button', { name: 'Yes' }).click()
    await vi.waitFor(async () => {
      const { messages } = await own.listMessages({ conversationId })
      expect(messages.map(({ payload }) => payload)).toContainEqual(
        expect.objectContaining({ text: 'Yes', value: 'yes' }),
      )
    })
    await say('carousel', { items: [{ title: 'A card', actions: [] }] })
    await log(page).getByText('A card').waitFor()
    await say('bloc', { items: [{ type: 'text', payload: { text: 'a part' } }] })
    await log(page).getByText('a part').waitFor()
    await page.getByRole('button', { name: 'Helpful', exact: true }).last().click()
    await page.locator('[aria-pressed=true]').last().waitFor()

    for (const [sequence, delta] of ['Good ', 'mor'].entries()) {
      const signal = { type: 'delta', streamId: 'one', createdAt: 'now', sequence, delta }
      await own.callAction({
        type: 'chat:publishMessageStream',
        input: { conversationId, signal },
      })
    }
    await log(page).getByText('Good mor', { exact: true }).waitFor()
    await say('text', { text: 'Good morning', metadata: { streamId: 'one' } })
    await log(page).getByText('Good morning', { exact: true }).waitFor()
    expect(await log(page).getByText('Good').count()).toBe(1)

    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('content') })
    await page.getByText('a.txt is ready to be sent').first().waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    const link = log(page).getByRole('link', { name: 'Open a.txt' }).first()
    const address = (await link.getAttribute('href')) ?? ''
    expect(await (await fetch(address)).text()).toBe('content')

    await page.evaluate('window.botpress.updateUser({ name: "Ada" })')
    await vi.waitFor(async () =>
      expect(await page.evaluate('window.botpress.getUser()')).toMatchObject({ name: 'Ada' }),
    )
    await page.evaluate('window.botpress.sendEvent({ cart: 3 })')
    await page.reload()
    await log(page).getByText('A card').waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await log(page).getByText('A card').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    await page.getByRole('button', { name: 'Earlier conversations' }).click()
    await page.locator('.history li button').last().click()
    await log(page).getByText('A card').waitFor()
    expect(faults).toEqual([])
  })

  it('goes on as another user when its key is revoked, with what is in the composer', async () => {
    const { bot } = await server().client().createBot({ name: 'Helper' })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const own = server().client({ botId: bot.id })
    const page = await newPage({ locale: 'en' })
    await page.goto(`${server().url}/webchat/${webhookId}`)
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    await page.evaluate(
      'window.faults = []; window.botpress.on("error", ({ message }) => faults.push(message))',
    )
    await write(page, 'A secret')
    await log(page).getByText('A secret').waitFor()
    const sent = async () => {
      const { messages } = await own.listMessages({})
      return messages.map(({ payload, userId }) => ({ text: payload.text, userId })).toReversed()
    }
    await vi.waitFor(async () => expect(await sent()).toHaveLength(1))
    const [former] = await sent()
    await page.getByRole('textbox', { name: 'Message' }).fill('A draft')
    await own.revokeUserKeys({ id: former?.userId ?? '' })
    await log(page).getByText('A secret').waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await vi.waitFor(async () =>
      expect(await sent()).toMatchObject([{ text: 'A secret' }, { text: 'A draft' }]),
    )
    expect((await sent())[1]?.userId).not.toBe(former?.userId)
    await log(page).getByText('A draft').waitFor()
    // The chat has dealt with it, so the page is not notified.
    expect(await page.evaluate('window.faults')).toEqual([])
  })

  it('does not show what a user wrote who has left as words of the bot', async () => {
    const { bot } = await server().client().createBot({ name: 'Helper' })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const page = await newPage({ locale: 'en' })
    await page.goto(`${server().url}/webchat/${webhookId}`)
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    const own = server().client({ botId: bot.id })
    const conversationId = (await own.listConversations()).conversations[0]?.id ?? ''
    const stored: string = await page.evaluate(`localStorage['bp-webchat-${webhookId}-client']`)
    const { userToken } = JSON.parse(stored).state.user
    const guest = await server().client({ webhookId }).chatCreateUser({ name: 'Eve' })
    await server()
      .client({ webhookId, userKey: userToken })
      .chatAddParticipant({ conversationId, userId: guest.user.id })
    const asGuest = server().client({ webhookId, userKey: guest.key })
    const payload = { type: 'text' as const, text: 'I am the bot' }
    await asGuest.chatCreateMessage({ conversationId, payload })
    await log(page).getByText('Eve', { exact: true }).waitFor()
    const author = { conversationId, userId: bot.id, tags: {}, type: 'text' }
    await own.createMessage({ ...author, payload: { text: 'Words of the bot' } })
    await asGuest.chatDeleteUser()
    await page.reload()
    await log(page).getByText('Someone who has left').waitFor()
    expect(await log(page).locator('.author').count()).toBe(1)
    await log(page).getByText('Words of the bot').waitFor()
  })
})
