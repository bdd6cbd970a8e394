import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { newPage } from '../browser.js'
import { useServer } from '../harness.js'
import { type FakeChatServer, startFakeChatServer } from './fake-chat-server.js'

const require = createRequire(import.meta.url)
const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

/** A page that embeds the chat, on an origin of its own. */
interface Site {
  html: string
  headers?: Record<string, string>
}

/** A chat, and pages that embed it. */
export interface Webchats {
  chatServer: FakeChatServer
  webhookId: string
  botName: string
  /** The script element of the chat, with attributes. */
  script(attributes?: string): string
  /** Changes what the server of pages serves. */
  change(site: Site): void
  /** Opens a page with the chat, and collects what must not happen on it. */
  open(site: Site | string, options?: BrowserContextOptions): Promise<OpenPage>
}

interface OpenPage {
  page: Page
  /** Errors of the console, uncaught ones, and requests to other origins than that of the page and of the chat. */
  faults: string[]
  expectAccessible(): Promise<void>
}

/** A server with a bot, a fake chat server in front of it, and a server of pages; for the tests of the surrounding `describe`. */
export function useWebchats(): () => Webchats {
  const server = useServer()
  let made: (Webchats & { close(): Promise<void> }) | undefined
  beforeAll(async () => {
    made = await start(server())
  })
  afterAll(async () => {
    await made?.close()
  })
  return () => {
    if (made === undefined) throw new Error('There are chats only while a test runs')
    return made
  }
}

async function start(server: ReturnType<ReturnType<typeof useServer>>) {
  const botName = 'Ada <b>& Co'
  const { bot } = await server.client().createBot({ name: botName })
  const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
  const chatServer = await startFakeChatServer(server, webhookId)
  let site: Site = { html: '' }
  const pages = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...site.headers })
    response.end(site.html)
  })
  pages.listen(0, '127.0.0.1')
  await once(pages, 'listening')
  const origin = `http://localhost:${(pages.address() as AddressInfo).port}`

  return {
    chatServer,
    webhookId,
    botName,
    script: (attributes = '') =>
      `<script src="${chatServer.chat}/inject.js" ${attributes} defer></script>`,
    change(next: Site) {
      site = next
    },
    async open(given: Site | string, options: BrowserContextOptions = {}): Promise<OpenPage> {
      const page = await newPage({ viewport: { width: 1000, height: 800 }, ...options })
      // A page that stays open would receive the messages of the next test.
      onTestFinished(() => page.close())
      const faults = watch(page, [origin, chatServer.url])
      if (typeof given !== 'string') site = given
      await page.goto(typeof given === 'string' ? given : origin)
      return { page, faults, expectAccessible: () => expectAccessible(page) }
    },
    async close() {
      pages.close()
      pages.closeAllConnections()
      await chatServer.close()
    },
  }
}

function watch(page: Page, origins: readonly string[]): string[] {
  const faults: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') faults.push(line.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (sent) => {
    const url = new URL(sent.url())
    if (url.protocol.startsWith('http') && !origins.includes(url.origin)) faults.push(sent.url())
  })
  return faults
}

async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(await axe)
  const violations = await page.evaluate<{ id: string; nodes: string[] }[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))`,
  )
  expect(violations).toEqual([])
}
