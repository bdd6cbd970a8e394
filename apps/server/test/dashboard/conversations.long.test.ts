import { readFile } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { eventually } from '../jobs.js'
import { openDashboard } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

describe.skipIf(browserPath === undefined)(`the screen of conversations ${title}`, () => {
  const server = useServer()
  const bots = useHttpBots()

  /** A bot with a conversation in the chat. */
  async function chatWith(userName: string, url?: string) {
    const admin = server().client()
    const { bot } = await admin.createBot({ name: `Bot of ${userName}`, ...(url && { url }) })
    const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    const { key: userKey, user } = await server()
      .client({ webhookId })
      .chatCreateUser({ name: userName })
    const chat = server().client({ webhookId, userKey })
    const { id } = (await chat.chatCreateConversation({})).conversation
    const own = server().client({ botId: bot.id })
    return {
      id,
      botId: bot.id,
      userId: user.id,
      chat,
      own,
      say: async (text: string) =>
        (await chat.chatCreateMessage({ conversationId: id, payload: { type: 'text', text } }))
          .message,
      answer: async (type: string, payload: Record<string, unknown>) =>
        (
          await own.createMessage({
            conversationId: id,
            userId: bot.id,
            type,
            payload,
            tags: {},
          })
        ).message,
    }
  }

  it('says what is missing while there is none', async () => {
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('conversations')
    await page.getByText('There is no conversation yet.').waitFor()
    await expectAccessible()
    await open('conversations/conv_none')
    await page.getByRole('alert').getByText('This did not work').waitFor()
    await page.getByText('Id for the log of the server').waitFor()
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([])
  })

  it('shows why somebody got no answer, and replays what failed', async () => {
    const { say, answer, id, botId } = await chatWith('Bob', bots.as('refusing').url)
    await say('Nobody answers me')
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('conversations')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('menuitem', { name: 'Failed delivery' }).click()
    await page.getByLabel('Failed delivery', { exact: true }).selectOption('yes')
    await page.getByRole('link', { name: 'Bob' }).click()
    await page.getByRole('heading', { name: 'Bob' }).waitFor()
    expect(page.url()).toContain(`/conversations/${id}?failed=yes`)

    const failure = page.getByRole('button', { name: /^Not delivered to the bot/ })
    await failure.click()
    await page.getByText(/^Attempt 1,/).waitFor()
    await page.getByLabel('Response of attempt 1').getByText('I do not want this').waitFor()
    await expectAccessible()
    await server()
      .client()
      .updateBot({ id: botId, url: bots.as('echo').url })
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('button', { name: /^Delivered to the bot/ }).waitFor()
    // New entries appear by themselves.
    await answer('text', { text: 'Somebody does' })
    await page.getByLabel('Transcript').getByText('Somebody does').waitFor()
    expect(faults).toEqual([])
  })

  it('shows every kind of message as people see it, and hostile content as text', async () => {
    const { id, say, answer, own } = await chatWith(hostile)
    await say(hostile)
    const url = 'https://example.com/of/somebody'
    const card = { title: 'Pump', subtitle: hostile, imageUrl: url, actions: [] }
    const actions = [
      { action: 'say', label: 'Order', value: 'I order it' },
      { action: 'url', label: 'Manual', value: 'javascript:alert(3)' },
    ]
    const options = [{ label: 'The pump', value: 'pump' }]
    const markdown = `# Heading\n\n*emphasis* [link](https://example.com) ![picture](${url})\n\n| a |\n|---|\n| cell |\n\n${hostile}`
    await answer('text', {
      text: 'Read **this** at https://example.com/a?b=1, or javascript:alert(5).',
    })
    await answer('markdown', { markdown })
    await answer('image', { imageUrl: url, title: 'An image' })
    await answer('audio', { audioUrl: url, title: 'A recording' })
    await answer('video', { videoUrl: url, title: 'A film' })
    await answer('file', { fileUrl: 'javascript:alert(4)', title: 'A manual' })
    await answer('location', { latitude: 59.97, longitude: 10.74, title: 'Workshop' })
    await answer('card', { ...card, actions })
    await answer('carousel', { items: [card, { title: 'Valve', actions: [] }] })
    await answer('choice', { text: 'Which one?', options })
    await answer('dropdown', { text: 'Which of these?', options })
    await answer('bloc', { items: [{ type: 'text', payload: { text: 'In a bloc' } }] })
    await own.writeBotLogs({
      logs: [{ level: 'error', message: hostile, conversationId: id }],
    })
    const { page, open, faults, expectAccessible } = await openDashboard(server(), { height: 6000 })
    await open(`conversations/${id}`)
    const transcript = page.getByLabel('Transcript')
    await transcript.getByText('emphasis').waitFor()
    expect(await transcript.locator('em').textContent()).toBe('emphasis')
    expect(await transcript.locator('strong', { hasText: /^this$/ }).count()).toBe(1)
    expect(await transcript.getByRole('cell').textContent()).toBe('cell')
    for (const name of [
      'https://example.com/a?b=1',
      'An image',
      'A recording',
      'A film',
      '59.97, 10.74',
    ]) {
      expect(await transcript.getByRole('link', { name }).count()).toBe(1)
    }
    for (const text of ['A manual', 'Manual', 'Order', 'Valve', 'The pump', 'In a bloc']) {
      expect(await transcript.getByText(text, { exact: true }).count()).toBeGreaterThan(0)
    }
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
    expect(await transcript.locator('img, audio, video').count()).toBe(0)
    await expectAccessible()
    await page.getByRole('button', { name: 'Raw', exact: true }).click()
    await transcript.getByText('"markdown": "# Heading').first().waitFor()
    expect(page.url()).toContain('view=raw')
    await page.getByRole('button', { name: 'Logs', exact: true }).click()
    await transcript.getByText('Error', { exact: true }).waitFor({ state: 'detached' })
    await page.reload()
    await transcript.getByText('"markdown": "# Heading').first().waitFor()
    expect(await transcript.getByText('Error', { exact: true }).count()).toBe(0)
    expect(faults).toEqual([])
  })

  it('writes as the bot and as a user, and shows what comes in meanwhile', async () => {
    const { id, say, userId } = await chatWith('Grace', bots.as('echo').url)
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    const streamed = page.waitForResponse((response) => response.url().endsWith(`/${id}/stream`))
    await open(`conversations/${id}`)
    expect((await streamed).status()).toBe(200)
    const transcript = page.getByLabel('Transcript')
    await page.getByText('Nothing was written in this conversation yet.').waitFor()
    await page.getByLabel('Message', { exact: true }).fill('An operator speaks')
    await page.keyboard.press('Enter')
    await transcript.getByText('An operator speaks').waitFor()
    await page.getByLabel('Write as').selectOption('Grace')
    await page.getByLabel('Message', { exact: true }).fill('A person speaks')
    await page.getByRole('button', { name: 'Send as the user' }).click()
    await transcript.getByText('A person speaks').waitFor()
    await say('From elsewhere')
    await transcript.getByText('From elsewhere').waitFor()
    await page
      .getByRole('button', { name: /^Delivered to the bot/ })
      .nth(1)
      .waitFor()
    await expectAccessible()
    const { entries } = await server()
      .client()
      .getConversationTimeline({ id, kinds: ['message'] })
    expect(
      entries.map((entry) => entry.kind === 'message' && entry.message.direction).slice(0, 3),
    ).toEqual(['outgoing', 'incoming', 'incoming'])
    await page.getByRole('link', { name: 'About' }).click()
    await page.getByText(userId).first().waitFor()
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('opens a link to a message of a long conversation, and loads in both directions', async () => {
    const { id, botId, own } = await chatWith('Long')
    const said: string[] = []
    for (let first = 0; first < 300; first += 100) {
      const { messages } = await own.importMessages({
        messages: Array.from({ length: 100 }, (_, index) => ({
          conversationId: id,
          userId: botId,
          type: 'text',
          payload: { text: `Message number ${first + index}` },
          tags: { number: String(first + index) },
          discriminateByTags: ['number'],
          createdAt: new Date(Date.UTC(2026, 0, 1) + (first + index) * 1000).toISOString(),
        })),
      })
      said.push(...messages.map((message) => message.id))
    }
    const { page, open, faults } = await openDashboard(server())
    await open(`conversations/${id}?message=${said[150]}`)
    const transcript = page.getByLabel('Transcript')
    const marked = transcript.locator('[aria-current="true"]')
    await marked.getByText('Message number 150', { exact: true }).waitFor()
    expect(await marked.isVisible()).toBe(true)
    await page.getByRole('button', { name: 'To the end' }).click()
    await transcript.getByText('Message number 299', { exact: true }).waitFor()
    expect(page.url()).not.toContain('message=')
    for (;;) {
      if (await transcript.getByText('The conversation begins here.').isVisible()) break
      await page.evaluate(`document.querySelector('[aria-label="Transcript"]').scrollTo(0, 0)`)
      await page.evaluate('new Promise(requestAnimationFrame)')
    }
    await transcript.getByText('Message number 0', { exact: true }).waitFor()
    const made = await transcript.locator('[data-entry]').count()
    expect(made).toBeLessThan(60)
    expect(faults).toEqual([])
  })

  it('goes through the filter by keys, and tells of new conversations', async () => {
    const first = await chatWith('Filtered first')
    await first.own.updateConversation({ id: first.id, tags: { team: 'red' } })
    const second = await chatWith('Filtered second')
    await second.own.updateConversation({ id: second.id, tags: { team: 'red' } })
    const { page, open, faults } = await openDashboard(server())
    await open('conversations?tags=team%3Dred')
    await page.getByRole('link', { name: 'Filtered' }).nth(1).waitFor()
    expect(await page.getByRole('row').count()).toBe(3)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/conversations/${second.id}?tags=*`)
    await page.getByRole('heading', { name: 'Filtered second' }).waitFor()
    await page.keyboard.press(']')
    await page.waitForURL(`**/conversations/${first.id}?tags=*`)
    await page.getByRole('heading', { name: 'Filtered first' }).waitFor()
    await page.keyboard.press(']')
    await page.getByText('There is no next conversation in this filter.').waitFor()
    await page.keyboard.press('[')
    await page.waitForURL(`**/conversations/${second.id}?tags=*`)
    await page.getByRole('heading', { name: 'Filtered second' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/conversations\?tags=/)
    expect(faults).toEqual([])
  })

  it('finds words that were said, and exports what is found', async () => {
    const { say } = await chatWith('Finder')
    await say('My heliotrope needs water')
    await (await chatWith('Somebody else')).say('Nothing to find')
    const { page, open, faults, expectAccessible } = await openDashboard(server())
    await open('conversations')
    await page.getByRole('link', { name: 'Somebody else' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('Heliotrope water')
    await page.getByRole('link', { name: 'Somebody else' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Finder' }).waitFor()
    expect(page.url()).toContain('text=Heliotrope+water')
    // Of messages that are not indexed yet, only some are read; the total says so.
    server().clock.advance(15_000)
    await eventually(async () => {
      const query = { text: 'Heliotrope water' }
      const { meta } = await server().client().listWorkspaceConversations(query)
      expect(meta.total).toEqual({ count: 1, accuracy: 'exact' })
    })
    await page.reload()
    await page.getByRole('link', { name: 'Finder' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)

    await page.getByRole('button', { name: 'Export' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('the one conversation that matches').waitFor()
    await expectAccessible()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Export' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^conversations-[\d-]+\.jsonl$/)
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['conversation', 'message', 'end'])
    await page.getByText('One conversation was exported.').waitFor()
    expect(faults).toEqual([])
  })

  it.each([
    [360, 640],
    [3840, 2160],
  ])('fits on a screen of %i by %i', async (width, height) => {
    const { id, say } = await chatWith(`${hostile}${width}`, bots.as('refusing').url)
    await say(hostile.repeat(5))
    const { page, open, faults, expectAccessible } = await openDashboard(server(), {
      width,
      height,
      colorScheme: 'dark',
    })
    await open('conversations')
    await page.getByRole('link', { name: `${hostile}${width}` }).waitFor()
    await expectAccessible()
    await open(`conversations/${id}`)
    await page.getByRole('button', { name: 'Replay' }).waitFor()
    const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrolled).toBeLessThanOrEqual(width)
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('lists all states of a conversation, and all files that its users sent', async () => {
    const { id, chat, own, say } = await chatWith('Carol')
    const payload = { type: 'file' as const, fileUrl: 'https://example.com/old.pdf' }
    await chat.chatCreateMessage({ conversationId: id, payload })
    for (let at = 0; at < 100; at += 1) await say(`Message ${at}`)
    for (let at = 0; at < 101; at += 1) {
      await own.setState({ type: 'conversation', id, name: `state${at}`, payload: { at } })
    }
    const { page, open, faults } = await openDashboard(server(), { width: 1800 })
    await open(`conversations/${id}`)
    const about = page.getByRole('complementary', { name: 'About the conversation' })
    const states = about.locator('details', { hasText: 'States' })
    await states.locator('summary').first().click()
    await vi.waitFor(async () => expect(await states.getByText(/^Set /).count()).toBe(100))
    await states.getByRole('button', { name: 'Show more' }).click()
    await vi.waitFor(async () => expect(await states.getByText(/^Set /).count()).toBe(101))

    const files = about.locator('details', { hasText: 'Files they sent' })
    await files.locator('summary').click()
    await files.getByText('None in the newest messages.').waitFor()
    await files.getByRole('button', { name: 'Show more' }).click()
    await files.getByRole('link', { name: 'File' }).waitFor()
    expect(await about.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    expect(faults).toEqual([])
  })
})
