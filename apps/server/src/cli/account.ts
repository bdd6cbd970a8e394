import { Command } from 'commander'
import type { withOperatorAccounts } from '../app/offline.js'
import { loadConfig } from '../config/config.js'
import { requireRunning } from './dashboard.js'
import { findSettings, settingsOf } from './running.js'
import { notices, out } from './terminal.js'

/** `botstead account`: manages accounts directly in the database, for people who are new or locked out. */
export function accountCommand(): Command {
  const command = new Command('account').description(
    'Create accounts, list them, and let people set a new password.',
  )
  command
    .command('create')
    .description(
      'Create an account, and print a link with which its owner sets a password, once and within a day.',
    )
    .argument('<address>', 'email address of the person')
    .option('--name <text>', 'name that others see; the address by default')
    .action(async (address: string, { name }: { name?: string }) => {
      requireAddress(address)
      await printLink((accounts) => accounts.create(address, name ?? address))
      notices.line('An account joins a workspace with an invitation to it, or creates its own.')
    })
  command
    .command('reset')
    .description(
      'End the sessions of an account, remove its passkeys and its connection with a provider, and print a link that sets its password, once and within a day.',
    )
    .argument('<address>', 'email address of the account')
    .option('--second-factor', 'also remove its second factor, for people who lost it')
    .action(async (address: string, options: { secondFactor?: boolean }) => {
      await printLink((accounts) => accounts.reset(address, options))
    })
  command
    .command('list')
    .description('List the accounts, oldest first.')
    .action(async () => {
      const { config } = loadConfig(undefined, { envFile: '.env' })
      const { withOperatorAccounts: withAccounts } = await import('../app/offline.js')
      await withAccounts(await findSettings(config), async (accounts) => {
        for (const account of await accounts.list()) {
          const { email, display_name: name, created_at: createdAt } = account
          const password = account.hasPassword ? 'password' : 'no password'
          const means = [
            password,
            ...(account.hasSecondFactor ? ['second factor'] : []),
            ...(account.passkeys === 0
              ? []
              : [account.passkeys === 1 ? '1 passkey' : `${account.passkeys} passkeys`]),
          ]
          out.line(`${email}  ${createdAt}  ${means.join(', ')}  ${name ?? ''}`)
        }
      })
    })
  for (const part of command.commands) part.exitOverride()
  return command
}

function requireAddress(address: string): void {
  if (/^[^\s@]+@[^\s@]+$/.test(address) && address.length <= 320) return
  throw new Error(`${address} is no email address such as bea@example.com.`)
}

type Work = Parameters<typeof withOperatorAccounts<string>>[1]

/** Prints the link of a code. The server runs, or the link would lead nowhere. */
async function printLink(work: Work): Promise<void> {
  const { config: local } = loadConfig(undefined, { envFile: '.env' })
  const running = await requireRunning(local, { isDemo: false })
  const config = settingsOf(running, local)
  if (config.dashboard === 'off') {
    throw new Error('The dashboard is off: set BOTSTEAD_DASHBOARD to on and restart the server.')
  }
  const { withOperatorAccounts: withAccounts } = await import('../app/offline.js')
  const code = await withAccounts(config, work)
  // Behind `#`, which browsers send to no server and no log has.
  out.line(`${running.address}/dashboard/reset#${code}`)
  notices.line('The link sets the password once, within a day. Pass it on to its owner only.')
}
