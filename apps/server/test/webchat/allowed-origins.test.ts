import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { browserPath, newPage } from '../browser.js'
import { connect, existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { openWebchat, webchatAddress } from '../webchats.js'

const allowed = 'https://shop.example'
const foreign = 'https://evil.example'

const encodeLetter = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`

describe('a chat with allowed web sites', () => {
  const server = useServer()
  let id: string
  let webhookId: string

  beforeAll(async () => {
    const client = server().client()
    const { bot } = await client.createBot({ name: 'Helper' })
    id = bot.id
    webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
    await allow([allowed, 'https://*.sub.example:8443'])
  })

  const allow = async (allowedOrigins: string[]) =>
    await server().client().updateBotWebchatSettings({ id, allowedOrigins })
  const call = async (
    method: string,
    path: string,
    origin: string | undefined,
    headers: Record<string, string> = {},
  ) => {
    const response = await server().fetch(path, {
      method,
      headers: { ...(origin !== undefined && { origin }), ...headers },
      ...(method === 'POST' && { body: '{}' }),
    })
    const cors = [...response.headers.keys()].filter((name) => name.startsWith('access-control-'))
    const vary = response.headers.get('vary')
    const body = await (response.headers.get('content-type')?.includes('event-stream')
      ? response.body?.cancel()
      : response.text())
    return { status: response.status, cors, vary, body: body ?? '' }
  }
  const json = { 'content-type': 'application/json' }
  const preflight = { 'access-control-request-method': 'POST' }
  const calls = (): [method: string, path: string, headers?: Record<string, string>][] => [
    ['POST', `/chat/${webhookId}/users`, json],
    ['POST', `/webchat/${webhookId}/users`, json],
    ['OPTIONS', `/chat/${webhookId}/messages`, preflight],
    ['OPTIONS', `/webchat/${webhookId}/files`, preflight],
    ['GET', `/chat/${webhookId}/initialize`],
    ['GET', `/webchat/${webhookId}/initialize`],
    ['GET', `//chat//${webhookId}/hello`],
    // The router reads encoded letters as what they are.
    ['GET', `/%63hat/${webhookId}/hello`],
    ['GET', `/chat/${webhookId.replace(/^./, encodeLetter)}/hello`],
    ['GET', `/%77ebchat/${webhookId}/config`],
    ['OPTIONS', `/%63hat/${webhookId}/messages`, preflight],
    ['GET', `/webchat/${webhookId}/config`],
    ['GET', `/webchat/${webhookId}/inject.js`],
  ]

  it('refuses pages of others with an error that is no permission for them', async () => {
    for (const [method, path, headers] of calls()) {
      const refused = await call(method, path, foreign, headers)
      expect([path, refused.status, refused.cors]).toEqual([path, 403, []])
      expect(refused.vary).toContain('Origin')
      expect(JSON.parse(refused.body)).toMatchObject({
        code: 403,
        type: 'Forbidden',
        message: expect.stringContaining(`Pages of ${foreign} may not use this chat`),
      })
    }
    const key = { 'x-user-key': (await (await connect(server(), webhookId)).user.key) ?? '' }
    expect(
      (await call('POST', `/chat/${webhookId}/files`, foreign, { ...json, ...key })).status,
    ).toBe(403)
  })

  it('is there for its own pages, and for programs', async () => {
    const own = server().url
    for (const origin of [allowed, 'https://a.b.sub.example:8443', own, undefined]) {
      for (const [method, path, headers] of calls()) {
        const { status, cors } = await call(method, path, origin, headers)
        expect([origin, path, status < 300]).toEqual([origin, path, true])
        expect(cors.includes('access-control-allow-origin')).toBe(origin !== undefined)
      }
    }
    await openWebchat(webchatAddress(server(), webhookId))
  })

  it.each([
    'https://shop.example.evil.example',
    'https://evilshop.example',
    'http://shop.example',
    'https://shop.example:444',
    'https://sub.example:8443',
    'https://a.sub.example',
    'https://.sub.example:8443',
    'https://evilsub.example:8443',
    'null',
  ])('takes %s for another site', async (origin) => {
    expect((await call('GET', `/chat/${webhookId}/hello`, origin)).status).toBe(403)
  })

  it('does not open WebSockets for pages of others', async () => {
    const client = await connect(server(), webhookId)
    const { conversation } = await client.createConversation({})
    const path = `/chat/${webhookId}/conversations/${conversation.id}/listen?x-user-key=${client.user.key}`
    const open = async (origin: string) => {
      const socket = new WebSocket(`${server().url.replace('http', 'ws')}${path}`, { origin })
      const refused = once(socket, 'unexpected-response').then(
        ([, response]) => response.statusCode,
      )
      const opened = once(socket, 'open').then(() => 101)
      const status: number = await Promise.race([refused, opened])
      socket.on('error', () => {})
      socket.terminate()
      return status
    }
    expect([await open(foreign), await open(allowed)]).toEqual([403, 101])
  })

  it('disconnects pages whose web site is no longer allowed', async () => {
    const client = await connect(server(), webhookId)
    const { conversation } = await client.createConversation({})
    const key = client.user.key
    const listen = `/conversations/${conversation.id}/listen`
    const open = async (path: string, origin: string | undefined) => {
      const headers = { 'x-user-key': key, ...(origin !== undefined && { origin }) }
      const { body } = await server().fetch(path, { headers })
      const reader = body?.getReader()
      onTestFinished(() => reader?.cancel().catch(() => undefined))
      let isOpen = true
      void (async () => {
        while (!(await reader?.read())?.done);
        isOpen = false
      })()
      return () => isOpen
    }
    const streamsOf = async (origin: string | undefined) =>
      await Promise.all(
        [
          `/chat/${webhookId}${listen}`,
          `/webchat/${webhookId}${listen}`,
          `/chat/${webhookId}/initialize`,
        ].map((path) => open(path, origin)),
      )
    const socket = new WebSocket(
      `${server().url.replace('http', 'ws')}/chat/${webhookId}${listen}?x-user-key=${key}`,
      { origin: allowed },
    )
    await once(socket, 'open')
    const closed = once(socket, 'close')
    const [leaving, staying, program] = [
      await streamsOf(allowed),
      await streamsOf('https://a.sub.example:8443'),
      await streamsOf(undefined),
    ]
    try {
      await allow(['https://*.sub.example:8443'])
      await closed
      await vi.waitFor(() =>
        expect(leaving.map((isOpen) => isOpen())).toEqual([false, false, false]),
      )
      expect([...staying, ...program].map((isOpen) => isOpen())).toEqual(Array(6).fill(true))
    } finally {
      await allow([allowed, 'https://*.sub.example:8443'])
    }
  })

  it('lets its sites alone show its page in a frame', async () => {
    const policyOf = async () => {
      const { headers } = await server().fetch(`/webchat/${webhookId}`)
      const [ancestors] =
        /frame-ancestors [^;]*/.exec(headers.get('content-security-policy') ?? '') ?? []
      return [ancestors, headers.get('x-frame-options')]
    }
    expect(await policyOf()).toEqual([
      `frame-ancestors ${allowed} https://*.sub.example:8443`,
      null,
    ])
    await allow([])
    expect(await policyOf()).toEqual(["frame-ancestors 'none'", 'DENY'])
    expect((await call('GET', `/chat/${webhookId}/hello`, foreign)).status).toBe(200)
    await allow([allowed])
    expect((await call('GET', `/chat/${webhookId}/hello`, foreign)).status).toBe(403)
  })

  const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'
  describe.skipIf(browserPath === undefined)(title, () => {
    /** A site with a page; its address. */
    async function site(html: () => string): Promise<string> {
      const pages = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html())
      }).listen(0, '127.0.0.1')
      await once(pages, 'listening')
      onTestFinished(() => {
        pages.closeAllConnections()
        pages.close()
      })
      return `http://localhost:${(pages.address() as AddressInfo).port}`
    }
    const around = (code: string) =>
      `<!doctype html><html lang="en"><head><title>Shop</title></head><body>${code}</body></html>`
    const codeOf = async (type: 'preconfigured' | 'configurable' | 'fullscreen' | 'sharableUrl') =>
      (await existingClient(server()).getBotWebchat({ id, type })).code

    it('works as pasted on its own site, and on no other', async () => {
      const code = await codeOf('preconfigured')
      const [shop, other] = [await site(() => around(code)), await site(() => around(code))]
      await allow([shop])
      const page = await newPage({ locale: 'en' })
      await page.goto(shop)
      await page.getByRole('button', { name: 'Open the chat with Helper' }).click()
      await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
      await page.keyboard.press('Enter')
      await page.getByRole('log', { name: 'Messages' }).getByText('Hello').waitFor()
      const own = server().client({ botId: id })
      await vi.waitFor(async () => {
        const [conversation] = (await own.listConversations()).conversations
        const { messages } = await own.listMessages({ conversationId: conversation?.id ?? '' })
        expect(messages.map(({ payload }) => payload.text)).toContain('Hello')
      })
      const before = (await own.listUsers()).users.length

      const elsewhere = await newPage({ locale: 'en' })
      await elsewhere.goto(other)
      await elsewhere.getByRole('button', { name: 'Open the chat with Helper' }).click()
      await elsewhere.getByText('The chat could not be loaded').waitFor()
      expect(
        await elsewhere.evaluate<string>(
          `fetch('${server().url}/chat/${webhookId}/hello').then(() => 'read', () => 'refused')`,
        ),
      ).toBe('refused')
      expect((await own.listUsers()).users).toHaveLength(before)
    })

    it('works as pasted with its settings in the page, as a whole page, and as a link', async () => {
      await server().client().updateBotWebchatSettings({ id, composerPlaceholder: 'Ask <me>' })
      let code = (await codeOf('configurable')).replace('"Helper"', '"Other"')
      const shop = await site(() => around(code))
      await allow([shop])
      const page = await newPage({ locale: 'en' })
      await page.goto(shop)
      await page.getByRole('button', { name: 'Open the chat with Other' }).click()
      await page.getByRole('dialog', { name: 'Other' }).getByPlaceholder('Ask <me>').waitFor()

      code = await codeOf('fullscreen')
      await page.goto(shop)
      const region = page.getByRole('region', { name: 'Helper' })
      await region.getByRole('textbox', { name: 'Message' }).waitFor()
      expect(await region.boundingBox()).toMatchObject({ x: 0, y: 0, ...page.viewportSize() })

      await page.goto(await codeOf('sharableUrl'))
      await page.getByRole('textbox', { name: 'Message' }).fill('By the link')
      await page.keyboard.press('Enter')
      await page.getByRole('log', { name: 'Messages' }).getByText('By the link').waitFor()
      await vi.waitFor(async () => expect(await page.locator('.outgoing').count()).toBe(0))
    })
  })
})
