import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { type Config, loadConfig } from '../config/config.js'
import { findDemo } from './demo/place.js'
import { notices, out } from './terminal.js'

/** `botstead dashboard`: prints a link that signs a browser in, with or without a running server. */
export function dashboardCommand(): Command {
  return new Command('dashboard')
    .description(
      'Print a link that signs one browser in to the dashboard, once and within an hour.',
    )
    .option('--demo', 'use the running demonstration, even if this folder has the data of a server')
    .action(async ({ demo }: { demo?: boolean }) => {
      const config = await configOf({ isDemo: demo === true })
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

/** The server of this folder; a demonstration where there is none, because its data folder is temporary. */
async function configOf({ isDemo }: { isDemo: boolean }): Promise<Config> {
  const { config } = loadConfig(undefined, { envFile: '.env' })
  const isHere = config.databaseUrl !== undefined || existsSync(join(config.dataDir, 'botstead.db'))
  if (isHere && !isDemo) return config
  const found = await findDemo()
  if (found !== undefined) {
    notices.line('This is the link of the demonstration that runs.')
    return loadConfig({
      BOTSTEAD_DATA_DIR: found.dataDir,
      BOTSTEAD_PUBLIC_URL: found.address,
    }).config
  }
  if (isDemo) throw new Error('No demonstration runs: start one with "npx botstead demo".')
  return config
}

/** @param address of the server; the code is behind `#`, which browsers send to no server and no log has */
export function signInLink(address: string, code: string): string {
  return `${address}/dashboard/sign-in#${code}`
}
