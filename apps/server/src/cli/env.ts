import { Command } from 'commander'
import { accessServer, addServerOptions, reachable, type ServerOptions } from './connection.js'
import { findWorkspace } from './known-bots.js'
import { out } from './terminal.js'
import { shellWord } from './text.js'

/** `botstead env`: prints what other programs need to call the server, as variables of a POSIX shell. */
export function envCommand(): Command {
  const command = new Command('env')
    .description('Print address, token and workspace as variables: eval "$(npx botstead env)"')
    .option('--workspace <id or name>', 'workspace; not needed when there is only one')
  return addServerOptions(command).action(
    async ({ workspace: wanted, ...options }: ServerOptions & { workspace?: string }) => {
      const { url, token } = await accessServer(options)
      const { id } = await reachable(url, () => findWorkspace({ url, token, wanted }))
      for (const [name, value] of Object.entries({ API: url, TOKEN: token, WORKSPACE: id })) {
        out.line(`${name}=${shellWord(value)}`)
      }
    },
  )
}
