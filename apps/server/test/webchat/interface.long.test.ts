import { beforeEach, describe, expect, it, vi } from 'vitest'
import { browserPath } from '../browser.js'
import { useWebchats, type Webchats } from './page.js'

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

const events = [
  'webchat:initialized',
  'webchat:ready',
  'webchat:opened',
  'webchat:closed',
  'conversation',
  'message',
  'messageSent',
  'webchatVisibility',
  'webchatConfig',
  'customEvent',
  'isTyping',
]

describe.skipIf(browserPath === undefined)(`window.botpress ${title}`, () => {
  const chats = useWebchats()
  let chat: Webchats

  beforeEach(() => {
    chat = chats()
    chat.chatServer.received.length = 0
  })

  const site = (script: string, attributes = 'data-manual') => ({
    html: `<!doctype html><html lang="en"><title>Shop</title><body><main><h1>Shop</h1><div id="here" style="width:400px;height:500px"></div></main>
      ${chat.script(attributes).replace('defer', '')}<script>
      window.events = []
      for (const name of ${JSON.stringify(events)}) window.botpress.on(name, (data) => window.events.push([name, data]))
      ${script}</script></body></html>`,
  })

  it('does all that existing pages do with it', async () => {
    const { chatServer, webhookId } = chat
    const { page, faults } = await chat.open(
      site(`window.botpress.init({
        clientId: '${webhookId}', botId: 'x',
        configuration: { botName: 'Helper', color: '#123456', language: 'en', footer: 'Small **print**' },
      })
      window.botpress.init({ configuration: { composerPlaceholder: 'Ask me' } })`),
    )
    const receivedEvents = async () =>
      (await page.evaluate<[string, unknown][]>('window.events')).map(([name]) => name)
    await page.getByRole('button', { name: 'Open the chat with Helper' }).waitFor()
    await vi.waitFor(async () =>
      expect(await receivedEvents()).toEqual(['webchat:initialized', 'webchat:ready']),
    )
    expect(chatServer.received).toEqual([])
    await page.evaluate('window.botpress.updateUser({ name: "Ada", data: { plan: "gold" } })')
    expect(chatServer.received).toEqual([])
    await page.evaluate('window.botpress.open()')
    await page.getByPlaceholder('Ask me').waitFor()
    await page.getByText('print').waitFor()
    await vi.waitFor(() =>
      expect(chatServer.calls('PUT', '/users/me')).toMatchObject([
        { body: { name: 'Ada', userData: { plan: 'gold' } } },
      ]),
    )
    await page.evaluate('window.botpress.sendMessage("by the page")')
    await page.getByRole('log').getByText('by the page').waitFor()
    await page.evaluate('window.botpress.sendMessage({ type: "image", imageUrl: "data:," })')
    await vi.waitFor(() => expect(chatServer.calls('POST', '/messages')).toHaveLength(2))
    await page.evaluate('window.botpress.sendEvent({ cart: 3 })')
    await vi.waitFor(() =>
      expect(chatServer.calls('POST', '/events').map(({ body }) => body)).toMatchObject([
        { payload: { type: 'conversation_started' } },
        {
          payload: { type: 'custom', data: { cart: 3 } },
          bindConversation: true,
          bindUser: true,
        },
      ]),
    )
    expect(await page.evaluate('window.botpress.getUser()')).toMatchObject({ name: 'Ada' })

    await page.evaluate('window.botpress.close()')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.evaluate('window.botpress.toggle()')
    await page.getByRole('dialog').waitFor()
    chatServer.signal('webchat_visibility', { visibility: 'hide' })
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    chatServer.signal('webchat_visibility', { visibility: 'show' })
    await page.getByRole('dialog', { name: 'Helper' }).waitFor()
    chatServer.signal('webchat_config', { config: { botName: 'Renamed' } })
    await page.getByRole('dialog', { name: 'Renamed' }).waitFor()
    await page.evaluate('window.botpress.config({ configuration: { botName: "Again" } })')
    await page.getByRole('dialog', { name: 'Again' }).waitFor()
    chatServer.signal('custom', { event: { hello: 1 } })
    chatServer.signal('typing_started', {})
    chatServer.sendAsBot({ type: 'text', text: 'From the bot' })
    await page.getByRole('log').getByText('From the bot').waitFor()
    const names = await receivedEvents()
    expect([...new Set(names)].sort()).toEqual([...events].sort())
    const data = new Map(await page.evaluate<[string, unknown][]>('window.events'))
    expect(data.get('customEvent')).toEqual({ hello: 1 })
    expect(data.get('conversation')).toBe(chatServer.conversations.at(-1)?.id)
    expect(data.get('message')).toMatchObject({
      authorId: 'bot',
      payload: { text: 'From the bot' },
    })

    await page.evaluate('window.botpress.restartConversation()')
    await page.getByRole('log').getByText('From the bot').waitFor({ state: 'detached' })
    await vi.waitFor(() => expect(chatServer.calls('GET', '/initialize')).toHaveLength(2))
    expect(faults).toEqual([])
  })

  it('looks as the settings say, and offers questions to begin with', async () => {
    const { chatServer } = chat
    const avatar = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>'
    const { page, faults, expectAccessible } = await chat.open(
      site(`window.botpress.init({ configuration: {
        botName: 'Helper', botAvatar: '${avatar}', botDescription: 'Knows all pumps', language: 'fr', themeMode: 'dark',
        color: '#fd0', greeting: 'Bonjour', suggestedQuestions: ['Which pump?', 'What price?'], feedbackEnabled: false,
        conversationHistory: false, allowFileUpload: false, privacyPolicy: { title: 'Privacy', link: 'https://a.example/' },
        email: { title: 'Mail', link: 'mailto:a@a.example' }, phone: { title: 'Phone', link: 'tel:+41315550100' }, additionalStylesheet: '.bubble { border-radius: 1px }',
      } })`),
    )
    await page.getByRole('button', { name: 'Ouvrir la discussion avec Helper' }).click()
    const dialog = page.getByRole('dialog', { name: 'Helper' })
    await dialog.getByText('Knows all pumps').waitFor()
    expect(await dialog.locator('.header img').getAttribute('src')).toBe(avatar)
    const styleOf = new Function(
      'element',
      'const { color, borderRadius } = getComputedStyle(element); return { color, borderRadius }',
    ) as (element: unknown) => Record<string, string>
    // Black is easier to read on yellow.
    expect(await dialog.locator('.header').evaluate(styleOf)).toMatchObject({
      color: 'rgb(0, 0, 0)',
    })
    expect(await dialog.locator('.bubble').first().evaluate(styleOf)).toMatchObject({
      borderRadius: '1px',
    })
    expect(await dialog.getByRole('link', { name: 'Mail' }).getAttribute('href')).toContain(
      'mailto:',
    )
    expect(await dialog.getByRole('link', { name: 'Phone' }).getAttribute('href')).toContain('tel:')
    await expectAccessible()
    await dialog.getByRole('button', { name: 'Which pump?' }).click()
    await vi.waitFor(() =>
      expect(chatServer.calls('POST', '/messages')[0]?.body.payload).toEqual({
        type: 'text',
        text: 'Which pump?',
      }),
    )
    await dialog.getByRole('button', { name: 'What price?' }).waitFor({ state: 'detached' })
    chatServer.sendAsBot({ type: 'text', text: 'That one' })
    await dialog.getByText('That one').waitFor()
    for (const name of ['Utile', 'Ajouter des fichiers', 'Conversations précédentes']) {
      expect(await dialog.getByRole('button', { name }).count()).toBe(0)
    }
    expect(faults).toEqual([])
  })

  it('receives a message that a bot writes piece by piece once, when it is complete', async () => {
    const { chatServer } = chat
    const { page, faults } = await chat.open(site('', 'data-open data-language="en"'))
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    const id = 'stream:1'
    const piece = chatServer.sendAsBot(
      { type: 'text', text: 'One' },
      { id, metadata: { clientMessageId: id } },
    )
    const write = (text: string, change = {}) =>
      chatServer.signal('message_updated', {
        ...piece,
        payload: { type: 'text', text },
        ...change,
      })
    write('One, two')
    await page.getByRole('log').getByText('One, two').waitFor()
    write('One, two, three', { id: 'msg-complete' })
    // A later change of it is not another message.
    write('One, two, three!', { id: 'msg-complete' })
    await page.getByRole('log').getByText('One, two, three!').waitFor()
    const received = (await page.evaluate<[string, unknown][]>('window.events')).filter(
      ([name]) => name === 'message',
    )
    expect(received).toMatchObject([['message', { payload: { text: 'One, two, three' } }]])
    expect(faults).toEqual([])
  })

  it('receives the error of a message that the server refuses', async () => {
    const { page } = await chat.open(
      site(
        `window.failed = new Promise((resolve) =>
        window.botpress.on('error', ({ status, message }) => resolve({ status, message })))`,
        '',
      ),
    )
    chat.chatServer.refuseNext('/messages', 400, 'Too many words')
    await page.evaluate('window.botpress.sendMessage("a refused one")')
    expect(await page.evaluate('window.failed')).toEqual({ status: 400, message: 'Too many words' })
  })

  it('is the user whose key the page has, and another one when that changes', async () => {
    const { chatServer } = chat
    const { page, faults } = await chat.open(
      site('window.botpress.init({ user: { userId: "u", userToken: "token-1" } })'),
    )
    expect(await page.evaluate('window.botpress.getUser()')).toMatchObject({ name: 'Visitor' })
    await page.evaluate('window.botpress.updateUser({ userKey: "token-2" })')
    await vi.waitFor(() =>
      expect(chatServer.calls('GET', '/initialize').map(({ key }) => key)).toEqual([
        'token-1',
        'token-2',
      ]),
    )
    const kept = await page.evaluate<string>(`localStorage['bp-webchat-${chat.webhookId}-client']`)
    await vi.waitFor(() => expect(kept).toContain('token-2'))
    expect(faults).toEqual([])
  })

  it('fills an element of the page', async () => {
    const { page, faults, expectAccessible } = await chat.open(
      site(
        `window.late = () => {
          window.botpress.init({ selector: '#here', configuration: { botName: 'Inside' } })
          window.botpress.on('webchat:ready', () => window.botpress.open())
        }`,
        'data-language="en"',
      ),
    )
    // A page may say so late, when the button is there already.
    await page.getByRole('button', { name: 'Open the chat' }).waitFor()
    await page.evaluate('window.late()')
    const region = page.getByRole('region', { name: 'Inside' })
    await region.getByRole('textbox', { name: 'Message' }).waitFor()
    expect(await region.boundingBox()).toMatchObject({ width: 400, height: 500 })
    expect(await page.getByRole('button', { name: 'Open the chat' }).count()).toBe(0)
    await expectAccessible()
    expect(faults).toEqual([])
    // Another view of the page has another element of that name.
    const anew = `const old = document.getElementById('here')
      const fresh = old.cloneNode(); old.replaceWith(fresh); window.late()`
    await page.evaluate(`(() => { ${anew} })()`)
    await region.getByRole('textbox', { name: 'Message' }).waitFor()
    await page.getByRole('button', { name: 'Close the chat' }).click()
    await region.waitFor({ state: 'hidden' })
  })

  it('cannot be closed by users in an element where only the page would open it again', async () => {
    const { page, faults } = await chat.open(
      site('', 'data-language="en" data-selector="#here" data-open'),
    )
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.press('Escape')
    expect(await page.getByRole('button', { name: 'New conversation' }).count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Close the chat' }).count()).toBe(0)
    // The page can.
    await page.evaluate('window.botpress.close()')
    await field.waitFor({ state: 'hidden' })
    expect(faults).toEqual([])
  })
})
