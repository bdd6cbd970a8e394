import { createClient } from '@botpress/webchat-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/platform/db/open.js'
import { browserPath } from '../browser.js'
import { useServer } from '../harness.js'
import { useHttpBots } from '../http-bot.js'
import { webchatAddress } from '../webchats.js'
import { openWidget } from '../widget.js'
import {
  delivered,
  meetInWidget,
  onePixel,
  sendComposed,
  storedState,
  textsOf,
  write,
} from '../widget-chats.js'

const title =
  browserPath === undefined
    ? 'the content of the widget (skipped: no Chromium here)'
    : 'the content of the widget'

describe.skipIf(browserPath === undefined)(title, () => {
  const server = useServer()
  const bots = useHttpBots()
  let database: Database
  beforeAll(async () => {
    database = await openDatabase({ file: `${server().server.config.dataDir}/botstead.db` })
  })
  afterAll(() => database.close())

  const meet = () => meetInWidget(server(), { notified: bots.as('echo') })

  /** The client of the web chat as the user of a page. */
  async function clientOf({ page, bot }: Awaited<ReturnType<typeof meet>>) {
    const { user } = await storedState(page, bot.webhookId)
    const { userToken: userKey } = user
    return createClient({ ...webchatAddress(server(), bot.webhookId), userKey })
  }

  it('includes payloads of foreign types and shapes as texts', async () => {
    const { page, bot, faults } = await meet()
    await write(page, 'Hello')
    await delivered(page)
    const foreign = [
      { type: 'hologram', payload: { text: 'A hologram', depth: 3 }, shown: 'A hologram' },
      { type: 'whistle', payload: { notes: [1, 2] }, shown: '[whistle]' },
      {
        type: 'card',
        payload: { title: 'A card without buttons' },
        shown: 'A card without buttons',
      },
      {
        type: 'bloc',
        payload: { items: [{ type: 'hologram', payload: { text: 'A part' } }] },
        shown: 'A part',
      },
    ]
    // As another version of the server, or another server, may have stored them.
    for (const { type, payload } of foreign) {
      const { id } = await bot.say('text', { text: 'placeholder' })
      const content = { type, payload: JSON.stringify(payload) }
      await database.run(async (tx) => {
        await tx.updateTable('messages').set(content).where('id', '=', id).execute()
      })
    }
    await page.reload()
    await page.getByText('A hologram', { exact: true }).waitFor()
    expect(await textsOf(page)).toEqual(['Hello', ...foreign.map(({ shown }) => shown)])
    await write(page, 'I see')
    await vi.waitFor(async () =>
      expect((await bot.received()).map(({ text }) => text)).toEqual(['Hello', 'I see']),
    )
    expect(faults()).toEqual([])
  })

  it('runs the script of a custom message of the bot, and of nobody else', async () => {
    const met = await meet()
    const { page, address, bot, faults } = met
    await write(page, 'Hello')
    await delivered(page)
    const url = `${address}greeting.js`
    const script = `export default ({ name }) => React.createElement('output', {}, 'Good day, ' + name)`
    const body = { contentType: 'text/javascript', body: script }
    await page.route(url, (route) => route.fulfill(body))
    await bot.say('custom', { url, name: 'greeting', data: { name: 'Ada' } })
    const greeting = page.locator('output', { hasText: 'Good day, Ada' })
    await greeting.waitFor()
    await page.reload()
    await greeting.waitFor()

    const client = await clientOf(met)
    const conversationId = await bot.conversationId()
    const payload = { type: 'custom' as const, url, name: 'greeting', data: { name: 'Eve' } }
    const parts = [{ type: 'custom', payload: { url, name: 'greeting' } }]
    const bloc = { type: 'bloc', items: parts } as unknown as typeof payload
    const { message } = await client.createMessage({
      conversationId,
      payload: { type: 'text', text: 'Mine' },
    })
    const refusal = { type: 'InvalidPayload', code: 400 }
    for (const given of [payload, bloc]) {
      const created = client.createMessage({ conversationId, payload: given })
      await expect(created).rejects.toMatchObject(refusal)
      const updated = client.updateMessage({ messageId: message.id, payload: given })
      await expect(updated).rejects.toMatchObject(refusal)
    }
    await page.getByText('Mine', { exact: true }).waitFor()
    expect(await page.locator('output').count()).toBe(1)
    expect((await bot.received()).map(({ text }) => text)).toEqual(['Hello', 'Mine'])
    expect(faults()).toEqual([])
  })

  it('has a file and a text in one message, also after a reload', async () => {
    const { page, bot, faults } = await meet()
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: onePixel },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('content') },
    ])
    // The widget leaves out files that are still being uploaded.
    await page.locator('[data-status=uploaded]').nth(1).waitFor()
    await page.locator('textarea.bpComposerInput').fill('A dot, and notes')
    await sendComposed(page)
    await delivered(page)
    await vi.waitFor(async () =>
      expect(await bot.notifiedOf('message_created')).toMatchObject([
        {
          message: {
            type: 'bloc',
            payload: {
              items: [
                { type: 'image', payload: { imageUrl: expect.any(String) } },
                { type: 'file', payload: { fileUrl: expect.any(String) } },
                { type: 'text', payload: { text: 'A dot, and notes' } },
              ],
            },
          },
        },
      ]),
    )
    const [{ items }] = (await bot.received()) as [{ items: { payload: Record<string, string> }[] }]
    const [{ imageUrl = '' } = {}, { fileUrl = '' } = {}] = items.map(({ payload }) => payload)
    const contentOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
    expect(await contentOf(imageUrl)).toEqual(onePixel)
    expect((await contentOf(fileUrl)).toString()).toBe('content')
    const isShown = async () => {
      await page.getByText('A dot, and notes', { exact: true }).waitFor()
      await page.locator(`a[href="${fileUrl}"]`).waitFor()
      const picture = page.locator(`img[src="${imageUrl}"]`).first()
      await picture.waitFor()
      await vi.waitFor(async () =>
        expect(await picture.evaluate((image) => Object(image).naturalWidth)).toBe(1),
      )
    }
    await isShown()
    await page.reload()
    await isShown()
    expect(await textsOf(page)).toEqual(['A dot, and notes'])
    expect(faults()).toEqual([])
  })

  it('can be rated, with a comment, and the rating can be withdrawn', async () => {
    const met = await meet()
    const { page, bot, faults } = met
    await write(page, 'Hello')
    await delivered(page)
    const { id: messageId, conversationId } = await bot.say('text', { text: 'An answer' })
    const thumb = (at: number) => page.locator('.bpMessageBlocksBubbleFeedbackIcon').nth(at)
    const [up, down] = [thumb(0), thumb(1)]
    const isSelected = async (icon: typeof up, value: boolean) =>
      await icon.and(page.locator(`[data-selected=${value}]`)).waitFor()
    const client = await clientOf(met)
    const stored = async () => (await client.getMessage({ messageId })).message.feedback
    /** Waits until the bot was notified of all ratings so far. */
    const ratings: { value: string | null; comment?: string }[] = []
    const bothKnow = async (rating: (typeof ratings)[number]) => {
      ratings.push(rating)
      const payloads = ratings.map((each) => ({ ...each, messageId, conversationId }))
      await vi.waitFor(async () =>
        expect(await bot.notifiedOf('chat:messageFeedback')).toMatchObject(payloads),
      )
      expect(await stored()).toEqual(rating.value === null ? undefined : rating)
    }

    await up.click()
    await bothKnow({ value: 'positive' })
    await isSelected(up, true)
    await down.click()
    await page.locator('.bpModalContentTextArea').fill('Too *short*')
    await page.locator('.bpModalButtonConfirm').click()
    await bothKnow({ value: 'negative', comment: 'Too *short*' })
    await isSelected(down, true)
    await isSelected(up, false)
    await page.reload()
    await page.getByText('An answer').waitFor()
    await isSelected(down, true)

    // The widget has no button for this.
    await client.removeMessageFeedback({ messageId })
    await bothKnow({ value: null })
    await isSelected(down, false)
    await write(page, 'Still here')
    await vi.waitFor(async () =>
      expect((await bot.received()).map(({ text }) => text)).toEqual(['Hello', 'Still here']),
    )
    expect((await bot.client.listConversations({})).conversations).toHaveLength(1)
    expect(faults()).toEqual([])
  })

  it('has buttons that send their text and value to the bot, and links that send nothing', async () => {
    const { page, address, bot, faults } = await meet()
    await write(page, 'Hello')
    await delivered(page)
    const linked = `${address}linked`
    await page.context().route(`${linked}**`, (route) => route.fulfill({ body: 'Linked' }))
    await bot.say('card', {
      title: 'A card',
      actions: [
        { action: 'url', label: 'Visit', value: linked },
        { action: 'say', label: 'Say it', value: 'said' },
        { action: 'postback', label: 'Post it', value: 'posted' },
      ],
    })
    await bot.say('carousel', {
      items: [
        { title: 'One', actions: [{ action: 'postback', label: 'Take one', value: '1' }] },
        { title: 'Two', actions: [{ action: 'url', label: 'See two', value: `${linked}/2` }] },
      ],
    })
    await bot.say('choice', { text: 'Tea?', options: [{ label: 'Yes', value: 'yes' }] })
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const visit = async (name: string) => {
      const opened = page.context().waitForEvent('page')
      await page.getByText(name, { exact: true }).click()
      const other = await opened
      await other.waitForLoadState()
      const url = other.url()
      await other.close()
      return url
    }
    const presses: Record<string, unknown>[] = []
    const pressed = async (text: string, value: string) => {
      await press(text)
      presses.push({ type: 'text', payload: { text, value } })
      const hello = { type: 'text', payload: { text: 'Hello' } }
      await vi.waitFor(async () =>
        expect(
          (await bot.notifiedOf('message_created')).map(({ message }) => message),
        ).toMatchObject([hello, ...presses]),
      )
    }
    expect(await visit('Visit')).toBe(linked)
    await pressed('Say it', 'said')
    await pressed('Post it', 'posted')
    expect(await visit('See two')).toBe(`${linked}/2`)
    await pressed('Take one', '1')
    await pressed('Yes', 'yes')
    expect(await textsOf(page)).toEqual(expect.arrayContaining(['Say it', 'Post it', 'Take one']))
    expect(faults()).toEqual([])
  })

  it('includes events of the page for the bot', async () => {
    const { page, bot } = await meet()
    const { user, conversationId } = await storedState(page, bot.webhookId)
    const headless = await openWidget({
      ...webchatAddress(server(), bot.webhookId, 'chat'),
      user,
      isHeadless: true,
    })
    await headless.page.getByText('connected', { exact: true }).waitFor()
    await headless.page.evaluate('window.webchat.client.sendEvent({ cart: 3 })')
    const sentIn: string = await headless.page.evaluate('window.webchat.conversationId')
    expect(sentIn).not.toBe(conversationId)
    await vi.waitFor(async () =>
      expect(await bot.notifiedOf('chat:custom')).toMatchObject([
        { conversationId: sentIn, payload: { type: 'custom', data: { cart: 3 } } },
      ]),
    )
  })
})
