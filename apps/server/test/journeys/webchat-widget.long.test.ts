import { createClient } from '@botstead/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { createCommandPlace } from '../command-place.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { freePort } from '../ports.js'
import { startServerProcess } from '../processes.js'
import { delivered, meetInWidget, onePixel, restart, textsOf, write } from '../widget-chats.js'

const title =
  browserPath === undefined
    ? 'the widget of the web chat (skipped: no Chromium here)'
    : 'the widget of the web chat'

describe.skipIf(browserPath === undefined)(title, () => {
  const server = useServer()

  it('exchanges every kind of message with a bot, files and feedback', async () => {
    const { page, bot, faults } = await meetInWidget(server())
    await write(page, 'Hello')
    await delivered(page)
    const id = await bot.conversationId()
    await bot.call('startTypingIndicator', { conversationId: id })
    await page.locator('[class*=TypingIndicator]').first().waitFor()
    await bot.say('text', { text: 'Hi **there**' })
    await page.locator('strong', { hasText: 'there' }).waitFor()
    await page.locator('[class*=TypingIndicator]').first().waitFor({ state: 'detached' })

    await bot.say('choice', { text: 'Tea?', options: [{ label: 'Yes please', value: 'yes' }] })
    await page.getByRole('button', { name: 'Yes please' }).click()
    await vi.waitFor(async () =>
      expect((await bot.received()).at(-1)).toMatchObject({ text: 'Yes please', value: 'yes' }),
    )
    await bot.say('card', {
      title: 'A card',
      actions: [{ action: 'postback', label: 'Press', value: 'pressed' }],
    })
    await page.getByRole('button', { name: 'Press' }).click()
    await vi.waitFor(async () =>
      expect((await bot.received()).at(-1)).toMatchObject({ value: 'pressed' }),
    )
    await bot.say('carousel', { items: [{ title: 'First of two', actions: [] }] })
    await bot.say('bloc', {
      items: [
        { type: 'text', payload: { text: 'A part' } },
        { type: 'markdown', payload: { markdown: 'Another *part*' } },
      ],
    })
    await bot.say('location', { latitude: 1, longitude: 2, title: 'Somewhere' })
    await bot.say('dropdown', { text: 'Which?', options: [{ label: 'One', value: '1' }] })
    for (const text of ['First of two', 'A part', 'Another', 'Which?']) {
      await page.getByText(text).first().waitFor()
    }

    await page.locator('input[type=file]').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: onePixel,
    })
    // The widget sends nothing before the file is uploaded.
    await vi.waitFor(async () => {
      await page.locator('textarea.bpComposerInput').press('Enter')
      expect(await page.locator('.bpComposerFileContainer').count()).toBe(0)
    })
    await vi.waitFor(async () => expect((await bot.received()).at(-1)).toHaveProperty('imageUrl'))
    const { imageUrl } = (await bot.received()).at(-1) as { imageUrl: string }
    expect(Buffer.from(await (await fetch(imageUrl)).arrayBuffer())).toEqual(onePixel)
    await page.locator(`img[src="${imageUrl}"]`).first().waitFor()

    await page.locator('[class*=FeedbackContainer] svg').first().click()
    await vi.waitFor(async () => expect(await bot.feedback()).toEqual(['positive']))
    await write(page, 'Still here')
    await vi.waitFor(async () =>
      expect((await bot.received()).at(-1)).toMatchObject({ text: 'Still here' }),
    )
    // Everything was in one conversation.
    expect(await bot.conversationId()).toBe(id)
    expect(faults()).toEqual([])
  })

  it('shows pictures, sounds, films and files, also after a reload', async () => {
    const { page, bot, faults } = await meetInWidget(server())
    await write(page, 'Show me')
    await delivered(page)
    const data = `data:image/png;base64,${onePixel.toString('base64')}`
    await bot.say('image', { imageUrl: data })
    await bot.say('audio', { audioUrl: 'data:audio/wav;base64,' })
    await bot.say('video', { videoUrl: 'data:video/mp4;base64,' })
    await bot.say('file', { fileUrl: 'data:text/plain,content', title: 'notes.txt' })
    await bot.say('markdown', { markdown: 'Some **bold** words' })
    const shown = async () => {
      await page.locator(`img[src="${data}"]`).first().waitFor()
      await page.locator('audio').first().waitFor({ state: 'attached' })
      await page.locator('video').first().waitFor({ state: 'attached' })
      await page.getByText('notes.txt').first().waitFor()
      await page.locator('strong', { hasText: 'bold' }).waitFor()
    }
    await shown()
    await page.reload()
    await shown()
    await write(page, 'Thanks')
    await vi.waitFor(async () =>
      expect((await bot.received()).at(-1)).toMatchObject({ text: 'Thanks' }),
    )
    expect(faults()).toEqual([])
  })

  it('is one conversation in two tabs, where each message is shown once', async () => {
    const { page: first, bot, faults } = await meetInWidget(server())
    await write(first, 'From the first')
    await delivered(first)
    const second = await first.context().newPage()
    await second.goto(first.url())
    await second.getByText('From the first', { exact: true }).waitFor()
    await write(second, 'From the second')
    await first.getByText('From the second', { exact: true }).waitFor()
    await bot.say('text', { text: 'To both' })
    const texts = ['From the first', 'From the second', 'To both']
    for (const page of [first, second]) {
      await page.getByText('To both', { exact: true }).waitFor()
      expect(await textsOf(page)).toEqual(texts)
    }
    expect((await bot.client.listConversations({})).conversations).toHaveLength(1)
    expect((await bot.events('chat:conversationStarted')).length).toBe(1)
    expect(faults()).toEqual([])
  })

  it('shows a message once, while it is written, and after a reload', async () => {
    const { page, bot, faults } = await meetInWidget(server())
    await write(page, 'Tell me')
    await delivered(page)
    const conversationId = await bot.conversationId()
    const piece = (sequence: number, delta: string) =>
      bot.client.callAction({
        type: 'chat:publishMessageStream',
        input: {
          conversationId,
          signal: { type: 'delta', streamId: 'one', createdAt: 'now', sequence, delta },
        },
      })
    await piece(1, 'Once ')
    await page.getByText('Once', { exact: true }).waitFor()
    await piece(2, 'upon')
    await page.getByText('Once upon', { exact: true }).waitFor()
    await bot.say('text', { text: 'Once upon a time', metadata: { streamId: 'one' } })
    await page.getByText('Once upon a time', { exact: true }).waitFor()
    const texts = ['Tell me', 'Once upon a time']
    expect(await textsOf(page)).toEqual(texts)
    await page.reload()
    await page.getByText('Once upon a time', { exact: true }).waitFor()
    expect(await textsOf(page)).toEqual(texts)
    await write(page, 'And then?')
    await vi.waitFor(async () =>
      expect((await bot.received()).map((payload) => payload.text)).toEqual([
        'Tell me',
        'And then?',
      ]),
    )
    expect((await bot.events('chat:conversationStarted')).length).toBe(1)
    expect(faults()).toEqual([])
  })

  it('lists conversations, begins another, and comes back to the first', async () => {
    const { page, bot, faults } = await meetInWidget(server())
    await write(page, 'The first')
    await delivered(page)
    await bot.say('text', { text: 'An answer' })
    await page.getByText('An answer').waitFor()
    await restart(page)
    await page.getByText('An answer').waitFor({ state: 'detached' })
    await write(page, 'The second')
    await page.getByText('The second').waitFor()
    await vi.waitFor(async () =>
      expect((await bot.client.listConversations({})).conversations).toHaveLength(2),
    )
    await page.locator('.bpHeaderConversationHistoryButton').click()
    const names = page.locator('.bpConversationHistoryConversationName')
    await names.nth(1).waitFor()
    expect(await names.allTextContents()).toEqual(['The second', 'An answer'])
    await page
      .locator('.bpConversationHistoryConversationContainer', { hasText: 'An answer' })
      .click()
    await page.getByText('The first').waitFor()
    expect(await textsOf(page)).toEqual(['The first', 'An answer'])
    expect((await bot.events('chat:conversationStarted')).length).toBe(2)
    expect(faults()).toEqual([])
  })

  it('starts with a key that the administrator of the page made', async () => {
    const made = await makeBot(server())
    const { secret } = await server().client().setChatAdminSecret({ id: made.bot.id })
    const chat = server().client({
      webhookId: made.webhookId,
      headers: { 'x-admin-secret': secret },
    })
    const { key } = await chat.chatCreateUserKey({ id: 'ada' })
    const { page, bot, faults } = await meetInWidget(server(), {
      made,
      user: { userId: 'ada', userToken: key },
    })
    await write(page, 'It is me')
    await delivered(page)
    const { conversation } = await bot.client.getConversation({ id: await bot.conversationId() })
    const { participants } = await bot.client.listParticipants({ id: conversation.id })
    const { messages } = await server()
      .client({ webhookId: made.webhookId, userKey: key })
      .chatListMessages({ conversationId: conversation.id })
    expect(participants).toHaveLength(1)
    expect(messages.map(({ userId }) => userId)).toEqual(['ada'])
    expect(faults()).toEqual([])
  })

  it('continues after a restart of the server, with the messages sent meanwhile', async () => {
    await using place = await createCommandPlace()
    const settings = {
      ...place.environment,
      PORT: String(await freePort()),
      BOTSTEAD_ADMIN_TOKEN: 'a-token-for-tests-only',
      LOG_LEVEL: 'error',
    }
    let process = await startServerProcess(settings)
    onTestFinished(() => process.kill())
    const token = settings.BOTSTEAD_ADMIN_TOKEN
    const { workspaces } = await createClient({ baseUrl: process.url, token }).listWorkspaces()
    const reachable = { url: process.url, token, workspaceId: workspaces[0]?.id ?? '' }
    const { page, bot } = await meetInWidget(reachable)
    await write(page, 'Before')
    await delivered(page)
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
    await page.getByText('Half of', { exact: true }).waitFor()
    await process.kill()
    process = await startServerProcess(settings)
    await piece(2, 'an answer')
    await page.getByText('Half of an answer', { exact: true }).waitFor({ timeout: 60_000 })
    await bot.say('text', { text: 'Half of an answer, and all', metadata: { streamId: 'one' } })
    await page.getByText('Half of an answer, and all', { exact: true }).waitFor()
    await bot.say('text', { text: 'Said meanwhile' })
    await page.getByText('Said meanwhile').waitFor({ timeout: 60_000 })
    await write(page, 'After')
    await vi.waitFor(async () =>
      expect((await bot.received()).map((payload) => payload.text)).toEqual(['Before', 'After']),
    )
    expect(await textsOf(page)).toEqual([
      'Before',
      'Half of an answer, and all',
      'Said meanwhile',
      'After',
    ])
    expect((await bot.events('chat:conversationStarted')).length).toBe(1)
  })

  it('starts a new conversation with a new user when its key was revoked', async () => {
    const { page, address, bot } = await meetInWidget(server())
    await write(page, 'Before')
    await delivered(page)
    const visitors = await bot.visitors()
    expect(visitors).toHaveLength(1)
    await page.goto('about:blank')
    for (const id of visitors) await server().client({ botId: bot.id }).revokeUserKeys({ id })
    await page.goto(address)
    await page.locator('textarea.bpComposerInput').waitFor()
    await write(page, 'After')
    await delivered(page)
    expect(await textsOf(page)).toEqual(['After'])
    expect(await bot.visitors()).toHaveLength(2)
  })

  it('starts a new conversation when its conversation or its user is gone', async () => {
    const { page, address, bot, faults } = await meetInWidget(server())
    await write(page, 'Hello')
    await delivered(page)
    const id = await bot.conversationId()
    await page.goto('about:blank')
    await bot.client.deleteConversation({ id })
    await page.goto(address)
    await page.locator('textarea.bpComposerInput').waitFor()
    await write(page, 'Once more')
    await delivered(page)
    const visitors = await bot.visitors()
    expect(visitors).toHaveLength(1)
    await page.goto('about:blank')
    for (const visitor of visitors) await bot.client.deleteUser({ id: visitor })
    await page.goto(address)
    await page.locator('textarea.bpComposerInput').waitFor()
    await write(page, 'Somebody else')
    await delivered(page)
    expect(faults()).toEqual([])
  })
})
