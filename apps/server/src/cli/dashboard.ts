import { Command } from 'commander'
import { loadConfig } from '../config/config.js'
import {
  findRunning,
  findRunningDemo,
  type LocalSettings,
  type RunningServer,
  settingsOf,
} from './running.js'
import { notices, out } from './terminal.js'

/** `botstead dashboard`: prints a link that signs a browser in to the server that runs. */
export function dashboardCommand(): Command {
  return new Command('dashboard')
    .description(
      'Print a link that signs one browser in to the dashboard, once and within an hour.',
    )
    .option('--demo', 'use the running demonstration, even if this folder has the data of a server')
    .option(
      '--account <address>',
      'sign in to the account with this email address, for people who are locked out',
    )
    .action(async ({ demo, account }: { demo?: boolean; account?: string }) => {
      const { config: local } = loadConfig(undefined, { envFile: '.env' })
      const running = await requireRunning(local, { isDemo: demo === true })
      const config = settingsOf(running, local)
      if (config.dashboard === 'off') {
        throw new Error(
          'The dashboard is off: set BOTSTEAD_DASHBOARD to on and restart the server.',
        )
      }
      const { withOperatorTokens } = await import('../app/offline.js')
      await withOperatorTokens(config, async (tokens) => {
        const code = await tokens.signInCodeOf(account)
        out.line(signInLink(running.address, code))
        notices.line('The link signs one browser in, within an hour.')
      })
    })
}

/** The server that the link leads to: without one, the link would lead nowhere. */
export async function requireRunning(
  local: LocalSettings,
  { isDemo }: { isDemo: boolean },
): Promise<RunningServer> {
  const found = isDemo ? await findRunningDemo() : await findRunning(local, { hasToken: false })
  if (found !== undefined) return found
  throw new Error(
    isDemo
      ? 'No demonstration runs: start one with "npx botstead demo".'
      : `No server responds at ${local.publicUrl}, and no demonstration runs, so a link would lead nowhere. Start the server with "npx botstead start" ("npm start" in a checkout), then run this command in another terminal of the same folder.`,
  )
}

/** @param address of the server; the code is behind `#`, which browsers send to no server and no log has */
export function signInLink(address: string, code: string): string {
  return `${address}/dashboard/sign-in#${code}`
}
