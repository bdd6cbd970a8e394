import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useWebchats, type Webchats } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the connection of a chat ${title}`, () => {
  const chats = useWebchats()
  let chat: Webchats

  beforeEach(() => {
    chat = chats()
    chat.chatServer.received.length = 0
  })

  const site = () => ({
    html: `<!doctype html><html lang="en"><title>Shop</title><body>${chat.script('data-open data-language="en"')}</body></html>`,
  })
  const log = (page: Page) => page.getByRole('log', { name: 'Messages' })
  const connected = (page: Page) => page.getByRole('button', { name: 'Add files' }).waitFor()
  async function write(page: Page, text: string) {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.keyboard.press('Enter')
  }
  const sent = () => chat.chatServer.calls('POST', '/messages').map(({ body }) => body.payload)

  it('shows that the connection is lost, keeps new messages, and sends each once in order', async () => {
    const { page, expectAccessible } = await chat.open(site())
    const { chatServer } = chat
    await connected(page)
    await write(page, 'one')
    await vi.waitFor(() => expect(sent()).toHaveLength(1))
    chatServer.down()
    const status = page.getByRole('status').filter({ hasText: 'The connection is lost' })
    await status.waitFor()
    await write(page, 'two')
    await write(page, 'three')
    await log(page).getByText('Is sent when the connection is back').nth(1).waitFor()
    await expectAccessible()
    chatServer.up()
    const missed = chatServer.sendAsBot({ type: 'text', text: 'said meanwhile' })
    await vi.waitFor(() => expect(sent()).toHaveLength(3), { timeout: 20_000 })
    expect(sent().map((payload) => Object(payload).text)).toEqual(['one', 'two', 'three'])
    await log(page).getByText(String(missed.payload.text)).waitFor()
    await status.waitFor({ state: 'detached' })
    await log(page).getByText('Is sent').first().waitFor({ state: 'detached' })
    expect(await log(page).getByText('two', { exact: true }).count()).toBe(1)
    // It was one conversation all along.
    expect(
      new Set(chatServer.calls('POST', '/messages').map(({ body }) => body.conversationId)).size,
    ).toBe(1)
  })

  it('waits while the browser is offline, and keeps unsent messages over a reload', async () => {
    const { page } = await chat.open(site())
    const { chatServer } = chat
    await connected(page)
    await page.context().setOffline(true)
    await page.getByText('You are offline. What you write is sent later.').waitFor()
    await write(page, 'from the train')
    await log(page).getByText('from the train').waitFor()
    expect(sent()).toEqual([])
    await page.context().setOffline(false)
    await vi.waitFor(() => expect(sent()).toHaveLength(1))
    await page.getByText('You are offline').waitFor({ state: 'detached' })

    chatServer.refuseNext('/messages', 503, 'Later')
    await write(page, 'before the reload')
    await vi.waitFor(() => expect(chatServer.refused('/messages')).toBe(1))
    await page.reload()
    await log(page).getByText('before the reload').waitFor()
    await vi.waitFor(() => expect(sent()).toHaveLength(2))
    await log(page).getByText('Being sent').waitFor({ state: 'detached' })
    expect(await log(page).getByText('before the reload').count()).toBe(1)
  })

  it('is one user and one conversation in two tabs', async () => {
    const { page: first } = await chat.open({ html: '<!doctype html><title>Empty</title>' })
    const { chatServer } = chat
    const before = chatServer.conversations.length
    const second = await first.context().newPage()
    chat.change(site())
    await Promise.all([first.reload(), second.goto(first.url())])
    await Promise.all([connected(first), connected(second)])
    await write(first, 'from the first tab')
    await log(second).getByText('from the first tab').waitFor()
    await write(second, 'from the second tab')
    await log(first).getByText('from the second tab').waitFor()
    expect(new Set(chatServer.calls('POST', '/messages').map(({ key }) => key)).size).toBe(1)
    expect(await log(first).getByText('from the second tab').count()).toBe(1)
    expect(chatServer.conversations).toHaveLength(before + 1)
    await second.close()
  })

  it('shows refused messages, which can be sent again or discarded', async () => {
    const { page, expectAccessible } = await chat.open(site())
    const { chatServer } = chat
    await connected(page)
    chatServer.refuseNext('/messages', 400, 'Too many words')
    await write(page, 'a refused one')
    await log(page).getByText('Not sent: Too many words').waitFor()
    await expectAccessible()
    await log(page).getByRole('button', { name: 'Try again' }).click()
    await vi.waitFor(() => expect(sent()).toHaveLength(1))
    await log(page).getByText('Not sent').waitFor({ state: 'detached' })
    chatServer.refuseNext('/messages', 400, 'Too many words')
    await write(page, 'another one')
    await log(page).getByRole('button', { name: 'Discard' }).click()
    await log(page).getByText('another one').waitFor({ state: 'detached' })
  })

  it('tells visitors no figures of a quota that is used up, and tries once', async () => {
    const { page } = await chat.open(site())
    const { chatServer } = chat
    await connected(page)
    chatServer.refuseNext('/messages', 403, 'The call quota: 5 are used', 'QuotaExceeded')
    await write(page, 'one too many')
    await log(page).getByText('Not sent: Could not be answered').waitFor()
    // A second attempt, as when its conversation is gone, would have succeeded.
    expect(sent()).toHaveLength(0)
    await log(page).getByRole('button', { name: 'Try again' }).click()
    await vi.waitFor(() => expect(sent()).toHaveLength(1))
  })

  it('moves a message to a new conversation when the old one is gone', async () => {
    const { page } = await chat.open(site())
    const { chatServer } = chat
    await connected(page)
    await write(page, 'early')
    await vi.waitFor(() => expect(sent()).toHaveLength(1))
    chatServer.conversations.length = 0
    await write(page, 'late')
    await vi.waitFor(() => expect(chatServer.conversations).toHaveLength(1))
    await vi.waitFor(() => expect(chatServer.conversations[0]?.messages).toHaveLength(1))
    await log(page).getByText('late').waitFor()
    expect(await log(page).getByText('early').count()).toBe(0)
  })

  it('closes its connection while the page is hidden, and counts missed messages', async () => {
    const { page, faults } = await chat.open(site())
    const { chatServer } = chat
    await page.clock.install()
    await page.reload()
    await connected(page)
    await page.getByRole('button', { name: 'Close the chat' }).first().click()
    const opened = () => chatServer.calls('GET', '/initialize').length
    const turn = (state: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await turn('hidden')
    await page.clock.fastForward('04:00')
    chatServer.sendAsBot({ type: 'text', text: 'still heard' })
    await page.getByRole('button', { name: 'new messages: 1' }).waitFor()
    await page.clock.fastForward('02:00')
    await vi.waitFor(() => expect(chatServer.streams()).toBe(0))
    const before = opened()
    chatServer.sendAsBot({ type: 'text', text: 'said to nobody' })
    await page.clock.fastForward('20:00')
    expect(opened()).toBe(before)
    await turn('visible')
    await page.getByRole('button', { name: 'new messages: 2' }).waitFor()
    expect(opened()).toBe(before + 1)
    await page.getByRole('button', { name: 'new messages: 2' }).click()
    await log(page).getByText('said to nobody').waitFor()
    expect(faults).toEqual([])
  })

  it('starts with a new user when the server no longer knows the stored key', async () => {
    const { page } = await chat.open(site())
    const { chatServer } = chat
    await connected(page)
    chatServer.refuseNext('/initialize', 401, 'Unknown key')
    await page.reload()
    await connected(page)
    const keys = chatServer.calls('GET', '/initialize').map(({ key }) => key)
    expect(keys.at(-1)).toBeUndefined()
  })

  it('shows why the server refuses to open the chat, and opens it on a later attempt', async () => {
    const { chatServer } = chat
    chatServer.refuseNext('/initialize', 403, 'This bot is paused')
    const { page, expectAccessible } = await chat.open(site())
    await page.getByText('The chat cannot be opened: This bot is paused').waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'Try again' }).click()
    await connected(page)
    await page.getByText('cannot be opened').waitFor({ state: 'detached' })
  })
})
