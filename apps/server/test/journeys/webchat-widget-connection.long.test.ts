import { SignJWT } from 'jose'
import type { Page } from 'playwright-core'
import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { startTcpProxy } from '../tcp-proxy.js'
import { delivered, meetInWidget, restart, storedState, textsOf, write } from '../widget-chats.js'

const title =
  browserPath === undefined
    ? 'the connection of the widget (skipped: no Chromium here)'
    : 'the connection of the widget'

describe.skipIf(browserPath === undefined)(title, () => {
  const server = useServer()

  it('shows after a day of sleep what was sent meanwhile, once and in the same conversation', async () => {
    const proxy = await startTcpProxy(server().url)
    const { page, bot } = await meetInWidget(server(), {
      url: proxy.url,
      prepare: (opening) => opening.clock.install(),
    })
    await write(page, 'Good night')
    await delivered(page)
    const before = await storedState(page, bot.webhookId)
    const connections = countConnections(page)

    proxy.freeze()
    await bot.say('text', { text: 'In the evening' })
    await server().pass(24 * 3_600_000)
    await bot.say('text', { text: 'In the morning' })
    // The page has noticed nothing: its connection is dead, but not closed.
    expect(await page.getByText('In the').count()).toBe(0)
    // It sleeps: its timers are late, and its clock jumps.
    await page.clock.fastForward(24 * 3_600_000)
    expect(connections()).toBe(0)
    proxy.thaw()

    const said = ['Good night', 'In the evening', 'In the morning', 'Good morning', 'Welcome back']
    await page.getByText('In the morning', { exact: true }).waitFor({ timeout: 60_000 })
    await write(page, 'Good morning')
    await vi.waitFor(async () =>
      expect((await bot.received()).map(({ text }) => text)).toEqual([
        'Good night',
        'Good morning',
      ]),
    )
    // The new connection carries what comes now, too.
    await bot.say('text', { text: 'Welcome back' })
    await page.getByText('Welcome back', { exact: true }).waitFor()
    expect(await textsOf(page)).toEqual(said)
    expect(connections()).toBe(1)
    expect(await storedState(page, bot.webhookId)).toEqual(before)
    expect(await bot.visitors()).toHaveLength(1)
    expect((await bot.client.listConversations({})).conversations).toHaveLength(1)
    expect(await bot.events('chat:conversationStarted')).toHaveLength(1)
  })

  it('shows that the conversation has ended when its key is revoked, before another message is written', async () => {
    const { page, bot } = await meetInWidget(server(), {
      prepare: (opening) => opening.clock.install(),
    })
    await write(page, 'A secret')
    await delivered(page)
    const revoked = await storedState(page, bot.webhookId)
    const connections = countConnections(page)
    const [visitor = ''] = await bot.visitors()
    await server().client({ botId: bot.id }).revokeUserKeys({ id: visitor })

    await page.getByText('user key is not valid any more').waitFor({ timeout: 60_000 })
    expect(await page.locator('textarea.bpComposerInput').count()).toBe(0)
    expect(await page.getByText('A secret').count()).toBe(0)
    // It has a connection, of a new user, and does not open others.
    await page.clock.fastForward(3_600_000)
    expect(connections()).toBe(1)

    await restart(page)
    await page.locator('textarea.bpComposerInput').waitFor()
    await write(page, 'Another one')
    await delivered(page)
    await bot.say('text', { text: 'Hello, stranger' })
    await page.getByText('Hello, stranger').waitFor()
    expect(connections()).toBe(2)
    const next = await storedState(page, bot.webhookId)
    expect(next.user.userId).not.toBe(revoked.user.userId)
    expect(next.user.userToken).not.toBe(revoked.user.userToken)
    expect(next.conversationId).not.toBe(revoked.conversationId)
    // Nothing that was sent is lost, and nothing of the old user is shown to the new one.
    expect((await bot.received()).map(({ text }) => text)).toEqual(['A secret', 'Another one'])
    const texts = ['Another one', 'Hello, stranger']
    expect(await textsOf(page)).toEqual(texts)
    await page.reload()
    await page.getByText('Hello, stranger').waitFor()
    expect(await textsOf(page)).toEqual(texts)
    expect(await storedState(page, bot.webhookId)).toEqual(next)
  })

  it('shows that the conversation has ended when the bot deletes it, and goes on as the same user', async () => {
    const { page, bot } = await meetInWidget(server())
    await write(page, 'Forget this')
    await delivered(page)
    const before = await storedState(page, bot.webhookId)
    const connections = countConnections(page)
    await bot.client.deleteConversation({ id: before.conversationId })
    await page.getByText('it was deleted').waitFor({ timeout: 60_000 })
    expect(await page.locator('textarea.bpComposerInput').count()).toBe(0)
    await restart(page)
    await page.locator('textarea.bpComposerInput').waitFor()
    await write(page, 'Remember this')
    await delivered(page)
    expect(connections()).toBe(2)
    expect((await bot.received()).map(({ text }) => text)).toEqual(['Remember this'])
    const next = await storedState(page, bot.webhookId)
    expect(next.user.userId).toBe(before.user.userId)
    expect(await bot.conversationId()).toBe(next.conversationId)
  })

  it('gives up half a minute after its key was revoked if an app signs the keys of the chat', async () => {
    const made = await makeBot(server())
    const configuration = { encryptionKey: 'signs-the-keys-of-this-chat' }
    await server()
      .client()
      .updateBot({ id: made.bot.id, integrations: { chat: { configuration } } })
    const signer = new SignJWT({ id: 'ada' }).setProtectedHeader({ alg: 'HS256' })
    // Keys of apps have whole seconds; this one is as old as the clock of the server.
    signer.setIssuedAt(Math.floor(server().clock.now() / 1000))
    const userToken = await signer.sign(Buffer.from(configuration.encryptionKey))
    const { page, bot } = await meetInWidget(server(), {
      made,
      user: { userId: 'ada', userToken },
      prepare: (opening) => opening.clock.install(),
    })
    await write(page, 'Hello')
    await delivered(page)
    const connections = countConnections(page)
    const [visitor = ''] = await bot.visitors()
    await server().client({ botId: bot.id }).revokeUserKeys({ id: visitor })
    await vi.waitFor(async () => {
      await page.clock.fastForward(3000)
      expect(await page.locator('.bpErrorContainer').count()).toBe(1)
    })
    // Its attempts are over.
    const attempts = connections()
    expect(attempts).toBe(10)
    await page.clock.fastForward(3_600_000)
    await page.clock.fastForward(3_600_000)
    expect(connections()).toBe(attempts)
    expect((await bot.received()).map(({ text }) => text)).toEqual(['Hello'])
  })
})

/** Counts the streams that the page opens from now on. */
function countConnections(page: Page) {
  let count = 0
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/initialize')) count += 1
  })
  return () => count
}
