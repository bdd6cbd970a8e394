import { Command } from 'commander'
import { loadConfig } from '../config/config.js'
import { notices, out } from './terminal.js'

/** `botstead dashboard`: prints a link that signs a browser in, with or without a running server. */
export function dashboardCommand(): Command {
  return new Command('dashboard')
    .description(
      'Print a link that signs one browser in to the dashboard, once and within an hour.',
    )
    .action(async () => {
      const { config } = loadConfig(undefined, { envFile: '.env' })
      if (config.dashboard === 'off') {
        throw new Error(
          'The dashboard is off: set BOTSTEAD_DASHBOARD to on and restart the server.',
        )
      }
      const { withOperatorTokens } = await import('../app/offline.js')
      await withOperatorTokens(config, async (tokens) => {
        const code = await tokens.signInCodeOfFirstAccount()
        out.line(signInLink(config.publicUrl, code))
        notices.line('The link signs one browser in, within an hour.')
      })
    })
}

/** @param address of the server; the code is behind `#`, which browsers send to no server and no log has */
export function signInLink(address: string, code: string): string {
  return `${address}/dashboard/sign-in#${code}`
}
