import { existsSync } from 'node:fs'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
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

/** Milliseconds that a page may take to show something: more than it hangs for where the machine stands still. */
const patience = 120_000

/** A page with cookies and storage of its own, on no address yet; it is closed when the test is finished. */
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= launch()
  const context = await (await browser).newContext(options)
  context.setDefaultTimeout(patience)
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await printPages(context)
    await context.close()
  })
  return await context.newPage()
}

/** Prints what a failed test would have seen. */
async function printPages(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    const focused = 'document.activeElement?.outerHTML.slice(0, 200)'
    const [text, focus] = await Promise.all([
      page.locator('body').innerText({ timeout: 2000 }),
      page.evaluate<string | undefined>(focused),
    ]).catch((error: unknown) => [String(error)])
    process.stderr.write(`${page.url()}\nFocus: ${focus}\n${text?.slice(0, 3000)}\n`)
  }
}

async function launch(): Promise<Browser> {
  if (browserPath === undefined) throw new Error('There is no browser')
  // The sandbox of the browser does not work for root, as in containers. Without a graphics
  // processor, a process of its own for drawing only costs time.
  const launched = await chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', '--in-process-gpu'],
  })
  launched.on('disconnected', () => {
    browser = undefined
  })
  return launched
}
