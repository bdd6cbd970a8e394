import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** The browser of the system; undefined where there is none, and then its tests are skipped. */
export const browserPath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

export async function openBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error('There is no browser')
  // The sandbox of the browser does not work for root, as in containers.
  return await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
}
