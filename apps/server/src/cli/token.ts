import { Command } from 'commander'
import type { withOperatorTokens } from '../app/offline.js'
import { loadConfig } from '../config/config.js'
import { findSettings } from './running.js'
import { notices, out } from './terminal.js'

/** `botstead token`: manages access tokens directly in the database, with or without a running server. */
export function tokenCommand(): Command {
  const command = new Command('token').description('Create, list and revoke access tokens.')
  command
    .command('create')
    .description('Create a personal access token of the first account; its value is shown once.')
    .option('--note <text>', 'what the token is for', 'Created on the command line')
    .action(async ({ note }: { note: string }) => {
      await withTokens(async (tokens) => {
        const made = await tokens.createForFirstAccount(note)
        out.line(made.value)
        notices.line(`Token ${made.token.id} was created. Its value is not stored.`)
      })
    })
  command
    .command('list')
    .description('List the tokens of every kind and owner, newest first.')
    .action(async () => {
      await withTokens(async (tokens) => {
        const rows = await tokens.listAll()
        for (const { id, kind, note, created_at, last_used_at } of rows) {
          const used = last_used_at === null ? 'never used' : `used ${last_used_at}`
          out.line(`${id}  ${kind.padEnd(8)}  ${created_at}  ${used}  ${note}`)
        }
        if (rows.length === 0) notices.line('There are no tokens.')
      })
    })
  command
    .command('revoke')
    .description('Revoke a token. A running server refuses it within five seconds.')
    .argument('<id>', 'id of the token, from the list')
    .action(async (id: string) => {
      await withTokens(async (tokens) => {
        if (!(await tokens.revoke(id))) throw new Error(`There is no token ${id}.`)
        notices.line(`Token ${id} was revoked.`)
      })
    })
  for (const part of command.commands) part.exitOverride()
  return command
}

async function withTokens(work: Parameters<typeof withOperatorTokens>[1]): Promise<void> {
  const { config } = loadConfig(undefined, { envFile: '.env' })
  const container = await import('../app/offline.js')
  await container.withOperatorTokens(await findSettings(config), work)
}
