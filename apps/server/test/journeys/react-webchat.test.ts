import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserPath, newPage } from '../browser.js'
import { checkout } from '../documents.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' }

/** Builds the app as its README says, with the packages of the checkout, and serves it at an origin of its own. */
async function serveBuilt(chatAddress: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'botstead-react-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const vite = join(checkout, 'node_modules/vite/bin/vite.js')
  const app = join(checkout, 'examples/react-webchat')
  await promisify(execFile)(process.execPath, [vite, 'build', '--outDir', folder], {
    cwd: app,
    env: { ...process.env, NODE_ENV: 'production', VITE_CHAT: chatAddress },
  })
  const pages = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    readFile(join(folder, pathname === '/' ? 'index.html' : pathname)).then(
      (content) => {
        response.setHeader('content-type', types[extname(pathname)] ?? 'text/html')
        response.end(content)
      },
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void pages.close())
  return `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`
}

const title = browserPath === undefined ? '(skipped: no Chromium here)' : 'in a browser'

describe.skipIf(browserPath === undefined)(`the React app of the guide ${title}`, () => {
  const server = useServer()

  it('shows the styled widget, which talks to the bot', async () => {
    const { bot, client, webhookId } = await makeBot(server())
    const address = await serveBuilt(`${server().url}/chat/${webhookId}`)
    const page = await newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('request', (request) => {
      const { host, protocol } = new URL(request.url())
      const own = [new URL(address).host, new URL(server().url).host]
      if (protocol.startsWith('http') && !own.includes(host)) faults.push(request.url())
    })
    await page.goto(address)
    const composer = page.locator('textarea.bpComposerInput:enabled')
    await composer.waitFor()
    const stylesOf = 'getComputedStyle(document.querySelector(".bpComposerContainer")).display'
    expect(await page.evaluate(stylesOf)).toBe('flex')

    await composer.fill('Hello from React')
    await composer.press('Enter')
    const conversationId = await vi.waitFor(async () => {
      const [conversation] = (await client.listConversations({})).conversations
      const { messages } = await client.listMessages({ conversationId: conversation?.id ?? '' })
      expect(messages.map(({ payload }) => payload.text)).toEqual(['Hello from React'])
      return conversation?.id ?? ''
    })
    await client.createMessage({
      conversationId,
      userId: bot.id,
      type: 'text',
      payload: { text: 'Hello to you' },
      tags: {},
    })
    await page.getByText('Hello to you', { exact: true }).waitFor()
    expect(faults).toEqual([])
  })
})
