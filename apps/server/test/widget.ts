import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { onTestFinished } from 'vitest'
import { newPage } from './browser.js'
import type { WebchatAddress } from './webchats.js'

/** The properties that the page gives to the widget. */
export interface WidgetProps extends WebchatAddress {
  configuration?: Record<string, unknown>
  user?: { userId: string; userToken: string }
  /** Whether the page has no widget but its hook, whose value is then in `window.webchat`. */
  isHeadless?: boolean
}

/** A page with the unmodified widget, or with a component of its own that is built on its hook. */
const entry = `
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { useWebchat, Webchat } from '@botpress/webchat'

function Headless(props) {
  window.webchat = useWebchat(props)
  return window.webchat.clientState
}
const { isHeadless, ...given } = window.props
const props = { ...given, style: { width: '400px', height: '700px' } }
createRoot(document.getElementById('root')).render(createElement(isHeadless ? Headless : Webchat, props))
`

const widgetPath = createRequire(import.meta.url).resolve('@botpress/webchat')
const stylesheet = new URL('style.css', `file://${widgetPath}`)

let bundled: Promise<string> | undefined

/** Bundles the page once for all tests of a process. */
async function bundle(): Promise<string> {
  const build = await rolldown({
    input: 'entry',
    platform: 'browser',
    logLevel: 'silent',
    cwd: import.meta.dirname,
    plugins: [
      {
        name: 'page',
        // The styles are a file of the page; bundlers differ in what they do with imported ones.
        resolveId(id) {
          if (id === 'entry') return id
          return id.endsWith('.css') ? 'styles' : undefined
        },
        load(id) {
          if (id === 'entry') return entry
          return id === 'styles' ? 'export {}' : undefined
        },
        transform: (code) => code.replaceAll('process.env.NODE_ENV', '"production"'),
      },
    ],
  })
  const { output } = await build.generate({ format: 'iife', codeSplitting: false })
  await build.close()
  return output[0].code
}

/**
 * Serves a page with the widget at an origin of its own, and opens it.
 * @param prepare called with the page before it loads anything
 */
export async function openWidget(
  props: WidgetProps,
  prepare?: (page: Page) => Promise<void>,
): Promise<{ page: Page; address: string }> {
  bundled ??= bundle()
  const script = await bundled
  const styles = await readFile(stylesheet)
  const html = `<!doctype html><meta charset="utf-8"><title>A page</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"><div id="root"></div>
<script>window.props = ${JSON.stringify(props)}</script><script src="/page.js"></script>`
  const types = { '/page.js': 'text/javascript', '/style.css': 'text/css' }
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    const type = Object.entries(types).find(([known]) => known === path)?.[1] ?? 'text/html'
    response.setHeader('content-type', `${type}; charset=utf-8`)
    response.end(path === '/page.js' ? script : path === '/style.css' ? styles : html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const page = await newPage()
  await prepare?.(page)
  await page.goto(address)
  return { page, address }
}
