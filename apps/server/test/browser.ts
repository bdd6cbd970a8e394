import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/**
 * The browser of the system; undefined where there is none, and then its tests are skipped. Chromium without its
 * windows comes first: the same engine opens a page in a third of the time.
 */
export const browserPath = ['chromium-headless-shell', 'chromium', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path))

// Starting it takes longer than many tests with it, so the tests of a process share one; it ends with the process.
let browser: Promise<Browser> | undefined

/** A page with cookies and storage of its own, on no address yet; it is closed when the test is finished. */
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= launch()
  const context = await (await browser).newContext(options)
  onTestFinished(() => context.close())
  return await context.newPage()
}

async function launch(): Promise<Browser> {
  if (browserPath === undefined) throw new Error('There is no browser')
  // The sandbox of the browser does not work for root, as in containers.
  const launched = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
  launched.on('disconnected', () => {
    browser = undefined
  })
  return launched
}
