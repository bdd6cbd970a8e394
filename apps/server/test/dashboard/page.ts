import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Locator, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { newPage } from '../browser.js'
import type { TestServer } from '../harness.js'

const require = createRequire(import.meta.url)
const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')

/** Schemes of what never leaves the browser: also the parts of its PDF viewer. */
const inBrowser = ['data:', 'blob:', 'chrome:', 'chrome-extension:']

/** The dashboard in a browser, with everything that must not happen in it. */
export interface Dashboard {
  page: Page
  /** Errors of the console, uncaught ones, and requests to other origins. */
  faults: string[]
  /** Opens an address below `/dashboard/<workspace>/<bot>`. */
  open(path: string, bot?: string): Promise<void>
  /** Fails for what assistive software would stumble over on what is shown now. */
  expectAccessible(): Promise<void>
}

/** Opens a browser that is signed in, on no page yet. */
export async function openDashboard(
  server: TestServer,
  options: { width?: number; height?: number; colorScheme?: 'light' | 'dark' } = {},
): Promise<Dashboard> {
  const { width = 1400, height = 900, colorScheme = 'light' } = options
  const page = await newPage({ viewport: { width, height }, colorScheme })
  const faults: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error') faults.push(line.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (sent) => {
    const url = new URL(sent.url())
    if (!inBrowser.includes(url.protocol) && url.origin !== server.url) {
      faults.push(sent.url())
    }
  })
  await page.context().addCookies([await cookieOf(server)])
  // As after a sign-in, which the page remembers because it cannot read the cookie.
  await page.addInitScript(`localStorage.setItem('botstead is signed in', 'true')`)
  return {
    page,
    faults,
    open: async (path, bot = 'all') => {
      await page.goto(`${server.url}/dashboard/${server.workspaceId}/${bot}/${path}`)
    },
    expectAccessible: () => expectAccessible(page),
  }
}

/** Fails for what assistive software would stumble over on what a page shows now. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(await axe)
  const violations = await page.evaluate<{ id: string; nodes: string[] }[]>(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))`,
  )
  expect(violations).toEqual([])
}

/** The session of a browser that signed in with the token of the first start. */
async function cookieOf({ url, token }: TestServer) {
  const response = await fetch(`${url}/v1/admin/sessions`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  const [name = '', value = ''] = (response.headers.get('set-cookie') ?? '').split(/[=;]/)
  return { name, value, url, httpOnly: true, sameSite: 'Strict' as const }
}

/** Milliseconds after which a page asks again for what may have changed. */
const refreshMs = 10_000

/**
 * Waits for what a page shows after it has asked the server again. The clock of the page must be installed; it is moved until
 * the page shows it, because a request may be open when the clock is moved, and some answers are seconds old.
 */
export async function untilRefreshed(
  page: Page,
  shown: Locator,
  state: 'visible' | 'detached' = 'visible',
): Promise<void> {
  await vi.waitFor(
    async () => {
      await page.clock.fastForward(refreshMs)
      await shown.waitFor({ state, timeout: 1000 })
    },
    { timeout: 20_000 },
  )
}
