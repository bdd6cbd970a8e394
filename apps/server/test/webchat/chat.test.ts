import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useWebchats, type Webchats } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
const picture =
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="30" height="16"/>'

describe.skipIf(browserPath === undefined)(`the chat ${title}`, () => {
  const chats = useWebchats()
  let chat: Webchats

  beforeEach(() => {
    chat = chats()
    chat.chatServer.received.length = 0
  })

  async function openChat(attributes = '', lang = 'en') {
    const opened = await chat.open({
      html: `<!doctype html><html lang="${lang}"><title>Shop</title><body><main><h1>Shop</h1></main>${chat.script(`data-open data-language="en" ${attributes}`)}</body></html>`,
    })
    await opened.page.getByRole('button', { name: 'Add files' }).waitFor()
    return opened
  }

  const log = (page: Page) => page.getByRole('log', { name: 'Messages' })
  async function write(page: Page, text: string) {
    await page.getByRole('textbox', { name: 'Message' }).fill(text)
    await page.keyboard.press('Enter')
  }

  it('shows every type of message, and unknown types as text', async () => {
    const { page, faults, expectAccessible } = await openChat()
    const { chatServer } = chat
    await write(page, `Hello ${hostile}`)
    await log(page).getByText(hostile).waitFor()
    chatServer.sendAsBot({
      type: 'markdown',
      markdown: `# Title\n\nA **bold** [link](https://a.example) ${hostile}`,
    })
    const link = log(page).getByRole('link', { name: 'link' })
    expect(await link.getAttribute('rel')).toContain('noopener')
    chatServer.sendAsBot({ type: 'text', text: '[bad](javascript:alert(1)) &lt;ok&gt;' })
    await log(page).getByText('bad <ok>').waitFor()
    expect(await log(page).getByRole('link', { name: 'bad' }).count()).toBe(0)
    chatServer.sendAsBot({ type: 'image', imageUrl: picture, title: 'A picture' })
    await log(page).getByRole('img', { name: 'A picture' }).waitFor()
    chatServer.sendAsBot({ type: 'audio', audioUrl: 'data:audio/wav;base64,', title: 'A song' })
    await log(page).getByLabel('A song').waitFor()
    chatServer.sendAsBot({ type: 'video', videoUrl: 'data:video/mp4;base64,', title: 'A film' })
    await log(page).getByLabel('A film').waitFor()
    chatServer.sendAsBot({ type: 'file', fileUrl: 'https://a.example/manual.pdf', title: 'Manual' })
    await log(page).getByRole('link', { name: 'Open Manual' }).waitFor()
    chatServer.sendAsBot({ type: 'location', latitude: 46.9, longitude: 7.4, title: 'Bern' })
    await log(page).getByText('Bern').waitFor()
    chatServer.sendAsBot({
      type: 'bloc',
      items: [
        { type: 'text', payload: { text: 'a nested part' } },
        { type: 'text', text: 'a flat part' },
        { type: 'image', payload: { imageUrl: 'javascript:alert(1)', title: 'No picture' } },
      ],
    })
    await log(page).getByText('a nested part').waitFor()
    await log(page).getByText('a flat part').waitFor()
    await log(page).getByText('No picture').waitFor()
    chatServer.sendAsBot({
      type: 'custom',
      url: `${chatServer.url}/evil.js`,
      name: 'evil',
      text: 'in words',
    })
    await log(page).getByText('in words').waitFor()
    chatServer.sendAsBot({ type: 'something', what: hostile })
    await log(page).getByText('This message cannot be shown here.').waitFor()
    chatServer.sendAsBot({ type: 'text' })
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('shows malformed and hostile messages without an error', async () => {
    const { page, faults } = await openChat()
    const { chatServer } = chat
    const things = [
      undefined,
      null,
      'text',
      7,
      true,
      {},
      { title: {} },
      [],
      [null, 1, {}, { type: {} }],
    ]
    const members = (value: unknown) =>
      ['text', 'markdown', 'title', 'subtitle', 'items', 'options', 'actions', 'label', 'value']
        .concat([
          'imageUrl',
          'audioUrl',
          'videoUrl',
          'fileUrl',
          'latitude',
          'address',
          'payload',
          'data',
        ])
        .map((name) => [name, value])
    const types = [
      'text',
      'markdown',
      'image',
      'audio',
      'video',
      'file',
      'location',
      'card',
      'carousel',
    ].concat(['choice', 'dropdown', 'bloc', 'custom', 'constructor', ''])
    for (const thing of things) {
      chatServer.sendAsBot(Object(thing))
      for (const type of types)
        chatServer.sendAsBot({ ...Object.fromEntries(members(thing)), type })
    }
    chatServer.signal('message_created', {})
    chatServer.signal('message_updated', { id: 'x', payload: null })
    chatServer.signal('message_status_changed', { newStatus: 'processing' })
    chatServer.signal('participant_added', {})
    chatServer.signal('webchat_config', {
      config: { botName: {}, suggestedQuestions: 'x', email: 'y' },
    })
    const link = 'https://a.example'
    chatServer.signal('webchat_config', {
      config: { email: { title: { toString: 1 }, link }, website: { title: 'a', link: {} } },
    })
    chatServer.signal('webchat_visibility', { visibility: 'elsewhere' })
    chatServer.signal('error', {})
    chatServer.signal('something_new', {})
    let nested: Record<string, unknown> = { type: 'text', text: 'inside' }
    for (let depth = 0; depth < 50; depth++) nested = { type: 'bloc', items: [nested] }
    chatServer.sendAsBot(nested as { type: string })
    chatServer.sendAsBot({ type: 'text', text: `${'>'.repeat(15_000)} deep` })
    chatServer.sendAsBot({ type: 'text', text: 'Still there' })
    await log(page).getByText('Still there').waitFor()
    await page.reload()
    await log(page).getByText('Still there').waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await log(page).getByText('Still there').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  it('shows messages on a page whose language is no valid tag', async () => {
    const { page, faults } = await openChat('', 'en_US')
    chat.chatServer.sendAsBot({ type: 'text', text: 'Welcome' })
    await log(page).getByText('Welcome').waitFor()
    expect(faults).toEqual([])
  })

  it('sends the pressed option of choices, lists and cards', async () => {
    const { page, faults, expectAccessible } = await openChat()
    const { chatServer } = chat
    const sent = () => chatServer.calls('POST', '/messages').map(({ body }) => body.payload)
    chatServer.sendAsBot({
      type: 'choice',
      text: 'Which one?',
      options: [
        { label: 'Tea', value: 'tea-1' },
        { label: 'Coffee', value: 'coffee-1' },
      ],
    })
    await page.getByRole('button', { name: 'Tea' }).click()
    await vi.waitFor(() => expect(sent()).toEqual([{ type: 'text', text: 'Tea', value: 'tea-1' }]))
    expect(await page.getByRole('button', { name: 'Coffee' }).isDisabled()).toBe(true)
    chatServer.sendAsBot({
      type: 'dropdown',
      text: 'What size?',
      options: [
        { label: 'Large', value: 'l1' },
        { label: 'Large', value: 'l2' },
      ],
    })
    await page.getByRole('combobox', { name: 'What size?' }).selectOption({ index: 1 })
    await page.getByRole('button', { name: 'Choose' }).click()
    await vi.waitFor(() => expect(sent()[1]).toEqual({ type: 'text', text: 'Large', value: 'l2' }))
    await page.getByText('Chosen: Large').waitFor()
    const card = (number: number) => ({
      title: `Card ${number}`,
      subtitle: 'with a picture',
      imageUrl: picture,
      actions: [
        { action: 'postback', label: `Take ${number}`, value: `take-${number}` },
        { action: 'url', label: 'Look', value: 'https://a.example/' },
      ],
    })
    chatServer.sendAsBot({ type: 'carousel', items: [card(1), card(2), card(3)] })
    await page.getByRole('button', { name: 'Next card' }).click()
    await page.getByRole('button', { name: 'Take 2' }).click()
    await vi.waitFor(() =>
      expect(sent()[2]).toEqual({ type: 'text', text: 'Take 2', value: 'take-2' }),
    )
    await expectAccessible()
    expect(faults).toEqual([])
  })

  it('shows a growing message in one bubble, and announces it once', async () => {
    const { page, faults } = await openChat()
    const { chatServer } = chat
    await write(page, 'Tell me')
    await log(page).getByText('Tell me').waitFor()
    chatServer.signal('typing_started', {})
    await log(page).getByText('is writing').waitFor()
    const message = chatServer.sendAsBot({ type: 'text', text: 'Once' })
    await log(page).getByText('is writing').waitFor({ state: 'detached' })
    const texts = ['Once upon', 'Once upon a', 'Once upon a time']
    for (const text of texts) {
      chatServer.signal('message_updated', { ...message, payload: { type: 'text', text } })
    }
    await log(page).getByText('Once upon a time', { exact: true }).waitFor()
    expect(await log(page).getByText('Once').count()).toBe(1)
    const announcement = page.getByRole('status').filter({ hasText: 'Once' })
    await announcement.waitFor({ state: 'attached' })
    expect(await announcement.textContent()).toContain('said: Once upon a time')
    const own = chatServer.conversations.at(-1)?.messages.at(-2)
    chatServer.signal('message_deleted', { id: message.id })
    await log(page).getByText('Once').waitFor({ state: 'detached' })
    // That it is stored does not mean that the bot has it.
    chatServer.signal('message_status_changed', { message: own, newStatus: 'processing' })
    await log(page).getByText('Sent').waitFor()
    chatServer.signal('message_status_changed', { message: own, newStatus: 'processed' })
    await log(page).getByText('Delivered').waitFor()
    expect(faults).toEqual([])
  })

  it('announces the first message of the bot', async () => {
    const { page } = await openChat()
    chat.chatServer.sendAsBot({ type: 'text', text: 'Welcome' })
    const announcement = page.getByRole('status').filter({ hasText: 'said: Welcome' })
    await announcement.waitFor({ state: 'attached' })
  })

  it('rates messages, and removes the rating', async () => {
    const { page, faults } = await openChat()
    const { chatServer } = chat
    const { id } = chatServer.sendAsBot({ type: 'text', text: 'Was that good?' })
    const thumb = page.getByRole('button', { name: 'Helpful', exact: true })
    await thumb.click()
    await vi.waitFor(() =>
      expect(chatServer.calls('PUT', `/messages/${id}/feedback`)).toMatchObject([
        { body: { value: 'positive' } },
      ]),
    )
    expect(await thumb.getAttribute('aria-pressed')).toBe('true')
    await thumb.click()
    await vi.waitFor(() =>
      expect(chatServer.calls('DELETE', `/messages/${id}/feedback`)).toHaveLength(1),
    )
    expect(faults).toEqual([])
  })

  it('uploads files and sends them with a text', async () => {
    const { page, faults } = await openChat()
    const { chatServer } = chat
    const file = (name: string, mimeType: string) => ({ name, mimeType, buffer: Buffer.from(name) })
    await page
      .locator('input[type=file]')
      .setInputFiles([file('a.png', 'image/png'), file('b.pdf', 'application/pdf')])
    await page.getByText('b.pdf is ready to be sent').first().waitFor()
    await page.getByText('a.png is ready to be sent').first().waitFor()
    const announced = chatServer.calls('POST', '/files').map(({ body }) => body)
    expect(announced.find(({ contentType }) => contentType === 'image/png')).toMatchObject({
      size: 5,
      accessPolicies: ['public_content'],
      index: false,
    })
    await write(page, 'Two files')
    const sent = () => chatServer.calls('POST', '/messages').at(-1)?.body.payload
    await vi.waitFor(() =>
      expect(sent()).toMatchObject({
        type: 'bloc',
        items: [
          { type: 'image', payload: { fileId: expect.any(String) } },
          { type: 'file', payload: { title: 'b.pdf' } },
          { type: 'text', payload: { text: 'Two files' } },
        ],
      }),
    )
    await log(page).getByRole('link', { name: 'Open b.pdf' }).waitFor()

    // A file that would be refused again shows the reason, and is not tried again.
    for (const [status, reason] of [
      [413, 'c.txt is too large for this chat'],
      [415, 'c.txt is of a type that this chat does not accept'],
    ] as const) {
      chatServer.refuseNext('/files', status, 'Refused')
      await page.locator('input[type=file]').setInputFiles([file('c.txt', 'text/plain')])
      await page.getByText(reason).first().waitFor()
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Remove c.txt' }).click()
    }
    chatServer.refuseNext('/files', 503, 'Later')
    await page.locator('input[type=file]').setInputFiles([file('c.txt', 'text/plain')])
    await page.getByText('c.txt could not be uploaded').first().waitFor()
    await write(page, 'Too early')
    await page.getByText('Files are not ready yet').waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('c.txt is ready to be sent').first().waitFor()
    await page.getByRole('button', { name: 'Remove c.txt' }).click()
    await page.getByText('c.txt').first().waitFor({ state: 'detached' })
    const dropped = await page.evaluateHandle(
      `(() => { const data = new DataTransfer(); data.items.add(new File(['d'], 'd.txt')); return data })()`,
    )
    await page.locator('.messages').dispatchEvent('drop', { dataTransfer: dropped })
    await page.getByText('d.txt is ready to be sent').first().waitFor()
    await page.getByRole('button', { name: 'Remove d.txt' }).click()
    const many = Array.from({ length: 9 }, (_, index) => file(`${index}.txt`, 'text/plain'))
    await page.locator('input[type=file]').setInputFiles(many)
    await page.getByText('At most 8 files can be sent at once.').waitFor()
    expect(faults.filter((fault) => !/ (413|415|503) /.test(fault))).toEqual([])
  })

  it('writes each text in the direction of its first letter', async () => {
    const { page } = await openChat('data-greeting="Hello, who is there?"')
    const { chatServer } = chat
    // Whether the punctuation at the end of a text is to the right of its first letter.
    const endsAtTheRight = async (text: string) => {
      await page.getByText(text).first().waitFor()
      return await page.evaluate<boolean>(`(() => {
        const { shadowRoot } = document.querySelector('botstead-webchat')
        const paragraphs = [...shadowRoot.querySelectorAll('.bubble p')]
        const { firstChild } = paragraphs.find((each) => each.textContent === '${text}')
        const placeOf = (offset) => {
          const range = document.createRange()
          range.setStart(firstChild, offset)
          range.setEnd(firstChild, offset + 1)
          return range.getBoundingClientRect().x
        }
        return placeOf(firstChild.length - 1) > placeOf(0)
      })()`)
    }
    const sideOfTitle = async () =>
      await page.evaluate<string>(`(() => {
        const title = document.querySelector('botstead-webchat').shadowRoot.querySelector('h2')
        const range = document.createRange()
        range.selectNodeContents(title)
        const [box, text] = [title, range].map((each) => each.getBoundingClientRect())
        return text.left - box.left < box.right - text.right ? 'left' : 'right'
      })()`)
    await write(page, 'Hello to you.')
    chatServer.sendAsBot({ type: 'text', text: 'هل تحتاج إلى المساعدة؟' })
    for (const language of ['en', 'ar']) {
      await page.evaluate(`window.botpress.config({ configuration: { language: '${language}' } })`)
      await page.locator(`.chat:lang(${language})`).waitFor()
      expect(await endsAtTheRight('Hello, who is there?')).toBe(true)
      expect(await endsAtTheRight('Hello to you.')).toBe(true)
      expect(await endsAtTheRight('هل تحتاج إلى المساعدة؟')).toBe(false)
      expect(await sideOfTitle()).toBe(language === 'ar' ? 'right' : 'left')
    }
  })

  it('starts new conversations and opens earlier ones', async () => {
    const { page, faults, expectAccessible } = await openChat()
    const { chatServer } = chat
    await write(page, 'The first one')
    await log(page).getByText('The first one').waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await log(page).getByText('The first one').waitFor({ state: 'detached' })
    await write(page, 'The second one')
    await log(page).getByText('The second one').waitFor()
    const used = () => chatServer.calls('POST', '/messages').map(({ body }) => body.conversationId)
    await vi.waitFor(() => expect(new Set(used()).size).toBe(2))
    await page.getByRole('button', { name: 'Earlier conversations' }).click()
    await page.getByRole('button', { name: /The second one.*this conversation/ }).waitFor()
    await expectAccessible()
    await page.getByRole('button', { name: 'The first one' }).click()
    await log(page).getByText('The first one').waitFor()
    await page.reload()
    await log(page).getByText('The first one').waitFor()
    // The list is one of the messages of a single user.
    expect(new Set(chatServer.calls('POST', '/messages').map(({ key }) => key)).size).toBe(1)
    expect(faults).toEqual([])
  })

  it('hides the field of a closed conversation', async () => {
    const { page } = await openChat()
    chat.chatServer.sendAsBot(
      { type: 'text', text: 'Bye' },
      { metadata: { conversationStatus: 'closed' } },
    )
    await page.getByText('This conversation is closed.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0)
  })
})
