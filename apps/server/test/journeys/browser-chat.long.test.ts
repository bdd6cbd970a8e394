import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type * as Chat from '@botpress/chat'
import { createClient } from '@botstead/contract'
import type { JSHandle, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { createCommandPlace } from '../command-place.js'
import { checkout, withoutProxies } from '../documents.js'
import { freePort } from '../ports.js'
import { type ServerProcess, startServerProcess } from '../processes.js'

const token = 'a-token-for-tests-only'

const title =
  browserPath === undefined ? 'in a browser (skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(title, () => {
  it('keeps a page on another origin up to date, over a crash of the server', async () => {
    await using place = await createCommandPlace()
    const settings = {
      ...place.environment,
      PORT: String(await freePort()),
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
    }
    let server = await startServerProcess(settings)
    onTestFinished(() => server.kill())
    const { bot, chatAddress } = await makeBot(server)
    const page = await openPage(await serveExample(chatAddress))
    await vi.waitFor(async () => expect(await statusOf(page)).toBe('Connected.'))

    await type(page, 'one')
    await vi.waitFor(async () => expect(await textsOf(page)).toEqual(['one']))
    // Its event can arrive before the response to it, without which it would be sent again.
    await vi.waitFor(async () => expect(await page.locator('.waiting').count()).toBe(0))
    await server.kill()
    await vi.waitFor(async () => expect(await statusOf(page)).toContain('The connection is lost'))
    await type(page, 'two')
    await type(page, 'three')
    await vi.waitFor(async () =>
      expect(await page.locator('.waiting').allTextContents()).toEqual(['two', 'three']),
    )

    server = await startServerProcess(settings)
    await bot.say(server, 'said meanwhile')
    await vi.waitFor(async () => expect(await page.locator('.waiting').count()).toBe(0))
    const texts = ['one', 'said meanwhile', 'three', 'two']
    await vi.waitFor(async () => expect((await textsOf(page)).sort()).toEqual(texts))
    const before = await textsOf(page)
    expect(before.indexOf('two')).toBeLessThan(before.indexOf('three'))

    // A reload finds the same user and the same conversation.
    await page.reload()
    await vi.waitFor(async () => expect(await textsOf(page)).toEqual(before))

    // Another tab is the same user: it shares unsent messages, and sees messages that are being written.
    const other = await page.context().newPage()
    await other.goto(page.url())
    await vi.waitFor(async () => expect(await statusOf(other)).toBe('Connected.'))
    await page.context().setOffline(true)
    await type(page, 'four')
    await type(other, 'five')
    await vi.waitFor(async () =>
      expect(await page.locator('.waiting').allTextContents()).toEqual(['four', 'five']),
    )
    await page.context().setOffline(false)
    const after = [...before, 'four', 'five']
    await vi.waitFor(async () => expect(await textsOf(page)).toEqual(after))
    await vi.waitFor(async () => expect(await textsOf(other)).toEqual(after))
    await bot.write(server, 'Hel', 'lo')
    const drafts = () => other.locator('.draft').allTextContents()
    await vi.waitFor(async () => expect(await drafts()).toEqual(['Hello']))
    await bot.say(server, 'Hello!', { streamId: 'one' })
    await vi.waitFor(async () => expect(await textsOf(other)).toEqual([...after, 'Hello!']))
    expect(await drafts()).toEqual([])

    // A choice of the bot can be pressed, and becomes a message with its label.
    await bot.show(server, 'choice', {
      text: 'Tea?',
      options: [{ label: 'Yes, please', value: 'yes' }],
    })
    await other.getByRole('button', { name: 'Yes, please' }).click()
    await vi.waitFor(async () => expect(await textsOf(page)).toContain('Yes, please'))
    expect(await other.getByRole('button', { name: 'Yes, please' }).isDisabled()).toBe(true)
    await bot.show(server, 'carousel', {
      items: [
        {
          title: 'A card',
          imageUrl: 'https://a.example/picture.png',
          actions: [
            { action: 'url', label: 'Look', value: 'javascript:alert(1)' },
            { action: 'postback', label: 'Take it', value: 'taken' },
          ],
        },
      ],
    })
    await other.getByRole('button', { name: 'Take it' }).click()
    await vi.waitFor(async () => expect(await textsOf(page)).toContain('Take it'))
    expect(await other.getByRole('link', { name: 'Look' }).count()).toBe(0)
    await bot.show(server, 'audio', { audioUrl: 'https://a.example/song.mp3', title: 'A song' })
    await other.locator('audio').waitFor()
    await bot.show(server, 'file', { fileUrl: 'https://a.example/a.pdf', title: 'Manual' })
    await other.getByRole('link', { name: 'Manual' }).waitFor()
  })

  it('serves every operation of the client package, with credentials', async () => {
    await using place = await createCommandPlace()
    await using server = await startServerProcess({
      ...place.environment,
      BOTSTEAD_ADMIN_TOKEN: token,
      LOG_LEVEL: 'error',
    })
    const { chatAddress } = await makeBot(server)
    const page = await openPage(await serveExample(chatAddress))
    // With this cookie the client sends an additional header, which the preflight must allow.
    await page.context().addCookies([{ name: 'XSRF-TOKEN', value: 'abc', url: page.url() }])
    const chat: JSHandle<typeof Chat> = await page.evaluateHandle("import('@botpress/chat')")
    expect(await page.evaluate(callEverything, { chat, apiUrl: chatAddress })).toEqual({
      names: ['Ada', 'Ada', 'Countess'],
      same: true,
      listed: 1,
      participants: ['grace', 'ada'],
      event: { step: 1 },
      page: ['hello', 'hello'],
      heard: ['participant_added', 'message_created', 'event_created', 'message_deleted'],
      refusals: ['Forbidden', 'ResourceNotFound', 'Unauthorized', 'AlreadyExists'],
    })
  })
})

