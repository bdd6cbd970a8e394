import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config.js'
import { configCommand } from './config.js'
import { demoCommand } from './demo/command.js'
import { startCommand } from './start.js'
import { tokenCommand } from './token.js'

/** The `botstead` command. Answers the exit status: 0, or 1 when the command failed. */
export async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('botstead')
    .description('The self-hosted home for bots.')
    .exitOverride()
    .showHelpAfterError()
    .addCommand(startCommand(), { isDefault: true })
    .addCommand(demoCommand())
    .addCommand(configCommand())
    .addCommand(tokenCommand())
  for (const command of program.commands) command.exitOverride()
  try {
    await program.parseAsync(argv)
    return Number(process.exitCode ?? 0)
  } catch (error) {
    return report(error)
  }
}

/** What a person reads when a command cannot go on: lines that tell what to do, no stack. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode
  if (error instanceof ConfigError) {
    for (const problem of error.problems) process.stderr.write(`${problem}\n`)
    process.stderr.write('Run "botstead config --help" for all settings.\n')
    return 1
  }
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  // biome-ignore lint/style/noProcessEnv: a switch for those who look for the place of a failure
  if (process.env.DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return 1
}