/** Runs in the page: calls every operation once and returns what it showed. */
async function callEverything({ chat, apiUrl }: { chat: typeof Chat; apiUrl: string }) {
  const { Client } = chat
  const ada = await Client.connect({ apiUrl, userId: 'ada' })
  const grace = await Client.connect({ apiUrl, userId: 'grace' })
  const names = [
    (await ada.updateUser({ name: 'Ada' })).user.name,
    (await ada.getUser({})).user.name,
    (await ada.updateUser({ name: 'Countess' })).user.name,
  ]
  const { conversation } = await ada.createConversation({})
  const { id } = conversation
  const conversationId = id
  const heard: string[] = []
  const listener = await ada.listenConversation({ id })
  for (const type of [
    'message_created',
    'message_deleted',
    'event_created',
    'participant_added',
  ] as const) {
    listener.on(type, () => heard.push(type))
  }
  const same = (await ada.getConversation({ id })).conversation.id === id
  const listed = (await ada.listConversations({})).conversations.length
  await ada.addParticipant({ conversationId, userId: 'grace' })
  await ada.getParticipant({ conversationId, userId: 'grace' })
  const participants = (await ada.listParticipants({ conversationId })).participants
  const payload = { type: 'text' as const, text: 'hello' }
  const { message } = await ada.createMessage({ conversationId, payload })
  const { event } = await ada.createEvent({ conversationId, payload: { step: 1 } })
  const texts = [
    (await ada.getMessage({ id: message.id })).message,
    ...(await ada.listMessages({ conversationId })).messages,
  ].map((each) => (each.payload.type === 'text' ? each.payload.text : ''))
  const stored = (await ada.getEvent({ id: event.id })).event.payload
  await ada.deleteMessage({ id: message.id })
  while (!heard.includes('message_deleted')) await new Promise((resolve) => setTimeout(resolve, 10))
  await listener.disconnect()

  const refusals: string[] = []
  const refused = (error: Error) => refusals.push(String(Reflect.get(error, 'type')))
  const other = (await grace.createConversation({})).conversation.id
  await ada.getConversation({ id: other }).catch(refused)
  await ada.getMessage({ id: message.id }).catch(refused)
  await Client.connect({ apiUrl, userKey: 'no key' }).catch(refused)
  await new Client({ apiUrl }).createUser({ id: 'ada' }).catch(refused)
  await ada.removeParticipant({ conversationId, userId: 'grace' })
  await ada.deleteConversation({ id })
  await ada.deleteUser({})
  return {
    names,
    same,
    listed,
    participants: participants.map((each) => each.id),
    event: stored,
    page: texts,
    heard,
    refusals,
  }
}

async function makeBot({ url: baseUrl }: ServerProcess) {
  const { workspaces } = await createClient({ baseUrl, token }).listWorkspaces()
  const admin = createClient({ baseUrl, token, workspaceId: workspaces[0]?.id ?? '' })
  const { bot } = await admin.createBot({})
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const connect = async ({ url }: ServerProcess) => {
    const client = createClient({ baseUrl: url, token, botId: bot.id })
    const { conversations } = await client.listConversations()
    return { client, conversationId: conversations[0]?.id ?? '' }
  }
  return {
    chatAddress: `${baseUrl}/chat/${webhookId}`,
    bot: {
      /** Sends a message in the only conversation. */
      async say(server: ServerProcess, text: string, metadata?: Record<string, string>) {
        const { client, conversationId } = await connect(server)
        const payload = { text, ...(metadata && { metadata }) }
        const userId = bot.id
        await client.createMessage({ conversationId, userId, type: 'text', payload, tags: {} })
      },
      /** Sends a message of any type. */
      async show(server: ServerProcess, type: string, payload: Record<string, unknown>) {
        const { client, conversationId } = await connect(server)
        await client.createMessage({ conversationId, userId: bot.id, type, payload, tags: {} })
      },
      /** Begins a message, piece by piece. */
      async write(server: ServerProcess, ...pieces: string[]) {
        const { client, conversationId } = await connect(server)
        for (const [sequence, delta] of pieces.entries()) {
          const signal = { type: 'delta', streamId: 'one', createdAt: 'now', sequence, delta }
          const input = { conversationId, signal }
          await client.callAction({ type: 'chat:publishMessageStream', input })
        }
      },
    },
  }
}

/** Runs the example as its guide describes; returns the address of the page. */
async function serveExample(chatAddress: string): Promise<string> {
  const script = join(checkout, 'examples/browser-chat/main.mjs')
  const child = spawn(process.execPath, [script, chatAddress], {
    env: { ...withoutProxies(process.env), PAGE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  return /http\S+/.exec(line)?.[0] ?? ''
}

async function openPage(address: string): Promise<Page> {
  const page = await newPage()
  await page.goto(address)
  return page
}

async function type(page: Page, text: string): Promise<void> {
  await page.locator('#text').fill(text)
  await page.locator('#text').press('Enter')
}

const statusOf = (page: Page) => page.locator('#status').textContent()
const textsOf = (page: Page) => page.locator('#messages li:not(.waiting)').allTextContents()
